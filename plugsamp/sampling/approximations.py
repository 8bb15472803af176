"""What keeps a chain from its posterior: one list, for the log, the metrics and the report."""

from __future__ import annotations


def approximations(kernel, model, backend) -> tuple[str, ...]:
    """The approximations of a chain, a clause each; none where its stationary distribution is the posterior.

    Each part speaks for itself, in words that follow its name or None: `Kernel.approximate`,
    `Concentration.approximate`, and a backend's method ``approximate(kernel)`` if it has one.

    Parameters
    ----------
    kernel : Kernel
        The chosen one.
    model : Model
    backend : backend
    """
    of_backend = getattr(backend, "approximate", None)
    said = {
        "the kernel": kernel.approximate,
        "alpha": model.learn_alpha.approximate,
        "beta": model.learn_beta.approximate,
        "the backend": of_backend(kernel) if of_backend is not None else None,
    }
    return tuple(f"{what} {why}" for what, why in said.items() if why is not None)
