"""Hydra without the work that it repeats, the largest part of a command in a test."""

from __future__ import annotations

import pickle
import re
import sys

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.hydra import Hydra
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.plugins import Plugins

from plugsamp import registry

#: Options and flags that can set ``hydra.mode`` or name other folders of configurations, which might set it.
MODE = re.compile(r"\+*(hydra[./]mode|hydra(/\w+)?=|hydra\.searchpath)")
FLAGS = ("--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn")


@pytest.fixture(scope="session", autouse=True)
def quick_hydra():
    """Parse each file of an installed package once, and put each choice of such files together once.

    Hydra composes a configuration a first time for its ``hydra.mode`` alone; here it does so only where the
    command line can set that. What runs in a process of its own (tests/commands/test_streams.py and others)
    is not changed.
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

    def compose(self, defaults, repo):
        sources = [(one.scheme(), one.path) for one in repo.get_sources()]
        if any(scheme == "file" for scheme, _ in sources):
            return together(self, defaults=defaults, repo=repo)
        key = repr((defaults, sources, registry._search_path()))  # of packages that are installed at present
        if key not in made:
            made[key] = pickle.dumps(together(self, defaults=defaults, repo=repo))
        return pickle.loads(made[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Hydra, "get_mode", get_mode)
        patch.setattr(source, "_read_config", read_config)
        patch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", compose)
        yield
