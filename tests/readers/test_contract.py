"""What the registry and the configs rely on, for every reader that the package registers."""

import importlib
import inspect
import tomllib
import typing
from pathlib import Path

import pytest

from plugsamp.readers.base import Reader

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
READERS = PROJECT["project"]["entry-points"]["plugsamp.readers"]
PLAIN = {str, int, float, bool, str | None, list[str] | None, str | list[str]}


@pytest.mark.parametrize("target", READERS.values(), ids=READERS)
def test_options_are_plain_annotated_values(target):
    module, name = target.split(":")
    reader = getattr(importlib.import_module(module), name)
    assert issubclass(reader, Reader)
    hints = typing.get_type_hints(reader)
    for parameter in inspect.signature(reader).parameters.values():
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert hints[parameter.name] in PLAIN
        assert parameter.name == "path" or parameter.default is not parameter.empty
