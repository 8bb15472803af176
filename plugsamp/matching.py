"""The responses of other documents in the order of a model's outputs: by their names, if they have some."""

from __future__ import annotations

import warnings

import numpy as np

from plugsamp.errors import InputWarning
from plugsamp.losses.coding import is_missing

#: Tasks with a column of responses for each output.
SEVERAL = ("multilabel", "real", "count")


def responses_for(coding, corpus) -> np.ndarray | None:
    """The responses of `corpus`, a column for each of the model's where it has several.

    Columns go by their names where the corpus has names for them, and by position otherwise. Of labels that
    no document has the column is 0, of real responses that there are not it is missing; what the model does
    not predict is left aside, with a warning.

    Parameters
    ----------
    coding : Coding
        The model's.
    corpus : Corpus

    Returns
    -------
    ndarray (D,) or (D, C), or None
        None where the corpus has no responses.

    Raises
    ------
    ValueError
        None of the responses is one of the model's.
    """
    found, names = corpus.responses, corpus.response_names
    if found is None or names is None or coding.task not in SEVERAL:
        return found
    own = coding.output_names
    if list(names) == own or (len(names) == len(own) and _unnamed(own)):
        return found
    what = "label" if coding.task == "multilabel" else "response"
    place = {name: column for column, name in enumerate(names)}
    if not set(own) & set(names) and what == "response":
        both = f"the model predicts {_listed(own)}, and the documents have {_listed(names)}"
        raise ValueError(f"{both}: none of its responses")
    values = found.reshape(len(found), -1)
    missing = is_missing(values)
    table = np.zeros((len(values), len(own)), values.dtype)
    for column, name in enumerate(own):
        if name in place:
            table[:, column] = values[:, place[name]]
        elif what == "label":  # a document whose labels are known does not have it
            blank = missing.all(axis=1)
            table[blank, column] = values[blank, 0]
        else:
            table = table.astype(np.result_type(table.dtype, float) if table.dtype != object else object)
            table[:, column] = np.nan
    others = [name for name in names if name not in own]
    absent = [name for name in own if name not in place]
    if others:
        _warn(f"{what}s that the model does not predict are left aside: {_listed(others)}")
    if absent and what == "response":
        _warn(f"the documents have no {_listed(absent)}")
    return table


def _unnamed(names) -> bool:
    """Whether they are what responses without names are called."""
    return list(names) == ["y"] or list(names) == [str(i) for i in range(len(names))]


def _listed(names, most: int = 5) -> str:
    names = [repr(str(name)) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _warn(message: str) -> None:
    warnings.warn(message, InputWarning, stacklevel=4)
