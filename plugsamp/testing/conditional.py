"""One token's full conditional, written down by brute force, and the check of a transition matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from plugsamp.testing.cases import Case


def token_log_conditional(case: Case, i: int, z, kappa=None, omega=None, eta=None, phi=None) -> np.ndarray:
    """log p(z_i = k | everything else), normalised.

    The response enters as the log of exp(kappa f - omega f^2/2) at the f that z_i = k gives, with f
    summed anew for each k: none of the algebra of model.md section 3 that the kernels use.

    Parameters
    ----------
    i : int
        Token, in corpus order.
    z : ndarray (N,)
    kappa, omega : ndarray (D, C), optional
    eta : ndarray (C, J), optional
    phi : ndarray (K, V), optional
        Given: the partially collapsed conditional. Otherwise topics are integrated out.

    Returns
    -------
    ndarray (K,)
    """
    z = np.asarray(z, dtype=int)
    d, w = case.document_of[i], case.words[i]
    others = np.arange(case.n_tokens) != i
    here = others & (case.document_of == d)
    k = case.n_topics
    doc_counts = np.bincount(z[here], minlength=k)
    log_p = np.log(doc_counts + case.alpha_vector)
    if phi is None:
        word_counts = np.bincount(z[others & (case.words == w)], minlength=k)
        totals = np.bincount(z[others], minlength=k)
        log_p += np.log(word_counts + case.beta_vector[w]) - np.log(totals + case.beta_vector.sum())
    else:
        with np.errstate(divide="ignore"):
            log_p += np.log(np.asarray(phi, dtype=float)[:, w])
    if case.n_outputs:
        z_bar = (doc_counts + np.eye(k)) / case.lengths[d]  # row k: token i in topic k
        eta = np.asarray(eta, dtype=float)
        f = z_bar @ eta[:, :k].T + case.fixed[d] @ eta[:, k:].T  # (K, C)
        log_p += (kappa[d] * f - 0.5 * omega[d] * f * f).sum(axis=1)
    return log_p - logsumexp(log_p)


@dataclass
class TokenReport:
    """What `check_token` found.

    Attributes
    ----------
    row_error : float
        Largest |row sum - 1|.
    stationary_error : float
        Largest |(pi T - pi)_k|.
    blind_error : float
        Largest change of T when token i itself sat in another topic; 0 where not asked for.
    smallest : float
        Smallest entry.
    gibbs_error : float
        Largest |T_sk - pi_k|: 0 for a Gibbs kernel, large for any other.
    """

    token: int
    row_error: float
    stationary_error: float
    blind_error: float
    smallest: float
    gibbs_error: float
    pi: np.ndarray
    matrix: np.ndarray

    def passes(self, tolerance: float = 1e-6) -> bool:
        """All within `tolerance`; a NaN anywhere fails."""
        worst = max(self.row_error, self.stationary_error, self.blind_error, -self.smallest)
        return bool(np.isfinite(self.matrix).all() and worst <= tolerance)

    def __str__(self) -> str:
        return (
            f"token {self.token}: rows sum to 1 within {self.row_error:.2g}, pi T = pi within "
            f"{self.stationary_error:.2g}, blind to its own topic within {self.blind_error:.2g}, smallest "
            f"entry {self.smallest:.2g}\npi = {self.pi}\nT =\n{self.matrix}"
        )


def check_token(chain, case: Case, i: int, *, collapsed: bool, blind: bool = False) -> TokenReport:
    """Compare ``chain.token_transition(i)`` with the token's full conditional in the chain's state.

    Parameters
    ----------
    chain : Chain
        With ``token_transition``, ``z``, ``eta``, ``phi``, ``kappa`` and ``omega``.
    collapsed : bool
        Whether the kernel integrates the topics out.
    blind : bool
        Also put the token in each topic in turn and build T anew. T is a function of everything
        *else*, so it may not change; a proposal table that looks at the token's own assignment
        changes it, although pi T = pi holds for each such table alone (model.md section 3). Leaves the
        chain's z as it was.
    """
    z = np.array(chain.z, dtype=int)
    phi = None if collapsed else np.array(chain.phi, dtype=float)
    state = {"kappa": np.array(chain.kappa), "omega": np.array(chain.omega), "eta": np.array(chain.eta)}
    pi = np.exp(token_log_conditional(case, i, z, phi=phi, **state))
    matrix = np.array(chain.token_transition(i), dtype=float)
    blind_error = 0.0
    if blind:
        for topic in range(case.n_topics):
            moved = z.copy()
            moved[i] = topic
            chain.set_state(z=moved)
            for name, before in state.items():
                if not np.array_equal(getattr(chain, name), before):
                    raise AssertionError(f"set_state(z=) changed {name}; the check needs it held")
            if phi is not None and not np.array_equal(chain.phi, phi):
                raise AssertionError("set_state(z=) changed phi; the check needs it held")
            blind_error = max(blind_error, float(np.abs(chain.token_transition(i) - matrix).max()))
        chain.set_state(z=z)
    return TokenReport(
        token=i,
        row_error=float(np.abs(matrix.sum(axis=1) - 1.0).max()),
        stationary_error=float(np.abs(pi @ matrix - pi).max()),
        blind_error=blind_error,
        smallest=float(matrix.min()),
        gibbs_error=float(np.abs(matrix - pi).max()),
        pi=pi,
        matrix=matrix,
    )
