"""Which covariates a model has beside its topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plugsamp.checks import whole

WORDS = ("none", "counts", "tfidf")
NORMS = ("l2", "none")


@dataclass(frozen=True, kw_only=True)
class Covariates:
    """Columns and words of documents as covariates.

    Numbers are brought to mean 0 and variance 1 over the training documents. A missing one counts as
    their mean; a column that lacks some in training has a further covariate, which is 1 where it is
    missing. Of a categorical column each value is a covariate of 0 and 1 (of a list of values, several may
    be 1); a missing one is 0 in all of them, and so is a value that training did not have, unless rare
    values were pooled: then it belongs to the pool.

    Parameters
    ----------
    numeric, categorical : str or sequence of str
        The columns (`Corpus.fields`) that are numbers, and those that are classes.
    standardise : bool
        Whether numeric columns are brought to mean 0 and variance 1; otherwise they stay as they are.
    min_count : int
        Values of a categorical column in fewer training documents are pooled as one, (other).
    separator : str, optional
        What separates the values where a categorical text holds several, such as a comma; by default
        a text is one value.
    words : {"none", "counts", "tfidf"}
        Whether the words of the corpus are covariates too: their counts, or tf-idf.
    words_min_df : int
        Words in fewer training documents have no covariate.
    words_sublinear : bool
        Whether a count n enters as 1 + log n.
    words_norm : {"l2", "none"}
        Whether each document's word covariates are scaled to length 1.
    words_scale : float
        A factor for the word covariates. Scaled to length 1 they are small beside other covariates, so
        their weights must be large: a factor s stands for a prior variance of these weights larger by s².

    Raises
    ------
    ValueError
        For an option outside its range, or a column given twice.
    """

    numeric: str | Sequence[str] = ()
    categorical: str | Sequence[str] = ()
    standardise: bool = True
    min_count: int = 1
    separator: str | None = None
    words: str = "none"
    words_min_df: int = 1
    words_sublinear: bool = True
    words_norm: str = "l2"
    words_scale: float = 1.0

    def __post_init__(self):
        for name in ("numeric", "categorical"):
            value = getattr(self, name)
            value = (value,) if isinstance(value, str) else tuple(map(str, value))
            object.__setattr__(self, name, value)
        for name in (both := (*self.numeric, *self.categorical)):
            if both.count(name) > 1:
                raise ValueError(f"covariates: the column {name!r} is given twice")
        for name in ("min_count", "words_min_df"):
            object.__setattr__(self, name, whole(f"covariates: {name}", getattr(self, name), 1))
        for name, valid in (("words", WORDS), ("words_norm", NORMS)):
            if getattr(self, name) not in valid:
                listed = ", ".join(valid)
                raise ValueError(f"covariates: {name} must be one of {listed}, not {getattr(self, name)!r}")
        if self.separator is not None and not self.separator:
            raise ValueError("covariates: separator must be a text of one character or more, or None")
        scale = self.words_scale
        if isinstance(scale, bool) or not isinstance(scale, int | float) or not 1e-6 <= scale <= 1e6:
            raise ValueError(f"covariates: words_scale must be a number from 1e-6 to 1e6, not {scale!r}")

    def __bool__(self) -> bool:
        """Whether there is any covariate."""
        return bool(self.numeric or self.categorical or self.words != "none")

    def fit(self, corpus):
        """Learn means, values and document frequencies from training documents.

        Parameters
        ----------
        corpus : Corpus

        Returns
        -------
        Encoder

        Raises
        ------
        InputError
            A column that the corpus does not have, or a value that is no number in a numeric one.
        """
        from plugsamp.covariates.encoder import Encoder

        return Encoder.fitted(self, corpus)
