"""The default corpus: the docstrings of the installed numpy, scipy and scikit-learn."""

from __future__ import annotations

import importlib
import inspect
import io
import pkgutil
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import numpy as np

from plugsamp.errors import InputError
from plugsamp.readers.records import Records, TextReader

PACKAGES = ("numpy", "scipy", "sklearn")

#: Not documentation of the package's subject, or, for `experimental`, changing something when imported.
LEFT_OUT = frozenset(
    {"callback", "compat", "conftest", "core", "ctypeslib", "distutils", "exceptions", "experimental"}
    | {"externals", "f2py", "matlib", "misc", "odr", "setup", "testing", "tests", "typing", "version"}
)

#: In their modules only once `sklearn.experimental` has been imported, by whomever.
EXPERIMENTAL = frozenset({"HalvingGridSearchCV", "HalvingRandomSearchCV", "IterativeImputer"})

#: A paragraph or parameter that more docstrings share is boilerplate (backend tables, "X : array-like ...").
SHARED = 5

#: Documents whose words overlap by more than this (cosine of word counts) are one document.
SAME = 0.8


@dataclass(kw_only=True)
class Docstrings(TextReader):
    """Docstrings of public functions, classes and methods; the label is the subpackage.

    Real text without a download, for a first run: it changes with the releases of those packages.
    Doctest code and its output, section headings, and texts that all but repeat another one (inherited
    methods, boilerplate) are left out.

    Parameters
    ----------
    min_class_size : int
        Subpackages with fewer documents are left out.
    min_length : int
        Docstrings with fewer words are left out.
    Others : see `plugsamp.readers.text.TextOptions` and `plugsamp.readers.base.SplitOptions`; a fifth of the
        documents are for testing, and words of more than 20 % of the documents are left out, which
        are those of docstrings as such (array, returns, default).
    """

    min_class_size: int = 30
    min_length: int = 20
    max_df: float = 0.2
    test_size: float = 0.2

    def records(self, path=None) -> Records:
        found = sorted(_public_docstrings())
        texts = without_boilerplate([(name.rpartition(".")[2], prose(doc)) for name, _, doc in found])
        long = [i for i, text in enumerate(texts) if len(WORD.findall(text)) >= self.min_length]
        kept = [long[i] for i in distinct([texts[i] for i in long])]
        sizes = Counter(found[i][1] for i in kept)
        kept = [i for i in kept if sizes[found[i][1]] >= self.min_class_size]
        if not kept:
            raise InputError(
                f"no subpackage has {self.min_class_size} docstrings of {self.min_length} words or more"
            )
        return Records(
            "docstrings",
            "text",
            [texts[i] for i in kept],
            [found[i][0] for i in kept],
            "label",
            [found[i][1] for i in kept],
        )


def _public_docstrings() -> Iterator[tuple[str, str, str]]:
    """(name, subpackage, docstring) of each public object, once."""
    seen: set[int] = set()
    for module in _public_modules():
        # vars, not getattr: modules that warn of their own deprecation on access stay silent.
        for name, value in sorted(vars(module).items()):
            if name.startswith("_") or name in EXPERIMENTAL or id(value) in seen or not _is_documented(value):
                continue
            home = getattr(value, "__module__", None) or module.__name__
            if home.split(".")[0] not in PACKAGES:
                continue
            seen.add(id(value))
            label = _label(home if home.count(".") else module.__name__)
            full = f"{module.__name__}.{name}"
            yield full, label, value.__doc__
            if inspect.isclass(value):
                for method, inner in sorted(vars(value).items()):
                    doc = getattr(inner, "__doc__", None)
                    if not method.startswith("_") and callable(inner) and isinstance(doc, str):
                        yield f"{full}.{method}", label, doc


def _label(module: str) -> str:
    parts = [p for p in module.split(".") if not p.startswith("_")]
    return ".".join(parts[:2])


def _is_documented(value) -> bool:
    kinds = inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, np.ufunc)
    return kinds and isinstance(getattr(value, "__doc__", None), str)


