"""Words of texts: one Unicode form, letters with their marks, stop words as the pattern divides them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice

from plugsamp.naming import without_unseen

#: Patterns with a name. Letters are those of any alphabet, each with its marks (`_with_marks`).
PATTERNS = {"letters": r"[^\W\d_]{2,}", "blanks": r"\S+"}

#: Not blanks: whether "goal\u200bball" is one word or two is up to the pattern, and its readers see one.
INVISIBLE = re.compile("\u200b")

#: Scripts that are written without blanks between words: Chinese and Japanese characters, and Thai, Lao,
#: Burmese and Khmer; and what runs of them are longer than on average where there are no blanks.
_UNDIVIDED = (
    (re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"), 4.5),
    (re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"), 11.0),
)

#: Texts that are looked at for blanks, and characters of each.
SAMPLE, _CHARACTERS = 200, 2000


def prepared(text: str, lowercase: bool) -> str:
    """The text as the pattern sees it: composed, without unseen characters, perhaps in lower case."""
    if text.isascii():
        return text.lower() if lowercase else text
    text = unicodedata.normalize("NFC", without_unseen(text))
    return unicodedata.normalize("NFC", lower(text)) if lowercase else text


def lower(text: str) -> str:
    """The text in lower case; of the dotted capital I Python makes two characters, the second a mark."""
    return text.replace("\u0130", "i").lower()


def finder(pattern: str) -> Callable[[str], list[str]]:
    """What finds the tokens of a prepared text, by a pattern's name or a regular expression."""
    plain = re.compile(PATTERNS.get(pattern, pattern)).findall
    if pattern != "letters":
        return plain
    full = None

    def found(text: str) -> list[str]:
        nonlocal full
        if text.isascii():
            return plain(text)
        if full is None:
            full = re.compile(_with_marks()).findall
        return full(text)

    return found


@cache
def _with_marks() -> str:
    """The pattern of two letters or more, each with the marks that belong to it, and with joiners between."""
    spans, start = [], None
    for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F1)):
        mark = unicodedata.category(chr(code))[0] == "M" or code in (0x200C, 0x200D)
        if mark and start is None:
            start = code
        elif not mark and start is not None:
            spans.append(f"{chr(start)}-{chr(code - 1)}")
            start = None
    letter, mark = r"[^\W\d_]", f"[{''.join(spans)}]"
    return f"{letter}{mark}*{letter}+(?:{mark}+{letter}*)*"


def stop_parts(entries: Iterable[str], pattern: str) -> tuple[frozenset[str], list[str]]:
    """Stop words as the pattern divides them.

    Returns
    -------
    parts : frozenset of str
        In lower case: each entry, and the tokens that the pattern finds in it.
    divided : list of str
        The entries of several tokens, and those that are less than their token.
    """
    find = finder(pattern)
    parts, divided = set(), []
    for entry in entries:
        whole = prepared(entry, True)
        found = find(whole)
        parts.update(found, [whole])
        if found and found != [whole]:
            divided.append(entry)
    return frozenset(parts), divided


def undivided(texts: Iterable[str]) -> bool:
    """Whether texts are in scripts without blanks between words, and have none."""
    length = 0
    runs: list[list[int]] = [[] for _ in _UNDIVIDED]
    for text in islice(texts, SAMPLE):
        length += len(text[:_CHARACTERS])
        if not text.isascii():
            for found, (script, _) in zip(runs, _UNDIVIDED, strict=True):
                found.extend(map(len, script.findall(text[:_CHARACTERS])))
    return any(
        sum(found) > 0.3 * length and sum(found) > most * len(found)
        for found, (_, most) in zip(runs, _UNDIVIDED, strict=True)
    )
