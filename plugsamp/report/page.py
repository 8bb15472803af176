"""From a posterior to the text of its page."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from plugsamp import references
from plugsamp.files.whole import write_text
from plugsamp.posterior import run_folder
from plugsamp.posterior.parts import alone, naming
from plugsamp.posterior.rankings import DEFAULT, RANKINGS
from plugsamp.posterior.record import record
from plugsamp.report import chains, documents, outcome, texts, topics, verdict, weights

TEMPLATES = ("report.html", "topics.html", "outcome.html", "documents.html", "chains.html", "run.html")


class Page(str):
    """A page of HTML, which a notebook shows."""

    def __repr__(self) -> str:
        return f"<HTML page of {len(self):,} characters>"

    def _repr_html_(self) -> str:
        look = "width:100%;height:48em;border:1px solid #ccc"
        return f'<iframe title="plugsamp report" style="{look}" srcdoc="{escape(str(self))}"></iframe>'


def write(posterior, out, train, test, chosen=(), texts_by_id=None) -> Path | Page:
    """Write the page of a posterior, or return it; see `Posterior.report`."""
    made = page(posterior, train=train, test=test, chosen=chosen, texts_by_id=texts_by_id)
    if out is None:
        return made
    write_text(Path(out), made)
    return Path(out)


def page(
    posterior, run=None, *, train=None, test=None, chosen=(), texts_by_id: Mapping | Callable | None = None
) -> Page:
    """Return the page of a posterior.

    Parameters
    ----------
    posterior : Posterior
    run : plugsamp.posterior.run_folder.Run, optional
        The files of its run folder.
    train, test : Corpus, optional
        Without them there are no documents on the page.
    chosen : sequence of str
        Ids of documents to explain.
    texts_by_id : mapping of str to str, or function from ids to one, optional
        What documents say.
    """
    parts = [alone(posterior.parts[0])] if posterior.owner == "chain" else list(posterior.parts)
    new = run is not None and train is not None and not run_folder.trained_on(run, train)
    train, test = (None if corpus is None else posterior.known(corpus) for corpus in (train, test))
    found, part = _evaluation(posterior, run, train, test, new)
    coding = posterior.coding
    ranking = run.config.get("topic_words") if run is not None else None
    ranking = ranking if ranking in RANKINGS else DEFAULT
    told = topics.topics_of(posterior, parts, train, ranking)
    scored = outcome.outcome_of(found, coding)
    outputs = [] if coding.task == "none" else coding.spoken_for
    classes, classes_note = outcome.with_topics(scored, told, outputs)
    corpora = {"test": test, "new" if new else "training": train}
    corpora = {name: corpus for name, corpus in corpora.items() if corpus is not None}
    explained = documents.documents_of(posterior, parts, corpora, chosen, found, texts_by_id or {})
    mixing, why = chains.convergence(posterior)
    metrics = _metrics(posterior, run, train, found, part)
    bars = _bars(posterior, None if new else train, test, found, part)
    lines = [
        verdict.how_good(found, bars, part == "test"),
        verdict.how_settled(mixing, why, len(posterior.parts) if posterior.owner == "chain" else 1),
        verdict.how_sure(posterior, found, [] if scored is None else scored.reliability),
    ]
    predictor = parts[0]
    context = {
        "run": run, "metrics": metrics, "title": _title(run), "command": _command(run),
        "posterior": posterior, "coding": coding, "loss": texts.shown(repr(predictor.loss), 120),
        "source": predictor.source,
        "likelihood": predictor.source == "posterior" and predictor.loss.calibrated,
        "n_draws": len(predictor.eta), "verdict": [line for line in lines if line], "bars": bars,
        "topics": told, "doubtful": told.doubtful(), "ranking": ranking, "outcome": scored,
        "classes": classes, "scores": {} if found is None else found.measures,
        "classes_note": classes_note, "weights": weights.weights_of(posterior, parts),
        "has_covariates": bool(predictor.covariate_names or predictor.intercept),
        "variances": weights.variances_of(posterior, parts), "explained": explained,
        "asked": bool(chosen), "part": part, "new": new, "has_documents": train is not None,
        "chains": chains.chains_of(posterior, metrics.get("seconds")), "mixing": mixing, "mixing_note": why,
        "references": _references(posterior, metrics), "measures": _measures(metrics),
        "data": _data(posterior, told) | {"documents": explained},
    }  # fmt: skip
    return Page(_environment().get_template("report.html").render(context))


def _evaluation(posterior, run, train, test, new: bool):
    """The evaluation that the page tells of, and of which documents: "test", "training" or "new" ones."""
    known = posterior.evaluations
    if test is not None:
        found = known.get("test")
        if found is None or found.prediction.ids != tuple(test.ids):
            found = posterior.evaluate(test, held_out=True)
        if found.main is not None or train is None:
            return found, "test"
    written = None if run is None else run_folder.evaluation(run, posterior)
    if written is not None and test is None:
        return written, "test"
    if train is None or posterior.coding.task == "none":
        return (found, "test") if test is not None else (None, "test")
    found = known.get("train")
    if found is None or found.prediction.ids != tuple(train.ids):
        found = posterior.evaluate(train, held_out=new)
    return found, "new" if new else "training"


def _bars(posterior, train, test, found, part: str) -> list[verdict.Bar]:
    if found is None or found.main is None or found.main_name == "log_likelihood":
        return []
    own = verdict.Bar("this model", found.main, found.standard_error())
    return [own, *verdict.baselines(posterior, train, test if part == "test" else None, found)]


def _metrics(posterior, run, train, found, part: str) -> dict:
    """What metrics.json holds, or would hold."""
    if run is not None:
        return run.metrics
    if posterior.trace and posterior.corpus is not None:
        scored = {"test": None, "training": None} | {part: found}
        trained = posterior.evaluations.get("train") if scored["training"] is None else scored["training"]
        if trained is None and scored["test"] is None:
            trained = posterior.evaluate(posterior.corpus)
        return record(posterior, trained, scored["test"])
    metrics = {"n_topics": posterior.n_topics}
    if train is not None:
        metrics |= {"n_documents": train.n_documents, "n_words": train.n_words, "n_tokens": train.n_tokens}
    if found is not None:
        metrics["test" if part == "test" else "train"] = found.measures
    return metrics


def _references(posterior, metrics: dict) -> list[str]:
    entries = metrics.get("references")
    if entries is None:
        chain = posterior.chain
        entries = (
            [] if chain is None else references.entries_of(references.parts_of(chain.model, chain.kernel))
        )
    return [texts.shown(references.as_text(e), 400) for e in [*entries, references.itself()]]


def _data(posterior, told: topics.Topics) -> dict:
    """What the page's script knows of the topics and their names."""
    found = naming(posterior)
    return told.data | {
        "model": found.digest, "names": posterior.names, "topics": found.keys, "prefixes": found.prefixes,
        "unsaid": found.unsaid,
    }  # fmt: skip


