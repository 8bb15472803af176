"""How probable a fitted model finds the words of held-out documents (model.md section 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.brief import line
from plugsamp.checks import MOST, whole
from plugsamp.posterior.draws import Draws
from plugsamp.prediction.fold_in import STEPS, Tokens, pieces
from plugsamp.prediction.matching import warn_of_strangers
from plugsamp.random.draws import Purpose, stream

#: Documents of which the proportions are in memory at once.
_CHUNK = 256


@dataclass(frozen=True, repr=False)
class HeldOut:
    """The probability of held-out words.

    Attributes
    ----------
    log_p : float64 (D,)
        Sum over a document's scored tokens of their log probability; 0 where none is scored.
    n_tokens : int64 (D,)
        Tokens scored.
    method : str
    """

    log_p: np.ndarray
    n_tokens: np.ndarray
    method: str

    def __repr__(self) -> str:
        shown = {
            "perplexity": round(self.perplexity, 2), "log_likelihood": round(self.log_likelihood, 4),
            "n_documents": len(self.n_tokens), "n_tokens": int(self.n_tokens.sum()), "method": self.method,
        }  # fmt: skip
        return line("HeldOut", shown)

    @property
    def log_likelihood(self) -> float:
        """A scored token's mean log probability, in nats."""
        return float(self.log_p.sum() / max(self.n_tokens.sum(), 1))

    @property
    def perplexity(self) -> float:
        """exp of minus `log_likelihood`."""
        return float(np.exp(-self.log_likelihood))


def document_completion(model, corpus, seed: int = 0) -> HeldOut:
    """One half of each document's tokens scored by the topics found in the other half.

    Parameters
    ----------
    model : Posterior of one chain, or Draws
    corpus : Corpus
        Of any vocabulary; words that the model does not know are left out.
    seed : int
        Of the halves, which are a function of it and of the document's words alone.

    Returns
    -------
    HeldOut
        A token w has the probability sum_k theta_k phi_kw, theta the posterior mean of the other half. A
        document of one token is scored by the prior's mean.
    """
    draws = _one(model)
    fold_in = draws.fold_in
    tokens = _tokens(draws, corpus)
    fitted = _half(tokens, fold_in.keys(tokens), whole("seed", seed, most=None))
    parts = Tokens(tokens.words[fitted], _offsets(tokens, fitted), tokens.n_unknown)
    zbar, n_fitted = fold_in.zbar(parts), parts.lengths
    alpha = draws.alpha
    theta = (zbar * n_fitted[:, None] + alpha) / (n_fitted + alpha.sum())[:, None]
    document = np.repeat(np.arange(len(n_fitted)), tokens.lengths)[~fitted]
    scored = tokens.words[~fitted]
    n_scored = np.bincount(document, minlength=len(n_fitted))
    log_p = np.zeros(len(n_fitted))
    phi = draws.phi.T  # word-major in memory
    edges = np.concatenate([[0], np.cumsum(n_scored)])
    for first in range(0, len(n_fitted), _CHUNK):
        rows = slice(edges[first], edges[min(first + _CHUNK, len(n_fitted))])
        p = np.einsum("nk,nk->n", theta[document[rows]], phi[scored[rows]])
        log_p += np.bincount(document[rows], weights=np.log(p), minlength=len(log_p))
    return HeldOut(log_p, n_scored, "document completion")


def left_to_right(model, corpus, particles: int = 20) -> HeldOut:
    """The probability of whole documents by the left-to-right estimate (Wallach et al. 2009), unbiased.

    Its cost grows with the square of a document's length. Of one document it is rough: with 20 particles the
    logarithm for six words has a standard error of a quarter, which falls with the root of their number. The
    seed is the model's (`Posterior.with_options`).

    Parameters
    ----------
    model : Posterior of one chain, or Draws
    corpus : Corpus
    particles : int

    Returns
    -------
    HeldOut
    """
    from plugsamp.kernels import left_to_right as compiled

    draws = _one(model)
    fold_in = draws.fold_in
    # the counts of two sets of particles are numbered in 32 bits
    particles = whole("particles", particles, 1, MOST // (2 * draws.n_topics))
    tokens = _tokens(draws, corpus)
    log_p = np.empty(len(tokens.lengths))
    phi = np.ascontiguousarray(draws.phi.T)
    keys, lengths = fold_in.keys(tokens), tokens.lengths.astype(float)
    for first, last in pieces(lengths**2 * (particles * draws.n_topics / 2), STEPS):
        compiled.left_to_right(
            tokens.words, tokens.offsets[first : last + 1], phi, draws.alpha, keys[first:last],
            particles, log_p[first:last],
        )  # fmt: skip
    return HeldOut(log_p, tokens.lengths, "left to right")


def _one(model) -> Draws:
    """The draws of a posterior of one chain."""
    if len(model.parts) > 1:
        raise TypeError("words are scored by the topics of one chain: posterior.parts[0], parts[1], ...")
    return model.parts[0]


def _tokens(draws: Draws, corpus) -> Tokens:
    tokens = draws.fold_in.tokens(corpus)
    warn_of_strangers(tokens.lengths, tokens.n_unknown, corpus.vocabulary, draws.vocabulary)
    return tokens


def _half(tokens: Tokens, keys, seed: int) -> np.ndarray:
    """Which tokens are in the half that topics are found in: all but floor((n + 1)/2) of each document."""
    fitted = np.zeros(len(tokens.words), bool)
    for d, (first, n) in enumerate(zip(tokens.offsets.tolist(), tokens.lengths.tolist(), strict=False)):
        rng = stream(seed, Purpose.SPLIT, int(keys[d]))
        fitted[first + rng.permutation(n)[: n // 2]] = True
    return fitted


def _offsets(tokens: Tokens, chosen) -> np.ndarray:
    running = np.concatenate([[0], np.cumsum(chosen)])
    return running[tokens.offsets].astype(np.int64)
