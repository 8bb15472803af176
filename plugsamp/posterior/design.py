"""Fields of documents as the columns of a regression: fields by name, or a formula."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from plugsamp.checks import listed, shortened
from plugsamp.errors import InputError

INTERCEPT = "Intercept"

#: A column whose part that the earlier ones do not explain has less than this share of its length is refused.
COLLINEAR = 1e-9

#: What makes a formula of a text that is no field.
_OPERATORS = re.compile(r"[~+*:()/^]")


@dataclass(frozen=True)
class Design:
    """The columns of a regression.

    Attributes
    ----------
    matrix : float64 (n, P)
        Of full rank; the first column is the intercept, unless a formula leaves it out.
    terms : tuple of P str
        ``Intercept``, ``year``, ``party=Labour``, ``party=Labour:year``.
    rows : int64 (n,)
        The documents that have all fields.
    references : dict of str to str
        The value of each categorical field that the others are compared with.
    formula : str
    """

    matrix: np.ndarray
    terms: tuple[str, ...]
    rows: np.ndarray
    references: dict[str, str]
    formula: str


def design(fields: str | Sequence[str], corpus) -> Design:
    """Return the columns that a regression on fields of documents has.

    Parameters
    ----------
    fields : str or list of str
        A field, several fields, or a formula of fields as formulaic takes it (as in R):
        ``"party * year"``, ``"~ C(year) + party"``. Numbers enter as they are. Texts and booleans are
        categories, compared with their most frequent value.
    corpus : Corpus

    Raises
    ------
    InputError
        A field that is not there, has one value or holds lists; terms of which one follows from the others.
    ImportError
        A formula, and formulaic is not installed.
    """
    names = [fields] if isinstance(fields, str) else list(fields)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError("fields must be a field, a list of fields, or a formula of fields")
    formula = " + ".join(names)
    if len(names) == 1 and names[0] not in corpus.fields and _OPERATORS.search(names[0]):
        return _checked(_of_formula(names[0], corpus))
    columns = {name: column_of(name, corpus) for name in names}
    present = np.flatnonzero(~np.any([_absent(v) for v in columns.values()], axis=0))
    parts, terms, references = [np.ones(len(present))], [INTERCEPT], {}
    for name, values in columns.items():
        values = values[present]
        if values.dtype.kind == "f":
            parts.append(values)
            terms.append(name)
            continue
        levels = _levels(values)
        references |= {name: levels[0]} if levels else {}
        for level in levels[1:]:
            parts.append((values == level).astype(float))
            terms.append(f"{name}={level}")
        if len(levels) < 2:
            parts.append(np.ones(len(present)))  # which `_checked` refuses
            terms.append(name)
    return _checked(Design(np.column_stack(parts), tuple(terms), present, references, formula))


def column_of(name: str, corpus) -> np.ndarray:
    """Return a field as float64 (NaN is missing), or as objects that are texts (None is missing)."""
    if name not in corpus.fields:
        have = listed(list(map(repr, corpus.fields)), 20) or "none"
        raise InputError(
            f"the documents have no field {name!r}; their fields are {have} (Corpus.from_frame and readers "
            "keep the columns named in fields=[...])"
        )
    values = corpus.fields[name].tolist()
    several = next((i for i, v in enumerate(values) if isinstance(v, tuple)), None)
    if several is not None:
        raise InputError(
            f"the field {name!r} of document {corpus.ids[several]!r} holds a list, "
            f"{shortened(values[several])}; an effect needs one value a document: make a field of 0 and 1 "
            "for each value of interest"
        )
    known = [v for v in values if v is not None and v == v]
    if known and all(isinstance(v, int | float) and not isinstance(v, bool) for v in known):
        return np.array([np.nan if v is None else v for v in values], dtype=float)
    texts = np.empty(len(values), dtype=object)
    texts[:] = [None if v is None or v != v else _text(v) for v in values]
    return texts


def _levels(values) -> list[str]:
    """The values of a category, the most frequent first, which is the reference; of equal ones by name."""
    return [
        value for value, _ in sorted(Counter(values.tolist()).items(), key=lambda item: (-item[1], item[0]))
    ]


def _text(value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _absent(values) -> np.ndarray:
    return np.isnan(values) if values.dtype.kind == "f" else np.equal(values, None).astype(bool)


def _of_formula(formula: str, corpus) -> Design:
    try:
        import pandas
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError:
        raise ImportError(
            "a formula needs formulaic: pip install 'plugsamp[effects]'; fields by name, such as "
            "['party', 'year'], do not"
        ) from None
    right = formula.strip().removeprefix("~")
    if "~" in right:
        raise InputError(f"the formula {formula!r} has a left side, which is always the topics' proportions")
    try:
        parsed = Formula(right)
        named = sorted(name for name in parsed.required_variables if name in corpus.fields)
        unknown = [n for n in parsed.required_variables if n not in corpus.fields and n.isidentifier()]
        if unknown:
            column_of(unknown[0], corpus)
        columns = {name: column_of(name, corpus) for name in named}
        absent = [_absent(values) for values in columns.values()]
        present = np.flatnonzero(~np.any(absent, axis=0)) if absent else np.arange(corpus.n_documents)
        columns = {name: values[present] for name, values in columns.items()}
        levels = {name: _levels(values) for name, values in columns.items() if values.dtype == object}
        for name, found in levels.items():
            columns[name] = pandas.Categorical(columns[name], categories=found)
        frame = pandas.DataFrame(columns)
        matrix = parsed.get_model_matrix(frame, na_action="raise")
    except FormulaicError as error:
        raise InputError(f"the formula {formula!r} cannot be used: {error}") from None
    references = {name: found[0] for name, found in levels.items() if found}
    terms = tuple(re.sub(r"\[(?:T\.)?([^\]]*)\]", r"=\1", str(name)) for name in matrix.columns)
    return Design(np.asarray(matrix, dtype=float), terms, present, references, right.strip())


def _checked(found: Design) -> Design:
    """Refuse columns that are not finite, or of which one follows from those before it."""
    n, p = found.matrix.shape
    if n <= p:
        terms = listed(list(found.terms), 8)
        raise InputError(f"{n} documents have all fields, which are too few for {p} terms ({terms})")
    if not np.isfinite(found.matrix).all():
        j = int(np.argmax(~np.isfinite(found.matrix).all(axis=0)))
        raise InputError(f"the term {found.terms[j]!r} is not finite for every document")
    lengths = np.linalg.norm(found.matrix, axis=0)
    left = np.abs(np.diag(qr(found.matrix / np.where(lengths > 0, lengths, 1.0), mode="r")[0][:p]))
    if (left < COLLINEAR).any():
        j = int(np.argmax(left < COLLINEAR))
        constant = np.ptp(found.matrix[:, j]) == 0
        why = "is the same for all documents" if constant else "follows from the terms before it"
        raise InputError(f"the term {found.terms[j]!r} {why}, so it has no effect of its own; leave it out")
    return found
