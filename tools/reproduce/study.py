"""What the studies share: where their corpora come from and where their figures go."""

from __future__ import annotations

import csv
import gzip
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

import plugsamp as ps
from plugsamp import hydra_source
from plugsamp.commands import run_fit
from plugsamp.commands.fit import Settings
from plugsamp.errors import InputError
from plugsamp.hydra_source import compose
from plugsamp.prediction.evaluation import evaluate
from tools.reproduce.claims import Claim, read_rows, table

#: Simulated corpora by name, for smoke runs and where there is no data folder: D, V, mean length, topics.
SIMULATED = {"kos": (120, 300, 60, 10), "nips": (80, 400, 120, 10), "20ng_counts": (160, 400, 60, 8)}


@dataclass(frozen=True)
class Setup:
    """An experiment, ready to be run.

    Attributes
    ----------
    train, test : Corpus
    model : Model
    kernel : Kernel
    settings : plugsamp.commands.fit.Settings
    """

    train: ps.Corpus
    test: ps.Corpus
    model: ps.Model
    kernel: object
    settings: Settings

    def fit(self, sweeps: int, seed: int = 0, **options):
        """Fit as the settings say; returns (Fit, CPU seconds of all of it)."""
        settings = self.settings
        start = time.process_time()
        done = ps.fit(
            self.train, self.model, options.pop("kernel", self.kernel), seed=seed, sweeps=sweeps,
            **{
                "weight_update": settings.weight_update, "weight_passes": settings.weight_passes, "thin": 5,
                **options,
            },
        )  # fmt: skip
        return done, time.process_time() - start

    def score(self, predictor, corpus=None) -> float:
        """Accuracy, micro-F1 or R², as the responses are; of the test documents unless said."""
        return float(evaluate(predictor, self.test if corpus is None else corpus).main)


_READ: dict[str, tuple] = {}


def _read(reader):
    """Training and test documents, read once."""
    if repr(reader) not in _READ:
        _READ[repr(reader)] = tuple(reader.read())
    return _READ[repr(reader)]


@dataclass(frozen=True)
class Context:
    """How a study is run.

    Attributes
    ----------
    folder : Path
        Where CSV and pictures go.
    data : Path or None
        The folder of corpora; without one they are simulated.
    tokens : int or None
        Of larger training corpora so many, in random documents, and as large a part of the test documents.
    smoke : bool
        Tiny sizes: whether everything runs, not what comes out.
    seed : int
    """

    folder: Path
    data: Path | None = None
    smoke: bool = False
    seed: int = 0
    tokens: int | None = None

    @property
    def real(self) -> bool:
        return self.data is not None and not self.smoke

    def unsupervised(self, name: str) -> ps.Corpus:
        """A UCI corpus ("kos", "nips"), or the words of the training part of 20ng_counts."""
        if not self.real:
            return simulated(name, self.seed)
        if name == "20ng_counts":
            return self.experiment("20ng_dense").train
        return self._part(uci(self.data / "uci", name))

    def _part(self, train, test=None):
        """A random part of them, where they have more tokens than are wanted."""
        share = 1.0 if self.tokens is None else self.tokens / train.n_tokens
        if share < 1:
            rng = np.random.default_rng(self.seed)
            train, test = (
                c
                if c is None
                else c.take(np.sort(rng.permutation(c.n_documents)[: int(share * c.n_documents)]))
                for c in (train, test)
            )
        return train if test is None else (train, test)

    def experiment(self, name: str, *overrides: str) -> Setup:
        """An experiment of conf/experiment with overrides; its corpus is simulated where there is no data."""
        given = [f"experiment={name}", f"data_dir={self.data or 'data'}", *overrides]
        config = compose(given)
        settings = Settings.of(config)
        chosen = {g: hydra_source.object_of(g, config[g]) for g in hydra_source.CONFIG_GROUPS}
        model = run_fit.check(settings, chosen)
        if self.real:
            train, test = self._part(*_read(chosen["corpus"]))
        else:
            train, test = simulated_split("20ng_counts", self.seed, of_loss(model.loss))
        return Setup(train, test, model, chosen["kernel"], settings)

    @property
    def note(self) -> str:
        """What must be known of figures that are not of the real corpora, or ""."""
        if self.smoke:
            return (
                "A SMOKE RUN: simulated documents, tiny sizes. It shows that everything runs; the figures "
                "say nothing of the paper's claims."
            )
        if self.data is None:
            return (
                "SIMULATED documents, for want of --data, the folder of real corpora. The figures are not "
                "those of the paper's."
            )
        return ""

    def size(self, real, smoke):
        """The one for this run."""
        return smoke if self.smoke else real


