"""SciPy's .npz of a CSR matrix (read by `plugsamp.readers.npz`)."""

from __future__ import annotations

import scipy.sparse as sp

from plugsamp.errors import InputError
from plugsamp.writers import Target, Written, beside


def write(corpus, target: Target) -> Written:
    if target.path.suffix != ".npz":
        raise InputError("the name of a NumPy archive ends in .npz", file=target.path)
    with target.open(mode="wb") as file:
        sp.save_npz(file, corpus.counts())
    return beside(corpus, target, {})
