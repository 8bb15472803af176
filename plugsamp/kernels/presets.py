"""Published samplers that are compositions, under their own names."""

from __future__ import annotations

from plugsamp.checks import flag
from plugsamp.kernels.composed import ComposedMH
from plugsamp.proposals.sparse import StaleSparseProposal
from plugsamp.proposals.stale import StaleTables

_STALE = (
    "draws words' topics from tables of counts that hold the very tokens it updates, as published: its "
    "stationary distribution is not the posterior"
)


class LightPCLDA(ComposedMH):
    """Light PC-LDA: word and doc proposals in turn, topics a variable.

    Magnusson et al. (2018), section 3.3, alg. 3 and 4.

    Parameters
    ----------
    steps : int
        Steps a token and sweep, 1 to 64.
    """

    references = ("magnusson2018", "yuan2015")

    def __init__(self, steps: int = 2):
        super().__init__(["word", "doc"], "cycle", steps, "partial")


class SparsePCLDA(ComposedMH):
    """Sparse PC-LDA (Magnusson et al. 2018, section 3.2, alg. 1 and 2): a draw in O(K_d), topics a variable.

    Without responses every draw is accepted: Gibbs sampling. With responses it is a proposal, accepted by
    what they say of the two topics.

    Parameters
    ----------
    steps : int
        Draws a token and sweep, 1 to 64. More than 1 is for models with responses.
    """

    references = ("magnusson2018",)

    def __init__(self, steps: int = 1):
        super().__init__(["sparse"], "cycle", steps, "partial")


class LightLDA(ComposedMH):
    """LightLDA: word and doc proposals in turn, topics integrated out.

    Yuan et al. (2015); Zheng et al. (2015), eq. 12.

    Parameters
    ----------
    steps : int
        Steps a token and sweep, 1 to 64.
    stale : bool
        Words' topics from an alias table made once a sweep, as published; not exact. Otherwise the topic
        of another token of the word is copied.
    """

    references = ("yuan2015",)

    def __init__(self, steps: int = 2, stale: bool = False):
        stale = flag("stale", stale)
        super().__init__([StaleTables if stale else "word", "doc"], "cycle", steps, "full")
        self.stale = stale
        self.approximate = _STALE if stale else None


class AliasLDA(ComposedMH):
    """AliasLDA (Li et al. 2014): the document's part anew for each token, the rest by word; O(K_d).

    Parameters
    ----------
    steps : int
        Steps a token and sweep, 1 to 64.
    stale : bool
        The rest from an alias table made once a sweep, as published; not exact. Otherwise the topic of
        another token of the word is copied.
    """

    references = ("li2014",)

    def __init__(self, steps: int = 2, stale: bool = False):
        stale = flag("stale", stale)
        super().__init__([StaleSparseProposal if stale else "sparse"], "cycle", steps, "full")
        self.stale = stale
        self.approximate = _STALE if stale else None
