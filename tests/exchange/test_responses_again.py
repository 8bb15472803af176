"""Groups for `az.loo` and `az.plot_ppc`: what each kept draw says of the responses."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from scipy.special import logsumexp

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.exchange import write_netcdf

xarray = pytest.importorskip("xarray")

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(1.0, (60, 12)) + np.eye(1, 12, dtype=int)
LINEAR = (COUNTS[:, :6].sum(1) - COUNTS[:, 6:].sum(1)).astype(float)
REAL = 1000.0 + 50.0 * LINEAR + RNG.normal(0.0, 20.0, 60)
CLASSES = np.array(["a", "b", "c"])[np.digitize(LINEAR, [-2, 2])]
LABELS = (RNG.random((60, 3)) < 0.4).astype(int)


def fitted(loss, y, **options):
    corpus = ps.Corpus.from_counts(COUNTS, responses=y)
    model = ps.Model(3, loss=loss, intercept=True, standardise=True)
    return corpus, ps.fit(corpus, model, sweeps=20, thin=2, **options)


@pytest.mark.parametrize("chains", [1, 2])
@pytest.mark.parametrize("loss", ["gaussian", "epsilon_insensitive"])
def test_real_responses_in_their_units(loss, chains):
    corpus, found = fitted(loss, REAL, chains=chains)
    data = found.to_arviz(draws="kept")
    log_p = data["log_likelihood"].y
    assert log_p.dims == ("chain", "draw", "document", "response") and log_p.shape[:2] == (chains, 5)
    members = found.parts
    for number, member in enumerate(members):  # the mixture over draws is the predictive density
        mixture = member.folded(corpus)[2]
        mean = logsumexp(log_p[number], axis=0) - np.log(log_p.shape[1])
        assert np.allclose(mean, mixture.log_density(REAL[:, None]))
    assert np.array_equal(data["observed_data"].y[:, 0], REAL)
    assert log_p.attrs["unit"] == "as the responses were given"
    assert np.allclose(log_p.attrs["center"], REAL.mean()) and np.allclose(log_p.attrs["scale"], REAL.std())
    again = data["posterior_predictive"].y
    assert again.shape == log_p.shape and abs(float(again.mean()) - REAL.mean()) < REAL.std()
    assert np.array_equal(again, found.to_arviz(draws="kept")["posterior_predictive"].y)


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        ("logistic", np.where(LINEAR > 0, "a", "b")),
        ("probit", CLASSES),
        ("probit", LABELS),
        ("logistic", LABELS),
    ],
)
def test_classes_by_their_numbers(loss, y):
    corpus, found = fitted(loss, y)
    data = found.to_arviz(draws="kept")
    p = np.exp(data["log_likelihood"].y.values[0])
    mean = found.predict(corpus).probabilities
    observed = data["observed_data"].y
    if y.ndim == 1:
        names = observed.attrs["classes"]
        assert [names[i] for i in observed.values] == y.tolist()
        mean = mean[np.arange(60), observed.values]
    else:
        assert np.array_equal(observed, LABELS)
        mean = np.where(y > 0, mean, 1.0 - mean)
    tolerance = 0.03 if y is CLASSES else 1e-8  # a model a class: sums of means
    assert p.shape[0] == 5 and np.allclose(p.mean(axis=0), mean, atol=tolerance)
    again = data["posterior_predictive"].y
    assert set(np.unique(again)) <= set(np.unique(observed)) and again.dtype == observed.dtype


def test_documents_without_a_response_are_left_out():
    y = REAL.copy()
    y[[3, 7]] = np.nan
    data = fitted("gaussian", y)[1].to_arviz(draws="kept")
    assert data["log_likelihood"].sizes["document"] == data["observed_data"].sizes["document"] == 58
    assert "3" not in data["observed_data"].document.values and data["constant_data"].sizes["document"] == 60
    assert np.isfinite(data["log_likelihood"].y).all()


@pytest.mark.parametrize(("loss", "y"), [("hinge", CLASSES), ("none", CLASSES)])
def test_what_is_no_likelihood_has_none(loss, y):
    data = fitted(loss, y)[1].to_arviz(draws="kept")
    assert not hasattr(data, "log_likelihood") and not hasattr(data, "posterior_predictive")


LIKELIHOODS = [
    ("gaussian", REAL), ("epsilon_insensitive", REAL), ("probit", CLASSES), ("logistic", LABELS),
    ("logistic", np.where(LINEAR > 0, "a", "b")),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("loss", "y"), LIKELIHOODS)
def test_arviz_takes_them(loss, y, tmp_path):
    az = pytest.importorskip("arviz")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = fitted(loss, y, chains=2)[1]
    data = found.to_arviz(draws="kept")
    assert np.isfinite(az.loo(data).iloc[0])
    if int(az.__version__.partition(".")[0]) < 1:
        az.plot_ppc(data, num_pp_samples=5)
        matplotlib.pyplot.close("all")
    pytest.importorskip("h5netcdf")
    again = az.from_netcdf(write_netcdf(found, tmp_path / "trace.nc", draws="kept"))
    assert np.array_equal(again["log_likelihood"].y, data["log_likelihood"].y)


def table(folder, name="d.csv"):
    """The documents as a file, words by their letters."""
    words = [" ".join(chr(97 + w) * 3 for w in np.repeat(np.arange(12), row)) for row in COUNTS]
    lines = [f"{text},{y}" for text, y in zip(words, REAL, strict=True)]
    (folder / name).write_text("\n".join(["text,y", *lines]), encoding="utf-8")


@pytest.mark.parametrize("chains", [1, 2])
def test_a_run_folder_has_them(chains, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    table(tmp_path)
    options = ["corpus.path=d.csv", "loss=gaussian", "n_topics=3", "sweeps=12", "thin=2", f"chains={chains}"]
    assert main(["fit", "corpus=csv", *options, "report=false", "hydra.run.dir=run"]) == 0
    logging.getLogger().addHandler(caplog.handler)  # which the command has taken off
    data = ps.to_arviz("run", draws="kept")
    loaded = ps.load("run", corpus=True)
    again = loaded.to_arviz(draws="kept")
    for group in ("log_likelihood", "posterior_predictive", "observed_data"):
        assert np.array_equal(data[group].y, again[group].y) and np.isfinite(data[group].y).all()
    assert np.array_equal(data["observed_data"].y[:, 0], REAL)
    (tmp_path / "d.csv").write_text("text,y\naaa bbb,1\nbbb ccc,2\n")  # other documents than those of the run
    assert not hasattr(ps.to_arviz("run", draws="kept"), "log_likelihood")
    assert "these are not the training documents of the run" in caplog.text
    (tmp_path / "d.csv").unlink()
    caplog.clear()
    assert not hasattr(ps.to_arviz("run", draws="kept"), "log_likelihood")
    assert "the run's corpus cannot be read" in caplog.text and "d.csv" in caplog.text
    assert main(["export", "run=run", "to=netcdf", "draws=kept", "out=t.nc"]) == 0
