"""What the bytes of a file say that it is, where it is no text in the encoding that was named."""

from __future__ import annotations

import io
import re
import zipfile

#: First bytes of formats that are no text, what they are, and what to do.
_FORMATS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", "save it as CSV UTF-8 there"),
    (b"%PDF-", "a PDF file", "extract its text first, for example with pdftotext"),
    (b"PAR1", "a Parquet file", "write it as CSV first: pandas.read_parquet(...).to_csv(...)"),
    (b"ARROW1", "an Arrow file", "write it as CSV first: pandas.read_feather(...).to_csv(...)"),
    (b"\x89HDF", "an HDF5 file", "write its table as CSV or as JSON lines first"),
    (b"SQLite format 3\0", "an SQLite database", "write its table as CSV or as JSON lines first"),
    (b"\x93NUMPY", "a NumPy array (.npy)", "corpus=npz reads what scipy.sparse.save_npz writes"),
    (b"\xac\xed\0\x05", "a .mallet file of Mallet", "corpus=mallet reads the text that it was made from"),
    (b"\xfd7zXZ\0", "xz data", "unpack it first, or pack it with gzip"),
    (b"BZh", "bzip2 data", "unpack it first, or pack it with gzip"),
    (b"(\xb5/\xfd", "zstd data", "unpack it first, or pack it with gzip"),
    (b"\x80\x04\x95", "a pickle of Python", "write its contents as CSV or as JSON lines first"),
)

#: Files inside a zip archive by which documents of programs are known.
_ARCHIVES = (
    (r"xl/", "an Excel workbook", "save the sheet as CSV UTF-8 in Excel"),
    (r"word/", "a Word document", "save it as plain text in UTF-8"),
    (r"content\.xml$", "an OpenDocument file", "save the sheet as CSV in UTF-8"),
    (r".*\.npy$", "an .npz file of NumPy", "corpus=npz reads it"),
)

#: Bytes in which cp1252 has letters and quotation marks, and latin-1 and ISO 8859 have control characters.
_CONTROLS = re.compile(rb"[\x80-\x9f]")


def described(raw: bytes, name: str) -> str | None:
    """What to say of a file that is no text, by its first bytes; None where they say nothing.

    Parameters
    ----------
    raw : bytes
    name : str
        The file's name, without folders.
    """
    if raw[:2] == b"\x1f\x8b":
        return f"this is gzip data, which is unpacked where the name says so; call the file {name}.gz"
    if raw[:4] == b"PK\x03\x04":
        what, then = _archive(raw)
        return f"this is {what}, not text; {then}"
    if raw[:3] == b"BZh" and raw[4:10] != b"1AY&SY":
        return None
    found = next(((what, then) for start, what, then in _FORMATS if raw.startswith(start)), None)
    return None if found is None else f"this is {found[0]}, not text; {found[1]}"


def _archive(raw: bytes) -> tuple[str, str]:
    """What a zip archive is, and what to do with it."""
    try:
        names = zipfile.ZipFile(io.BytesIO(raw)).namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "a damaged zip archive", "make it again"
    for pattern, what, then in _ARCHIVES:
        if any(re.match(pattern, name) for name in names):
            return what, then
    files = [name for name in names if not name.endswith("/")]
    held = f" ({files[0]!r}{' and others' if len(files) > 1 else ''} in it)" if files else ""
    return f"a zip archive{held}", "unpack it and name the file inside"


def wide_encoding(raw: bytes) -> str | None:
    """The encoding of two or four bytes a character that a byte order mark, or NULs in turn, speak for."""
    if raw[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "utf-32"
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    sample = raw[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > 0.3 * len(sample[1::2]) and not even:
        return "utf-16-le"
    if even > 0.3 * len(sample[::2]) and not odd:
        return "utf-16-be"
    return None


def stray_bytes(raw: bytes) -> int:
    """How many bytes of a file are not UTF-8, where it is UTF-8 for the rest; else 0."""
    text = raw.decode("utf-8", "surrogateescape")
    beyond = re.findall("[^\x00-\x7f]", text)
    stray = sum("\udc80" <= c <= "\udcff" for c in beyond)
    return stray if stray <= (len(beyond) - stray) // 2 else 0


def eight_bit(raw: bytes) -> str:
    """The encodings that the bytes speak for, for a message.

    Western letters beyond ASCII stand alone or in pairs: cp1252 where latin-1 would have control characters.
    Longer runs of bytes beyond ASCII are other scripts, which the bytes alone do not tell apart.
    """
    beyond = sum(map(len, re.findall(rb"[\x80-\xff]+", raw)))
    if sum(map(len, re.findall(rb"[\x80-\xff]{3,}", raw))) > beyond // 2:
        return "cp1251 (Cyrillic), shift_jis (Japanese), gb18030 (Chinese) or euc_kr (Korean)"
    if _CONTROLS.search(raw):
        try:
            raw.decode("cp1252")
        except UnicodeDecodeError:
            return "latin-1"
        return "cp1252"
    return "latin-1"
