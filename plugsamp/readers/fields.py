"""The named fields of formats that have them (JSON lines, tables)."""

from __future__ import annotations

from dataclasses import dataclass

from plugsamp.errors import InputError


@dataclass(kw_only=True)
class FieldOptions:
    """Which field is what.

    Parameters
    ----------
    text, label, labels, y, id : str
        The names of the fields with the text, one label, several labels, a real response, the
        document's id. The id may be absent; documents are then called by their line.
    response : str
        Which response is used: ``"label"``, ``"labels"``, ``"y"``, ``"none"``, or ``"auto"``, the
        first of them that the file has.
    missing_labels : bool
        Whether a document may lack its response; otherwise one without is refused.
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
    y: str = "y"
    id: str = "id"
    response: str = "auto"
    missing_labels: bool = False
    split: str = "auto"
    test_value: str = "test"

    def __post_init__(self):
        # Fields and values may look like numbers (fold=9), which configs read as such.
        for name in ("text", "label", "labels", "y", "id", "split", "test_value"):
            setattr(self, name, str(getattr(self, name)))

    def choose_response(self, fields, file, line) -> tuple[str | None, str | None]:
        """(kind, field name) of the response, from the fields of the first document."""
        named = {"label": self.label, "labels": self.labels, "y": self.y}
        if self.response == "none":
            return None, None
        if self.response == "auto":
            chosen = next(((k, f) for k, f in named.items() if f in fields), (None, None))
            if chosen[0] is None:
                # A field that was named and is not there is a mistake, not a corpus without responses.
                defaults = FieldOptions()
                for kind, name in named.items():
                    if name != getattr(defaults, kind):
                        self.need(name, fields, file, line)
            return chosen
        if self.response not in named:
            raise InputError(f"response must be auto, label, labels, y or none, not {self.response!r}")
        return self.response, self.need(named[self.response], fields, file, line)

    def choose_split(self, fields, file, line) -> str | None:
        """The name of the split field, or None."""
        elsewhere = self.test_path is not None or bool(self.test_size)
        if self.split == "none" or (self.split == "auto" and (elsewhere or "split" not in fields)):
            return None
        if elsewhere:
            given = "test_path" if self.test_path is not None else "test_size"
            raise InputError(
                f"split={self.split} and {given} both say which documents are for testing; give one"
            )
        return self.need("split" if self.split == "auto" else self.split, fields, file, line)

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
    def need(name, fields, file, line) -> str:
        if name not in fields:
            raise InputError(
                f"there is no field {name!r}; fields are {', '.join(fields)}", file=file, line=line
            )
        return name
