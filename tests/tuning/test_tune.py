"""`plugsamp.tune`: the right setting, the same chains, the same search again."""

from __future__ import annotations

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.tuning import search as searching
from plugsamp.tuning.search import rungs
from plugsamp.tuning.settings import chosen, default_grid, with_setting
from plugsamp.tuning.tune import parts_of

GRID = {"n_topics": [2, 3], "cost": [1e-9, 10.0], "variance": [0.1, 1.0]}
MODEL = ps.Model(2, loss="hinge")


def documents(responses="classes", n=60) -> ps.Corpus:
    rng = np.random.default_rng(0)
    kind = (
        np.arange(n) % 3
    )  # more documents of the first class than of the second, which a cost of 0 never finds
    counts = rng.poisson(np.array([[5.0, 1, 1, 0.1], [5.0, 1, 1, 0.1], [0.1, 1, 1, 5]])[kind])
    late = kind == 2
    y = {
        "classes": np.where(late, "late", "early"),
        "labels": np.column_stack([late, ~late, rng.random(n) < 0.5]).astype(int),
        "numbers": late + 0.1 * rng.standard_normal(n),
        "none": None,
    }[responses]
    return ps.Corpus.from_counts(counts, responses=y)


@pytest.fixture(scope="module")
def corpus():
    return documents()


@pytest.fixture(scope="module")
def tuned(corpus):
    return ps.tune(corpus, MODEL, GRID, sweeps=18)


def test_the_best_setting_is_fitted_to_all_documents(corpus, tuned):
    assert tuned.best["cost"] == 10.0 and len(tuned.table) == 8
    again = ps.fit(corpus, with_setting(MODEL, tuned.best), sweeps=18)
    assert tuned.posterior.digest == again.digest
    best = tuned.table.row(0)
    assert {name: best[name] for name in GRID} == tuned.best
    assert tuned.table.columns == (*GRID, "sweeps", "accuracy", "error", "seconds")
    assert best["accuracy"] > 0.8 and 0 <= best["error"] < 0.2
    assert (
        sorted(tuned.table["sweeps"], reverse=True) == list(tuned.table["sweeps"]) == [18] * 2 + [6] + [2] * 5
    )
    assert "cost=10" in repr(tuned) and "<table" in tuned._repr_html_()


def test_a_score_is_that_of_a_chain_of_so_many_sweeps(corpus, tuned):
    ((train, held),) = parts_of(corpus)
    posterior = ps.fit(train, with_setting(MODEL, tuned.best), sweeps=18)
    assert posterior.evaluate(held).main == tuned.table["accuracy"][0]


@pytest.mark.slow
def test_processes_find_the_same(corpus, tuned):
    other = ps.tune(corpus, MODEL, GRID, sweeps=18, n_jobs=2)
    assert other.posterior.digest == tuned.posterior.digest
    assert [other.table[name] for name in ("cost", "accuracy")] == [
        tuned.table[name] for name in ("cost", "accuracy")
    ]


def test_a_search_that_was_stopped_goes_on(corpus, tuned, tmp_path, monkeypatch):
    fit, calls = searching.fit, []

    def stopping(*given, **options):
        calls.append(options["sweeps"])
        if len(calls) == 10:  # within the second rung
            raise KeyboardInterrupt
        return fit(*given, **options)

    monkeypatch.setattr(searching, "fit", stopping)
    with pytest.raises(KeyboardInterrupt):
        ps.tune(corpus, MODEL, GRID, sweeps=18, folder=tmp_path)
    other = ps.tune(corpus, MODEL, GRID, sweeps=18, folder=tmp_path)
    assert other.posterior.digest == tuned.posterior.digest
    assert len(calls) == 8 + 3 + 2 + 1  # the step that was stopped, twice
    assert other.table["accuracy"] == tuned.table["accuracy"]
    assert [path.name for path in (tmp_path / "search").iterdir() if path.suffix] == ["search.json"]
    assert ps.tune(corpus, MODEL, GRID, sweeps=18, folder=tmp_path).best == tuned.best and len(calls) == 14
    with pytest.raises(ValueError, match=r"holds another search .*seed was 0, and is 1"):
        ps.tune(corpus, MODEL, GRID, sweeps=18, folder=tmp_path, seed=1)


@pytest.mark.parametrize(
    ("responses", "loss", "measure"),
    [("labels", "hinge", "f1_micro"), ("numbers", "gaussian", "r2"), ("none", None, "log_likelihood")],
)
def test_every_kind_of_response_has_a_score(responses, loss, measure):
    tuned = ps.tune(documents(responses), ps.Model(2, loss=loss), settings=3, sweeps=4)
    assert tuned.table.columns[-3] == measure and len(tuned.table) == 3
    assert tuned.table["n_topics"].count(2) >= 1


def test_folds_and_other_documents_are_held_out(corpus):
    parts = parts_of(corpus, folds=3)
    held = [rows for _, rows in parts]
    assert sorted(one for rows in held for one in rows.ids) == sorted(corpus.ids)
    assert all(np.mean(rows.responses == "late") == pytest.approx(1 / 3, abs=0.05) for rows in held)
    tuned = ps.tune(corpus, MODEL, {"cost": [1.0, 10.0]}, sweeps=4, folds=3)
    assert len(tuned._search.rows) == 2 * 3
    assert parts_of(corpus, corpus) == [(corpus, corpus)]


