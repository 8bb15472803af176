"""Hydra without the work that it repeats, the largest part of a command in a test."""

from __future__ import annotations

import pickle
import re
import sys
from types import SimpleNamespace

import omegaconf.omegaconf
import pytest
import yaml
from hydra._internal import config_loader_impl
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.hydra import Hydra
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from omegaconf import DictConfig
from omegaconf._utils import OmegaConfDumper

from plugsamp import registry

#: Options and flags that can set ``hydra.mode`` or name other folders of configurations, which might set it.
MODE = re.compile(r"\+*(hydra[./]mode|hydra(/\w+)?=|hydra\.searchpath)")
FLAGS = ("--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn")


if yaml.__with_libyaml__:

    class Dumper(yaml.CDumper):
        """The dumper of OmegaConf in C; it escapes characters beyond the basic plane."""

    Dumper.add_representer(str, OmegaConfDumper.str_representer)


@pytest.fixture(scope="session", autouse=True)
def quick_hydra():
    """Parse each file of an installed package once, and compose each choice of such files once.

    Hydra composes a configuration a first time for its ``hydra.mode`` alone; here it does so only where the
    command line can set that. It copies the store of configurations for every command, whose own `load`
    makes copies. Configurations are copied by pickle, and written in C. Commands in processes of their own
    (tests/commands/test_streams.py and others) run Hydra as it is.
    """
    Plugins.instance()  # it imports the modules of sources anew: their classes are others than ours would be
    source = SourcesRegistry.instance().resolve("pkg")
    mode, read, parsed = Hydra.get_mode, source._read_config, {}

    def get_mode(self, config_name, overrides):
        flags = [one for one in sys.argv if one.partition("=")[0] in FLAGS]
        if flags or any(MODE.match(one) for one in overrides):
            return mode(self, config_name, overrides)
        return None

    def read_config(self, resource):
        place = (self.provider, self.path, str(resource))
        if place not in parsed:
            parsed[place] = pickle.dumps(read(self, resource))  # a copy of it is made in no time
        return pickle.loads(parsed[place])

    together, made = ConfigLoaderImpl._compose_config_from_defaults_list, {}
    listed, lists = config_loader_impl.create_defaults_list, {}

    def packages(repo):
        """What configurations come from; None where files of a user's may change."""
        sources = [(one.scheme(), one.path) for one in repo.get_sources()]
        if any(scheme == "file" for scheme, _ in sources):
            return None
        presets = ConfigStore.instance().repo["hydra"]
        stored = {group: sorted(names) for group, names in presets.items() if isinstance(names, dict)}
        return sources, stored, registry._search_path()  # and the packages that are installed at present

    def compose(self, defaults, repo):
        if (found := packages(repo)) is None:
            return together(self, defaults=defaults, repo=repo)
        key = repr((defaults, found))
        if key not in made:
            made[key] = pickle.dumps(together(self, defaults=defaults, repo=repo))
        return pickle.loads(made[key])

    def create_defaults_list(repo, config_name, overrides_list, prepend_hydra, skip_missing):
        """Only choices of groups enter the list; other options are applied to what is composed."""
        arguments = config_name, overrides_list, prepend_hydra, skip_missing
        if (found := packages(repo)) is None:
            return listed(repo, *arguments)
        given = [one for one in overrides_list if not one.is_sweep_override()]
        groups = [repo.group_exists(one.key_or_group) and not isinstance(one.value(), dict) for one in given]
        choices = [one.input_line for one, group in zip(given, groups, strict=True) if group]
        key = repr((config_name, choices, prepend_hydra, skip_missing, found))
        if key not in lists:
            result = listed(repo, *arguments)
            lists[key] = pickle.dumps((result.defaults, result.overrides.known_choices))
            return result
        defaults, known_choices = pickle.loads(lists[key])
        options = [one for one, group in zip(given, groups, strict=True) if not group]
        return SimpleNamespace(
            defaults=defaults,
            config_overrides=options,
            overrides=SimpleNamespace(known_choices=known_choices),
        )

    copy = DictConfig.__deepcopy__

    def copied(self, memo):
        parent = self._get_parent()
        try:
            self._set_parent(None)
            result = pickle.loads(pickle.dumps(self))
        except (pickle.PicklingError, TypeError, AttributeError):
            return copy(self, memo)
        finally:
            self._set_parent(parent)
        result._set_parent(parent)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Hydra, "get_mode", get_mode)
        patch.setattr(source, "_read_config", read_config)
        patch.setattr(DictConfig, "__deepcopy__", copied)
        if yaml.__with_libyaml__:
            patch.setattr(omegaconf.omegaconf, "get_omega_conf_dumper", lambda: Dumper)
        patch.setattr(ConfigStore, "__deepcopy__", lambda self, _: self, raising=False)
        patch.setattr(config_loader_impl, "create_defaults_list", create_defaults_list)
        patch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", compose)
        yield
