"""Run folders, loaded as posteriors."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.errors import InputError
from tests.report.pages import documents, fit


@pytest.fixture(scope="module", params=[(), ("chains=2",), ("multiclass=ovo", "loss=hinge")])
def folder(request, tmp_path_factory):
    at = tmp_path_factory.mktemp("loaded")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(at)
        documents("d.jsonl")
        assert fit(*request.param) == 0
    return at / "run"


def test_a_run_folder_has_what_the_run_had(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # paths of a run are relative to where it was started
    posterior = ps.load(folder, corpus=True)
    metrics = json.loads((folder / "metrics.json").read_text())
    assert posterior.digest == ps.load_model(folder / "model").digest and posterior.burn_in == 10
    assert posterior.n_sweeps == 20 and posterior.corpus.digest() == metrics["corpus_digest"]
    assert posterior.evaluate().measures["accuracy"] == metrics["test"]["accuracy"]
    assert "evaluate" not in repr(posterior) and "held-out documents: 18" in repr(posterior)
    table = posterior.topics(part="all")
    assert np.asarray(table["share"]).sum() == pytest.approx(len(posterior.parts))
    assert posterior.convergence()["r_hat"]
    posterior.report(tmp_path / "page.html")
    assert "Predictions" in (tmp_path / "page.html").read_text()
    if posterior.owner != "task":
        assert dict(posterior.to_arviz()["posterior"].sizes)["draw"] == 10


def test_names_of_the_folder_are_taken(folder, tmp_path, caplog):
    shutil.copytree(folder, tmp_path / "run")
    posterior = ps.load(folder)
    key = posterior.parts[0].key(1)
    names = {"model": posterior.topics_digest, "names": {key: "named"}}
    (tmp_path / "run" / "topic_names.json").write_text(json.dumps(names))
    assert ps.load(tmp_path / "run").names == {key: "named"}
    names["model"] = "0" * 64
    (tmp_path / "run" / "topic_names.json").write_text(json.dumps(names))
    assert ps.load(tmp_path / "run").names == {} and "another model" in caplog.text


def test_what_is_no_run_is_refused(folder, tmp_path):
    with pytest.raises(InputError, match="no finished run"):
        ps.load(tmp_path)
    shutil.copytree(folder, tmp_path / "runs" / "one")
    with pytest.raises(InputError, match="holds runs"):
        ps.load(tmp_path / "runs")
    shutil.rmtree(tmp_path / "runs" / "one" / "model")
    with pytest.raises(InputError, match="save_model=false"):
        ps.load(tmp_path / "runs" / "one")
