"""Count matrices as NumPy and SciPy save them. Nothing is ever unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from plugsamp.corpus import Corpus
from plugsamp.counts import check_shape, entries
from plugsamp.errors import InputError
from plugsamp.readers.base import Reader, Split, SplitOptions, TestFile
from plugsamp.readers.files import read_lines, read_names

MEMBERS = {
    "csr": ("data", "indices", "indptr", "shape"),
    "csc": ("data", "indices", "indptr", "shape"),
    "coo": ("data", "row", "col", "shape"),
}


@dataclass(kw_only=True)
class Matrix(TestFile, SplitOptions, Reader):
    """A document by word matrix: `scipy.sparse.save_npz` (CSR, CSC, COO), or a dense array in .npy.

    Parameters
    ----------
    path : str
    labels_path, test_labels_path : str, optional
        A label a line for each document, as text.
    vocabulary_path : str, optional
        A word a line.
    transpose : bool
        Whether rows are words and columns documents.
    Others : see `plugsamp.readers.base`.
    """

    path: str
    labels_path: str | None = None
    test_labels_path: str | None = None
    vocabulary_path: str | None = None
    transpose: bool = False

    def read(self, vocabulary: Sequence[str] | None = None) -> Split:
        self.check_split_options()
        words = None if self.vocabulary_path is None else read_names(self.vocabulary_path)
        train = self._corpus(self.path, self.labels_path, words, vocabulary, vocabulary is None)
        test = None
        if self.test_path is not None:
            vocabulary = train.vocabulary if vocabulary is None else vocabulary
            test = self._corpus(self.test_path, self.test_labels_path, words, vocabulary, False)
        return self.split_corpus(train, test)

    def _corpus(self, path, labels_path, words, vocabulary, require_tokens) -> Corpus:
        try:
            X = self._matrix(path)
            labels = None if labels_path is None else _labels(labels_path, X.shape)
            if words is not None and len(words) != X.shape[1]:
                raise InputError(f"vocabulary has {len(words)} words, the matrix has {X.shape[1]} columns")
            corpus = Corpus.from_counts(X, responses=labels, vocabulary=words, require_tokens=require_tokens)
        except InputError as error:
            raise InputError(
                error.what, file=error.file or path, line=error.line, column=error.column
            ) from None
        return corpus if vocabulary is None else corpus.with_vocabulary(vocabulary)

    def _matrix(self, path):
        loaded = _load(path)
        if isinstance(loaded, np.ndarray):
            check_shape(loaded.shape)
            return loaded.T if self.transpose else loaded
        rows, columns, values, shape = entries(_sparse(loaded), exact=True)
        if self.transpose:
            rows, columns, shape = columns, rows, shape[::-1]
        return sp.coo_array((values, (rows, columns)), shape=shape)


def _load(path):
    """A dense array, or the members of an archive by name."""
    if not Path(path).exists():
        raise InputError("there is no such file")
    if Path(path).is_dir():
        raise InputError("this is a folder, a file is needed (corpus=folder reads folders)")
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            members = {}
            for name in loaded.files:
                try:
                    members[name] = loaded[name]
                except ValueError as error:
                    if "allow_pickle" in str(error) or "Object arrays" in str(error):
                        raise InputError(f'member "{name}" holds Python objects and is not loaded') from None
                    raise
            return members
    except InputError:
        raise
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, MemoryError) as error:
        if "Object arrays" in str(error):
            raise InputError("the array holds Python objects and is not loaded") from None
        if "pickle" in str(error):  # what NumPy takes anything else for; its advice is not ours
            raise InputError("not a .npy or .npz file") from None
        raise InputError(f"not a whole .npy or .npz file ({error})") from None


def _sparse(members) -> SimpleNamespace:
    listed = ", ".join(sorted(members))
    if "format" not in members:
        raise InputError(f'no member "format"; members are {listed}')
    kind = members["format"].item() if members["format"].size == 1 else members["format"]
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if not isinstance(kind, str) or kind not in MEMBERS:
        raise InputError(f"the sparse format must be {', '.join(MEMBERS)}, found {kind!r}")
    absent = next((m for m in MEMBERS[kind] if m not in members), None)
    if absent is not None:
        raise InputError(f'no member "{absent}", which format {kind} needs; members are {listed}')
    shape = members["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise InputError(f"shape must be two whole numbers, found {shape.tolist()!r}")
    arrays = {name: members[name] for name in MEMBERS[kind][:-1]}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise InputError(f'member "{name}" must be a vector, it has {array.ndim} dimensions')
    sizes = {len(arrays[name]) for name in arrays if name != "indptr"}
    if len(sizes) > 1:
        found = ", ".join(f"{len(a)} in {n}" for n, a in arrays.items() if n != "indptr")
        raise InputError(f"the numbers of entries differ: {found}")
    return SimpleNamespace(format=kind, shape=tuple(shape.tolist()), **arrays)


def _labels(path, shape) -> np.ndarray:
    lines = [line.strip() for line in read_lines(path)]
    blank = next((i for i, line in enumerate(lines, 1) if not line), None)
    if blank is not None:
        raise InputError("the line has no label", file=path, line=blank)
    if len(lines) != shape[0]:
        hint = ""
        if len(lines) == shape[1]:
            hint = f"; the matrix has {shape[1]} columns, so it looks transposed: pass transpose=true"
        raise InputError(f"{len(lines)} labels for {shape[0]} rows{hint}", file=path)
    labels = np.empty(len(lines), dtype=object)
    labels[:] = lines
    return labels
