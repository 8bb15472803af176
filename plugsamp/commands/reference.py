"""Documents of a reference corpus, which the NPMI of topics is counted on."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.posterior.quality import npmi
from plugsamp.readers.base import Reader
from plugsamp.readers.lines import Lines

#: Options of a reader that say nothing of reference documents, which have no responses and are not divided.
_LEFT_OUT = {
    "test_path": None, "test_size": 0.0, "only": None, "split": "none", "response": "none", "weight": None,
    "fields": None, "labels_path": None,
}  # fmt: skip


def read_reference(reader: Reader, path: str, vocabulary) -> Corpus:
    """Return the documents of a file in the words of a model.

    Parameters
    ----------
    reader : Reader
        Of the training documents. The file has their format; where they do not come from a file, it has a
        document a line.
    path : str
    vocabulary : sequence of str

    Raises
    ------
    InputError
        There is no such file, it cannot be read, or it has no word of the model.
    """
    if not Path(path).exists():
        raise InputError("there is no such file; reference= names one whose documents npmi counts", file=path)
    names = {f.name for f in fields(reader)}
    if "path" in names:
        reference = replace(reader, path=path, **{n: v for n, v in _LEFT_OUT.items() if n in names})
    else:
        options = {name: getattr(reader, name) for name in reader.of_words}
        reference = Lines(path=path, **options)
    corpus = reference.read(vocabulary).train
    if not corpus.n_tokens:
        raise InputError("no document of reference= has a word of the training documents", file=path)
    return corpus


def count_on_reference(posterior, reference: Corpus) -> None:
    """Replace the NPMI of all topics by that over the documents of a reference corpus.

    Parameters
    ----------
    posterior : plugsamp.posterior.posterior.Posterior
    reference : Corpus
        In its vocabulary.
    """
    counts = reference.counts()
    for part in posterior.parts:
        stats = posterior.stats(part)
        if stats is not None:
            stats["npmi"] = np.asarray(npmi(part.phi, counts))
