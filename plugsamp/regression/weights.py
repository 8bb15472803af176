"""Drawing the weights eta given (kappa, omega): model.md section 4.

Given the augmentation, output c is a Gaussian regression on u_d = (zbar_d, x_d) with precision
Lambda_c = Lambda0_c + sum_d omega_dc u_d u_d^T and linear term b_c = sum_d kappa_dc u_d.
"""

from __future__ import annotations

import numpy as np

from plugsamp.checks import whole
from plugsamp.priors.base import WeightPrior
from plugsamp.priors.columns import Columns
from plugsamp.random.draws import Purpose, stream
from plugsamp.regression.design import LANES, Design, no_columns
from plugsamp.regression.precision import SMALLEST_PIVOT, Factor, WeightError, draw_orthogonal
from plugsamp.system.blas import single_thread
from plugsamp.system.dispatch import load
from plugsamp.system.memory import LITTLE, available_bytes, in_words

_compiled = load("plugsamp.regression.gram")

#: Outputs are drawn in groups of this many, one vector of doubles.
GROUP = LANES

#: Up to this many features a joint draw is worth its price (see `tools/bench_weights.py`).
BLOCK_LIMIT = 400

#: Unit Gram matrices that a design keeps.
SHARED = 16

METHODS = ("auto", "block", "mixed", "coordinate")


def check_update(method: str, passes: int) -> None:
    """Refuse a method or a number of passes that does not exist (ValueError)."""
    if method not in METHODS:
        raise ValueError(f"weight_update must be one of {', '.join(METHODS)}, not {method!r}")
    whole("weight_passes", passes, 1)


def choose_method(method: str, n_joint: int, n_single: int = 0) -> str:
    """The method that "auto" stands for: joint draws as long as their J^3 costs little.

    Parameters
    ----------
    method : str
    n_joint, n_single : int
        Topics, dense covariates and intercept; sparse covariates.

    Raises
    ------
    ValueError
        For a name that is none of the methods.
    """
    if method not in METHODS:
        raise ValueError(f"weight_update must be one of {', '.join(METHODS)}, not {method!r}")
    if method != "auto":
        return method
    if n_joint + n_single <= BLOCK_LIMIT:
        return "block"
    return "mixed" if n_single and n_joint <= BLOCK_LIMIT else "coordinate"


def groups(n_outputs: int) -> list[np.ndarray]:
    """The fixed groups of outputs: the unit of parallel work."""
    return [np.arange(start, min(start + GROUP, n_outputs)) for start in range(0, n_outputs, GROUP)]


def update_outputs(
    design: Design,
    kappa,
    omega,
    eta,
    outputs,
    prior: WeightPrior,
    prior_state: dict,
    columns: Columns,
    seed: int,
    sweep: int,
    *,
    method: str = "auto",
    passes: int = 1,
    grams=None,
) -> None:
    """Draw the weights of some outputs, in place.

    An output's draws depend on its own kappa, omega, weights and stream alone, to the last bit: not on
    which outputs are updated together, nor on how many threads BLAS would use.

    Parameters
    ----------
    design : Design
    kappa, omega : float64 (D, C)
        Both 0 where the response is missing.
    eta : float64 (C, J)
        Changed in place.
    outputs : sequence of int
        Which outputs; they are worked on eight at a time.
    prior : WeightPrior
    prior_state : dict
    columns : Columns
    seed, sweep : int
        Key of the streams.
    method : {"auto", "block", "mixed", "coordinate"}
        A joint draw of all weights by Cholesky; a joint draw of all but the sparse covariates' weights,
        and Gibbs passes over those one by one; or such passes over all (Zheng et al. 2015, section 3.4).
    passes : int
        Passes over single weights.
    grams : tuple of arrays, optional
        What `gram` returns of these outputs, of which there are up to eight.

    Raises
    ------
    WeightError
        Non-finite kappa or omega, or a negative omega that leaves the precision not positive definite.
    ValueError
        For an unknown method or a number of passes below 1, or a joint draw too large for the memory.
    """
    check_update(method, passes)
    method = choose_method(method, len(design.joint), len(design.single))
    if method == "block":
        design = design.joined()
    if method != "coordinate":
        _check_size(len(design.joint))
    outputs = np.asarray(outputs, dtype=np.int64)
    for start in range(0, len(outputs), GROUP):
        chosen = outputs[start : start + GROUP]
        _check_finite("kappa", kappa, chosen)
        _check_finite("omega", omega, chosen)
        group = _Group(design, kappa, omega, eta, chosen, prior, prior_state, columns)
        group.rngs = [stream(seed, Purpose.WEIGHTS, sweep, int(c)) for c in chosen]
        if method == "coordinate":
            group.coordinate(passes, joint=True)
        else:
            group.draw_joint(grams)
            if len(design.single):
                group.coordinate(passes, joint=False)
        for lane, c in enumerate(chosen.tolist()):
            weights = group.weights[:, lane]
            if not np.isfinite(weights).all():
                raise WeightError(
                    f"output {c}: weight {int(np.argmin(np.isfinite(weights)))} is not finite after its "
                    f"{method} update (largest omega {np.max(omega[:, c]):.3g})"
                )
            eta[c] = weights


