"""Texts that a reader of a file takes for the same, or for none: labels and values of columns."""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from plugsamp.checks import listed
from plugsamp.errors import InputWarning
from plugsamp.naming import tidy

#: What programs write where there is no value, beside pandas' own list (``pandas.read_csv``, `na_values`).
MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"}
    | {"NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
    | {"-", "--", "?", ".", "#n/a", "na", "n.a.", "Null", "NAN", "Nan", "NONE", "#VALUE!", "#REF!", "#DIV/0!"}
)

#: What looks like another character: dashes, quotation marks, letters of Cyrillic and Greek.
_TWINS = str.maketrans(
    "\u2010\u2011\u2012\u2013\u2014\u2212\u2018\u2019\u02bc\u201c\u201d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "------'''\"\"ABEKMHOPCTXaeopcyxiABEZHIKMNOPTYX",
    "\u200c\u200d",
)

_WHOLE = re.compile(r"(-?\d+)\.0+")


def tidied(values: Iterable) -> list:
    """`tidy` of each text of a list; of lists of texts each; all else as it is."""
    seen: dict[str, str] = {}

    def one(value):
        if isinstance(value, list | tuple):
            return type(value)(map(one, value))
        if not isinstance(value, str):
            return value
        if value not in seen:
            seen[value] = tidy(value)
        return seen[value]

    return list(map(one, values))


def key(text: str) -> str:
    """What is the same for one value however it is written: "1" of "1.0" too."""
    text = tidy(text)
    number = _WHOLE.fullmatch(text)
    return number[1] if number else text


def matched(values: Iterable, known: Collection) -> dict:
    """For each text that is not known the known one that is the same value, where there is just one."""
    strangers = {v for v in values if isinstance(v, str) and v not in known}
    if not strangers:
        return {}
    by_key: dict[str, list] = defaultdict(list)
    for value in known:
        if isinstance(value, str):
            by_key[key(value)].append(value)
    found = {v: by_key.get(key(v), ()) for v in strangers}
    return {v: same[0] for v, same in found.items() if len(same) == 1}


def advice(names: Collection[str]) -> str:
    """How such names are read as missing."""
    quoted = ",".join(json.dumps(name, ensure_ascii=False) for name in sorted(names))
    return f"missing_as=[{quoted}]"


def looks_missing(values: Iterable) -> list[str]:
    """Those of the texts that programs write for a missing value, each once."""
    return sorted({v for v in values if isinstance(v, str) and tidy(v) in MISSING})


def several_in_one(labels: Collection[str]) -> tuple[str, str] | None:
    """What to say of labels that look like several each, and what divides them; None where none does.

    Such a label has parts each of which stands alone or in another label too.
    """
    for delimiter in ",;|":
        parts = {label: [part.strip() for part in label.split(delimiter)] for label in labels}
        times = Counter(part for one in parts.values() for part in set(one))
        alike = sorted(v for v, one in parts.items() if len(one) > 1 and all(p and times[p] > 1 for p in one))
        if alike:
            return f"labels such as {alike[0]!r} look like several, and each is taken as one", delimiter
    return None


def warn_of(values: Iterable, what: str, stacklevel: int = 3) -> None:
    """Warn of texts that look missing beside others, and of those that look alike.

    Parameters
    ----------
    values : iterable
        Different values; those that are no text are passed over.
    what : str
        What they are, for the message: "labels".
    """
    texts = sorted({v for v in values if isinstance(v, str)})
    absent = looks_missing(texts)
    if absent and len(absent) < len(texts):
        warnings.warn(
            f"{listed(list(map(repr, absent)), 5)} among the {what} "
            f"{'looks' if len(absent) == 1 else 'look'} like a missing value and "
            f"{'is' if len(absent) == 1 else 'are'} taken as a value like any other; "
            f"{advice(absent)} reads it as missing (labels need missing_labels=true as well); in Python "
            "it is None",
            InputWarning,
            stacklevel=stacklevel,
        )
    for how, group in _alike(texts):
        warnings.warn(
            f"the {what} {listed(list(map(repr, group)), 5)} are different values, though they {how}",
            InputWarning,
            stacklevel=stacklevel,
        )


def _alike(texts: list[str]) -> list[tuple[str, list[str]]]:
    """The first group of different texts in each way in which they are alike, and the way."""
    ways = (
        ("differ only in blanks or in characters that look the same", tidy),
        ("differ only in the case of letters", lambda text: tidy(text).lower()),
        ("are equal numbers", _number),
        ("look alike", lambda text: unicodedata.normalize("NFKC", tidy(text)).translate(_TWINS).casefold()),
    )
    found, told = [], set()
    for how, same in ways:
        groups: dict[object, list[str]] = defaultdict(list)
        for text in texts:
            groups[same(text)].append(text)
        several = [g for k, g in groups.items() if len(g) > 1 and k is not None]
        alike = next((g for g in several if not told.issuperset(g)), None)
        if alike is not None:
            found.append((how, alike))
            told.update(alike)
    return found


def _number(text: str) -> float | None:
    if "_" in text:
        return None
    try:
        number = float(re.sub(r",(?!\d{3}$)", ".", text, count=1))
    except ValueError:
        return None
    return number if number == number else None
