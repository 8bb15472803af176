"""Compare settings of losses, priors and words over many corpora, to choose defaults.

python tools/tune_defaults.py run DATA RESULTS --plan topics [--seeds 0] [--corpora bbc usbills]
python tools/tune_defaults.py table RESULTS [--part test] [--measure log_loss]
python tools/tune_defaults.py halves RESULTS
python tools/tune_defaults.py decisions RESULTS

DATA is a folder of corpora, a JSON object a line: ``text`` or ``tokens``, and ``label``, ``labels``
or ``y`` (made three classes of equal size), perhaps ``split``. Each is cut to at most 2,000 documents to fit
and 1,000 to choose by, both from its training documents, and 1,000 test documents. RESULTS is a file of JSON
lines, one for each fit; what is there already is not fitted again. Scores are accuracy, or of several labels
the mean of micro-F1 and macro-F1, by thresholds from validation documents. Settings are compared with the
first one of the file.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import time
import warnings
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import plugsamp as ps
from plugsamp.prediction import thresholds
from plugsamp.prediction.evaluation import evaluate

FIT, CHOOSE, TEST = 2000, 1000, 1000
#: Tokens to fit; a corpus of long documents has fewer of them.
TOKENS = 240_000
#: Labels in fewer of the documents to fit are left out, and all but so many of the most frequent.
RARE, LABELS, K = 8, 100, 50


# -- corpora -----------------------------------------------------------------------------------------


def tasks(folder: Path) -> dict[str, tuple[Path, str]]:
    """The tasks of a folder: name to file and field of the response."""
    found = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            head = [json.loads(line) for line in itertools.islice(lines, 400)]
        if len(head) < 400 or not {"text", "tokens"} & set(head[0]):
            continue
        name = path.name.removesuffix(".jsonl.gz")
        for field in ("label", "labels", "y"):
            if field in head[0]:
                found[f"{name}:{field}"] = path, field
    return found


def load(path: Path, field: str, stop_words: str) -> dict[str, ps.Corpus]:
    """Parts of a corpus: ``fit``, ``choose`` and ``test``, in the vocabulary of the first."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row.get(field) not in (None, [])]
    rng = np.random.default_rng(zlib.crc32(f"{path.name}:{field}".encode()))
    rows = [rows[i] for i in rng.permutation(len(rows))]
    if {row.get("split") for row in rows} == {"train", "test"}:
        train = [row for row in rows if row["split"] == "train"]
        test = [row for row in rows if row["split"] == "test"]
    else:
        test, train = rows[: len(rows) // 5], rows[len(rows) // 5 :]
    content = next(name for name in ("text", "tokens") if name in rows[0])
    if content == "text":
        length = np.mean([len(row["text"]) for row in train]) / 11  # a word that is no stop word, about
    else:
        length = np.mean([len(row[content]) for row in train])
    n = min(FIT, int(TOKENS / length), int(0.75 * len(train)))
    parts = {"fit": train[:n], "choose": train[n : n + min(CHOOSE, max(300, n // 2))], "test": test[:TEST]}
    responses = _responses({name: [row[field] for row in part] for name, part in parts.items()}, field)
    corpora, vocabulary = {}, None
    for name, part in parts.items():
        y, names = responses[name]
        keep = np.flatnonzero([value is not None for value in y])
        frame = {"text": [part[i][content] for i in keep]}
        options = {"stop_words": stop_words} if content == "text" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            corpus = ps.Corpus.from_frame(frame, text="text", vocabulary=vocabulary, **options)
        values = [y[i] for i in keep]
        y = np.array(values, dtype=None if field == "labels" else object)
        corpora[name] = corpus.with_responses(y, names)
        vocabulary = corpora["fit"].vocabulary
    return corpora


def _responses(parts: dict[str, list], field: str) -> dict[str, tuple[list, list | None]]:
    if field == "labels":
        counts = Counter(label for labels in parts["fit"] for label in labels)
        names = sorted(label for label, n in counts.most_common(LABELS) if n >= RARE)
        return {
            name: ([[int(label in set(labels)) for label in names] for labels in part], names)
            for name, part in parts.items()
        }
    if field == "y":
        low, high = np.quantile(np.array(parts["fit"], dtype=float), (1 / 3, 2 / 3))
        return {
            name: ([["low", "middle", "high"][int(y > low) + int(y > high)] for y in map(float, part)], None)
            for name, part in parts.items()
        }
    counts = Counter(parts["fit"])
    known = {label for label, n in counts.items() if n >= 2}
    return {name: ([y if y in known else None for y in part], None) for name, part in parts.items()}


# -- settings ----------------------------------------------------------------------------------------


def plans() -> dict[str, list[dict]]:
    """Settings by the name of their plan, the most important first."""
    old = {"loss": "hinge", "cost": 102.4, "variance": 1.0, "beta": 0.01}
    new = {"loss": "hinge", "cost": 102.4, "variance": 0.01, "beta": 0.05}
    finalists = [
        new | {"cost": cost, "variance": variance, "beta": beta}
        for cost, variance, beta in [
            (102.4, 0.01, 0.05), (30.0, 0.03, 0.05), (10.0, 0.1, 0.05), (30.0, 0.01, 0.1), (10.0, 0.1, 0.1),
            (10.0, 1.0, 0.1), (30.0, 0.01, 0.05),
        ]
    ]  # fmt: skip
    grid = [
        new | {"cost": cost, "variance": variance}
        for variance in (0.1, 1.0, 0.01)
        for cost in (10.0, 3.0, 30.0, 1.0, 102.4)
    ]
    betas = [
        new | {"cost": cost, "variance": variance, "beta": beta}
        for (cost, variance), beta in itertools.product([(10.0, 0.1), (10.0, 1.0), (3.0, 1.0)], (0.01, 0.05))
    ]
    logistic = [
        new | {"loss": "logistic", "cost": cost, "variance": variance}
        for cost, variance in [(1.0, 1.0), (10.0, 1.0), (1.0, 10.0), (5.0, 1.0), (30.0, 1.0), (10.0, 0.1)]
    ]
    probit = [{"loss": "probit", "variance": variance, "beta": 0.1} for variance in (1.0, 10.0, 0.1)]
    first = [{"loss": "logistic", "cost": 1.0, "variance": 1.0, "beta": 0.01},
             {"loss": "probit", "variance": 1.0, "beta": 0.01}]  # fmt: skip
    baseline = [{"loss": "svm", "words": "tfidf"}]
    words = [
        new | {"words": "tfidf", "cost": cost, "variance": variance, "covariate_variance": covariate}
        for cost, variance, covariate in [
            (102.4, 0.001, 0.01), (102.4, 0.001, 0.005), (102.4, 0.0003, 0.01), (102.4, 0.01, 0.005),
            (102.4, 0.01, 0.02), (102.4, 0.01, 0.05),
            (10.0, 0.1, 0.2), (10.0, 0.1, 0.1), (10.0, 0.1, 0.5), (5.0, 0.1, 0.2), (5.0, 0.1, 0.5),
            (10.0, 0.01, 0.2), (3.0, 0.1, 0.5), (20.0, 0.1, 0.1), (10.0, 1.0, 0.2),
        ]
    ]  # fmt: skip
    readme = [old | {"words": "tfidf", "variance": 0.01, "covariate_variance": 1.0}]
    return {
        "finalists": [old, *finalists],
        "topics": [old, *grid, *betas],
        "losses": [*first, *logistic, *probit],
        "words": [words[0], *baseline, *readme, *words[1:]],
        "variances": variances(),
    }


def variances() -> list[dict]:
    """Fixed and drawn variances of the weights with losses that are likelihoods, and the hinge with words."""
    losses = [{"loss": "logistic", "cost": 1.0}, {"loss": "probit"}]
    drawn, fixed = {"prior": "hierarchical"}, [{"variance": value} for value in (1.0, 100.0)]
    topics = {"beta": 0.05, "sweeps": 160, "burn_in": 80, "thin": 8}
    words = {"words": "tfidf", "beta": 0.05}
    hinge = {"loss": "hinge", "cost": 102.4, "variance": 0.01, "covariate_variance": 0.02}
    chosen = [loss | topics | prior for loss in losses for prior in (fixed[0], drawn, fixed[1])]
    with_words = [fixed[0], drawn, drawn | {"shared": True}, {"variance": 1.0, "covariate_variance": 10.0}]
    return [*chosen, hinge | words, *(loss | words | prior for loss in losses for prior in with_words)]


def label(setting: dict) -> str:
    """A setting in one line."""
    parts = [setting["loss"]]
    parts += [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
              for name, value in setting.items() if name != "loss"]  # fmt: skip
    return " ".join(parts)


def model_of(setting: dict) -> ps.Model:
    loss = {name: setting[name] for name in ("cost",) if name in setting}
    names = ("variance", "covariate_variance", "shared", "scale")
    prior = getattr(ps.priors, setting.get("prior", "normal").capitalize())
    weights = prior(**{name: setting[name] for name in names if name in setting})
    return ps.Model(
        K, alpha=setting.get("alpha", 0.1), beta=setting["beta"],
        loss=getattr(ps.losses, setting["loss"].capitalize())(**loss), weights=weights,
    )  # fmt: skip


# -- fits --------------------------------------------------------------------------------------------


def svm(corpora: dict) -> tuple[dict, dict]:
    """`fit_and_score` of a linear SVM on tf-idf, the baseline: C = 1, one against the rest."""
    start = time.process_time()
    scale = TfidfTransformer(sublinear_tf=True).fit(corpora["fit"].counts())
    X = {name: scale.transform(corpus.counts()) for name, corpus in corpora.items()}
    y = {name: np.asarray(corpus.responses) for name, corpus in corpora.items()}
    several = y["fit"].ndim == 2
    model = OneVsRestClassifier(LinearSVC()) if several else LinearSVC()
    model.fit(X["fit"], y["fit"].astype(int) if several else y["fit"].astype(str))
    found, arrays = {}, {"y_fit": y["fit"].astype(np.int8)} if several else {}
    for part in ("choose", "test"):
        if several:
            arrays |= {f"f_{part}": model.decision_function(X[part]), f"y_{part}": y[part].astype(np.int8)}
            micro, macro = decided(arrays, "zero", part)
            found[part] = {"f1_micro": float(micro), "f1_macro": float(macro)}
        else:
            found[part] = {"accuracy": float(np.mean(model.predict(X[part]) == y[part].astype(str)))}
    return {"seconds": round(time.process_time() - start, 2)} | found, arrays


def fit_and_score(corpora: dict, setting: dict, seed: int) -> tuple[dict, dict]:
    """Scores of a setting, and arrays to keep."""
    if setting["loss"] == "svm":
        return svm(corpora)
    words = setting.get("words")
    sweeps = {"sweeps": 80, "burn_in": 30, "thin": 1} if words else {"sweeps": 60, "burn_in": 30, "thin": 3}
    sweeps |= {name: setting[name] for name in ("sweeps", "burn_in", "thin") if name in setting}
    start = time.process_time()
    posterior = ps.fit(
        corpora["fit"], model_of(setting), seed=seed, decide="zero",
        covariates=ps.Covariates(words=words) if words else None, **sweeps,
    )  # fmt: skip
    predictor = replace(posterior.parts[0], restarts=4)
    found, arrays = {"seconds": round(time.process_time() - start, 2)}, {}
    for part in ("choose", "test"):
        result = evaluate(predictor, corpora[part])
        found[part] = {k: round(v, 5) for k, v in result.measures.items() if isinstance(v, float)}
        if result.prediction.coding.task == "multilabel":
            arrays |= {f"f_{part}": result.prediction.f.astype(np.float32),
                       f"y_{part}": np.asarray(result.truth).astype(np.int8)}  # fmt: skip
    if arrays:
        arrays["y_fit"] = np.asarray(corpora["fit"].responses).astype(np.int8)
    return found, arrays


def run(data: Path, results: Path, settings: list[dict], seeds, only=None) -> None:
    done = {(row["corpus"], row["label"], row["seed"]) for row in rows_of(results)}
    loaded = {}
    wanted = {
        name: at for name, at in tasks(data).items() if not only or {name, name.split(":")[0]} & set(only)
    }
    for seed, setting, name in itertools.product(seeds, settings, wanted):
        if (name, label(setting), seed) in done:
            continue
        stop_words = setting.get("stop_words", "none" if setting.get("words") else "english")
        key = name, stop_words
        if key not in loaded:
            loaded[key] = load(*wanted[name], stop_words)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, arrays = fit_and_score(loaded[key], setting, seed)
        row = {"corpus": name, "label": label(setting), "seed": seed, "setting": setting} | found
        with results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        if arrays:
            folder = results.with_suffix(".scores")
            folder.mkdir(exist_ok=True)
            np.savez_compressed(folder / scores_name(row), **arrays)
        shown = f"{score(row, 'choose', 'zero'):.3f} {found['seconds']:6.1f} s"
        print(f"{name:32} {label(setting):64} {shown}", flush=True)


# -- tables ------------------------------------------------------------------------------------------


def rows_of(results: Path) -> list[dict]:
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


def score(
    row: dict, part: str, decide: str = "validated", scores: Path | None = None, measure: str | None = None
) -> float:
    """Return a measure; by default accuracy, or the mean of micro-F1 and macro-F1 of several labels."""
    measures = row[part]
    if measure is not None:
        return measures[measure]
    if not row["corpus"].endswith(":labels"):
        return measures["accuracy"]
    if scores is None:
        return 0.5 * (measures["f1_micro"] + measures["f1_macro"])
    return float(np.mean(decided(np.load(scores / scores_name(row)), decide, part)))


def decided(kept, decide: str, part: str) -> np.ndarray:
    """Return micro-F1 and macro-F1; thresholds for `choose` come from its other half."""
    n_labels = kept["y_fit"].sum(axis=1).mean()
    f, y = kept["f_choose"], kept["y_choose"]
    if part == "test":
        pairs = [((f, y), (kept["f_test"], kept["y_test"]))]
    else:
        even = np.arange(len(f)) % 2 == 0
        pairs = [((f[rows], y[rows]), (f[~rows], y[~rows])) for rows in (even, ~even)]
    found = []
    for (known_f, known_y), (new_f, new_y) in pairs:
        at = 0.0 if decide == "zero" else thresholds.found(decide, known_f, known_y, n_labels)
        predicted = new_f > at
        right, both = (predicted & (new_y > 0)).sum(axis=0), predicted.sum(axis=0) + new_y.sum(axis=0)
        by_label = np.where(both > 0, 2 * right / np.maximum(both, 1), 0.0)
        found.append((2 * right.sum() / max(both.sum(), 1), by_label.mean()))
    return np.mean(found, axis=0)


def scores_name(row: dict) -> str:
    return f"{row['corpus']} {row['label']} seed={row['seed']}.npz"


def cells(
    files: list[Path], part: str, decide: str, measure: str | None = None
) -> dict[str, dict[str, dict[int, float]]]:
    """Scores by setting, corpus and seed."""
    found: dict = {}
    for path in files:
        for row in rows_of(path):
            if part in row and (measure is None or measure in row[part]):
                value = score(row, part, decide, path.with_suffix(".scores"), measure)
                found.setdefault(row["label"], {}).setdefault(row["corpus"], {})[row["seed"]] = value
    return found


def table(
    files: list[Path], part: str, decide: str, measure: str | None = None, first_decide: str | None = None
) -> None:
    """Print means over corpora, and differences from the first setting, over seeds that both have."""
    found, less = cells(files, part, decide, measure), measure in ("log_loss", "calibration_error")
    first = next(iter(found))
    found[first] = cells(files, part, first_decide or decide, measure)[first]
    print(f"{'setting':64}  mean  difference (se)  worst: corpus and difference; seeds")
    for name, by_corpus in sorted(found.items(), key=lambda item: _mean(item[1]), reverse=not less):
        means, differences, seeds = [], {}, []
        for corpus, values in by_corpus.items():
            both = sorted(set(values) & set(found[first].get(corpus, {})))
            means.append(np.mean(list(values.values())))
            if both:
                differences[corpus] = np.mean([values[s] - found[first][corpus][s] for s in both])
                seeds.append(len(both))
        d = np.array(list(differences.values()))
        if len(d) < 2:
            continue
        worst = (max if less else min)(differences, key=differences.get)
        print(
            f"{name:64}  {np.mean(means):.4f}  {d.mean():+.4f} ({d.std(ddof=1) / np.sqrt(len(d)):.4f})  "
            f"{worst} {differences[worst]:+.3f}; {min(seeds)}"
        )


def _mean(by_corpus: dict) -> float:
    return float(np.mean([np.mean(list(values.values())) for values in by_corpus.values()]))


def halves(files: list[Path], decide: str, repeats: int = 200) -> None:
    """Choose a setting on half of the corpora, by validation documents; test it on the other half."""
    chosen_by, tested = cells(files, "choose", decide), cells(files, "test", decide)
    first = next(iter(chosen_by))
    corpora = sorted(set(chosen_by[first]) & set(tested[first]))
    whole = [
        name for name in chosen_by if all(c in chosen_by[name] and c in tested.get(name, {}) for c in corpora)
    ]
    mean = {n: {c: np.mean(list(chosen_by[n][c].values())) for c in corpora} for n in whole}
    test = {n: {c: np.mean(list(tested[n][c].values())) for c in corpora} for n in whole}
    rng, gains, won = np.random.default_rng(0), [], Counter()
    for _ in range(repeats):
        order = rng.permutation(len(corpora))
        for rows in (order[: len(order) // 2], order[len(order) // 2 :]):
            here = [corpora[i] for i in rows]
            others = [c for c in corpora if c not in here]
            best = max(whole, key=lambda n, here=here: np.mean([mean[n][c] for c in here]))
            won[best] += 1
            gains.append(np.mean([test[best][c] - test[first][c] for c in others]))
    gain = f"{np.mean(gains):+.4f} (sd {np.std(gains):.4f})"
    print(f"gain on the test documents of corpora that had no say: {gain}")
    for name, n in won.most_common():
        print(f"{n / (2 * repeats):6.1%}  {name}")


def decisions(files: list[Path]) -> None:
    """Print micro-F1 and macro-F1 on test documents for each way to decide."""
    names = ("zero", "prevalence", "validated")
    print(f"{'corpus':32} {'setting':64} " + " ".join(f"{name:>11}" for name in names))
    for path in files:
        for row in rows_of(path):
            if row["corpus"].endswith(":labels") and "test" in row:
                kept = np.load(path.with_suffix(".scores") / scores_name(row))
                shown = ["/".join(f"{v:.3f}" for v in decided(kept, name, "test")) for name in names]
                print(f"{row['corpus']:32} {row['label']:64} " + " ".join(shown))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    fits = commands.add_parser("run", help="fit, and score validation and test documents")
    fits.add_argument("data", type=Path, help="folder of corpora")
    fits.add_argument("results", type=Path, help="file of JSON lines")
    fits.add_argument("--plan", choices=plans(), default="topics", help="settings (default %(default)s)")
    fits.add_argument("--settings", help="JSON list of settings, instead of a plan")
    fits.add_argument("--seeds", type=int, nargs="+", default=[0], help="a chain each (default %(default)s)")
    fits.add_argument("--corpora", nargs="+", help="names, by default all")
    tables = commands.add_parser("table", help="compare settings with the first one")
    tables.add_argument("results", type=Path, nargs="+", help="files of JSON lines")
    tables.add_argument(
        "--part", choices=("choose", "test"), default="choose", help="documents (default %(default)s)"
    )
    tables.add_argument(
        "--decide", choices=("zero", "prevalence", "validated"), default="validated",
        help="of several labels (default %(default)s)",
    )  # fmt: skip
    tables.add_argument(
        "--decide-first",
        choices=("zero", "prevalence", "validated"),
        help="with the first setting (default: as the others)",
    )
    tables.add_argument("--measure", help="log_loss, calibration_error, ... (default: the task's own)")
    for name, what in (("halves", "choose on half of the corpora, test on the others"),
                       ("decisions", "compare ways to decide about several labels")):  # fmt: skip
        commands.add_parser(name, help=what).add_argument(
            "results", type=Path, nargs="+", help="files of JSON lines"
        )
    given = parser.parse_args()
    if given.command == "run":
        settings = json.loads(given.settings) if given.settings else plans()[given.plan]
        run(given.data, given.results, settings, given.seeds, given.corpora)
    elif given.command == "table":
        table(given.results, given.part, given.decide, given.measure, given.decide_first)
    elif given.command == "halves":
        halves(given.results, "validated")
    else:
        decisions(given.results)


if __name__ == "__main__":
    main()
