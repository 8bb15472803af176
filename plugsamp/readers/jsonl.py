"""JSON lines: an object a line with text, tokens or counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from plugsamp.checks import check_text
from plugsamp.counts import LIMIT
from plugsamp.errors import InputError
from plugsamp.lookalikes import key
from plugsamp.readers.base import TestFile
from plugsamp.readers.fields import NAMES, FieldOptions
from plugsamp.readers.files import read_lines
from plugsamp.readers.records import NO_ID, Records, TextReader, unique_ids


@dataclass(kw_only=True)
class JsonLines(FieldOptions, TestFile, TextReader):
    """JSON lines, plain or .gz; blank lines are skipped.

    Parameters
    ----------
    path : str
        The file, plain or .gz.
    tokens, counts : str
        The names of the fields that hold a list of words (taken as they are), or an object from word
        to count. Of text, tokens and counts the first that the file has is read.
    encoding : str
        Of the file, such as utf-8 or latin-1.
    Others : see `FieldOptions`, `plugsamp.readers.text.TextOptions`, `plugsamp.readers.base`.
    """

    path: str
    tokens: str = "tokens"
    counts: str = "counts"
    encoding: str = "utf-8"

    field_names: ClassVar[tuple[str, ...]] = (*NAMES, "tokens", "counts")
    of_layout: ClassVar[tuple[str, ...]] = (*field_names, "missing_as")

    def records(self, path: str) -> Records:
        kind = None
        contents, ids, lines, responses, tests, weights = [], [], [], [], [], []
        columns: dict[str, list] = {name: [] for name in self.columns}
        found_columns: set[str] = set()
        unlabelled: list[tuple[int, str]] = []
        label_type, missing = None, self.missing_values
        for line, source in enumerate(read_lines(path, self.encoding), 1):
            if not source or source.isspace():
                continue
            at = _Place(path, line)
            document = at.parse(source)
            if kind is None:
                settled = self.settled(document, path)
                kind, content = settled._content(document, at)
                first_fields = list(document)
                response, response_fields = settled.choose_response(document, path, line)
                split_field = self.choose_split(document, path, line)
            if content not in document:
                at.refuse(f"there is no field {content!r}; fields are {', '.join(document)}")
            contents.append(READ[kind](document[content], content, at))
            lines.append(line)
            ids.append(at.id(document.get(settled.id, line)))
            if split_field:
                self.need(split_field, document, path, line, "split")
                tests.append(self.is_test(document[split_field], path, line))
            if self.weight is not None:
                self.need(self.weight, document, path, line, "weight")
                weights.append(self.weight_of(document[self.weight], path, line))
            for name, values in columns.items():
                value = at.column(document.get(name), name)
                value = None if _is_one(value, missing) else value
                values.append(self.column_value(name, value, path, line))
            found_columns.update(columns.keys() & document.keys())
            if response:
                values = []
                for name in response_fields:
                    value = document.get(name)
                    if value is None or _is_one(value, missing):
                        unlabelled.append((line, name))
                        values.append(None)
                        continue
                    value, found = RESPONSE[response](value, name, at)
                    if label_type not in (None, found):
                        at.refuse(f"labels must be of one type, found {found} after {label_type}")
                    label_type = found
                    values.append(value)
                responses.append(values[0] if len(values) == 1 else values)
        if not contents:
            raise InputError("there are no documents in this file", file=path)
        for name in columns:
            if name not in found_columns:
                raise InputError(
                    f"no document has a field {name!r}; fields of the first are {', '.join(first_fields)}",
                    file=path,
                )
        if unlabelled and not self.may_lack_responses:
            raise InputError(
                f"{len(unlabelled)} {'document has' if len(unlabelled) == 1 else 'documents have'} no "
                f"{unlabelled[0][1]} (the first is on this line); "
                "pass missing_labels=true to keep them unlabelled, or response=none to use none",
                file=path,
                line=unlabelled[0][0],
            )
        return Records(
            str(path),
            kind,
            contents,
            unique_ids(ids, lines, path, NO_ID),
            response,
            _whole(responses) if label_type == "a number" and response == "label" else responses,
            tests or None,
            response_names=response_fields,
            weights=weights,
            fields=columns,
        )

    def _content(self, document, at) -> tuple[str, str]:
        fields = {"text": self.text, "tokens": self.tokens, "counts": self.counts}
        for kind, name in fields.items():
            if name in document:
                return kind, name
        at.refuse(
            f"there is no field {', '.join(map(repr, fields.values()))}; fields are {', '.join(document)}; "
            "text=FIELD, tokens=FIELD or counts=FIELD names the right one"
        )


class _Place:
    """A line of a file, for refusals."""

    def __init__(self, file, line):
        self.file, self.line = file, line

    def refuse(self, what, column=None):
        raise InputError(what, file=self.file, line=self.line, column=column)

    def parse(self, source: str) -> dict:
        if source.lstrip().startswith("["):
            self.refuse("this is a JSON array; JSON lines have one object a line")
        try:
            document = _DECODER.decode(source)
        except json.JSONDecodeError as error:
            self.refuse(f"not valid JSON: {error.msg}", error.colno)
        except InputError as error:
            self.refuse(error.what)
        except RecursionError:
            self.refuse("not a document: the JSON is nested too deeply")
        if not isinstance(document, dict):
            self.refuse(f"a document must be a JSON object, found {_type(document)}")
        return document

    def text(self, value: str, what: str) -> str:
        if not value.isascii():
            try:
                check_text([value], what)
            except InputError as error:
                self.refuse(error.what)
        return value

    def column(self, value, name: str):
        """The value of a column: null, a number, true or false, a string, or a list of strings."""
        if isinstance(value, str):
            return self.text(value, name)
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return tuple(self.text(v, name) for v in value)
        if isinstance(value, list | dict):
            self.refuse(f"{name} must be a string, a number or a list of strings, found {_type(value)}")
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            self.refuse(f"{name} is too large a number")
        return value

    def id(self, value) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.refuse(f"an id must be a string or a number, found {_type(value)}")
        return self.text(str(value), "id")


def _refuse_constant(name: str):
    raise InputError(f"{name} is not JSON; a missing value is null")


def _object(pairs):
    document = dict(pairs)
    if len(document) != len(pairs):
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(f'key "{key}" appears twice')
            seen.add(key)
    return document


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)


def _type(value) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "an object")


def _text(value, name, at):
    if not isinstance(value, str):
        at.refuse(f"{name} must be a string, found {_type(value)}")
    return at.text(value, name)


def _tokens(value, name, at):
    if not isinstance(value, list):
        at.refuse(f"{name} must be a list of strings, found {_type(value)}")
    for i, token in enumerate(value, 1):
        if not isinstance(token, str):
            at.refuse(f"token {i} is not a string: {_type(token)}")
        if not token:
            at.refuse(f"token {i} is empty")
        at.text(token, f"token {i}")
    return value


def _counts(value, name, at):
    if not isinstance(value, dict):
        at.refuse(f"{name} must be an object from word to count, found {_type(value)}")
    for word, count in value.items():
        at.text(word, "word")
        if isinstance(count, bool) or not isinstance(count, int | float) or count != count // 1:
            at.refuse(f'the count of "{word}" must be a whole number, found {count!r}')
        if not 0 <= count <= LIMIT:
            at.refuse(f'the count of "{word}", {count}, is outside 0..{LIMIT}')
    return {word: int(count) for word, count in value.items()}


def _label(value, name, at):
    """Labels compare as text."""
    if isinstance(value, bool):
        return ("true" if value else "false"), "true or false"
    if isinstance(value, list | dict):
        at.refuse(f"{name} must be one label, found {_type(value)}; several are read with labels=<field>")
    text = at.text(str(value), name)
    if not text.strip():
        at.refuse(f"{name} is empty; a missing label is null")
    return text, _type(value)


def _is_one(value, missing: frozenset[str]) -> bool:
    """Whether a value is a text that means "missing"."""
    return isinstance(value, str) and value.strip() in missing


def _whole(labels: list) -> list:
    """Numbers as labels: 1.0 is 1 where there is such a label."""
    same = {label: key(label) for label in {*labels} - {None}}
    known = set(same)
    return [same[label] if label and same[label] in known else label for label in labels]


def _labels(value, name, at):
    if not isinstance(value, list):
        at.refuse(f"{name} must be a list of labels, found {_type(value)}")
    return [_label(v, name, at)[0] for v in value], "a list"


def _number(value, name, at):
    if isinstance(value, bool) or not isinstance(value, int | float):
        at.refuse(f"{name} must be a number, found {_type(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if number in (float("inf"), float("-inf")):
        at.refuse(f"{name} is too large a number")
    return number, "a number"


READ = {"text": _text, "tokens": _tokens, "counts": _counts}
RESPONSE = {"label": _label, "labels": _labels, "y": _number}
