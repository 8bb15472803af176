"""Readers of corpora, one module a format; a plugin's base class is `Reader`."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Docstrings": "plugsamp.readers.docstrings",
        "Folder": "plugsamp.readers.folder",
        "JsonLines": "plugsamp.readers.jsonl",
        "Lines": "plugsamp.readers.lines",
        "Matrix": "plugsamp.readers.npz",
        "Reader": "plugsamp.readers.base",
        "Split": "plugsamp.readers.base",
        "SvmLight": "plugsamp.readers.svmlight",
        "Table": "plugsamp.readers.csv",
    },
)
