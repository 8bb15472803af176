"""The named fields of formats that have them (JSON lines, tables)."""

from __future__ import annotations

import copy
import math
import re
import warnings
from dataclasses import dataclass
from typing import ClassVar, Self

from plugsamp.checks import date_hint, number_of
from plugsamp.errors import InputError, InputWarning
from plugsamp.lookalikes import MISSING, advice, tidy
from plugsamp.naming import normal
from plugsamp.readers.base import Wanted

#: Numbers with signs between thousands, which are read by nobody in the same way.
_GROUPED = re.compile(r"[-+]?\d{1,3}([.,' \u00a0\u202f\u2019]\d{3})+([.,]\d+)?")

#: Options that are names of fields.
NAMES = ("text", "label", "labels", "y", "id")


@dataclass(kw_only=True)
class FieldOptions:
    """Which field is what.

    Parameters
    ----------
    text, label, labels, id : str
        The names of the fields with the text, one label, several labels, the document's id. The id may be
        absent, or ``"none"``; documents are then called by their line.
    y : str or list of str
        The field with a real response, or the fields of several.
    response : str
        Which response is used: ``"label"``, ``"labels"``, ``"y"``, ``"none"``, or ``"auto"``, the
        first of them that was named and the file has. A loss for real responses looks for `y` first, and
        takes the numbers of `label` where there is none.
    missing_as : list of str, optional
        Labels and values of columns that mean "missing" besides the empty one, such as NA; in quotes, such as
        ``["NaN"]``, where they could be read as something else than text. Text never is missing.
    missing_labels : bool
        Whether a document may lack its response; otherwise one without is refused.
    weight : str, optional
        The field that says how much the response of each document counts, 0 or more.
    fields : list of str, optional
        Further fields to keep (`Corpus.fields`), of which covariates can be made; those that
        ``covariates.numeric`` and ``covariates.categorical`` name are kept anyway.
    split : str
        The field that divides training and test documents (``train`` and ``test``). ``"auto"`` uses
        a field ``split`` where there is one and neither `test_path` nor `test_size` is given;
        ``"none"`` uses none.
    test_value : str
        The value of the split field that marks test documents; where it is another than ``test``,
        all other values train.
    """

    text: str = "text"
    label: str = "label"
    labels: str = "labels"
    y: str | list[str] = "y"
    id: str | None = "id"
    response: str = "auto"
    missing_as: list[str] | None = None
    missing_labels: bool = False
    weight: str | None = None
    fields: list[str] | None = None
    split: str = "auto"
    test_value: str = "test"

    #: Of readers (`plugsamp.readers.base.Reader`).
    has_columns = True
    wanted = Wanted()
    field_names: ClassVar[tuple[str, ...]] = NAMES
    of_layout: ClassVar[tuple[str, ...]] = (*NAMES, "missing_as")

    def __post_init__(self):
        # Fields and values may look like numbers (fold=9), which configs read as such. Files are read in NFC.
        for name in {"text", "label", "labels", "split", "test_value", *self.field_names} - {"y", "id"}:
            setattr(self, name, normal(str(getattr(self, name))))
        self.id = None if self.id in (None, "none") else normal(str(self.id))
        if self.weight is not None:
            self.weight = normal(str(self.weight))
        for name in ("y", "fields"):
            value = getattr(self, name)
            if isinstance(value, list | tuple):
                setattr(self, name, [normal(str(one)) for one in value])
            elif value is not None:
                value = normal(str(value))
                setattr(self, name, [value] if name == "fields" else value)
        if isinstance(self.missing_as, str):
            self.missing_as = [self.missing_as]
        if not self.y:
            raise InputError("y= names no field; leave it out where there is no real response")

    def settled(self, fields, file) -> Self:
        """This reader for a file with these fields: of the names that were recalled, those it has.

        The others are what they are by default, with a warning where that is another field. A text that
        there is by neither name is asked for by the recalled one.
        """
        lacking = {
            name: default.default
            for name, default in self.__dataclass_fields__.items()
            if name in self.field_names and name in self.wanted.recalled
            and not set(_listed(getattr(self, name))) <= set(fields)
            and not (name == "text" and default.default not in fields)
        }  # fmt: skip
        if not lacking:
            return self
        for name, default in lacking.items():
            here = default is not None and set(_listed(default)) <= set(fields)
            instead = f"{default!r} is read" if here else "documents are known by their lines"
            if here or name == "id":
                said = f"{file}: there is no field {getattr(self, name)!r} as in the run ({name}); {instead}"
                warnings.warn(said, InputWarning, stacklevel=4)
        told = copy.copy(self)
        vars(told).update(lacking)
        return told

    @property
    def columns(self) -> list[str]:
        """The fields to keep, each once."""
        return list(dict.fromkeys([*(self.fields or ()), *map(normal, self.wanted.columns)]))

    @property
    def missing_values(self) -> frozenset[str]:
        return frozenset(map(str.strip, self.missing_as or ()))

    @property
    def may_lack_responses(self) -> bool:
        return self.missing_labels or self.wanted.responses == "none"

    def choose_response(self, fields, file, line) -> tuple[str | None, list[str]]:
        """(kind, field names) of the response, from the fields of the first document.

        There is more than one name only of several real responses. Test documents may lack the fields.
        """
        kinds = {"label": [self.label], "labels": [self.labels], "y": _listed(self.y)}
        optional = file is not None and file == self.test_path
        if self.response == "none":
            return None, []
        if self.response != "auto":
            if self.response not in kinds:
                raise InputError(f"response must be auto, label, labels, y or none, not {self.response!r}")
            kind = self.response
        else:
            kind = self._first_of(kinds, fields)
            if kind is None:
                return None, []
        if optional and not any(name in fields for name in kinds[kind]):
            return None, []
        names = [self.need(name, fields, file, line, kind) for name in kinds[kind]]
        if self.response == "auto" and kind == "label" and self.wanted.responses == "real":
            kind = "y"
        return kind, names

    def _first_of(self, kinds, fields) -> str | None:
        """The kind that was named, or whose default field is there."""
        order = ["y", "label", "labels"] if self.wanted.responses == "real" else list(kinds)
        defaults = {"label": "label", "labels": "labels", "y": "y"}
        # A field that was named and is not there is a mistake, not a reason to take another one.
        named = [kind for kind in order if kinds[kind] != [defaults[kind]]]
        if "labels" in named and kinds["labels"] == kinds["label"]:  # one field: several says more than one
            named = [kind for kind in named if kind != "label"]
        found = [kind for kind in named or order if all(name in fields for name in kinds[kind])]
        return next(iter(found or named), None)

    def weight_of(self, value, file, line) -> float:
        """The weight of a document, from its raw value."""
        weight = number_of(value)
        if not (weight == 0 or 1e-12 <= weight <= 1e12):
            raise InputError(
                f"the weight in {self.weight!r} must be a number, 0 or from 1e-12 to 1e12, found {value!r}",
                file=file,
                line=line,
            )
        return weight

    def column_value(self, name, value, file, line):
        """The raw value of a column, a float where it is to be numeric."""
        if name not in self.wanted.numeric:
            return value
        number = number_of(value)
        if math.isinf(number):
            found = list(value) if isinstance(value, tuple) else value
            hint = self.hint_of_number(value) or "; values that mean missing are named in missing_as"
            raise InputError(
                f"{name} must be a finite number, found {found!r}{hint}; a column of classes is named in "
                "covariates.categorical",
                file=file,
                line=line,
            )
        return number

    def hint_of_number(self, value, more: str = "") -> str:
        """What may be meant by a value that is no number; `more` is needed where it is missing."""
        if not isinstance(value, str):
            return ""
        if tidy(value) in MISSING:
            return f"; {advice([value.strip()])}{more} reads it as missing"
        grouped = _GROUPED.fullmatch(value.strip())
        if hasattr(self, "decimal") and re.fullmatch(r"\s*[-+]?\d*,\d+(e[-+]?\d+)?\s*", value, re.I):
            said = '; decimal="," reads decimal commas'
            return said + (", and commas between thousands must be removed" if grouped else "")
        return "; signs between thousands must be removed from the file" if grouped else date_hint(value)

    def choose_split(self, fields, file, line) -> str | None:
        """The name of the split field, or None."""
        elsewhere = self.test_path is not None or bool(self.test_size)
        given = "test_path" if self.test_path is not None else f"test_size={self.test_size:g}"
        if self.split == "none" or (self.split == "auto" and (elsewhere or "split" not in fields)):
            if self.split == "auto" and "split" in fields:
                warnings.warn(
                    f"{file}: there is a field 'split', and {given} chooses the test documents instead; "
                    "leave that out to use the field, or confirm it with split=none",
                    InputWarning,
                    stacklevel=2,
                )
            return None
        if elsewhere:
            raise InputError(
                f"split={self.split} and {given} both say which documents are for testing; give one"
            )
        return self.need("split" if self.split == "auto" else self.split, fields, file, line, "split")

    def is_test(self, value, file, line) -> bool:
        value = str(value)
        if value != self.test_value and self.test_value == "test" and value != "train":
            raise InputError(
                f"the split field must be train or test, found {value!r}; another value for test documents "
                "is named with test_value",
                file=file,
                line=line,
            )
        return value == self.test_value

    @staticmethod
    def need(name, fields, file, line, option: str | None = None) -> str:
        """`name`, which has to be among the fields; `option` is what said so."""
        if name not in fields:
            right = "" if option is None else f"; {option}=FIELD names the right one"
            raise InputError(
                f"there is no field {name!r}; fields are {', '.join(fields)}{right}", file=file, line=line
            )
        return name


def _listed(names: str | list[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)
