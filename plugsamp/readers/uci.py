"""UCI bag of words: three sizes, then a document, a word and a count a line."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.sparse as sp

from plugsamp.counts import LIMIT, summed
from plugsamp.errors import InputError
from plugsamp.readers.files import read_bytes
from plugsamp.readers.matrix import MatrixReader
from plugsamp.readers.triples import Field, header_number, rows_of, text_of
from plugsamp.sizes import check_claim


@dataclass(kw_only=True)
class BagOfWords(MatrixReader):
    """``docword.*.txt`` of the UCI repository, plain or .gz; ids start at 1.

    The header says how many documents (D), words (W) and lines there are; documents without a line are
    empty and keep their place.

    Parameters
    ----------
    See `plugsamp.readers.matrix` and `plugsamp.readers.base`.
    """

    size_of = "docword header says {}"
    first_id = 1

    def matrix(self, path) -> sp.coo_array:
        lines = text_of(read_bytes(path), path).split(b"\n", 3)
        sizes = []
        for line, (what, text) in enumerate(zip(("D", "W", "the number of entries"), lines, strict=False), 1):
            text = text.decode().strip()
            if not text.isdigit():
                raise InputError(
                    f"header line {line} must be a number, found {text[:40]}", line=line, column=1
                )
            sizes.append(header_number(text, what, line))
        if len(sizes) < 3:
            raise InputError(
                f"the file ends in its header of 3 lines (documents, words, entries), after line {len(sizes)}"
            )
        n_documents, n_words, n_entries = sizes
        fields = [
            Field("document id", n_documents, f"the header D={n_documents}"),
            Field("word id", n_words, f"the header W={n_words}"),
            Field("count"),
        ]
        rows, places = rows_of(lines[3] if len(lines) > 3 else b"", 4, fields)
        if len(rows) != n_entries:
            last = int(places[-1]) if len(places) else 3
            raise InputError(f"header promises {n_entries} entries, file has {len(rows)}", line=last)
        check_claim(f"the header D={n_documents}", n_documents, "documents", len(rows), line=1, column=1)
        check_claim(f"the header W={n_words}", n_words, "words", len(rows), line=2, column=1)
        return table(rows, places, (n_documents, n_words), path)


def table(rows, places, shape, path) -> sp.coo_array:
    """Triples with ids from 1 as a matrix; repeated ones are summed, with one warning."""
    if max(shape) > LIMIT:
        raise InputError(f"{max(shape)} is over the limit {LIMIT}")
    documents, words, counts = rows[:, 0] - 1, rows[:, 1] - 1, rows[:, 2]

    def place(row, column):
        again = places[(documents == row) & (words == column)]
        return f"{path}, line {again[1]}"

    documents, words, counts = summed(documents, words, counts, place)
    return sp.coo_array((counts, (documents, words)), shape=shape)
