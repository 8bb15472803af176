"""JSON lines: an object a line with text, tokens or counts."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from plugsamp.checks import check_text
from plugsamp.counts import LIMIT
from plugsamp.errors import InputError, InputWarning
from plugsamp.lookalikes import key, several_in_one
from plugsamp.naming import normal
from plugsamp.readers.base import TestFile
from plugsamp.readers.batches import PartReader
from plugsamp.readers.fields import NAMES, FieldOptions
from plugsamp.readers.files import batched_lines
from plugsamp.readers.records import NO_ID, Records, unique_ids


@dataclass(kw_only=True)
class JsonLines(FieldOptions, TestFile, PartReader):
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

    def parts(self, path: str, size: int | None) -> Iterator[_Part]:
        part, line = None, 0
        for lines in batched_lines(path, self.encoding, size):
            for source in lines:
                line += 1
                if not source or source.isspace():
                    continue
                at = _Place(path, line)
                document = at.parse(source)
                if part is None:
                    part = _Part.begun(self, document, at)
                part.add(document, at)
            if part is not None and size is not None:
                yield part
        if part is None:
            raise InputError("there are no documents in this file", file=path)
        part.check_columns(path)
        if size is None:
            yield part

    def _content(self, document, at) -> tuple[str, str]:
        fields = {"text": self.text, "tokens": self.tokens, "counts": self.counts}
        for kind, name in fields.items():
            if name in document:
                return kind, name
        at.refuse(
            f"there is no field {', '.join(map(repr, fields.values()))}; fields are {', '.join(document)}; "
            "text=FIELD, tokens=FIELD or counts=FIELD names the right one"
        )


@dataclass
class _Part:
    """The documents of a part of a file, as far as they are read.

    Attributes
    ----------
    reader : JsonLines
        Settled for the fields of the first document of the file.
    kind, content, response, response_fields, split_field, first_fields
        What the first document says of all.
    """

    reader: JsonLines
    path: str
    kind: str
    content: str
    response: str | None
    response_fields: list[str]
    split_field: str | None
    first_fields: list[str]
    label_type: str | None = None
    found_columns: set[str] = field(default_factory=set)
    contents: list = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    responses: list = field(default_factory=list)
    tests: list[bool] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    unlabelled: list[tuple[int, str]] = field(default_factory=list)
    columns: dict[str, list] = field(default_factory=dict)

    @classmethod
    def begun(cls, reader: JsonLines, document: dict, at: _Place) -> _Part:
        settled = reader.settled(document, at.file)
        kind, content = settled._content(document, at)
        response, names = settled.choose_response(document, at.file, at.line)
        split = reader.choose_split(document, at.file, at.line)
        part = cls(settled, at.file, kind, content, response, names, split, list(document))
        part.columns = {name: [] for name in reader.columns}
        return part

    def forget(self) -> None:
        """Make room for the documents that follow."""
        for name in ("contents", "ids", "lines", "responses", "tests", "weights", "unlabelled"):
            setattr(self, name, [])
        self.columns = {name: [] for name in self.columns}

    def add(self, document: dict, at: _Place) -> None:
        reader, path, line = self.reader, self.path, at.line
        if self.content not in document:
            at.refuse(f"there is no field {self.content!r}; fields are {', '.join(document)}")
        self.contents.append(READ[self.kind](document[self.content], self.content, at))
        self.lines.append(line)
        self.ids.append(at.id(document.get(reader.id, line)))
        if self.split_field:
            reader.need(self.split_field, document, path, line, "split")
            self.tests.append(reader.is_test(document[self.split_field], path, line))
        if reader.weight is not None:
            reader.need(reader.weight, document, path, line, "weight")
            self.weights.append(reader.weight_of(document[reader.weight], path, line))
        missing = reader.missing_values
        for name, values in self.columns.items():
            value = at.column(document.get(name), name)
            value = None if _is_one(value, missing) else value
            values.append(reader.column_value(name, value, path, line))
        self.found_columns.update(self.columns.keys() & document.keys())
        if self.response:
            values = [self._response(document.get(name), name, missing, at) for name in self.response_fields]
            self.responses.append(values[0] if len(values) == 1 else values)

    def _response(self, value, name: str, missing: frozenset[str], at: _Place):
        if value is None or _is_one(value, missing):
            self.unlabelled.append((at.line, name))
            return None
        value, found = RESPONSE[self.response](value, name, at)
        if self.label_type not in (None, found):
            at.refuse(f"labels must be of one type, found {found} after {self.label_type}")
        self.label_type = found
        return value

    def check_columns(self, path: str) -> None:
        """Refuse columns that no document had."""
        for name in self.columns:
            if name not in self.found_columns:
                raise InputError(
                    f"no document has a field {name!r}; fields of the first are "
                    f"{', '.join(self.first_fields)}",
                    file=path,
                )

    def records(self) -> Records:
        if self.unlabelled and not self.reader.may_lack_responses:
            n, (line, name) = len(self.unlabelled), self.unlabelled[0]
            raise InputError(
                f"{n} {'document has' if n == 1 else 'documents have'} no {name} (the first is on this "
                "line); pass missing_labels=true to keep them unlabelled, or response=none to use none",
                file=self.path,
                line=line,
            )
        if self.response in ("label", "labels"):
            lists = (r if isinstance(r, list) else [r] for r in self.responses if r is not None)
            if (found := several_in_one({label for one in lists for label in one})) is not None:
                warnings.warn(f"{self.path}: {found[0]}; a list has several", InputWarning, stacklevel=5)
        numbers = self.label_type == "a number" and self.response == "label"
        return Records(
            str(self.path),
            self.kind,
            self.contents,
            unique_ids(self.ids, self.lines, self.path, NO_ID),
            self.response,
            _whole(self.responses) if numbers else self.responses,
            self.tests or None,
            response_names=self.response_fields,
            weights=self.weights,
            fields=self.columns,
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
        except ValueError:  # of Python, for a whole number of more than 4,300 digits
            self.refuse("not a document: a number has thousands of digits")
        if not isinstance(document, dict):
            self.refuse(f"a document must be a JSON object, found {_type(document)}")
        if source.isascii() and "\\u" not in source:
            return document
        composed = {normal(name): value for name, value in document.items()}
        if len(composed) != len(document):
            names = [normal(name) for name in document]
            twice = next(name for name in names if names.count(name) > 1)
            self.refuse(f'key "{twice}" appears twice, in two Unicode forms')
        return composed

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
        several = f"; labels={name} reads several" if isinstance(value, list) else ""
        at.refuse(f"{name} must be one label, found {_type(value)}{several}")
    if value is None:
        at.refuse(f"a label in the list of {name} is null; leave it out, or write null for the whole list")
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
