"""LDA-C: the number of different words, then id:count pairs, a document a line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from plugsamp.errors import InputError
from plugsamp.readers.files import read_names
from plugsamp.readers.matrix import MatrixReader
from plugsamp.readers.numbers import ID
from plugsamp.readers.pairs import PairsFile


@dataclass(kw_only=True)
class LdaC(MatrixReader):
    """``n id:count id:count ...``, plain or .gz; a document without words is ``0``.

    Without `vocabulary_path` there are as many words as the largest id of the file says.

    Parameters
    ----------
    index_base : int
        The smallest id; never guessed from the data.
    Others : see `plugsamp.readers.matrix` and `plugsamp.readers.base`.
    """

    index_base: int = 0

    def matrix(self, path) -> sp.coo_array:
        if self.index_base not in (0, 1):
            raise InputError("index_base must be 0 or 1")
        n_words = None if self.vocabulary_path is None else len(read_names(self.vocabulary_path))
        file = PairsFile(path, self.index_base, n_words, self.vocabulary_path, "optional")
        gap = next((i for i, line in enumerate(file.lines, 1) if line != i), None)
        if gap is not None:
            raise InputError("the line is empty; a document without words is 0", line=gap)
        entries = np.bincount(file.rows, minlength=len(file.labels))
        for line, said, there in zip(file.lines, file.labels, entries.tolist(), strict=True):
            if not ID.fullmatch(said):
                raise InputError(
                    "the line does not begin with the number of its different words; corpus=svmlight reads "
                    "lines of a label, or of none, and id:count pairs",
                    line=line,
                    column=1,
                )
            if int(said[:19]) != there:
                raise InputError(f"{said} different words promised, {there} found", line=line, column=1)
        return file.counts(file.n_words if n_words is None else n_words)