def _public_modules():
    """The packages, their public subpackages and modules, and the modules of those."""
    for package in PACKAGES:
        names = [package]
        for name in names:
            module = _import(name)
            if module is None:
                continue
            yield module
            if name.count(".") < 2:
                inside = sorted(m.name for m in pkgutil.iter_modules(getattr(module, "__path__", ())))
                names += [f"{name}.{m}" for m in inside if not m.startswith("_") and m not in LEFT_OUT]


def _import(name: str):
    """A module, or None if it does not import here (an optional dependency, say)."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except Exception:
            return None


WORD = re.compile(r"[^\W\d_]{2,}")
WORD_OR_NAME = re.compile(r"\w+")
_UNDERLINE = re.compile(r"[-=~^]{3,}")
_DIRECTIVE = re.compile(r"\.\. [\w:-]+::")
_PATH = re.compile(r"\b(?:numpy|np|scipy|sklearn)(?:\.\w+)*\.(\w+)")
_URL = re.compile(r"https?://\S+|\bdoi:\S+|\b0x[0-9a-f]+\b", re.IGNORECASE)
_ROLE = re.compile(r":(?:\w+:)?\w+:`")


def prose(docstring: str) -> str:
    """The text of a docstring: no doctests and their output, headings, directives, links or module paths."""
    lines = inspect.cleandoc(docstring).splitlines()
    kept: list[str] = []
    in_doctest = False
    for i, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith(">>>"):
            in_doctest = True
        elif not bare:
            in_doctest = False
        below = lines[i + 1].strip() if i + 1 < len(lines) else ""
        if in_doctest or _UNDERLINE.fullmatch(bare) or _DIRECTIVE.match(bare):
            continue
        if bare and _UNDERLINE.fullmatch(below):
            continue
        kept.append(line.rstrip())
    text = _ROLE.sub("`", _URL.sub(" ", "\n".join(kept)))
    return _PATH.sub(r"\1", text).strip()


_ITEM = re.compile(r"\*{0,2}\w[\w, *]* : ")
_SIGNATURE = re.compile(r"[\w.]+\(.*\)( -> .*)?")


def blocks(text: str) -> list[str]:
    """Paragraphs, and the items of parameter lists each by itself; signatures are left out."""
    found: list[list[str]] = [[]]
    indented = False
    for line in text.splitlines():
        inner = line[:1] in (" ", "\t")
        if not line.strip() or (not inner and (indented or _ITEM.match(line))):
            found.append([])
        indented = inner
        found[-1].append(line)
    joined = ("\n".join(lines).strip() for lines in found)
    return [block for block in joined if block and not _SIGNATURE.fullmatch(" ".join(block.split()))]


def without_boilerplate(named: list[tuple[str, str]]) -> list[str]:
    """Texts without the blocks that many of them share, the name of the object aside."""
    split = [[(block, _key(block, name)) for block in blocks(text)] for name, text in named]
    shared = Counter(key for parts in split for key in {key for _, key in parts})
    return ["\n\n".join(block for block, key in parts if shared[key] <= SHARED) for parts in split]


def _key(block: str, name: str) -> str:
    return " ".join("" if word == name else word for word in WORD_OR_NAME.findall(block)).lower()


def distinct(texts: list[str]) -> list[int]:
    """The texts that do not all but repeat an earlier one, in order."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    X = normalize(
        CountVectorizer(token_pattern=WORD.pattern, dtype=np.float64).fit_transform(texts).sqrt()
    ).tocsr()
    kept = np.ones(len(texts), dtype=bool)
    for start in range(0, len(texts), 512):
        # Blocks of the lower triangle; a block of similarities is dense, all of them would not fit.
        near = (X[start : start + 512] @ X[: start + 512].T).tocoo()
        close = near.data > SAME
        later, earlier = near.row[close] + start, near.col[close]
        order = np.lexsort((earlier, later))
        for i, j in zip(later[order].tolist(), earlier[order].tolist(), strict=True):
            if j < i and kept[j]:
                kept[i] = False
    return np.flatnonzero(kept).tolist()
