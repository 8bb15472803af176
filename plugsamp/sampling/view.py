"""What can be read of a chain between sweeps: its state, counts, topics, log joint."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from plugsamp.random.draws import Purpose, stream
from plugsamp.sampling.log_joint import log_joint
from plugsamp.state import State


@dataclass(frozen=True)
class SweepInfo:
    """What one sweep did.

    Attributes
    ----------
    sweep : int
        Its number, from 1.
    seconds : float
        Wall time.
    moved : float
        Share of tokens whose topic changed.
    acceptance : dict of str to float
        By proposal, of the candidates that differed from the current topic.
    moves : dict of str to float
        By proposal, the candidates that were accepted, a token. A token may move at several steps.
    """

    sweep: int
    seconds: float
    moved: float
    acceptance: dict[str, float] = field(default_factory=dict)
    moves: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, sweep: int, reports, n_tokens: int, seconds: float) -> SweepInfo:
        """Sum up the reports of the blocks of documents."""
        tried: dict[str, int] = {}
        accepted: dict[str, int] = {}
        for report in reports:
            for name, (t, a) in report.proposals.items():
                tried[name] = tried.get(name, 0) + t
                accepted[name] = accepted.get(name, 0) + a
        acceptance = {name: accepted[name] / tried[name] if tried[name] else 0.0 for name in tried}
        n_tokens = max(n_tokens, 1)
        moves = {name: n / n_tokens for name, n in accepted.items()}
        moved = sum(report.moved for report in reports) / n_tokens
        return cls(sweep, seconds, moved, acceptance, moves)


class Counts:
    """The counts of a chain, as they are now."""

    def __init__(self, state: State):
        self._state = state

    @property
    def topic_word(self) -> np.ndarray:
        """n_kw, int32 (K, V)."""
        counts = self._state.topic_word[:, : self._state.n_topics].T.copy()
        np.subtract.at(counts, (self._state.pseudo_topics, self._state.pseudo_words), 1)
        return counts

    @property
    def topic_totals(self) -> np.ndarray:
        """n_k, int64 (K,)."""
        state = self._state
        pseudo = np.bincount(state.pseudo_topics, minlength=state.n_topics)
        return state.topic_totals[: state.n_topics] - pseudo

    @property
    def doc_topic(self) -> sparse.csr_array:
        """n_dk, sparse int32 (D, K)."""
        indptr, topics, counts = self._state.doc_topic()
        shape = (self._state.n_documents, self._state.n_topics)
        return sparse.csr_array((counts, topics.astype(np.int32), indptr), shape=shape)


class ChainView:
    """The readable side of a `plugsamp.Chain`, which has its state, phases, kernel and responses."""

    def _settle(self) -> None:
        """Make the counts those of z, where an interrupt or an error has ended the last sweep midway."""
        if self._midway:
            self.state.renewed()
            self.state.recount()

    @property
    def z(self) -> np.ndarray:
        """The topic of every token in corpus order, (N,)."""
        return self.state.z.copy()

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The loss's own parameters as the chain has them now, by name."""
        return self.responses.parameters

    def weight_variances(self) -> dict[str, np.ndarray]:
        """Return the drawn variances of the weights by group, (C,), or (1,) of all outputs."""
        return self.model.weights.variances(self.prior_state) if self.state.n_outputs else {}

    @property
    def eta(self) -> np.ndarray:
        """The weights, float64 (C, J): topics, then covariates, then the intercept if there is one."""
        return self.state.eta.copy()

    @property
    def alpha(self) -> np.ndarray:
        """The prior of the topics of a document as it is now, float64 (K,)."""
        return self.state.alpha_prior.copy()

    @property
    def beta(self) -> np.ndarray:
        """The prior of the words of a topic as it is now, without seeds, float64 (V,)."""
        return self.state.beta_prior.copy()

    @property
    def kappa(self) -> np.ndarray:
        """kappa of the last augmentation, float64 (D, C)."""
        return self.state.kappa.copy()

    @property
    def omega(self) -> np.ndarray:
        """omega of the last augmentation, float64 (D, C)."""
        return self.state.omega.copy()

    @property
    def counts(self) -> Counts:
        """n_kw, n_k and n_dk."""
        self._settle()
        return Counts(self.state)

    @property
    def phi(self) -> np.ndarray:
        """The topics, float64 (K, V): the chain's own if partially collapsed, else their posterior mean."""
        if self.kernel.partial:
            return self.state.all_phi().T.astype(float)
        return self.phi_mean()

    def phi_mean(self) -> np.ndarray:
        """The mean of the topics given z: (n_kw + beta_w) / (n_k + sum of beta), float64 (K, V).

        Pseudo-tokens count, and words that are left out of a topic have 0.
        """
        return (self.state.word_masses() / self.state.topic_masses()).T

    def draw_phi(self) -> np.ndarray:
        """A draw of the topics given z, float64 (K, V); the chain itself is left as it is."""
        rng = stream(self.seed, Purpose.PHI, self.sweep, 2**31)
        g = rng.standard_gamma(self.state.word_masses().T)
        return g / g.sum(axis=1, keepdims=True)

    def draw_theta(self) -> np.ndarray:
        """A draw of the topic proportions given z, float64 (D, K); the chain itself is left as it is."""
        rng = stream(self.seed, Purpose.TOPICS, self.sweep, 2**31)
        g = rng.standard_gamma(self.counts.doc_topic.toarray() + self.state.alpha_prior)
        return g / g.sum(axis=1, keepdims=True)

    def f(self) -> np.ndarray:
        """The linear predictor of every document and output, float64 (D, C)."""
        return self.state.linear_predictor(0, self.state.n_documents)

    def augment(self) -> None:
        """Draw (kappa, omega) of all documents now, as the next sweep will."""
        for block in range(self.phases.n_document_blocks):
            self.phases.augment(self.sweep + 1, block)

    def token_transition(self, i: int) -> np.ndarray:
        """The transition matrix of one update of token `i` given everything else, float64 (K, K).

        Assembled from the compiled kernel's own masses and tests; a chain is right where the token's
        full conditional is stationary under it.
        """
        if not 0 <= i < len(self.state.z):
            raise IndexError(f"token {i} of {len(self.state.z)}")
        document = int(np.searchsorted(self.state.offsets, i, side="right")) - 1
        return self.phases.sampler.transition(document, i - int(self.state.offsets[document]))

    def log_joint(self) -> dict[str, float]:
        """The log posterior up to a constant, in named parts (model.md section 8)."""
        self._settle()
        return log_joint(self)
