"""Hydra configs that nobody wrote: groups listed from entry points, nodes built from signatures.

`RegistrySource` makes every registered loss, kernel, prior, backend and reader a member of a config
group, so that ``loss=student_t loss.df=4`` works with no YAML from the plugin's author, in experiment
files and sweeps too. A node holds ``name`` and the constructor's options; plugsamp's own registry makes
the object from it (no ``_target_``, which Hydra 1.5 restricts).
"""

from __future__ import annotations

import contextlib
import difflib
import re

import hydra
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.errors import ConfigCompositionException
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf

from plugsamp import registry
from plugsamp.options import plain_default

#: Config group -> registry group.
CONFIG_GROUPS = {
    "corpus": "readers",
    "loss": "losses",
    "kernel": "kernels",
    "weights": "priors",
    "topics": "topics",
    "backend": "backends",
}

SCHEME = "plugsamp-registry"
CONF = "pkg://plugsamp.conf"


class RegistrySource(ConfigSource):
    """The registry as a source of configs."""

    @staticmethod
    def scheme() -> str:
        return SCHEME

    def available(self) -> bool:
        return True

    def is_group(self, config_path: str) -> bool:
        path = config_path.strip("/")
        return path == "" or path in CONFIG_GROUPS

    def is_config(self, config_path: str) -> bool:
        group, name = _split(config_path)
        if group not in CONFIG_GROUPS:
            return False
        found = registry.plugins(CONFIG_GROUPS[group])
        return any(name in (p.name, str(p)) for p in found)

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        path = config_path.strip("/")
        if path == "":
            return [] if results_filter == ObjectType.CONFIG else sorted(CONFIG_GROUPS)
        if path not in CONFIG_GROUPS or results_filter == ObjectType.GROUP:
            return []
        return registry.names(CONFIG_GROUPS[path])

    def load_config(self, config_path: str) -> ConfigResult:
        group, name = _split(config_path)
        try:
            node = node_of(group, name)
        except registry.RegistryError as error:
            raise ConfigCompositionException(str(error)) from error
        return ConfigResult(
            provider=self.provider,
            path=f"{SCHEME}://{self.path}",
            config=OmegaConf.create(node),
            header={"package": None},  # the group's own package
        )


class RegistrySearchPath(SearchPathPlugin):
    """Puts the registry behind plugsamp's own configs, and nobody else's."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        paths = [element.path for element in search_path.get_path()]
        if CONF in paths and f"{SCHEME}://" not in paths:
            search_path.append("plugsamp", f"{SCHEME}://")


#: Hydra's plugins that conf has presets for: the group, the name of the preset, the package.
PRESETS = (
    ("hydra/launcher", "joblib", "hydra-joblib-launcher"),
    ("hydra/launcher", "submitit_local", "hydra-submitit-launcher"),
    ("hydra/launcher", "submitit_slurm", "hydra-submitit-launcher"),
    ("hydra/sweeper", "optuna", "hydra-optuna-sweeper"),
)

#: A preset finds the plugin's own configuration, whose name it takes, under the name with this before it.
PLUGIN = "plugin_"


@contextlib.contextmanager
def registered():
    """While inside, Hydra knows our plugins, whose discovery misses editable installs (1.3), and our presets.

    Of a plugin's configuration with the name of a preset Hydra 1.3 would make the preset's schema.
    """
    plugins = Plugins.instance()
    for plugin in (RegistrySource, RegistrySearchPath):
        plugins.register(plugin)
    moved = []
    for group, name, _ in PRESETS:
        folder = ConfigStore.instance().repo
        for part in group.split("/"):
            folder = folder.get(part, {})
        if f"{name}.yaml" in folder:  # that plugin is installed
            folder[f"{PLUGIN}{name}.yaml"] = folder.pop(f"{name}.yaml")
            moved.append((folder, name))
    try:
        yield
    finally:
        for folder, name in moved:
            folder[f"{name}.yaml"] = folder.pop(f"{PLUGIN}{name}.yaml")


def compose(arguments: list[str], config_name: str = "config", hydra_too: bool = False) -> DictConfig:
    """The configuration that `arguments` make, without running anything; Hydra's too where asked for."""
    options = {} if hydra_version() >= (1, 4) else {"version_base": "1.3"}
    GlobalHydra.instance().clear()
    with registered(), hydra.initialize_config_module("plugsamp.conf", **options):
        return hydra.compose(config_name, overrides=list(arguments), return_hydra_config=hydra_too)