def _check_size(n_joint: int) -> None:
    wanted = 8 * GROUP * n_joint**2
    free = available_bytes() if wanted > LITTLE else None
    if free is not None and wanted > free:
        raise ValueError(
            f"weight_update: a joint draw of {n_joint:,} weights takes {in_words(wanted)} of memory, "
            f'and {in_words(free)} are free; take "coordinate" or "auto"'
        )


def _check_finite(name, values, chosen) -> None:
    finite = np.isfinite(values[:, chosen])
    if not finite.all():
        document, column = np.argwhere(~finite)[0]
        c = int(chosen[column])
        raise WeightError(
            f"output {c}: {name} of document {document} is {values[document, c]}, drawn by the loss's augment"
        )


def _lanes(values, chosen) -> np.ndarray:
    """Columns `chosen` of (D, C) as (D, GROUP), padded by zeros."""
    lanes = np.zeros((len(values), GROUP))
    lanes[:, : len(chosen)] = values[:, chosen]
    return lanes


def gram(design: Design, kappa, omega, chosen) -> tuple[np.ndarray, np.ndarray]:
    """sum_d omega_dc u_d u_d^T (J, J, GROUP), upper triangles, and sum_d kappa_dc u_d (J, GROUP).

    Of the joint columns, in their order. The last axis holds the outputs `chosen`, then zeros.
    """
    return _gram(design, _lanes(kappa, chosen), _lanes(omega, chosen))


def _gram(design, kappa, omega):
    n = len(design.joint)
    precision, linear = np.zeros((n, n, GROUP)), np.zeros((n, GROUP))
    _add_rows(design, kappa, omega, precision, linear, 0, n)
    return precision, linear


def _add_rows(design, kappa, omega, precision, linear, first, last):
    t = design.topics
    _compiled.gram(
        t.indptr, t.columns, t.values, t.column_ptr, t.column_documents, t.column_positions,
        design.dense, kappa, omega, np.empty(t.n_columns, dtype=np.int64), precision, linear, first, last,
    )  # fmt: skip


