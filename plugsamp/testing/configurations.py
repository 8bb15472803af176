"""Kernels and losses of the battery, read from the registry: what is registered is tested."""

from plugsamp.kernels.base import Kernel
from plugsamp.registry import load, resolve
from plugsamp.testing.cases import options_for, registered, variants


def composed_configurations():
    """Options of the composed kernel: each proposal alone, all together in both ways, 1 to 8 steps."""
    names = registered("proposals")
    every = [
        {"proposals": names, "composition": composition, "steps": steps}
        for composition in ("mixture", "cycle")
        for steps in (1, 3, 6, 8)
    ]
    single = [{"proposals": [name], "composition": "cycle", "steps": 2} for name in names]
    return every + single


def kernel_configurations():
    """(name, options) of every registered kernel; both collapses where a kernel has the choice."""
    result = []
    for name in registered("kernels"):
        if load("kernels", name).chosen is not Kernel.chosen:
            continue  # it stands for others, which are here themselves
        configurations = composed_configurations() if name == "composed" else [options_for(name, "kernels")]
        for options in configurations:
            for collapse in ("full", "partial"):
                try:
                    resolve("kernels", name, **options, collapse=collapse)
                except (TypeError, ValueError):  # a kernel that has one collapse only
                    resolve("kernels", name, **options)
                    if (name, options) not in result:
                        result.append((name, options))
                    continue
                result.append((name, {**options, "collapse": collapse}))
    return result


def label(configuration) -> str:
    """A short test id."""
    name, options = configuration
    parts = [name, options.get("collapse", "")]
    if "proposals" in options:
        parts += ["+".join(options["proposals"]), options["composition"], str(options["steps"])]
    return "-".join(part for part in parts if part)


#: The composed kernels that stand for all where losses are compared.
_REPRESENTATIVE = ({"full", "cycle", 8}, {"partial", "mixture", 3})


def _represents(configuration) -> bool:
    """Whether a configuration is tried with every loss: plain kernels, and one composed each way."""
    name, options = configuration
    if name != "composed":
        return True
    return {options["collapse"], options["composition"], options["steps"]} in _REPRESENTATIVE


def battery() -> list[tuple]:
    """(id, configuration, loss, short) of every kernel configuration with every variant of every loss.

    The short ones make up the default suite: every configuration without responses and with the hinge
    loss, and some configurations with each loss. Kernels that take no responses are left out with losses.
    """
    result = []
    for configuration in kernel_configurations():
        kernel = resolve("kernels", configuration[0], **configuration[1])
        for loss_id, loss in variants("losses").items():
            if kernel.responses or loss.unsupervised:
                short = loss_id in ("none", "hinge") or _represents(configuration)
                result.append((f"{label(configuration)}-{loss_id}", configuration, loss, short))
    return result
