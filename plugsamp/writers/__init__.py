"""Writers of corpora, one module a format; what `plugsamp convert` runs."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.files.lock import Lock

#: Format -> module, whose `write(corpus, target)` does the work. Its KEEPS names what it keeps beside words,
#: ids and responses; FOLDER says that it makes a folder.
FORMATS = {
    "jsonl": "plugsamp.writers.jsonl",
    "ldac": "plugsamp.writers.ldac",
    "mallet": "plugsamp.writers.mallet",
    "mm": "plugsamp.writers.matrix_market",
    "npz": "plugsamp.writers.npz",
    "store": "plugsamp.writers.store",
    "svmlight": "plugsamp.writers.svmlight",
    "uci": "plugsamp.writers.uci",
}


@dataclass
class Written:
    """What a writer made.

    Attributes
    ----------
    files : list of Path
    options : dict of str to str or int
        Of the reader of that name, beside ``path``: how to read it back.
    left_out : list of str
        What the format cannot hold.
    """

    files: list[Path] = field(default_factory=list)
    options: dict[str, object] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


class Target:
    """The files of one corpus; they appear together, when all is written, or not at all.

    Parameters
    ----------
    path : path-like
        Of the counts; names of other files are made of it. A name that ends in .gz is compressed.
    overwrite : bool
    """

    def __init__(self, path, overwrite: bool = False):
        self.path, self.overwrite = Path(path), overwrite
        self._done: list[tuple[Path, Path]] = []

    @property
    def stem(self) -> str:
        """What the names of all its files begin with."""
        name = self.path.name.removesuffix(".gz")
        return name.rpartition(".")[0] or name

    def beside(self, what: str) -> Path:
        """The name of a file beside the counts, such as ``news.vocab.txt``."""
        return self.path.with_name(f"{self.stem}.{what}.txt")

    def lock(self) -> Lock:
        """The lock of its files, whatever their formats: ``news.svm`` and ``news.mm`` share a vocabulary."""
        return Lock(self.path.absolute().parent, f".{self.stem}.lock", self.path)

    @contextmanager
    def open(self, path: Path | None = None, mode: str = "w"):
        """A file to write; text is UTF-8 with LF."""
        path = self.path if path is None else path
        if path.exists() and not self.overwrite:
            raise InputError("the file is there already; overwrite=true replaces it", file=path)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
        kind = mode if "b" in mode else f"{mode}t"
        self._done.append((temporary, path))
        # no name and time in the archive, so that equal corpora make equal files
        raw = open(temporary, "wb") if path.suffix == ".gz" else None  # noqa: SIM115
        if raw is None:
            with open(temporary, kind, **text) as file:
                yield file
            return
        with raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            if "b" in mode:
                yield packed
            else:
                with io.TextIOWrapper(packed, **text) as file:
                    yield file

    def names(self, names, what: str, path: Path) -> Path:
        """A name a line; refuses one that would not come back as it is."""
        with self.open(path) as file:
            for name in names:
                check_name(name, what, str(path))
                file.write(f"{name}\n")
        return path

    def finish(self) -> list[Path]:
        for temporary, path in self._done:
            os.replace(temporary, path)
        return [path for _, path in self._done]

    def abandon(self) -> None:
        for temporary, _ in self._done:
            temporary.unlink(missing_ok=True)


def check_name(name: str, what: str, where: str) -> None:
    """Refuse a name that a line of a text file cannot hold."""
    if not name or name != name.strip() or any(c in name for c in "\n\r\0") or name.startswith("\ufeff"):
        raise InputError(f"{what} {name!r} cannot stand on a line of its own in {where}; to=jsonl keeps it")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{what} {name!r} is not valid Unicode text, so no file of text can hold it"
        ) from None


def write(corpus: Corpus, path, to: str, overwrite: bool = False) -> Written:
    """Write a corpus.

    Parameters
    ----------
    corpus : Corpus
    path : path-like
        Plain, or .gz where the format is text. Words and labels of formats that hold counts alone are
        written beside it: NAME.vocab.txt and NAME.labels.txt.
    to : str
        One of `FORMATS`.
    overwrite : bool
        Replace files that are there.

    Returns
    -------
    Written

    Raises
    ------
    InputError
        A format that does not exist, a file that is there, or something that the format cannot hold and
        that must not be left out silently: then nothing is written.

    Examples
    --------
    >>> import numpy as np, tempfile, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]), vocabulary=["a", "b", "c"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = write(corpus, folder + "/docword.txt", to="uci")
    ...     [file.name for file in found.files]
    ['docword.txt', 'docword.vocab.txt']
    """
    return write_all([(corpus, path)], to, overwrite)[0]


def write_all(parts: Sequence[tuple[Corpus, Path]], to: str, overwrite: bool = False) -> list[Written]:
    """Write several corpora, as `write` does each, while no other process can write to the same names.

    Raises
    ------
    InputError
    Locked
        Another process, or thread, is writing one of them; nothing has been written then.
    """
    if to not in FORMATS:
        raise InputError(f"there is no writer {to!r}; formats are {', '.join(FORMATS)}")
    module = import_module(FORMATS[to])
    targets = [Target(path, overwrite) for _, path in parts]
    for target in targets:
        if target.path.is_dir() and not getattr(module, "FOLDER", False):
            raise InputError("this is a folder, the name of a file is needed", file=target.path)
        if not target.path.absolute().parent.is_dir():
            raise InputError("there is no such folder", file=target.path.parent)
    with ExitStack() as locks:
        for target in targets:
            locks.enter_context(target.lock())
        for target in targets:
            if target.path.exists() and not overwrite:
                raise InputError("the file is there already; overwrite=true replaces it", file=target.path)
        return [_write(corpus, target, module) for (corpus, _), target in zip(parts, targets, strict=True)]


def _write(corpus: Corpus, target: Target, module) -> Written:
    writer: Callable[[Corpus, Target], Written] = module.write
    try:
        written = writer(corpus, target)
        written.files += target.finish()
    finally:
        target.abandon()
    kept = getattr(module, "KEEPS", ())
    for part, name, there in (
        ("covariates", "covariates", corpus.covariates is not None),
        ("fields", "columns " + ", ".join(corpus.fields), bool(corpus.fields)),
        ("weights", "weights of documents", corpus.weights is not None),
    ):
        if there and part not in kept:
            written.left_out.append(name)
    return written


def labels_of(corpus: Corpus) -> list[str] | None:
    """The response of each document as text, or None where there are none.

    Raises
    ------
    InputError
        Several responses a document, or a missing one.
    """
    responses = corpus.responses
    if responses is None:
        return None
    if responses.ndim > 1:
        raise InputError("documents with several responses are kept by to=jsonl only")
    values = responses.tolist()
    missing = next((i for i, v in enumerate(values) if v is None or v != v), None)
    if missing is not None:
        raise InputError(
            f"document {corpus.ids[missing]!r} has no response; to=jsonl keeps such documents, "
            "corpus.response=none leaves all responses out"
        )
    return [v if isinstance(v, str) else repr(v) for v in values]


def unused(corpus: Corpus) -> list[str]:
    """What a format that lists the words of documents cannot hold."""
    used = np.unique(corpus.counts().indices)
    return [] if len(used) == corpus.n_words else ["words that no document has"]


def beside(corpus: Corpus, target: Target, options: Mapping) -> Written:
    """Words, and labels where there are some, in files of their own."""
    written = Written(options=dict(options))
    words = target.names(corpus.vocabulary, "word", target.beside("vocab"))
    written.options["vocabulary_path"] = str(words)
    labels = labels_of(corpus)
    if labels is not None:
        written.options["labels_path"] = str(target.names(labels, "label", target.beside("labels")))
    if corpus.ids != tuple(map(str, range(corpus.n_documents))):
        written.left_out.append("ids")
    return written
