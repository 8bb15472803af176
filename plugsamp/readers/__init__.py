"""Readers of corpora, one module a format; a plugin's base class is `Reader`."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "BagOfWords": "plugsamp.readers.uci",
        "Docstrings": "plugsamp.readers.docstrings",
        "Folder": "plugsamp.readers.folder",
        "Frame": "plugsamp.readers.frame",
        "JsonLines": "plugsamp.readers.jsonl",
        "LdaC": "plugsamp.readers.ldac",
        "Lines": "plugsamp.readers.lines",
        "MalletState": "plugsamp.readers.mallet_state",
        "MalletText": "plugsamp.readers.mallet",
        "Matrix": "plugsamp.readers.npz",
        "MatrixMarket": "plugsamp.readers.matrix_market",
        "Reader": "plugsamp.readers.base",
        "Split": "plugsamp.readers.base",
        "Store": "plugsamp.readers.store",
        "SvmLight": "plugsamp.readers.svmlight",
        "Table": "plugsamp.readers.csv",
    },
)
