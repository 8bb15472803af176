"""Matrix Market coordinate files."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.files import read_bytes
from plugsamp.readers.matrix import MatrixReader
from plugsamp.readers.triples import Field, header_number, rows_of, text_of
from plugsamp.readers.uci import table
from plugsamp.sizes import check_claim


@dataclass(kw_only=True)
class MatrixMarket(MatrixReader):
    """``.mtx`` in coordinate form, plain or .gz: rows are documents, columns words.

    Of `integer`, `real` (whole numbers all the same) or `pattern` entries (each counts 1), and `general`.

    Parameters
    ----------
    transpose : bool
        Whether rows are words and columns documents.
    Others : see `plugsamp.readers.matrix` and `plugsamp.readers.base`.
    """

    transpose: bool = False
    first_id = 1
    may_transpose = True

    def matrix(self, path) -> sp.coo_array:
        head, _, body = text_of(read_bytes(path), path).partition(b"\n")
        pattern = _kind(head.decode())
        line = 2
        while True:  # comments and blank lines before the sizes
            sizes, found, body = body.partition(b"\n")
            if sizes.strip() and not sizes.lstrip().startswith(b"%"):
                break
            if not found:
                raise InputError("the file ends before its line of sizes (rows, columns, entries)", line=line)
            line += 1
        numbers = sizes.decode().split()
        if len(numbers) != 3:
            raise InputError(f"3 sizes expected (rows, columns, entries), {len(numbers)} found", line=line)
        names = ("rows", "columns", "entries")
        n_rows, n_columns, n_entries = (
            header_number(text, name, line) for text, name in zip(numbers, names, strict=True)
        )
        fields = [
            Field("row", n_rows, f"the header {n_rows}"),
            Field("column", n_columns, f"the header {n_columns}"),
        ]
        rows, places = rows_of(body, line + 1, fields + [Field("count")] * (not pattern), comment="%")
        if len(rows) != n_entries:
            raise InputError(f"header promises {n_entries} entries, file has {len(rows)}", line=line)
        at = [match.start() + 1 for match in re.finditer(r"\S+", sizes.decode())]
        what = ("words", "documents") if self.transpose else ("documents", "words")
        for axis, n, one, column in zip(("rows", "columns"), (n_rows, n_columns), what, at, strict=False):
            check_claim(f"the header's {n} {axis}", n, one, n_entries, line=line, column=column)
        if pattern:
            warnings.warn(
                f"{path}: the file has no counts (pattern); every entry counts 1", InputWarning, stacklevel=4
            )
            rows = np.column_stack([rows, np.ones(len(rows), np.int64)])
        shape = (n_rows, n_columns)
        if self.transpose:
            rows, shape = rows[:, [1, 0, 2]], shape[::-1]
        return table(rows, places, shape, path)


def _kind(head: str) -> bool:
    """Whether the entries are a pattern; refuses what is no matrix of counts."""
    words = head.split()
    if not words or words[0].lower() != "%%matrixmarket":
        raise InputError("not a Matrix Market file: it does not begin with %%MatrixMarket", line=1)
    words = [w.lower() for w in words[1:]]
    if len(words) != 4 or words[0] != "matrix":
        raise InputError(
            "the first line must be %%MatrixMarket matrix coordinate integer|real|pattern general", line=1
        )
    _, form, values, symmetry = words
    if form != "coordinate":
        raise InputError(f"{form} form is not read; write the matrix in coordinate form", line=1)
    if values not in ("integer", "real", "pattern"):
        raise InputError(f"{values} values are not counts", line=1)
    if symmetry != "general":
        raise InputError(
            f"{symmetry} form is not a document by word matrix; write it in general form", line=1
        )
    return values == "pattern"
