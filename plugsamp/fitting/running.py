"""A chain on its way: what has been kept and traced of it, and how it goes on from a checkpoint."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping

from plugsamp.chain import Chain, NonFinite
from plugsamp.checkpoint import snapshot
from plugsamp.files.storage import StorageError
from plugsamp.fitting.starts import Start, warm
from plugsamp.fitting.two_step import Proportions
from plugsamp.posterior.trace import Trace
from plugsamp.prediction.keeper import PosteriorKeeper

log = logging.getLogger(__name__)

#: What a checkpoint that was written in a collapsed start holds of the start's chain.
STARTING = "start"


def in_start(content: Mapping) -> bool:
    """Whether a checkpoint with this content was written in a collapsed start, before the first sweep."""
    return STARTING in content


class Run:
    """A chain with what is kept of its sweeps.

    Parameters
    ----------
    chain : Chain
    proportions : bool
        Keep the topic proportions of the documents too.

    Attributes
    ----------
    trace : list of dict
        A row a sweep (see `trace_row`).
    kept : list of int
        The sweeps whose draws are kept.
    seconds : float
        Of sampling.
    started : str
    starting : Chain or None
        The chain of the collapsed start while that runs.
    """

    def __init__(self, chain: Chain, proportions: bool = False):
        self.chain = chain
        self.keeper = PosteriorKeeper(chain)
        self.proportions = Proportions(chain) if proportions else None
        self.trace = Trace()
        self.kept: list[int] = []
        self.seconds = 0.0
        self.started = chain.started
        self.starting: Chain | None = None
        self._begun = time.perf_counter()

    @property
    def sweep(self) -> int:
        return self.chain.sweep

    @property
    def elapsed(self) -> float:
        """Seconds with everything, those before a checkpoint included."""
        return time.perf_counter() - self._begun

    def start(self, start: Start, recorder=None, saved: tuple[dict, dict] | None = None) -> None:
        """Start the chain as `start` says, with checkpoints; `saved` is one that was written in the start."""
        if saved is not None:
            arrays, content = saved
            self._begun -= float(content["elapsed"])
            saved = (arrays, content[STARTING])

        def after(chain: Chain) -> None:
            self.starting = chain
            if recorder is not None:
                recorder.after(self)

        self.started = warm(self.chain, start, after, saved)
        self.starting = None
        self.seconds = self.elapsed

    def sweeps(self, last: int, wanted: frozenset[int], observers: Iterable[Callable[[Mapping], object]]):
        """Do the sweeps up to `last`; an iterator, a sweep a step."""
        for info in self.chain.sweeps(last - self.sweep):
            self.seconds += info.seconds
            row = trace_row(self.chain, info, self.elapsed)
            self.trace.append(row)
            if info.sweep in wanted:
                self.keep()
            for observe in observers:
                observe(row)
            yield info

    def keep(self) -> None:
        """Keep the present draw."""
        self.keeper.keep()
        if self.proportions is not None:
            self.proportions.keep()
        self.kept.append(self.sweep)

    def take_up(self, wanted: frozenset[int]) -> None:
        """Bring what a checkpoint had kept in line with the sweeps that are wanted.

        The outcome is that of a run of so many sweeps from the start wherever that can be made of what was
        kept: nothing of it, all of it, or besides it the present draw. Otherwise, which takes a number of
        sweeps that was changed, what was kept stays, and a warning says so.
        """
        due = {sweep for sweep in wanted if sweep <= self.sweep}
        lacking, needless = due - set(self.kept), set(self.kept) - due
        if needless and due <= {self.sweep}:
            self.keeper.clear()
            if self.proportions is not None:
                self.proportions.clear()
            self.kept.clear()
            needless = set()
        if needless or lacking - {self.sweep}:
            so_far = f"the draws of sweeps {_listed(self.kept)} stay" if self.kept else "no draw is kept yet"
            log.warning(
                "%s; a run of %d sweeps from the start would keep %s", so_far, max(wanted), _listed(wanted)
            )
        if self.sweep in due and self.sweep not in self.kept:
            self.keep()

    def capture(self) -> tuple[dict, dict]:
        """Arrays and content of a checkpoint."""
        if self.starting is not None:
            arrays, content = snapshot.capture_chain(self.starting)
            kernel = snapshot.kernel_record(self.chain)
            return arrays, {"sweep": 0, "kernel": kernel, "elapsed": self.elapsed, STARTING: content}
        arrays, content = snapshot.capture_chain(self.chain)
        parts = {
            "keeper": snapshot.capture_keeper(self.keeper),
            "trace": snapshot.capture_trace(self.trace),
        }
        if self.proportions is not None:
            parts["proportions"] = ({"proportions": self.proportions.total}, {})
        for name, (more, about) in parts.items():
            arrays |= more
            content[name] = about
        content |= {
            "kept": self.kept,
            "seconds": self.seconds,
            "elapsed": self.elapsed,
            "started": self.started,
        }
        return arrays, content

    def restore(self, arrays, content) -> None:
        """Go on from a checkpoint.

        Raises
        ------
        StorageError
            Parts that do not fit together.
        """
        try:
            snapshot.restore_chain(self.chain, arrays, content)
            snapshot.restore_keeper(self.keeper, arrays, content["keeper"])
            self.trace[:] = snapshot.restore_trace(arrays, content["trace"])
            if self.proportions is not None:
                self.proportions.total[:] = arrays["proportions"]
                self.proportions.n_kept = len(content["kept"])
            self.kept = [int(sweep) for sweep in content["kept"]]
            self.seconds, self.started = float(content["seconds"]), str(content["started"])
            self._begun = time.perf_counter() - float(content["elapsed"])
        except KeyError as error:
            raise StorageError(f"the checkpoint is incomplete: it lacks {error}") from None


def _listed(sweeps) -> str:
    sweeps = sorted(sweeps)
    shown = [str(s) for s in (sweeps if len(sweeps) <= 4 else [*sweeps[:2], "...", sweeps[-1]])]
    return ", ".join(shown) or "none"


def _whose(part: str, model) -> str:
    """The plugin that a part of the log joint comes from, and the method, where there is one."""
    if part == "responses":
        return f", by log_psi of {model.loss!r}"
    return f", by log_density of {model.weights!r}" if part == "weights" else ""


def trace_row(chain: Chain, info, elapsed: float) -> dict:
    """One row of the trace.

    ``sweep``, ``seconds`` (of the sweep), ``elapsed`` (with everything), ``log_joint`` and its parts as
    ``log_joint_words`` and so on, ``loss`` (-log psi a document, None without responses), ``moved``
    (share of tokens that changed topic), ``acceptance_doc`` and ``moves_doc`` (accepted candidates a token)
    and so on.

    Raises
    ------
    NonFinite
        A part of the log joint is NaN or infinite.
    """
    parts = chain.log_joint()
    for name, value in parts.items():
        if not math.isfinite(value):
            raise NonFinite(
                f"sweep {info.sweep}: the {name} part of the log joint is {value}{_whose(name, chain.model)}"
            )
    row = {
        "sweep": info.sweep,
        "seconds": info.seconds,
        "elapsed": elapsed,
        "log_joint": float(sum(parts.values())),
        **{f"log_joint_{name}": float(value) for name, value in parts.items()},
        "loss": None,
        "moved": float(info.moved),
    }
    if chain.coding.n_outputs:
        row["loss"] = -float(parts["responses"]) / chain.corpus.n_documents
    if chain.model.learn_alpha.method != "none":
        row["alpha_sum"] = float(chain.alpha.sum())
    if chain.model.learn_beta.method != "none":
        row["beta"] = float(chain.beta[0])
    row.update({f"acceptance_{name}": float(rate) for name, rate in info.acceptance.items()})
    row.update({f"moves_{name}": float(rate) for name, rate in info.moves.items()})
    return row