@dataclass(frozen=True)
class Study:
    """One command: rows, a CSV, a picture, and what they say of the paper's claims.

    Attributes
    ----------
    name : str
    shows : str
        The paper's tables or figures, and its claim.
    rows : callable (Context) -> iterable of dict
    draw : callable (rows, figure) -> None
    claims : callable (rows) -> iterable of Claim
        The paper's statements, held against the rows.
    size : (float, float)
        Of the picture in inches.
    """

    name: str
    shows: str
    rows: Callable[[Context], Iterable[dict]]
    draw: Callable[[list[dict], object], None]
    claims: Callable[[list[dict]], Iterable[Claim]]
    size: tuple[float, float] = field(default=(8.0, 4.0))

    def run(self, context: Context) -> Path:
        """Write NAME.csv and how it was made (NAME.json), then NAME.md and NAME.png.

        Rows go to NAME.part.csv as they come, which is renamed in the end: a run that stops leaves what there
        was before.
        """
        context.folder.mkdir(parents=True, exist_ok=True)
        path = context.folder / f"{self.name}.csv"
        part = path.with_suffix(".part.csv")
        # a table that is sent alone says so too
        made_up = {"made_of": "simulated documents"} if context.note else {}
        rows = ({**row, **made_up} for row in self.rows(context))
        first = next(rows)  # before there is a file: most of what can go wrong has done so by then
        with open(part, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(first), lineterminator="\n")
            writer.writeheader()
            for row in chain([first], rows):
                writer.writerow(row)
                file.flush()
                print("  ".join(f"{k} {shown(v)}" for k, v in row.items()), flush=True)
        part.replace(path)
        about = {"note": context.note, "seed": context.seed, "tokens": context.tokens}
        path.with_suffix(".json").write_text(json.dumps(about) + "\n", encoding="utf-8")
        self.show(context.folder)
        return path

    def note(self, folder: Path) -> str:
        """`Context.note` of the run that left its rows in `folder`."""
        path = folder / f"{self.name}.json"
        return json.loads(path.read_text(encoding="utf-8"))["note"] if path.exists() else ""

    def found(self, folder: Path) -> list[Claim]:
        """The claims, by the rows that a run has left in `folder`."""
        claims = self.claims(read_rows(folder / f"{self.name}.csv"))
        judged = not self.note(folder)
        return [replace(claim, judged=judged) for claim in claims]

    def show(self, folder: Path) -> None:
        """Write NAME.md, the claims, and NAME.png, where matplotlib is installed, from NAME.csv."""
        path = folder / f"{self.name}.csv"
        note = self.note(folder)
        text = f"**{note}**\n\n" if note else ""
        path.with_suffix(".md").write_text(f"{text}{table(self.found(folder))}\n", encoding="utf-8")
        if find_spec("matplotlib") is None:
            print("no picture: pip install 'plugsamp[plots]'")
            return
        import matplotlib

        matplotlib.use("agg")
        from matplotlib.figure import Figure

        figure = Figure(figsize=self.size, layout="constrained")
        self.draw(read_rows(path), figure)
        if note:
            figure.suptitle(note.partition(". ")[0].removesuffix("."), color="firebrick", fontsize="medium")
        figure.savefig(path.with_suffix(".png"), dpi=120)


def shown(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def series(rows, x: str, y: str, by: str) -> dict:
    """{value of `by`: (x values, y values)} in the order of the rows."""
    found: dict = {}
    for row in rows:
        xs, ys = found.setdefault(row[by], ([], []))
        xs.append(row[x])
        ys.append(row[y])
    return found


def log_axis(axes, values) -> None:
    """A logarithmic x axis with ticks at these values, as plain numbers."""
    values = sorted(set(values))
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(values, [f"{v:g}" for v in values])


def from_zero(axes) -> None:
    """A y axis from 0, with room above what is drawn here and on the axes that share it."""
    shared = axes.get_shared_y_axes().get_siblings(axes)
    tops = [other.dataLim.ymax for other in shared if len(other.lines)]
    axes.set_ylim(0, 1.06 * max(tops))


@cache
def uci(folder: Path, name: str) -> ps.Corpus:
    """A corpus in the UCI bag-of-words format."""
    files = folder / f"docword.{name}.txt", folder / f"docword.{name}.txt.gz"
    file = next((f for f in files if f.exists()), None)
    if file is None:
        raise InputError("there is no such file", file=files[1])
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        n_documents, n_words, _ = (int(next(lines)) for _ in range(3))
        table = np.loadtxt(lines, dtype=np.int64, ndmin=2)
    shape = (n_documents, n_words)
    return ps.Corpus.from_counts(
        sparse.coo_array((table[:, 2], (table[:, 0] - 1, table[:, 1] - 1)), shape=shape)
    )


def _documents(name: str, seed: int):
    n_documents, n_words, length, n_topics = SIMULATED[name]
    rng = np.random.default_rng([seed, len(name)])
    phi = rng.dirichlet(np.full(n_words, 0.05), n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.1), n_documents)
    counts = np.array([rng.multinomial(rng.poisson(length) + 1, row @ phi) for row in theta])
    return counts, theta


def simulated(name: str, seed: int) -> ps.Corpus:
    """A corpus drawn from the model."""
    return ps.Corpus.from_counts(_documents(name, seed)[0])


def of_loss(loss) -> str:
    """The responses that a loss is for, as far as simulated ones differ."""
    return "real" if isinstance(loss, ps.losses.Gaussian | ps.losses.EpsilonInsensitive) else "classes"


def simulated_labelled(name: str, seed: int, kind: str = "classes") -> ps.Corpus:
    """Documents of four classes, by the largest of four topics, or with real responses."""
    counts, theta = _documents(name, seed)
    responses = np.array(list("abcd"))[theta[:, :4].argmax(axis=1)]
    if kind == "real":
        responses = theta[:, 0] - theta[:, 1]
    return ps.Corpus.from_counts(counts, responses=responses)


def simulated_split(name: str, seed: int, kind: str = "classes"):
    """Training and test documents."""
    from plugsamp.readers.base import Split

    corpus = simulated_labelled(name, seed, kind)
    half = corpus.n_documents // 2
    return Split(corpus.take(np.arange(half)), corpus.take(np.arange(half, corpus.n_documents)))
