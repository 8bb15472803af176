"""The texts of some documents, read again from where the corpus lies."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from plugsamp.readers.batches import BATCH, StreamReader
from plugsamp.readers.records import TextReader

#: Bytes of a file up to which it is read a second time.
LARGEST = 300_000_000


def texts_of(reader, ids: Collection[str]) -> dict[str, str]:
    """Return the texts of documents by their ids, where the format has texts; words alone are left out.

    Parameters
    ----------
    reader : Reader
        The one that has read the corpus.
    ids : collection of str

    Raises
    ------
    ValueError, OSError
        The file cannot be read any more.
    """
    wanted, found = set(ids), {}
    if not isinstance(reader, TextReader):
        return found
    for path in (getattr(reader, "path", None), reader.second_path):
        if path is None or not wanted or _size(path) > LARGEST:
            continue
        streams = isinstance(reader, StreamReader)
        for records in reader.stream(path, BATCH) if streams else [reader.records(path)]:
            if records.kind != "text":
                return found
            pairs = zip(records.ids, records.contents, strict=True)
            found |= {key: text for key, text in pairs if key in wanted}
            if len(found) == len(wanted):
                return found
    return found


def _size(path) -> int:
    path = Path(path)
    return sum(one.stat().st_size for one in (path.rglob("*") if path.is_dir() else [path]) if one.is_file())