def test_the_search_takes_less_than_ten_fits():
    steps = rungs(9, 100)
    sweeps = sum(size * (n - before) for (size, n), before in zip(steps, [0, 11, 33], strict=True))
    assert sweeps < 400  # beside the scores, and the fit


def test_settings_are_spread_over_the_grid_and_begin_with_the_models_own():
    grid = default_grid(MODEL, covariates=True)
    assert grid["n_topics"] == [1, 2, 4] and 102.4 in grid["cost"] and 0.02 in grid["covariate_variance"]
    assert "covariate_variance" not in default_grid(MODEL, covariates=False)
    assert default_grid(ps.Model(3), covariates=False) == {"n_topics": [1, 3, 6]}
    several = ps.Model(2, alpha=[0.1, 0.2])
    assert "n_topics" not in default_grid(several, covariates=False)
    assert chosen({"alpha": [0.1, 0.5]}, several, 2) == [{"alpha": 0.1}, {"alpha": 0.5}]
    found = chosen(grid, MODEL, 12)
    assert found[0] == {"n_topics": 2, "cost": 102.4, "variance": 0.01, "covariate_variance": 0.02}
    assert len(found) == 12 == len({tuple(one.items()) for one in found})
    other = chosen({"n_topics": [20, 30], "cost": grid["cost"], "variance": grid["variance"]}, MODEL, 3)
    assert other[0] == {"n_topics": 20, "cost": 102.4, "variance": 0.01}
    assert all({one[name] for one in found} == set(values) for name, values in grid.items())


def test_what_cannot_be_is_refused_before_anything_is_sampled(corpus):
    for grid, message in (
        ({"costs": [1]}, "no setting 'costs'"),
        ({"cost": [-1.0]}, "cost must be a number above 0"),
        ({"cost": 1.0}, "cost must have a list of values"),
    ):
        with pytest.raises(ValueError, match=message):
            ps.tune(corpus, MODEL, grid, sweeps=4)
    with pytest.raises(ValueError, match="no metric 'acuracy'"):
        ps.tune(corpus, MODEL, sweeps=4, metric="acuracy")
    with pytest.raises(ValueError, match="no log_loss; they have accuracy"):
        ps.tune(corpus, MODEL, {"cost": [1.0]}, sweeps=4, metric="log_loss")


def test_scores_can_be_drawn(tuned):
    pytest.importorskip("matplotlib").use("agg")
    ax = tuned.plot()
    assert len(ax.lines) >= 8 and "cost=10" in ax.get_legend_handles_labels()[1][0]


@pytest.mark.parametrize(
    ("responses", "loss", "options", "message"),
    [
        ("classes", "hinge", {"grid": [{"cost": [1]}]}, "grid must be a mapping"),
        ("classes", "hinge", {"grid": {"covariate_variance": [1.0]}}, "covariate_variance.*there are none"),
        ("classes", "hinge", {"folds": 1}, "folds must be from 2"),
        ("classes", "hinge", {"folds": 50}, "folds=50 is more than any class has documents: give 40"),
        ("classes", "hinge", {"validation": 1}, "validation must be a share"),
        ("classes", "hinge", {"validation": 0.999}, "validation leaves 1 of 60 documents to fit"),
        ("classes", "hinge", {"validation": documents("none")}, "validation: .* no responses"),
        ("classes", "hinge", {"validation": documents("numbers")}, "validation: no held-out document has"),
        ("classes", "hinge", {"metric": "test_accuracy"}, "no test_accuracy; they have accuracy"),
        ("numbers", "gaussian", {"metric": "accuracy"}, "no accuracy; they have r2"),
        ("none", None, {"grid": {"variance": [1.0, 2.0]}}, "variance is of the weights"),
        ("labels", "logistic", {"decide": "x"}, "decide must be auto"),
        ("classes", ps.losses.Logistic(), {"grid": {"scales": [1.0]}}, "no setting 'scales'"),
    ],
)
def test_mistakes_are_named_before_anything_is_sampled(responses, loss, options, message, monkeypatch):
    monkeypatch.setattr(searching, "fit", None)
    with pytest.raises((ValueError, TypeError), match=message):
        ps.tune(documents(responses), ps.Model(2, loss=loss), sweeps=4, **options)


def test_fixed_variances_are_tried_where_the_default_is_drawn():
    model = ps.Model(2, loss="logistic")
    assert with_setting(model, {"variance": 3.0}).weights.variance == 3.0
    assert with_setting(model, {"n_topics": 3}).weights.options() == model.weights.options()
    drawn = ps.Model(2, loss="logistic", weights="hierarchical")
    with pytest.raises(ValueError, match="weights=normal takes variance"):
        with_setting(drawn, {"variance": 3.0})
    assert with_setting(drawn, {"scale": 3.0}).weights.scale == 3.0
    tuned = ps.tune(documents(), model, {"variance": np.array([1.0, 10.0])}, sweeps=4)
    assert len(tuned.table) == 2


def test_another_corpus_in_the_folder_is_said_in_words(corpus, tmp_path):
    options = {"grid": {"cost": [1.0, 2.0]}, "sweeps": 2, "folder": tmp_path}
    ps.tune(corpus, MODEL, **options)
    with pytest.raises(ValueError, match=r"another search \(other documents\); choose"):
        ps.tune(documents(n=50), MODEL, **options)
    with pytest.raises(ValueError, match=r"another search \(other settings to try\); choose"):
        ps.tune(corpus, MODEL, **options | {"grid": {"cost": [1.0]}})