def hydra_version() -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", hydra.__version__)[:2])


def node_of(group: str, name: str) -> dict:
    """The config node of a registered name: ``name``, and each option with its default or ``???``."""
    found = registry.options(CONFIG_GROUPS[group], name)
    node = {"name": name}
    for option in found.values():
        node[option.name] = "???" if option.required else _plain(option.default)
    return node


def object_of(group: str, node) -> object:
    """The object that a config node stands for.

    Raises
    ------
    plugsamp.registry.RegistryError
        As `plugsamp.registry.resolve`, the options named as on the command line.
    """
    if node is None:
        raise registry.RegistryError(_nameless(group))
    plain = OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else dict(node)
    given = {k: v for k, v in plain.items() if v != "???"}
    name = given.pop("name", None)
    if not isinstance(name, str):
        raise registry.RegistryError(_nameless(group))
    kind = CONFIG_GROUPS[group]
    found = registry.options(kind, name)
    unknown = [k for k in given if k not in found]
    if unknown:
        other = next((n for n in registry.names(kind) if _options_are(kind, n, given)), None)
        if other is not None:
            raise registry.RegistryError(
                f"{group}.name={name} leaves the options of {group}={other}; another one is chosen by "
                f"{group}={name} (in a file: override /{group}: {name}, under defaults)"
            )
        raise registry.RegistryError(unknown_option(f"{group}.{unknown[0]}", [f"{group}.{o}" for o in found]))
    missing = [o for o in found.values() if o.required and o.name not in given]
    if missing:
        wanted = " ".join(f"{group}.{o.name}=..." for o in missing)
        raise registry.RegistryError(f"{group}={name} needs {wanted}")
    return registry.resolve(kind, name, **given)


def _nameless(group: str) -> str:
    there_are = registry.suggestion("", registry.names(CONFIG_GROUPS[group]))
    example = ", such as corpus=csv corpus.path=texts.csv" if group == "corpus" else ""
    return f"{group} has no name; choose one: {group}=NAME{example}{there_are}"


def _options_are(kind: str, name: str, given) -> bool:
    with contextlib.suppress(registry.RegistryError):
        return set(registry.options(kind, name)) == set(given)
    return False


def unknown_option(key: str, valid, where: str = "there", nested=()) -> str:
    """What to say of an option that does not exist, looked for in `where`.

    `nested` are options of that very name elsewhere in the configuration.
    """
    group, _, option = key.rpartition(".")
    choices = _choices_with(group, option) if group in CONFIG_GROUPS else []
    close = list(nested)[:1] or difflib.get_close_matches(key, valid, 1, cutoff=0.6)
    if choices:
        hint = f"; it is one of {group}={', '.join(choices)}"
    else:
        hint = f"; did you mean {close[0]!r}?" if close else ""
    lines = [f"there is no option {key!r} {where}{hint}" if choices else f"there is no option {key!r}{hint}"]
    if valid:
        lines.append(f"options {where}: " + ", ".join(valid))
    return "\n".join(lines)


def _choices_with(group: str, option: str) -> list[str]:
    """The names in `group` that have `option`."""
    names = []
    for name in registry.names(CONFIG_GROUPS[group]):
        with contextlib.suppress(registry.RegistryError):  # a broken plugin is another message's matter
            if option in registry.options(CONFIG_GROUPS[group], name):
                names.append(name)
    return names


def _split(config_path: str) -> tuple[str, str]:
    path = config_path.strip("/").removesuffix(".yaml")
    group, _, name = path.rpartition("/")
    return group, name


def _plain(value):
    """A default as YAML can hold it; one that it cannot is left to the constructor, as what is missing is."""
    try:
        return plain_default(value)
    except TypeError:
        return "???"
