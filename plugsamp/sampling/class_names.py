"""What checkpoints call classes: names that do not change when a module moves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from plugsamp import registry

#: Groups of the plugins whose objects are part of a checkpoint.
GROUPS = ("losses", "priors", "topics", "kernels", "proposals", "backends")

#: Of the first layout, which named classes by module: registered classes of plugsamp and their names now.
#: The others of plugsamp (options such as `Covariates`) are called by the name of their class in both.
REGISTERED = {
    "plugsamp.losses.none.NoLoss": "losses/none",
    "plugsamp.losses.epsilon_insensitive.EpsilonInsensitive": "losses/epsilon_insensitive",
    "plugsamp.losses.gaussian.Gaussian": "losses/gaussian",
    "plugsamp.losses.hinge.Hinge": "losses/hinge",
    "plugsamp.losses.logistic.Logistic": "losses/logistic",
    "plugsamp.losses.probit.Probit": "losses/probit",
    "plugsamp.priors.normal.Normal": "priors/normal",
    "plugsamp.priors.horseshoe.Horseshoe": "priors/horseshoe",
    "plugsamp.topics.base.Dirichlet": "topics/dirichlet",
    "plugsamp.topics.seeded.Seeded": "topics/seeded",
    "plugsamp.topics.spike_slab.SpikeSlab": "topics/spike_slab",
    "plugsamp.kernels.dense.Dense": "kernels/dense",
    "plugsamp.kernels.composed.ComposedMH": "kernels/composed",
    "plugsamp.kernels.fast.FastLDA": "kernels/fast",
    "plugsamp.kernels.sparse.SparseLDA": "kernels/sparse",
    "plugsamp.kernels.auto.Auto": "kernels/auto",
    "plugsamp.kernels.presets.AliasLDA": "kernels/alias",
    "plugsamp.kernels.presets.LightLDA": "kernels/light",
    "plugsamp.kernels.presets.SparsePCLDA": "kernels/sparse_pc",
    "plugsamp.kernels.presets.LightPCLDA": "kernels/light_pc",
    "plugsamp.proposals.doc.DocProposal": "proposals/doc",
    "plugsamp.proposals.word.WordProposal": "proposals/word",
    "plugsamp.proposals.exp.ExpProposal": "proposals/exp",
    "plugsamp.proposals.sparse.SparseProposal": "proposals/sparse",
    "plugsamp.proposals.sparse.SparseExpProposal": "proposals/sparse_exp",
    "plugsamp.backends.serial.Serial": "backends/serial",
    "plugsamp.backends.processes.Processes": "backends/processes",
}

#: A class of plugsamp by its module, and whatever follows (the member of an enumeration).
_BY_MODULE = re.compile(r"plugsamp\.[a-z_.]+\.(_*[A-Z]\w*(?:\..*)?)")


def name_of(kind: type) -> str:
    """What checkpoints call a class.

    Returns
    -------
    str
        ``group/name`` for a registered class, followed by ``of PACKAGE`` if another package registers it;
        ``plugsamp/Class`` for any other class of plugsamp; module and name for all other classes.
    """
    for group in GROUPS:
        plugin = registry.plugin_of_class(group, kind)
        if plugin is not None:
            owner = "" if plugin.package == registry.OWN else f" of {plugin.package}"
            return f"{group}/{plugin.name}{owner}"
    full = f"{kind.__module__}.{kind.__qualname__}"
    return f"plugsamp/{kind.__qualname__}" if full.startswith("plugsamp.") else full


def present(saved):
    """What a checkpoint of any layout says, with the names that classes have in this one."""
    if isinstance(saved, Mapping):
        return {key: present(value) for key, value in saved.items()}
    if isinstance(saved, list):
        return [present(value) for value in saved]
    if not isinstance(saved, str) or "." not in saved:
        return saved
    if saved in REGISTERED:
        return REGISTERED[saved]
    found = _BY_MODULE.fullmatch(saved)
    if found is not None:
        return f"plugsamp/{found[1]}"
    module, _, name = saved.rpartition(".")
    for group in GROUPS:  # of another package
        for plugin in registry.plugins(group):
            if plugin.target == f"{module}:{name}":
                return f"{group}/{plugin.name} of {plugin.package}"
    return saved


def short(name: str) -> str:
    """The part of a class' name that messages show."""
    return name.partition(" of ")[0].rpartition("/")[2].rpartition(".")[2]
