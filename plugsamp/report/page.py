"""From a run to the text of its page."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import shlex
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from plugsamp import references
from plugsamp.errors import InputError
from plugsamp.files.whole import json_text, write_text
from plugsamp.posterior import explanations, names
from plugsamp.posterior.parts import alone, calibrated, naming
from plugsamp.posterior.posterior import Posterior
from plugsamp.posterior.rankings import DEFAULT, RANKINGS
from plugsamp.posterior.record import record
from plugsamp.prediction.models import load_model
from plugsamp.prediction.table import prediction_table
from plugsamp.report import chains, explain, folder, outcome, texts, topics, weights

log = logging.getLogger(__name__)

TEMPLATES = (
    "report.html",
    "topics.html",
    "weights.html",
    "outcome.html",
    "documents.html",
    "chains.html",
    "run.html",
)

#: Numbers of metrics.json that head the page, where they are there, and what they are called.
MEASURES = {
    "accuracy": "accuracy",
    "f1_micro": "F1, micro",
    "f1_macro": "F1, macro",
    "log_loss": "log loss",
    "r2": "R²",
    "rmse": "RMSE",
    "mae": "mean absolute error",
    "coverage_90": "inside 90 % intervals",
    "log_density": "log density of a value",
    "log_likelihood": "log likelihood of a word",
    "perplexity": "perplexity",
    "n_scored": "scored",
    "n_missing": "without a response",
}


class Page(str):
    """A page of HTML, which a notebook shows."""

    def __repr__(self) -> str:
        return f"<HTML page of {len(self):,} characters>"

    def _repr_html_(self) -> str:
        look = "width:100%;height:40em;border:1px solid #ccc"
        return f'<iframe style="{look}" srcdoc="{escape(str(self))}"></iframe>'


def write(posterior, out, train, test, documents) -> Path | Page:
    """Write the page of a posterior, or return it; see `Posterior.report`."""
    trained = tested = scored = None
    if train is not None:
        trained = posterior.evaluate(train)
    if test is not None:
        tested = posterior.evaluate(test, held_out=True)
        if tested.truth is not None and tested.prediction.labels is not None:
            scored = _table(tested.prediction, test)
    metrics = record(posterior, trained, tested) if posterior.trace and posterior.corpus is not None else {}
    if not metrics and train is not None:
        metrics = {"n_documents": train.n_documents, "n_words": train.n_words, "n_tokens": train.n_tokens}
        metrics |= {"n_topics": posterior.n_topics, "train": trained.measures}
    if posterior.chain is not None:
        metrics["references"] = references.entries_of(
            references.parts_of(posterior.chain.model, posterior.chain.kernel)
        )
    trace = folder.Trace(posterior.trace.by_chain(), posterior.owner == "chain")
    config = {"burn_in": posterior.burn_in, "thin": posterior.options.get("thin")}
    run = folder.Run("posterior", json.loads(json_text(metrics)), config, trace=trace, predictions=scored,
                     topics=_topics_table(posterior))  # fmt: skip
    predicted = None if trained is None else trained.prediction
    made = Page(_rendered(run, posterior, train, test, predicted, documents))
    if out is None:
        return made
    write_text(Path(out), made)
    return Path(out)


def _topics_table(posterior) -> folder.Table | None:
    """What is known of the topics, as topics.csv has it; None where a part does not know."""
    stats = [posterior.stats(part) for part in posterior.parts]
    if any(one is None for one in stats):
        return None
    owner = posterior.owner
    names = list(stats[0])
    rows = [
        [*([part.name] if owner else []), *(repr(one[name][k].item()) for name in names)]
        for part, one in zip(posterior.parts, stats, strict=True)
        for k in range(part.n_topics)
    ]
    return folder.Table([*([owner] if owner else []), *names], rows)


def text(path: Path, metrics, predictor, train, test, train_prediction, documents, names_file) -> str:
    """The page, as `plugsamp.report.write` takes its parts."""
    run = folder.read(path, metrics)
    if predictor is None and (path / "model").is_dir():
        predictor = load_model(path / "model")
    posterior = None
    if predictor is not None:
        named = _names(path, names_file, naming(predictor))
        posterior = Posterior(predictor, names=named, source=str(path))
    return _rendered(run, posterior, train, test, train_prediction, documents)


def _rendered(run, posterior, train, test, train_prediction, documents) -> str:
    context = {"run": run, "title": _title(run), "command": _command(run), "measures": _measures(run.metrics)}
    context["references"] = [
        texts.shown(references.as_text(e), 400)
        for e in [*run.metrics.get("references", []), references.itself()]
    ]
    context["chains"] = chains.chains_of(run)
    context |= {"data": _data(names.Naming(run.metrics.get("corpus_digest", ""), (), {}), {}), "names": {}}
    context |= dict.fromkeys(
        ("models", "weights", "outcome", "coding", "calibrated", "likelihood", "separate", "loss", "source")
    )
    context |= {"explanations": [], "asked": bool(documents), "part": "test", "n_draws": 0, "new": False}
    if posterior is not None:
        context |= _of_model(run, posterior, train, test, train_prediction, documents)
    return _environment().get_template("report.html").render(context)


def _of_model(run, posterior, train, test, train_prediction, documents) -> dict:
    new = train is not None and not folder.trained_on(run, train)
    train, test = (None if corpus is None else posterior.known(corpus) for corpus in (train, test))
    n_chains, predictor, members, named = 0, posterior.predictor, list(posterior.parts), posterior.names
    if posterior.owner == "chain":  # topics of two chains have no common numbers: the first speaks for all
        n_chains, members = len(members), [alone(members[0])]
        predictor, train_prediction = members[0].predictor, None
    if train is not None and train_prediction is None:
        train_prediction = predictor.predict(train)
    scored, part = run.predictions, "test"
    if scored is None and train is not None and train_prediction.labels is not None:
        scored, part = _table(train_prediction, train), "new" if new else "training"
    coding = predictor.coding
    explained = _explanations(members, predictor, train, test, scored, documents, new)
    return {
        "data": _data(naming(posterior.predictor), named),
        "names": {k: texts.shown(v, names.LONGEST) for k, v in named.items()},
        "models": topics.models(members, train, train_prediction, run.topics),
        "ranking": _ranking(run.config),
        "n_models": len(members),
        "n_chains": n_chains,
        "weights": weights.weights_of(members),
        "outcome": None if scored is None or coding.task == "none" else outcome.outcome_of(scored, coding),
        "coding": coding,
        "calibrated": calibrated(predictor),
        "likelihood": members[0].predictor.source == "posterior" and members[0].predictor.loss.calibrated,
        "separate": posterior.combine if posterior.owner == "task" else None,
        "loss": texts.shown(repr(members[0].predictor.loss), 120),
        "explanations": explained,
        "part": part,
        "new": new,
        "n_draws": len(members[0].predictor.eta),
        "source": members[0].predictor.source,
        "outputs": len(coding.output_names) if coding.task != "none" else 0,
        "has_documents": train is not None,
    }


def _ranking(config: dict) -> str:
    """How the words of topics are ranked when the page is opened: as the run was told."""
    told = config.get("topic_words")
    return told if told in RANKINGS else DEFAULT


def _names(path: Path, names_file, topics: names.Naming) -> dict[str, str]:
    """The names of topics: those asked for, or the folder's own, which may be of what the run was before."""
    if names_file is not None:
        return names.read(names_file, topics)
    if not (path / names.FILE).is_file():
        return {}
    try:
        return names.read(path / names.FILE, topics)
    except InputError as error:  # a run that ends does not fail of it
        log.warning("%s; the page has no names", error)
        return {}


