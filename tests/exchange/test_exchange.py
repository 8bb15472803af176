"""Chains for ArviZ, before and since its version 1, from Python and from run folders."""

import json
import sys
import warnings

import numpy as np
import pytest

import plugsamp as ps
from plugsamp import exchange
from plugsamp.cli import main
from plugsamp.diagnostics.agreement import agreement
from plugsamp.exchange.chains import shortened
from plugsamp.posterior.run_folder import sweeps_of

xarray = pytest.importorskip("xarray")

OPTIONS = {"sweeps": 24, "burn_in": 8, "thin": 4, "seed": 2}


def chains(n=3, loss="hinge", responses=None, fields=None, **more):
    rng = np.random.default_rng(0)
    kind = np.arange(30) % 3
    counts = rng.poisson(np.where(np.arange(12)[None] // 4 == kind[:, None], 2.0, 0.3))
    y = np.array(["a", "b", "c"])[kind] if responses is None else responses
    corpus = ps.Corpus.from_counts(counts, responses=y, fields=fields)
    return ps.fit(corpus, ps.Model(4, loss=loss), chains=n, **OPTIONS, **more)


@pytest.fixture(scope="module")
def three():
    return chains()


@pytest.fixture(params=["installed", "none"])
def world(request, monkeypatch):
    """ArviZ as it is installed, or none: then there is a DataTree."""
    if request.param == "none":
        monkeypatch.setitem(sys.modules, "arviz", None)
        return xarray.DataTree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its next version
        arviz = pytest.importorskip("arviz")
    return arviz.InferenceData if arviz.__version__.startswith("0.") else xarray.DataTree


def test_every_sweep_after_the_burn_in(three, world):
    data = three.to_arviz()
    assert isinstance(data, world)
    posterior, statistics = data["posterior"], data["sample_stats"]
    assert dict(posterior.sizes) == {"chain": 3, "draw": 16}
    assert posterior.draw.values.tolist() == list(range(9, 25))
    assert set(posterior.data_vars) == {"log_joint", "loss"}
    second = [row for row in three.trace if row["chain"] == "chain 2"]
    assert posterior.log_joint.sel(chain=1, draw=11).item() == second[10]["log_joint"]
    assert {"lp", "moved", "seconds", "log_joint_words"} <= set(statistics.data_vars)
    np.testing.assert_array_equal(statistics.lp, posterior.log_joint)
    assert data["observed_data"].y.values.tolist() == ["a", "b", "c"] * 10
    assert data["constant_data"].n_tokens.sum() == three.corpus.n_tokens
    assert "aligned=True" in data.attrs["left_out"]
    assert data.attrs["inference_library"] == "plugsamp"
    assert data.attrs["seeds"].tolist() == [m.seed for m in three.parts]
    assert json.loads(data.attrs["config"])["thin"] == 4


def test_aligned_weights_predict_the_same(three, world):
    data = three.to_arviz(aligned=True)
    posterior, constant = data["posterior"], data["constant_data"]
    assert dict(posterior.eta.sizes) == {"chain": 3, "draw": 4, "class": 3, "topic": 4}
    assert posterior.draw.values.tolist() == [12, 16, 20, 24]
    assert posterior["class"].values.tolist() == ["a", "b", "c"]
    assert constant.word.values.tolist() == list(three.vocabulary)
    reference = constant.phi_mean.sel(chain=0).values
    for number, member in enumerate(three.parts):
        phi, eta = constant.phi_mean.sel(chain=number).values, posterior.eta.sel(chain=number).values
        # Topic and weight are moved together: phi' eta is the same.
        np.testing.assert_allclose(eta.mean(0) @ phi, member.eta.mean(0) @ member.phi, rtol=1e-5)
        affinity = np.sqrt(reference) @ np.sqrt(phi).T
        assert np.trace(affinity) >= affinity[np.arange(4), np.random.default_rng(0).permutation(4)].sum()
    np.testing.assert_array_equal(posterior.eta.sel(chain=0), three.parts[0].eta)


def test_r_hat_is_that_of_the_run(three):
    from arviz_stats.base import array_stats

    posterior = three.to_arviz()["posterior"]
    mine = agreement(three.trace, 8)
    for name in ("log_joint", "loss"):
        values = posterior[name].values
        assert array_stats.rhat(values, chain_axis=0, draw_axis=1) == pytest.approx(mine[name]["r_hat"])


def test_one_chain_with_covariates_and_a_real_response(world):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(30) == 4, np.nan, rng.normal(size=30))
    fit = chains(
        1, ps.losses.Gaussian(variance="sample"), y, {"year": rng.normal(size=30)},
        covariates=ps.Covariates(numeric=["year"]),
    )  # fmt: skip
    posterior = fit.to_arviz(draws="kept")["posterior"]
    eta, name = fit.eta, fit.coding.output_names[0]
    assert posterior.response.values.tolist() == [name]
    np.testing.assert_array_equal(posterior.eta_covariates.sel(chain=0, covariate="year"), eta[:, :, 4])
    np.testing.assert_array_equal(posterior.intercept.sel(chain=0), eta[:, :, -1])
    np.testing.assert_array_equal(posterior.variance.sel(chain=0), fit.parameters["variance"])
    assert "eta" not in posterior
    observed = fit.to_arviz()["observed_data"].y
    np.testing.assert_array_equal(observed.sel(response=name), y)


def test_labels_several_and_missing():
    table = np.array([[1, 0], [0, np.nan], [1, 1]] * 10)
    observed = chains(1, "hinge", table).to_arviz()["observed_data"].y
    assert observed.dims == ("document", "class")
    np.testing.assert_array_equal(observed, table)
    some = np.array(["a", None, "b"] * 10, dtype=object)
    observed = chains(1, "hinge", some).to_arviz()["observed_data"].y
    assert observed.values.tolist() == ["a", "", "b"] * 10
    nothing = chains(1, "none", some).to_arviz(aligned=True)
    assert set(nothing["posterior"].data_vars) == {"log_joint"} and "y" not in nothing["constant_data"]
    assert nothing["constant_data"].phi_mean.shape == (1, 4, 12)


def test_what_arviz_says_of_it(three, world):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz", reason="ArviZ shows what it makes", exc_type=ImportError)
        table = arviz.summary(three.to_arviz(aligned=True), var_names=["log_joint", "eta"])
    assert table.loc["log_joint", "r_hat"] > 0.9 and "eta[a, 0]" in table.index


def test_netcdf(three, world, tmp_path):
    path = exchange.write_netcdf(three, tmp_path / "chains.nc", aligned=True)
    assert [p.name for p in tmp_path.iterdir()] == ["chains.nc"]
    again, data = xarray.open_datatree(path, engine="h5netcdf"), three.to_arviz(aligned=True)
    assert again.attrs["left_out"] == data.attrs["left_out"]
    for group in ("posterior", "sample_stats", "observed_data", "constant_data"):
        for name, values in data[group].data_vars.items():
            np.testing.assert_array_equal(again[group][name], values)
            assert again[group][name].dims == values.dims
    again.close()


@pytest.mark.parametrize("sweeps", [[7], [5, 10], [12, 16, 20, 24], [5, 10, 40]], ids=str)
def test_sweeps_are_written_in_few_words(sweeps):
    written = json.loads(json.dumps(shortened(sweeps)))
    assert sweeps_of(written) == sweeps
    assert isinstance(written, list) == (sweeps[-1] == 40)


def test_refusals(three):
    with pytest.raises(ValueError, match="aligned=True takes draws=kept"):
        three.to_arviz(draws="sweeps", aligned=True)
    with pytest.raises(ValueError, match="draws must be"):
        three.to_arviz(draws="all")
    with pytest.raises(ValueError, match="multiclass=ovr have posteriors of their own"):
        chains(1, multiclass="ovr").to_arviz()
    two_step = chains(1, supervised="two_step")
    assert "log_joint" in two_step.to_arviz()["posterior"]
    with pytest.raises(ValueError, match="second step"):
        two_step.to_arviz(aligned=True)
    with pytest.raises(ValueError, match="no such folder"):
        ps.to_arviz("nowhere")


def test_what_is_missing_is_said(three, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "h5netcdf", None)
    with pytest.raises(ImportError, match=r"h5netcdf: pip install 'plugsamp\[arviz\]'"):
        exchange.write_netcdf(three, tmp_path / "chains.nc")
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"pip install 'plugsamp\[arviz\]'"):
        three.to_arviz()


