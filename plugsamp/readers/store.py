"""Corpora whose tokens are mapped, not read (`plugsamp.store`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plugsamp.errors import InputError
from plugsamp.readers.base import Reader, Split, SplitOptions, TestFile, check_tokens
from plugsamp.store import open_store


@dataclass(kw_only=True)
class Store(TestFile, SplitOptions, Reader):
    """A folder that ``plugsamp convert to=store`` or `plugsamp.store.write_store` has written.

    Its words stay in the file, which workers map as well. Documents chosen by test_size or only, or another
    vocabulary, are taken into memory: choose when the store is written.

    Parameters
    ----------
    path : str
        The folder that `plugsamp convert to=store` wrote.
    response : str, optional
        none leaves the responses out.
    Others : see `plugsamp.readers.base`.
    """

    path: str
    response: str | None = None

    has_columns = True

    def read(self, vocabulary: Sequence[str] | None = None) -> Split:
        self.check_split_options()
        if self.response not in (None, "none"):
            raise InputError(f"response must be none, or left out, not {self.response!r}")
        keeps = self.response is None
        train = open_store(self.path, keeps, require_tokens=False)
        if vocabulary is None:
            check_tokens(train, self.path)
        else:
            train = train.with_vocabulary(vocabulary)
        test = None
        if self.test_path is not None:
            test = open_store(self.test_path, keeps, require_tokens=False).with_vocabulary(train.vocabulary)
        for name in self.wanted.columns:
            if name not in train.fields:
                raise InputError(f"there is no column {name!r}", file=self.path)
        return self.split_corpus(train, test)