def _data(topics: names.Naming, named: dict[str, str]) -> dict:
    """What the page's script knows of the topics and their names."""
    return {
        "model": topics.digest, "names": named, "topics": topics.keys, "prefixes": topics.prefixes,
        "unsaid": topics.unsaid,
    }  # fmt: skip


def _table(prediction, corpus) -> folder.Table:
    """Predictions as predictions.csv would have them."""
    table = prediction_table(prediction, corpus.responses)
    rows = [["" if cell is None else str(cell) for cell in row] for row in table.rows]
    return folder.Table(list(table.columns), rows)


def _explanations(members, predictor, train, test, scored, documents, new):
    parts = {name: corpus for name, corpus in (("test", test), ("training", train)) if corpus is not None}
    if documents:
        wanted: dict[str, list[int]] = {}
        for part, d in explain.find(documents, parts):
            wanted.setdefault(part, []).append(d)
    else:
        part = next(iter(parts), None)
        if part is None or predictor.coding.task == "none":
            return []
        table = scored if scored is not None and len(scored.rows) == parts[part].n_documents else None
        wanted = {part: explain.choose(parts[part], predictor.coding, table)}
    found = []
    for part, rows in wanted.items():
        explained = explanations.explain(members, predictor, parts[part], rows)
        part = "new" if new else part
        found += explained if part == "test" else explain.in_part(explained, part)
    return found


def _title(run: folder.Run) -> str:
    corpus = run.config.get("corpus")
    path = corpus.get("path") if isinstance(corpus, dict) else None
    of = Path(str(path)).name if path else corpus.get("name") if isinstance(corpus, dict) else None
    return texts.shown(of or run.name, 80)


def _command(run: folder.Run) -> str:
    """What brings the run again."""
    return texts.one_line(shlex.join(["plugsamp", "fit", *run.overrides])) if run.config else ""


def _measures(metrics: dict) -> list[tuple[str, list[tuple[str, object]]]]:
    """(part, [(measure, value)]) of what was measured."""
    found = []
    for part, title in (
        ("validation", "validation documents"), ("test", "test documents"), ("train", "training documents"),
    ):  # fmt: skip
        measured = metrics.get(part)
        if not isinstance(measured, dict):
            continue
        values = [
            (title_, measured[name]) for name, title_ in MEASURES.items() if measured.get(name) is not None
        ]
        values = [(title_, value) for title_, value in values if value or title_ != MEASURES["n_missing"]]
        if values:
            found.append((title, values))
    return found


@cache
def _environment() -> Environment:
    """Templates come through importlib, which finds them in a wheel and in an editable install alike."""
    where = files("plugsamp.report") / "templates"
    read = {
        name: (where / name).read_text(encoding="utf-8") for name in (*TEMPLATES, "report.css", "report.js")
    }
    script = read.pop("report.js").strip()
    style = read.pop("report.css").strip()
    environment = Environment(
        loader=DictLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": texts.number, "percent": texts.percent, "shown": texts.shown, "spoken": _spoken,
        "one_line": texts.one_line, "plain": texts.plain, "term": texts.term,
    }  # fmt: skip
    # The page's own files, trusted; the browser is told the digest of the only script that may run.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals |= {"script": Markup(script), "style": Markup(style), "script_digest": digest}
    return environment


def _spoken(seconds: float) -> str:
    """A duration in words short enough for a table."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {left:02d} s"
