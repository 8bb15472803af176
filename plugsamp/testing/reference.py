"""A plain Python sampler of the same targets, with known mistakes to switch on.

It is slow, short and shares no code with the package's kernels. Correct, it shows that the checks pass
for a sampler they were not tuned on; with one of `MUTANTS`, that they fail.
"""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from plugsamp.losses.coding import filled
from plugsamp.testing.cases import Case

#: Name -> the mistake, each one published or easily made (model.md sections 3 and 9).
MUTANTS = {
    "doc-counts-with-token": "the doc proposal's ratio uses n_dk with the token itself",
    "word-counts-with-token": "the word factor of the target uses n_kw and n_k with the token itself",
    "exp-own-scores": "the exp table is built from the document's own f at document start",
    "fastlda-min-with-token": "FastLDA's bound on c uses the smallest n_k with the token itself",
    "inverted-test": "a proposal is accepted when u is above the ratio",
    "stale-response": "f is not updated as tokens move within a document",
}


class ReferenceSampler:
    """The sweep of model.md section 6 for tiny corpora.

    Parameters
    ----------
    case : Case
    kernel : {"dense", "composed", "fastlda"}
        ``"fastlda"`` is collapsed and takes no responses.
    proposals : sequence of {"doc", "word", "exp"}
    composition : {"mixture", "cycle"}
    steps : int
        MH steps a token.
    collapse : {"full", "partial"}
    weight_update : {"block", "coordinate"}
    seed : int
    mutant : str, optional
        A name of `MUTANTS`.
    """

    def __init__(
        self,
        case: Case,
        kernel: str = "dense",
        *,
        proposals=("doc", "word", "exp"),
        composition: str = "cycle",
        steps: int = 3,
        collapse: str = "full",
        weight_update: str = "block",
        seed: int = 0,
        mutant: str | None = None,
    ):
        if mutant is not None and mutant not in MUTANTS:
            raise ValueError(f"no mutant named {mutant!r}; there are {', '.join(MUTANTS)}")
        if kernel == "fastlda" and (case.n_outputs or collapse != "full"):
            raise ValueError("fastlda is collapsed and takes no responses")
        self.case, self.kernel, self.mutant = case, kernel, mutant
        self.proposals, self.composition, self.steps = list(proposals), composition, steps
        self.collapsed, self.weight_update = collapse == "full", weight_update
        self.rng = np.random.default_rng([seed, 99])
        self.z = self.rng.integers(case.n_topics, size=case.n_tokens)
        self.eta = np.zeros((case.n_outputs, case.n_features))
        self.kappa = np.zeros((case.n_documents, case.n_outputs))
        self.omega = np.zeros((case.n_documents, case.n_outputs))
        self._draw_phi()

    # -- the sweep -------------------------------------------------------------------------------

    def run(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """n sweeps; the states after each, z (n, N) and eta (n, C, J)."""
        z = np.empty((n, self.case.n_tokens), dtype=np.int64)
        eta = np.empty((n, *self.eta.shape))
        for s in range(n):
            self.sweep()
            z[s], eta[s] = self.z, self.eta
        return z, eta

    def sweeps(self, n: int):
        """n sweeps, one at a time."""
        for s in range(n):
            self.sweep()
            yield s

    def set_state(self, z=None, eta=None) -> None:
        """Put the sampler in a state; topics are drawn given z."""
        if z is not None:
            self.z = np.array(z, dtype=np.int64)
        if eta is not None:
            self.eta = np.array(eta, dtype=float)
        self._draw_phi()

    def sweep(self) -> None:
        self._augment()
        self._sample_topics()
        self._draw_phi()
        self._draw_weights()

    def _augment(self) -> None:
        case = self.case
        if not case.n_outputs:
            return
        f = case.design(self.z) @ self.eta.T
        missing = np.isnan(case.y)
        weight = {}
        if case.document_weights is not None:
            weight = {"weight": np.broadcast_to(case.power[:, None], f.shape)}
        self.kappa, self.omega = case.loss.augment(f, filled(case.y, missing), self.rng, **weight)
        self.kappa[missing] = 0.0
        self.omega[missing] = 0.0

    def _draw_phi(self) -> None:
        _, counts = self.case.counts(self.z)
        gamma = self.rng.standard_gamma(counts + self.case.beta_vector)
        self.phi = gamma / gamma.sum(axis=1, keepdims=True)

    def _draw_weights(self) -> None:
        case = self.case
        if not case.n_outputs:
            return
        u = case.design(self.z)
        for c in range(case.n_outputs):
            kappa, omega, prior = self.kappa[:, c], self.omega[:, c], case.prior_precision[c]
            if self.weight_update == "block":
                factor = np.linalg.cholesky(np.diag(prior) + (u.T * omega) @ u)
                mean = np.linalg.solve(factor, u.T @ kappa)
                self.eta[c] = np.linalg.solve(factor.T, mean + self.rng.standard_normal(len(prior)))
                continue
            for j in range(len(prior)):
                rest = u @ self.eta[c] - u[:, j] * self.eta[c, j]
                tau = prior[j] + omega @ u[:, j] ** 2
                mean = (u[:, j] @ (kappa - omega * rest)) / tau
                self.eta[c, j] = mean + self.rng.standard_normal() / sqrt(tau)

    # -- the tokens ------------------------------------------------------------------------------

    def _sample_topics(self) -> None:
        case = self.case
        k, n_outputs = case.n_topics, case.n_outputs
        doc_topic, topic_word = (a.astype(float).tolist() for a in case.counts(self.z))
        totals = [sum(row) for row in topic_word]
        z = self.z.tolist()
        words = case.words.tolist()
        alpha, beta = case.alpha_vector.tolist(), case.beta_vector.tolist()
        beta_sum, alpha_sum = sum(beta), sum(alpha)
        phi = self.phi.tolist()
        eta = self.eta.tolist()
        topics = range(k)
        random = iter(self.rng.random(case.n_tokens * (1 + 4 * self.steps))).__next__
        by_word = [[i for i, v in enumerate(words) if v == w] for w in range(case.n_words)]
        start = 0
        for d in range(case.n_documents):
            length = int(case.lengths[d])
            tokens = range(start, start + length)
            start += length
            kappa, omega = self.kappa[d].tolist(), self.omega[d].tolist()
            fixed = case.fixed[d].tolist()
            offset = [sum(a * b for a, b in zip(fixed, row[k:], strict=True)) for row in eta]

            def full_f(n_d, length=length, offset=offset):
                return [
                    sum(eta[c][t] * n_d[t] for t in topics) / length + offset[c] for c in range(n_outputs)
                ]

            def scores(f, length=length, kappa=kappa, omega=omega):
                result = []
                for t in topics:
                    s = 0.0
                    for c in range(n_outputs):
                        h = eta[c][t] / length
                        s += h * (kappa[c] - omega[c] * f[c]) - 0.5 * omega[c] * h * h
                    result.append(s)
                return result

            exp_table = None
            if length and "exp" in self.proposals and self.kernel == "composed":
                exp_table = self._exp_table(d, doc_topic[d], full_f, scores)
            at_start = list(doc_topic[d])
            for i in tokens:
                s, w = z[i], words[i]
                with_s = self.mutant == "word-counts-with-token"
                n_with = topic_word[s][w], totals[s]
                doc_topic[d][s] -= 1
                topic_word[s][w] -= 1
                totals[s] -= 1
                if not self.collapsed:
                    g = [phi[t][w] for t in topics]
                else:
                    g = [(topic_word[t][w] + beta[w]) / (totals[t] + beta_sum) for t in topics]
                    if with_s:
                        g[s] = (n_with[0] + beta[w]) / (n_with[1] + beta_sum)
                n_d = doc_topic[d]
                if self.mutant == "stale-response":
                    n_d = list(at_start)
                    n_d[s] -= 1
                response = scores(full_f(n_d)) if n_outputs else [0.0] * k
                log_pi = [log(doc_topic[d][t] + alpha[t]) + log(g[t]) + response[t] for t in topics]
                if self.kernel == "dense":
                    t = _categorical(_softmax(log_pi), random())
                elif self.kernel == "fastlda":
                    smallest = min(totals)
                    if self.mutant == "fastlda-min-with-token":
                        smallest = min(n_with[1] if t == s else totals[t] for t in topics)
                    a = [doc_topic[d][t] + alpha[t] for t in topics]
                    b = [topic_word[t][w] + beta[w] for t in topics]
                    c = [1.0 / (totals[t] + beta_sum) for t in topics]
                    t = fast_topic(a, b, c, 1.0 / (smallest + beta_sum), random())
                else:
                    t = s
                    for step in range(self.steps):
                        pick = step % len(self.proposals)
                        if self.composition == "mixture":
                            pick = int(random() * len(self.proposals))
                        kind = self.proposals[pick]
                        # The state z[i] follows t so that "itself included" means the current value.
                        z[i] = t
                        if kind == "doc":
                            new = self._copy(random, tokens, z, alpha, alpha_sum)
                            own = self.mutant == "doc-counts-with-token"
                            log_q = [log(doc_topic[d][r] + alpha[r] + (own and r == t)) for r in topics]
                        elif kind == "exp":
                            log_q = exp_table
                            new = _categorical(_softmax(log_q), random())
                        elif self.collapsed:
                            new = self._copy(random, by_word[w], z, [beta[w]] * k, k * beta[w])
                            log_q = [log(topic_word[r][w] + beta[w]) for r in topics]
                        else:
                            log_q = [log(v) for v in g]
                            new = _categorical(_softmax(log_q), random())
                        if new == t:
                            continue
                        ratio = exp(min(0.0, log_pi[new] - log_pi[t] + log_q[t] - log_q[new]))
                        accept = random() < ratio
                        if self.mutant == "inverted-test" and ratio < 1.0:
                            accept = not accept
                        if accept:
                            t = new
                z[i] = t
                doc_topic[d][t] += 1
                topic_word[t][w] += 1
                totals[t] += 1
        self.z = np.array(z, dtype=np.int64)

    @staticmethod
    def _copy(random, among, z, prior, prior_sum):
        """The topic of a uniformly chosen token of `among`, or a draw from the prior (model.md section 3)."""
        n = len(among)
        if random() * (n + prior_sum) < n:
            return z[among[int(random() * n)]]
        return _categorical([v / prior_sum for v in prior], random())

    def _exp_table(self, d, n_d, full_f, scores):
        """log of the proposal exp(s_dk(f_ref)); f_ref knows words or prior, never the document's topics."""
        case = self.case
        k = case.n_topics
        if self.mutant == "exp-own-scores":
            guess = n_d
        elif self.collapsed:
            guess = (case.alpha_vector / case.alpha_vector.sum() * case.lengths[d]).tolist()
        else:
            columns = self.phi[:, case.words[case.document_of == d]]
            guess = (columns / columns.sum(axis=0)).sum(axis=1).tolist()
        if not case.n_outputs:
            return [0.0] * k
        return scores(full_f(guess))


def _softmax(log_p):
    top = max(log_p)
    p = [exp(v - top) for v in log_p]
    total = sum(p)
    return [v / total for v in p]


def _categorical(p, u):
    last = len(p) - 1
    for t in range(last):
        u -= p[t]
        if u < 0.0:
            return t
    return last


def fast_topic(a, b, c, c_norm, u) -> int:
    """FastLDA's draw from p proportional to a b c with bounds (2, 2, inf), for one uniform u.

    The algorithm of model.md section 3 (Porteous et al. 2008, section 4).

    Topics are visited in descending a; `c_norm` should be at least every c.
    """
    order = sorted(range(len(a)), key=lambda t: -a[t])
    partial, total = [], 0.0
    previous = None
    for rank, t in enumerate(order):
        total += a[t] * b[t] * c[t]
        partial.append(total)
        rest = order[rank + 1 :]
        bound = total + sqrt(sum(a[r] ** 2 for r in rest)) * sqrt(sum(b[r] ** 2 for r in rest)) * c_norm
        if u * bound > total and rest:
            previous = bound
            continue
        if rank == 0 or u * bound > partial[rank - 1]:
            return t
        # u fell to this topic because the bound tightened: the slack is shared out among all so far.
        before = partial[rank - 1]
        v = (u * previous - before) * bound / (previous - bound) if previous > bound else before
        for r, s in zip(order, partial, strict=False):
            if s >= v:
                return r
        return t
    return order[-1]