class GramParts:
    """The Gram matrices of all groups of outputs, in parts of some rows: more pieces than groups.

    Every row is summed as it is where a group is one piece, so which of the two is done changes no bit.

    Parameters
    ----------
    design : Design
        All columns of which are joint ones.
    n_outputs : int
    parts : int
        Parts of a group; each goes over the documents anew, which costs a millisecond for ten thousand.
    buffer : callable
        (name, size, dtype) to an array that all processes see.
    """

    #: More parts of a group are not worth it.
    MOST = 8

    #: Bytes that the matrices may take.
    LARGEST = 256 << 20

    def __init__(self, design: Design, n_outputs: int, parts: int, buffer):
        n, n_groups = len(design.joint), -(-n_outputs // GROUP)
        self.precision = buffer("gram.precision", n_groups * n * n * GROUP, float)
        self.precision = self.precision.reshape(n_groups, n, n, GROUP)
        self.linear = buffer("gram.linear", n_groups * n * GROUP, float).reshape(n_groups, n, GROUP)
        # a topic's row goes over its documents, and in each over the columns that follow
        documents = np.full(n, design.n_documents, float)
        documents[: design.n_topics] = np.diff(design.topics.column_ptr)
        work = np.cumsum(documents * (1.0 + np.cumsum(documents[::-1])[::-1] / max(design.n_documents, 1)))
        self.parts = min(parts, self.MOST)
        inside = np.searchsorted(work, work[-1] * np.arange(1, self.parts) / self.parts) + 1
        self.rows = np.minimum(np.concatenate([[0], inside, [n]]), n).tolist()

    @classmethod
    def suit(cls, design: Design, n_outputs: int, method: str) -> bool:
        """Whether the outputs' matrices can be made so."""
        n = len(design.joint)
        size = 8 * GROUP * n * n * -(-n_outputs // GROUP)
        joint = choose_method(method, n, len(design.single)) != "coordinate"
        return joint and not len(design.single) and size <= cls.LARGEST

    def __len__(self) -> int:
        return len(self.precision) * self.parts

    def fill(self, design: Design, kappa, omega, piece: int) -> None:
        """Make one part."""
        group, part = divmod(piece, self.parts)
        first, last = self.rows[part], self.rows[part + 1]
        chosen = np.arange(group * GROUP, min((group + 1) * GROUP, kappa.shape[1]))
        if all(_level(omega[:, c]) is not None for c in chosen):
            return  # these are made of unit matrices
        precision, linear = self.precision[group], self.linear[group]
        precision[first:last], linear[first:last] = 0.0, 0.0
        _add_rows(design, _lanes(kappa, chosen), _lanes(omega, chosen), precision, linear, first, last)

    def of(self, group: int) -> tuple[np.ndarray, np.ndarray]:
        return self.precision[group], self.linear[group]


class _Group:
    """Up to eight outputs whose weights are drawn together, each in a lane of its own."""

    def __init__(self, design, kappa, omega, eta, chosen, prior, prior_state, columns):
        self.design, self.chosen = design, chosen
        self.kappa, self.omega = _lanes(kappa, chosen), _lanes(omega, chosen)
        self.weights = _lanes(eta.T, chosen)
        self.prior = np.ones_like(self.weights)
        for lane, c in enumerate(chosen.tolist()):
            precision = prior.precision(prior_state, c, columns)
            if np.shape(precision) != (len(columns),):
                raise WeightError(
                    f"output {c}: precision of the weight prior {type(prior).__name__} has shape "
                    f"{np.shape(precision)}, not {(len(columns),)}"
                )
            self.prior[:, lane] = precision

    def draw_joint(self, grams=None) -> None:
        """Draw the weights of the joint columns given those of the single ones."""
        design, kappa = self.design, self.kappa
        if len(design.single):
            kappa = np.zeros_like(kappa)
            design.add_single(self.weights[design.single], kappa)
            kappa *= self.omega
            np.subtract(self.kappa, kappa, out=kappa)
        prior = self.prior[design.joint]
        levels = [_level(self.omega[:, lane]) for lane in range(len(self.chosen))]
        linear = matrices = None
        if None in levels:
            matrices, linear = grams or _gram(design, kappa, self.omega)
        else:
            linear = np.empty((len(design.joint), GROUP))
            t = design.topics
            _compiled.moments(t.column_ptr, t.column_documents, t.column_values, design.dense, kappa, linear)
        units = unit_grams(design, [level[1] for level in levels if level is not None])
        drawn = np.zeros((len(design.joint), GROUP))
        with single_thread():
            for lane, c in enumerate(self.chosen.tolist()):
                own = np.ascontiguousarray(prior[:, lane])
                if levels[lane] is None:
                    factor = Factor(np.ascontiguousarray(matrices[:, :, lane]), own)
                else:
                    scale, pattern = levels[lane]
                    factor = self._shared_factor(pattern, units[pattern], scale, own)
                noise = self.rngs[lane].standard_normal(len(own))
                if factor.pivot >= SMALLEST_PIVOT:
                    drawn[:, lane] = factor.draw(np.ascontiguousarray(linear[:, lane]), noise)
                    continue
                if self.omega[:, lane].min(initial=0.0) < 0:
                    raise WeightError(
                        f"output {c}: the precision matrix of its weights is not positive definite: omega of "
                        f"document {int(np.argmin(self.omega[:, lane]))} is {self.omega[:, lane].min():.3g}"
                    )
                pieces = _pieces(design, self.omega[:, lane], kappa[:, lane])
                drawn[:, lane] = draw_orthogonal(pieces, own, noise)
        self.weights[design.joint] = drawn

    def _shared_factor(self, pattern, unit, scale, prior):
        """The factor of scale * unit + diag(prior); the last one is kept, for outputs that agree in all."""
        key = (pattern, scale, prior.tobytes())
        if self.design.last_factor[0] != key:
            self.design.last_factor = key, Factor(scale * unit, prior)
        return self.design.last_factor[1]

    def coordinate(self, passes: int, *, joint: bool) -> None:
        """Gibbs passes over single weights: of all columns, or of the single ones alone."""
        design = self.design
        parts = [(design.sparse, no_columns(design.n_documents), design.single)] if len(design.single) else []
        if joint:
            parts.insert(0, (design.topics, design.dense, design.joint))
        residual = np.zeros_like(self.kappa)
        design.add_joint(self.weights[design.joint], residual)
        design.add_single(self.weights[design.single], residual)
        residual *= self.omega
        np.subtract(self.kappa, residual, out=residual)
        work = []
        for columns, dense, where in parts:
            weights = self.weights[where]
            work.append((columns, dense, self.prior[where], np.empty_like(weights), weights))
        for number in range(passes):
            for columns, dense, prior, curvature, weights in work:
                noise = np.zeros_like(weights)
                for lane, rng in enumerate(self.rngs):
                    noise[:, lane] = rng.standard_normal(len(weights))
                _compiled.coordinate(
                    columns.column_ptr, columns.column_documents, columns.column_values, dense,
                    self.omega, residual, prior, noise, curvature, number > 0, weights,
                )  # fmt: skip
        for (_, _, where), (*_, weights) in zip(parts, work, strict=True):
            self.weights[where] = weights


def _pieces(design, omega, kappa, size=2048):
    """(u, omega, kappa) of some documents at a time, u dense in the order of the joint columns."""
    topics = design.topics.matrix()
    for first in range(0, design.n_documents, size):
        some = slice(first, first + size)
        yield np.hstack([topics[some].toarray(), design.dense[some]]), omega[some], kappa[some]


def _level(omega) -> tuple[float, bytes] | None:
    """The one value of omega (D,) besides 0, and the documents that have it; None if it has several.

    A function of the output's own omega, so that whether its Gram matrix is shared never depends on
    what other outputs hold.
    """
    value = float(omega.max(initial=0.0))
    if value == 0.0 or omega.min() < 0:
        return None
    present = omega == value
    if not (present | (omega == 0.0)).all():
        return None
    return value, np.packbits(present).tobytes()


def unit_grams(design: Design, patterns) -> dict[bytes, np.ndarray]:
    """sum u_d u_d^T over the documents of each pattern, (J, J), upper triangles.

    Where omega is one number for all documents that are observed (Gaussian, DO-probit), this matrix
    serves every output observed on the same documents. It is kept with the design while it is used.
    """
    known = design.shared
    missing = [p for p in dict.fromkeys(patterns) if p not in known]
    if len(known) + len(missing) > SHARED:
        known = design.shared = {p: known[p] for p in patterns if p in known}
    for start in range(0, len(missing), GROUP):
        some = missing[start : start + GROUP]
        omega = np.zeros((design.n_documents, GROUP))
        for lane, pattern in enumerate(some):
            bits = np.unpackbits(np.frombuffer(pattern, np.uint8), count=design.n_documents)
            omega[:, lane] = bits
        matrices, _ = _gram(design, np.zeros_like(omega), omega)
        for lane, pattern in enumerate(some):
            known[pattern] = np.ascontiguousarray(matrices[:, :, lane])
    return known
