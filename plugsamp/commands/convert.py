"""`plugsamp convert`: any corpus that can be read, in another format."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plugsamp import hydra_source, writers
from plugsamp.commands.arguments import typed
from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.commands.wording import warnings_to
from plugsamp.errors import InputError
from plugsamp.readers.base import Wanted

log = logging.getLogger(__name__)


@dataclass
class Settings:
    """The options and their types; the values come from conf/convert.yaml."""

    to: str
    out: str
    overwrite: bool
    data_dir: str


def task(config: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    reader = hydra_source.object_of("corpus", config.get("corpus"))
    if settings.to not in writers.FORMATS:
        raise InputError(f"there is no format {settings.to!r}; to= is one of {', '.join(writers.FORMATS)}")
    with contextlib.chdir(HydraConfig.get().runtime.cwd), warnings_to(log):
        split = reader.for_model(Wanted("none")).read()
        parts = [(split.train, Path(settings.out))]
        if split.test is not None:
            parts.append((split.test, test_path(settings.out)))
        every = writers.write_all(parts, settings.to, settings.overwrite)
        for (corpus, path), written in zip(parts, every, strict=True):
            print(f"{corpus.n_documents:,} documents, {corpus.n_words:,} words, {corpus.n_tokens:,} tokens")
            for file in written.files:
                print(f"  {file}")
            if written.left_out:
                log.warning("left out, as %s cannot hold them: %s", settings.to, ", ".join(written.left_out))
            given = " ".join(_shell(f"corpus.{k}={v}") for k, v in written.options.items())
            print(f"read it with: corpus={settings.to} {_shell(f'corpus.path={path}')} {given}".rstrip())


def test_path(out: str) -> Path:
    """``news.test.svm`` of ``news.svm``."""
    path = Path(out)
    packed = ".gz" if path.suffix == ".gz" else ""
    name = path.name.removesuffix(".gz")
    stem, dot, suffix = name.rpartition(".")
    return path.with_name((f"{stem}.test.{suffix}" if dot else f"{name}.test") + packed)


def _shell(option: str) -> str:
    """An option as it is typed: what Hydra or a shell would take apart is quoted."""
    name, _, value = option.partition("=")
    return typed(name, value)


USAGE = """\
plugsamp convert corpus=FORMAT corpus.path=FILE to=FORMAT out=FILE [OPTION=VALUE ...]

Write documents in another format, counts of words as the reader's options make them. Formats that hold
counts alone get NAME.vocab.txt and NAME.labels.txt beside them. Says how to read what was written."""

EXAMPLES = """\
  plugsamp convert corpus=csv corpus.path=reviews.csv to=svmlight out=reviews.svm
  plugsamp convert corpus=uci corpus.path=docword.nips.txt.gz corpus.vocabulary_path=vocab.nips.txt \\
                   to=jsonl out=nips.jsonl.gz"""

COMMAND = Command("convert", "convert", task, USAGE, EXAMPLES)
main = COMMAND.main
