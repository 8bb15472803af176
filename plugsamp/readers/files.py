"""Bytes and lines of text files, plain or gzip, strictly: nothing is guessed, skipped or replaced."""

from __future__ import annotations

import gzip
import io
import re
import stat
import sys
import warnings
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from plugsamp.errors import InputError, InputWarning
from plugsamp.readers import contents
from plugsamp.readers.formats import check_names
from plugsamp.system import cores
from plugsamp.system.memory import available_bytes

#: Bytes that are unpacked at once.
PIECE = 1 << 24

#: The path that stands for it.
STANDARD_INPUT = "-"

#: Control characters that no text has.
_C1 = re.compile("[\x80-\x84\x86-\x9f]")


def read_bytes(path) -> bytes:
    """The whole file, unpacked where its name ends in .gz; of ``-`` standard input."""
    if str(path) == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    path = Path(path)
    check_device(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except IsADirectoryError:
        raise InputError(
            "this is a folder, a file is needed (corpus=folder reads folders)", file=path
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    if path.suffix != ".gz":
        return raw
    if raw[:2] != b"\x1f\x8b":
        raise InputError("the file is named .gz but is not gzip data", file=path)
    try:
        return _unpacked(raw, path)
    except EOFError:
        raise InputError("the compressed data ends early; no part of the file is used", file=path) from None
    except (OSError, zlib.error) as error:
        raise InputError(
            f"the compressed data is damaged ({error}); no part of the file is used", file=path
        ) from None


def check_device(path: Path) -> None:
    """Refuse a device, which has no end; a terminal and a pipe have one."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # whoever opens the file says what is wrong
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not re.match(r"/dev/(stdin|fd/|tty|pts/)", str(path))):
        raise InputError("this is a device, a file is needed (corpus.path=- reads standard input)", file=path)


def _unpacked(raw: bytes, path) -> bytes:
    """What gzip data holds, unless it is more than there is memory for: little data can hold very much."""
    free, parts, total = available_bytes(), [], 0
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as packed:
        while part := packed.read(PIECE):
            parts.append(part)
            total += len(part)
            if free is not None and 2 * total > free:  # once more when the parts are joined
                raise InputError(
                    f"unpacked it is more than {total} bytes, and {free} bytes of memory are free", file=path
                )
    return b"".join(parts)


def read_text(path, encoding: str | None = None, returns: bool = False) -> str:
    """The text of a file: byte order mark dropped, CRLF read as LF.

    Parameters
    ----------
    encoding : str, optional
        Of readers that have such an option; without it the text is UTF-8, and messages name no option.
    returns : bool
        Whether a CR that ends no line is left to the caller, who takes it in some places.

    Raises
    ------
    InputError
        A format that is no text; bytes that are not of the encoding, a NUL, or a CR that ends no line, with
        line and byte.
    """
    return decode(read_bytes(path), path, encoding, returns)


def decode(raw: bytes, path, encoding: str | None = None, returns: bool = False, *, before: int = 0) -> str:
    """`read_text` of bytes that were read already; `before` are the bytes before them, whole lines."""
    if not before:
        check_format(raw, path)
    advice = "; the file must be UTF-8" if encoding is None else "; name the encoding of the file, such as {}"
    encoding = encoding or "utf-8"
    try:
        "".encode(encoding)
    except LookupError:
        raise InputError(f"there is no encoding {encoding!r}; utf-8 and cp1252 are two") from None
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        _check_utf8(raw, path, advice, before)
    try:
        text = raw.decode(encoding)
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        raise InputError(
            f"not {encoding.upper()} at byte {before + at} ({raw[at : at + 1]!r})"
            + advice.format("encoding=utf-8"),
            file=path,
            line=raw.count(b"\n", 0, at) + 1,
        ) from None
    text = text if before else text.removeprefix("\ufeff")
    if "\0" in text:
        raise InputError("not text: NUL character", file=path, line=text.count("\n", 0, text.index("\0")) + 1)
    if (control := None if text.isascii() else _C1.search(text)) is not None:
        warnings.warn(
            f"{path}, line {text.count(chr(10), 0, control.start()) + 1}: control character "
            f"U+{ord(control[0]):04X} in the text, as where cp1252 is read as {encoding}; is encoding=cp1252 "
            "right?",
            InputWarning,
            stacklevel=4,
        )
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if not returns or ("\n" not in text and not before):
            check_returns(text, path)
    return text


def check_format(raw: bytes, path) -> None:
    """Refuse what is no text by its first bytes, and say what it is."""
    if (what := contents.described(raw, Path(path).name)) is not None:
        raise InputError(what, file=path)


def _check_utf8(raw: bytes, path, advice: str, before: int = 0) -> None:
    """Refuse bytes that are not UTF-8, or a NUL; `advice` has a place for the option that is right."""
    if not before and (wide := contents.wide_encoding(raw)) is not None:
        marked = wide in ("utf-16", "utf-32")
        why = "it starts with a byte order mark" if marked else "every other byte is NUL"
        raise InputError(
            f"not UTF-8 but {wide.upper()} ({why})" + advice.format(f"encoding={wide}"), file=path, line=1
        )
    if b"\0" in raw:
        at = raw.index(b"\0")
        start = raw.rfind(b"\n", 0, at) + 1
        column = len(raw[start:at].decode("utf-8", "replace")) + 1
        raise InputError(
            f"not text: NUL byte at byte {before + at}",
            file=path,
            line=raw.count(b"\n", 0, at) + 1,
            column=column,
        )
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        at = error.start
        stray = contents.stray_bytes(raw)
        if stray:
            advice = (
                f"; the file is UTF-8 but for {stray} byte{'s' * (stray > 1)}, to be put right or taken out"
            )
        start = raw.rfind(b"\n", 0, at) + 1
        raise InputError(
            f"not UTF-8 at byte {before + at} ({raw[at : at + 1]!r})"
            + advice.format(f"encoding={contents.eight_bit(raw)}"),
            file=path,
            line=raw.count(b"\n", 0, at) + 1,
            column=len(raw[start:at].decode("utf-8", "replace")) + 1 if stray else None,
        ) from None


def check_returns(text: str, path, start: int = 0, before: int = 0) -> None:
    """Refuse a CR that ends no line, from a place in the text on; `before` are the lines before the text."""
    at = text.find("\r", start)
    if at < 0:
        return
    every = "" if "\n" in text else "; as all of them end so here (old Macs), save the file with line feeds"
    raise InputError(
        f"carriage return without a line feed; lines end with LF or CRLF{every}",
        file=path,
        line=before + text.count("\n", 0, at) + 1,
        column=at - text.rfind("\n", 0, at),
    )


def read_lines(path, encoding: str | None = None) -> list[str]:
    """Lines without their ends; the last may lack one. Only LF and CRLF end a line."""
    return _lines_of(read_text(path, encoding))


def _lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def stream_lines(path, encoding: str | None = None, returns: bool = False) -> Iterator[str]:
    """Yield the lines of `read_lines` with little of the file in memory at a time.

    With `returns` a CR that ends no line is left to the caller.

    Raises
    ------
    InputError
        As `read_lines`, when the line is reached. Lines of encodings whose line ends are not one byte
        are read at once.
    """
    encoding_name = encoding or "utf-8"
    try:
        by_bytes = "\n".encode(encoding_name) == b"\n"
    except LookupError:
        by_bytes = False  # `decode` says what is wrong
    if not by_bytes:
        yield from _lines_of(read_text(path, encoding, returns))
        return
    lines_before = bytes_before = 0
    blocks = _blocks_of_lines(path)
    from_file = str(path) != STANDARD_INPUT  # a thread could wait for standard input for ever
    for block in cores.ahead(blocks) if from_file else blocks:
        if not bytes_before and from_file and contents.described(block, Path(path).name):
            read_text(path, encoding)  # says what it is, for which some formats need their end
        try:
            text = decode(block, path, encoding, returns, before=bytes_before)
        except InputError as error:
            line = None if error.line is None else error.line + lines_before
            raise InputError(error.what, file=path, line=line, column=error.column) from None
        lines = _lines_of(text)
        yield from lines
        lines_before += len(lines)
        bytes_before += len(block)


def batched_lines(path, encoding: str | None, size: int | None) -> Iterator[list[str]]:
    """Yield so many lines at a time; all at once where `size` is None."""
    if size is None:
        if lines := read_lines(path, encoding):
            yield lines
        return
    lines = stream_lines(path, encoding)
    while batch := list(islice(lines, size)):
        yield batch


def _blocks_of_lines(path) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks of whole lines."""
    rest: list[bytes] = []
    for piece in _pieces(path):
        end = piece.rfind(b"\n") + 1
        if not end:
            rest.append(piece)
            _check_line(sum(map(len, rest)), path)
            continue
        yield b"".join([*rest, piece[:end]])
        rest = [piece[end:]]
    if last := b"".join(rest):
        yield last


def _check_line(n_bytes: int, path) -> None:
    """Refuse a line that does not fit in memory twice."""
    free = available_bytes()
    if free is not None and 2 * n_bytes > free:
        raise InputError(
            f"a line has more than {n_bytes} bytes, and {free} bytes of memory are free", file=path
        )


def _pieces(path, size: int = 1 << 20) -> Iterator[bytes]:
    if str(path) == STANDARD_INPUT:
        while piece := sys.stdin.buffer.read1(size):
            yield piece
        return
    path = Path(path)
    check_device(path)
    try:
        with open(path, "rb") as file:
            yield from (
                _inflated(file, path, size) if path.suffix == ".gz" else iter(partial(file.read, size), b"")
            )
    except OSError:
        read_bytes(path)  # says what is wrong
        raise


def _inflated(file: BinaryIO, path, size: int) -> Iterator[bytes]:
    """Yield what gzip data holds in pieces of at most `size` bytes, each unpacked without the GIL."""
    if file.read(2) != b"\x1f\x8b":
        raise InputError("the file is named .gz but is not gzip data", file=path)
    file.seek(0)
    member, data = zlib.decompressobj(31), b""
    while data := data or file.read(size):
        if member.eof:  # zeros may fill up the file, or another member follow
            data = data.lstrip(b"\0")
            if not data:
                continue
            member = zlib.decompressobj(31)
        try:
            piece = member.decompress(data, size)
        except zlib.error as error:
            raise InputError(f"the compressed data is damaged ({error})", file=path) from None
        data = member.unused_data if member.eof else member.unconsumed_tail
        if piece:
            yield piece
    if not member.eof:
        raise InputError("the compressed data ends early", file=path)


def read_names(path, what: str = "word", encoding: str | None = None) -> list[str]:
    """One name a line (words, labels), blanks around it dropped; blank lines only at the end.

    Raises
    ------
    InputError
        A blank line between names, which would move every later one; a name that occurs twice.
    """
    names = [line.strip() for line in read_lines(path, encoding)]
    check_names(names, what, path)
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputError(f"the file holds no {what}s", file=path)
    seen: dict[str, int] = {}
    for line, name in enumerate(names, 1):
        if not name:
            raise InputError(
                f"line is empty; skipping it would move every later {what} by one", file=path, line=line
            )
        if name in seen:
            raise InputError(f'{what} "{name}" is on lines {seen[name]} and {line}', file=path, line=line)
        seen[name] = line
    return names
