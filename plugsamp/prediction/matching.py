"""What other documents and a model have in common, by name: responses, in the order of its outputs; words."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from plugsamp.checks import listed
from plugsamp.errors import InputWarning
from plugsamp.lookalikes import matched
from plugsamp.losses.coding import is_missing

_quiet: ContextVar[bool] = ContextVar("no word of strangers", default=False)

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
    same = matched(names, own)
    names = [name if same.get(name, name) in names else same.get(name, name) for name in names]
    if list(names) == own or (len(names) == len(own) and _unnamed(own)):
        return found
    several_labels = coding.task == "multilabel"
    what = "label" if several_labels else "response"
    place = {name: column for column, name in enumerate(names)}
    others = [name for name in names if name not in own]
    absent = [name for name in own if name not in place]
    if len(absent) == len(own) and not several_labels:
        both = f"the model predicts {_quoted(own)}, and the documents have {_quoted(names)}"
        raise ValueError(f"{both}: none of its responses")
    values = found.reshape(len(found), -1)
    if several_labels:  # a document whose labels are known does not have those that are not there
        blank = np.where(is_missing(values).all(axis=1), values[:, 0], 0)
    else:
        blank = np.full(len(values), np.nan)
    columns = [values[:, place[name]] if name in place else blank for name in own]
    if others:
        _warn(f"{what}s that the model does not predict are left aside: {_quoted(others)}")
    if absent and not several_labels:
        _warn(f"the documents have no {_quoted(absent)}")
    return np.column_stack(columns)


@contextmanager
def no_word_of_strangers():
    """In this block and thread, `warn_of_strangers` says nothing: a batch is not all documents."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def warn_of_strangers(n_known, n_unknown, found, own) -> None:
    """Say where the documents have words, and none of them is one of the model's.

    Parameters
    ----------
    n_known, n_unknown : arrays (D,)
        Tokens of each document.
    found, own : sequences of str
        The vocabularies of the documents and of the model.
    """
    if _quiet.get() or n_known.any() or not n_unknown.any():
        return
    told = "no document has a word of the model, so that all are predicted alike, by the prior: "
    told += f"the model's words are {_quoted(own[:5])}, ..."
    if found != own:
        told += f", those of the documents {_quoted(found[:5])}, ..."
    if tuple(own[:2]) == ("w0", "w1")[: len(own)]:
        told += (
            "; w0, w1, ... stand for columns of counts without names (vocabulary= names them, and so do the "
            "columns of a DataFrame; predictor.with_options(vocabulary=...) does so afterwards)"
        )
    _warn(told)


def _unnamed(names) -> bool:
    """Whether they are what responses without names are called."""
    return list(names) == ["y"] or list(names) == [str(i) for i in range(len(names))]


def _quoted(names) -> str:
    return listed([repr(str(name)) for name in names], 5)


def _warn(message: str) -> None:
    warnings.warn(message, InputWarning, stacklevel=4)