def _title(run: run_folder.Run | None) -> str:
    if run is None:
        return "Posterior"
    corpus = run.config.get("corpus")
    path = corpus.get("path") if isinstance(corpus, dict) else None
    of = _file_name(Path(str(path))) if path else corpus.get("name") if isinstance(corpus, dict) else None
    return texts.shown(of or run.name, 80)


def _file_name(path: Path) -> str:
    """Return the name of a file, or of its folder where its own says only which part of a corpus it is."""
    part = path.name.partition(".")[0].lower() in ("train", "training", "data", "corpus")
    return path.parent.name or path.name if part else path.name


def _command(run: run_folder.Run | None) -> str:
    """What brings the run again."""
    if run is None or not run.config:
        return ""
    return texts.one_line(shlex.join(["plugsamp", "fit", *run.overrides]))


def _measures(metrics: dict) -> list[tuple[str, list[tuple[str, object]]]]:
    """(part, [(measure, value)]) of what was measured."""
    found = []
    for part, title in (
        ("validation", "validation documents"), ("test", "held-out documents"),
        ("train", "training documents"),
    ):  # fmt: skip
        measured = metrics.get(part)
        if not isinstance(measured, dict):
            continue
        values = [
            (called, measured[name])
            for name, called in verdict.MEASURES.items()
            if measured.get(name) is not None
        ]
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
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    environment.filters |= {
        "number": texts.number, "percent": texts.percent, "shown": texts.shown, "spoken": _spoken,
        "one_line": texts.one_line, "plain": texts.plain, "titled": chains.title_of,
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
