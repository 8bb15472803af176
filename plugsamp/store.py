"""A corpus as a folder whose tokens are mapped, not read: for corpora larger than memory is comfortable with.

The folder is one of `plugsamp.files.storage`: plain arrays and a manifest with their digests, complete or
not there at all. ``words.npy`` holds the word of each token (int32, sorted within a document),
``offsets.npy`` where documents begin (int64); beside them vocabulary, ids, responses, covariates, weights
and fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from plugsamp.bags import Mapped
from plugsamp.corpus import Corpus
from plugsamp.counts import check_pointers
from plugsamp.errors import InputError
from plugsamp.files.storage import Growing, StorageError, read_folder, write_folder
from plugsamp.files.stored_values import decode_strings, decode_values, encode_strings, encode_values

KIND = "corpus"


def write_store(path, corpus: Corpus | Iterable[Corpus], overwrite: bool = False) -> Path:
    """Write a corpus as a store.

    Parameters
    ----------
    path : path-like
        A folder, which must not exist unless `overwrite`, and then must be a store.
    corpus : Corpus, or iterable of Corpus
        Several are parts of one, with the same vocabulary and the same columns, one after another; only one
        needs to be in memory at a time. Where all have numbers for ids, so has the whole.
    overwrite : bool

    Raises
    ------
    InputError
        Parts that do not fit together, or a folder that is there.
    StorageError
        Responses of a type that cannot be kept.

    Examples
    --------
    >>> import numpy as np, tempfile, plugsamp as ps
    >>> from plugsamp.store import open_store, write_store
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]), responses=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = open_store(write_store(folder + "/corpus", corpus))
    ...     found.n_tokens, found.digest() == corpus.digest()
    (8, True)
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise InputError("the folder is there already; overwrite=true replaces it", file=path)
    content: dict = {}
    parts = iter([corpus] if isinstance(corpus, Corpus) else corpus)
    return write_folder(path, KIND, _arrays(parts, content), content, overwrite)


def _arrays(parts: Iterator[Corpus], content: dict) -> Iterator[tuple[str, np.ndarray | Growing]]:
    """Names and arrays, the tokens first; what else is known at the end goes to `content`."""
    beside = _Beside(content)
    yield "words", Growing(np.int32, (piece for part in parts for piece in beside.tokens(part)))
    yield from beside.arrays()


class _Beside:
    """What stands beside the tokens, collected from the parts."""

    def __init__(self, content: dict):
        self.content = content
        self.first: Corpus | None = None
        self.n_documents, self.numbered, self.ids = 0, True, []
        self.columns: dict[str, list] = {}

    def tokens(self, part: Corpus) -> Iterator[np.ndarray]:
        first = self.first = part if self.first is None else self.first
        for name in ("vocabulary", "response_names", "covariate_names"):
            if getattr(part, name) != getattr(first, name):
                raise InputError(f"the parts of a corpus differ in their {name}")
        columns = {"lengths": part.lengths, "unknown": part.n_unknown}
        columns |= {f"field.{i}": values for i, values in enumerate(part.fields.values())}
        for name in ("responses", "covariates", "weights"):
            if (value := getattr(part, name)) is not None:
                columns[name] = value
        if self.n_documents and (
            set(columns) != set(self.columns) or list(part.fields) != list(first.fields)
        ):
            raise InputError("the parts of a corpus differ in their columns")
        for name, values in columns.items():
            self.columns.setdefault(name, []).append(values)
        self.numbered &= part.ids == tuple(map(str, range(part.n_documents)))
        self.ids += part.ids
        self.n_documents += part.n_documents
        return part.token_pieces()

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        if self.first is None:
            raise InputError("a corpus without any part")
        columns, content = self.columns, self.content
        yield "offsets", np.concatenate(([0], np.cumsum(np.concatenate(columns.pop("lengths")))))
        unknown = np.concatenate(columns.pop("unknown"))
        if unknown.any():
            yield "unknown", unknown
        yield from zip(("vocabulary", "vocabulary_ends"), encode_strings(self.first.vocabulary), strict=True)
        if not self.numbered:
            yield from zip(("ids", "ids_ends"), encode_strings(self.ids), strict=True)
        covariates = columns.pop("covariates", None)
        if covariates is not None and any(map(sp.issparse, covariates)):
            table = sp.vstack(list(map(sp.csr_array, covariates)), format="csr")
            yield "covariates_indptr", table.indptr
            yield "covariates_indices", table.indices
            yield "covariates_data", table.data
        elif covariates is not None:
            yield "covariates", np.concatenate(covariates)
        meanings = {}
        for name, values in columns.items():
            array, meanings[name] = encode_values(_joined(values))
            yield name, array
        content |= {
            "response_names": self.first.response_names,
            "covariate_names": self.first.covariate_names,
            "fields": list(self.first.fields),
            "meanings": meanings,
        }


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    if len({part.dtype.kind for part in parts}) > 1:
        parts = [part.astype(object) for part in parts]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def open_store(path, responses: bool = True, require_tokens: bool = True) -> Corpus:
    """The corpus of a store, its tokens mapped read-only; the store must stay as it is meanwhile.

    All digests are checked, and the tokens once looked at, piece by piece.

    Parameters
    ----------
    path : path-like
    responses : bool
        False leaves them out.
    require_tokens : bool
        As for `Corpus`.

    Raises
    ------
    InputError
        Not a store, or a damaged one.
    """
    try:
        arrays, content = read_folder(path, KIND, mapped=("words", "offsets"))
        words, offsets = arrays["words"], arrays["offsets"]
        if words.dtype != np.int32 or words.ndim != 1 or offsets.dtype != np.int64:
            raise InputError(f"words are {words.dtype}, offsets {offsets.dtype}")
        check_pointers(offsets, len(offsets) - 1, len(words), exact=True, axis="document")
        vocabulary = decode_strings(arrays["vocabulary"], arrays["vocabulary_ends"])
        columns = {name: decode_values(arrays[name], m) for name, m in content["meanings"].items()}
        with_responses = responses and "responses" in columns
        return Corpus.from_bag(
            Mapped(words, offsets, len(vocabulary)),
            columns["responses"] if with_responses else None,
            vocabulary,
            _covariates(arrays, content, len(offsets) - 1),
            decode_strings(arrays["ids"], arrays["ids_ends"]) if "ids" in arrays else None,
            content["response_names"] if with_responses else None,
            content["covariate_names"],
            weights=columns.get("weights"),
            fields={name: columns[f"field.{i}"] for i, name in enumerate(content["fields"])},
            n_unknown=arrays.get("unknown"),
            require_tokens=require_tokens,
        )
    except InputError as error:
        raise error.within(path) from None
    except StorageError as error:
        raise InputError(str(error), file=None if str(path) in str(error) else path) from None
    except (KeyError, IndexError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"the store is damaged: {error!r}", file=path) from None


def _covariates(arrays, content, n_documents: int):
    if "covariates_data" in arrays:
        parts = tuple(arrays[f"covariates_{part}"] for part in ("data", "indices", "indptr"))
        return sp.csr_array(parts, shape=(n_documents, len(content["covariate_names"])))
    return arrays.get("covariates")
