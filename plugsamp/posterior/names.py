"""Names that people give to topics, in files that the page writes and the command takes."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from plugsamp.errors import InputError

#: The file of a run folder that is taken without being asked for.
FILE = "topic_names.json"

#: Characters of a name.
LONGEST = 80


#: Columns of topics.csv that say whose a topic is.
OWNERS = ("chain", "task")


def topic_key(member: int | None, topic) -> str:
    """What a topic is called in files: its number, of separate chains after that of the model: ``3.17``."""
    return str(topic) if member is None else f"{member}.{topic}"


@dataclass(frozen=True)
class Naming:
    """What a model's topics are called in files of names (`plugsamp.posterior.parts.naming`).

    Attributes
    ----------
    digest : str
        Written into such a file.
    keys : tuple of str
        The topics.
    prefixes : mapping of str to str
        By each digest that a file may hold what is put before its topics: nothing where they are the
        model's, ``"3."`` where they are those of its third part.
    unsaid : str
        The same for topics that are none of the model's, where the file holds no digest.
    owners : mapping of str to str
        The same by the name of a part, of tables that say whose a topic is.
    """

    digest: str
    keys: tuple[str, ...]
    prefixes: Mapping[str, str]
    unsaid: str = ""
    owners: Mapping[str, str] = field(default_factory=dict)

    def key(self, found: str, prefix: str | None = None) -> str | None:
        """The topic that a file calls so; None where there is none."""
        if prefix is None:
            prefix = "" if found in self._known else self.unsaid
        return prefix + found if prefix + found in self._known else None

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.keys)


def read(path, naming: Naming) -> dict[str, str]:
    """Names by topic from JSON, ``{"model": DIGEST, "names": {"3": "sports"}}``, or CSV with topic and name.

    Parameters
    ----------
    path : path-like
    naming : Naming
        Of the model whose topics they are; a file that says another one is refused.

    Raises
    ------
    InputError
        With the file, and the line where it has one.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except UnicodeDecodeError as error:
        raise InputError(f"this is not UTF-8 ({error.reason} at byte {error.start})", file=path) from None
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror}", file=path) from None
    if path.suffix.lower() == ".csv":
        pairs = list(_of_csv(text, path, naming))
    else:
        pairs = list(_of_json(text, path, naming))
    names = checked(pairs, naming, path)
    return {key: name for key, name in names.items() if name}


def checked(pairs, naming: Naming, path: Path | None = None) -> dict[str, str]:
    """Return names by topic of (topic, prefix, name, line of the file); empty names stay.

    Raises
    ------
    InputError
        A topic that there is not, or is named twice; a name that is no text, too long, or cannot be written.
    """
    names: dict[str, str] = {}
    for found, prefix, name, line in pairs:
        key = naming.key(found, prefix)
        if key is None:
            known = f"topics are {naming.keys[0]} to {naming.keys[-1]}"
            known += ", each PART.TOPIC" * ("." in naming.keys[0])
            raise InputError(f"the model has no topic {found!r}; {known}", file=path, line=line)
        if not isinstance(name, str):
            raise InputError(f"the name of topic {key} must be text, not {name!r}", file=path, line=line)
        if key in names:
            raise InputError(f"topic {key} is named twice", file=path, line=line)
        name = " ".join(name.split())
        if len(name) > LONGEST:
            raise InputError(
                f"the name of topic {key} has {len(name)} characters, over the limit {LONGEST}", file=path,
                line=line,
            )  # fmt: skip
        bad = next((c for c in name if unicodedata.category(c) in ("Cc", "Cs")), None)
        if bad is not None:
            raise InputError(
                f"the name of topic {key} holds {bad!r}, which is no character to be written", file=path,
                line=line,
            )  # fmt: skip
        names[key] = name
    return names


def _of_json(text: str, path: Path, naming: Naming):
    def once(pairs):
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a topic is named twice")
        return found

    try:
        content = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InputError(
            f"this is no JSON: {error.msg}", file=path, line=error.lineno, column=error.colno
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no file of names: {error}", file=path) from None
    names = content.get("names") if isinstance(content, dict) else None
    if not isinstance(names, Mapping):
        raise InputError('names are written {"names": {"TOPIC": "NAME", ...}}', file=path)
    model = content.get("model")
    prefix = naming.prefixes.get(model) if isinstance(model, str) else None
    if model is not None and prefix is None:
        raise InputError(
            "these names are for the topics of another model, whose numbers mean something else (its digest "
            'is in the file; without "model" they are taken)',
            file=path,
        )
    for key, name in names.items():
        yield key, prefix, name, None


def _of_csv(text: str, path: Path, naming: Naming):
    rows = csv.reader(io.StringIO(text))
    head = [cell.strip().lower() for cell in next(rows, [])]
    if "topic" not in head or "name" not in head:
        raise InputError("a table of names has the columns topic and name", file=path, line=1)
    topic, name = head.index("topic"), head.index("name")
    whose = next((head.index(column) for column in OWNERS if column in head), None)
    for row in rows:
        if not row:
            continue
        if len(row) != len(head):
            raise InputError(
                f"{len(row)} cells, the first line has {len(head)}", file=path, line=rows.line_num
            )
        prefix = None
        if whose is not None:
            prefix = naming.owners.get(row[whose].strip())
            if prefix is None:
                raise InputError(
                    f"the model has no {head[whose]} {row[whose].strip()!r}", file=path, line=rows.line_num
                )
        yield row[topic].strip(), prefix, row[name], rows.line_num