def test_the_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = {"x": ["moon", "orbit", "rocket"], "y": ["soup", "bread", "salt"]}
    lines = [f"{' '.join(rng.choice(words[c], 9))},{c}" for c in "xy" * 12]
    (tmp_path / "a.csv").write_text("\n".join(["text,label", *lines]))
    fast = ["fit", "n_topics=2", "sweeps=12", "thin=2", "corpus=csv", "corpus.path=a.csv", "corpus.min_df=1"]
    assert main([*fast, "chains=2", "netcdf=true", "report=false", "hydra.run.dir=run"]) == 0
    tree = xarray.open_datatree("run/trace.nc", engine="h5netcdf")
    export = ["export", "run=run", "to=netcdf", "aligned=true", "out=chains.nc"]
    assert main(export) == 0
    assert "chains.nc: " in capsys.readouterr().out
    again = xarray.open_datatree("chains.nc", engine="h5netcdf")
    kept = again["posterior"].draw.values
    assert kept.tolist() == [8, 10, 12] and tree["posterior"].draw.values.tolist() == list(range(7, 13))
    np.testing.assert_array_equal(
        again["posterior"].log_joint, tree["posterior"].log_joint.sel(draw=kept)
    )  # trace.csv holds every digit
    assert again["posterior"].eta.dims == ("chain", "draw", "class", "topic")
    assert "n_topics: 2" in again.attrs["config"]
    assert main(export) == 2 and "overwrite=true" in capsys.readouterr().err
    assert main([*fast, "multiclass=ovr", "netcdf=true", "hydra.run.dir=ovr"]) == 2
    assert "netcdf=true is for chains of one posterior" in capsys.readouterr().err
    assert main(["export", "run=run", "to=csv", "out=x"]) == 2
    assert "to must be netcdf or model" in capsys.readouterr().err
    tree.close(), again.close()
    monkeypatch.setitem(sys.modules, "h5netcdf", None)
    assert main([*fast, "netcdf=true", "hydra.run.dir=other"]) == 2
    assert "netcdf=true: netCDF files are written by h5netcdf" in capsys.readouterr().err


def test_a_run_of_an_older_version_goes_on_and_can_have_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("moon orbit moon\nsoup bread\nsoup salt soup\n")
    fast = ["n_topics=2", "sweeps=4", "loss=none", "corpus=lines", "corpus.path=a.txt", "corpus.min_df=1"]
    assert main(["fit", *fast, "report=false", "hydra.run.dir=run"]) == 0
    config = tmp_path / "run" / "config.yaml"
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines if not line.startswith("netcdf")))
    assert main(["resume", "run=run", "sweeps=6"]) == 0
    assert not (tmp_path / "run" / "trace.nc").exists()
    assert main(["resume", "run=run", "sweeps=8", "netcdf=true"]) == 0
    with xarray.open_datatree("run/trace.nc", engine="h5netcdf") as tree:
        assert tree["posterior"].draw.values.tolist() == [5, 6, 7, 8]


def test_the_manual_page(capsys):
    from plugsamp.commands.manual import documented

    assert main(["export", "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("plugsamp export ")
    for key, comment in (entry for _, entries in documented("export") for entry in entries):
        assert comment and f"\n  {key}=" in page
