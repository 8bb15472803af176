"""The texts of some documents, read again from where the corpus lies."""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path

from plugsamp.readers.batches import BATCH, StreamReader
from plugsamp.readers.records import TextReader

log = logging.getLogger(__name__)

#: Bytes of a file up to which it is read a second time.
LARGEST = 300_000_000


def texts_of(reader, ids: Collection[str]) -> dict[str, str]:
    """Return the texts of documents by their ids, as far as they can be read again.

    Formats of words without texts, pipes and large files have none. A file that cannot be read any more is
    named in a warning.

    Parameters
    ----------
    reader : Reader
        The one that has read the corpus.
    ids : collection of str
    """
    wanted, found = set(ids), {}
    if not isinstance(reader, TextReader):
        return found
    try:
        for path in (getattr(reader, "path", None), reader.second_path):
            if path is None or not 0 < _size(Path(path)) <= LARGEST:
                continue
            for records in _records(reader, path):
                if records.kind != "text":
                    return found
                pairs = zip(records.ids, records.contents, strict=True)
                found |= {key: text for key, text in pairs if key in wanted}
                if len(found) == len(wanted):
                    return found
    except (ValueError, OSError, EOFError) as error:
        log.warning("the texts of documents cannot be read again, so their words are shown (%s)", error)
    return found


def _records(reader, path):
    return reader.stream(path, BATCH) if isinstance(reader, StreamReader) else [reader.records(path)]


def _size(path: Path) -> int:
    """Bytes of a file or a folder; 0 of a pipe, which can be read only once."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(one.stat().st_size for one in files if one.is_file())
