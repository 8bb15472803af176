"""Where a chain starts. A start changes how soon a chain is where it wants to be, never where that is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from plugsamp.checks import whole
from plugsamp.errors import ApproximationWarning, InputWarning
from plugsamp.random.draws import Purpose, stream_key

METHODS = ("auto", "random", "collapsed")


@dataclass(frozen=True)
class Start:
    """The start of a chain.

    Parameters
    ----------
    method : {"auto", "random", "collapsed"}
        Topics drawn uniformly; or, from there, some sweeps with the topics integrated out, for chains that
        keep them as a variable: from uniform topics such chains take some hundred sweeps to get where
        collapsed ones are after ten. "auto" is "collapsed" for these and "random" for the others.
    sweeps : int
        Of the collapsed start.

    Raises
    ------
    ValueError
    """

    method: str = "auto"
    sweeps: int = 15

    def __post_init__(self):
        if self.method not in METHODS:
            raise ValueError(f"start: method must be one of {', '.join(METHODS)}, not {self.method!r}")
        object.__setattr__(self, "sweeps", whole("start: sweeps", self.sweeps, 1))

    def collapsed(self, kernel) -> bool:
        """Whether a chain of this kernel gets a collapsed start."""
        return self.method == "collapsed" or (self.method == "auto" and kernel.partial)


def warm(chain, start: Start) -> str:
    """Put a chain that stands at its first topics where `start` says, and say in words how it started.

    The sweeps are those of a chain of its own, with the same model (without words left out of topics) and
    a seed made of the chain's; z and eta are taken over.
    """
    from plugsamp.chain import Chain
    from plugsamp.kernels.auto import Auto
    from plugsamp.topics.base import Dirichlet

    if not start.collapsed(chain.kernel):
        return chain.started
    model = chain.model
    if model.topics.needs_phi:
        model = replace(model, topics=Dirichlet())
    seed = stream_key(chain.seed, Purpose.START, 1)
    with warnings.catch_warnings():  # what the chain has to say of the model it has said
        warnings.simplefilter("ignore", ApproximationWarning)
        warnings.simplefilter("ignore", InputWarning)
        first = Chain(
            chain.corpus, model, Auto("full"), seed=seed,
            weight_update=chain.phases.method, weight_passes=chain.phases.passes,
        )  # fmt: skip
    first.run(start.sweeps)
    chain.set_state(z=first.z, eta=first.eta)
    if model.learn_alpha.method != "none" or model.learn_beta.method != "none":
        chain.state.set_priors(first.alpha, first.beta)
    return f"{start.sweeps} sweeps with the topics integrated out ({first.kernel!r})"
