"""Run folders that `ps.load` cannot read: the error names the file and what is wrong with it."""

from __future__ import annotations

import shutil

import pytest

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.errors import InputError


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished run of two chains."""
    where = tmp_path_factory.mktemp("runs")
    rows = ["rocket moon orbit,1.5", "bread soup salt,9.5"] * 10
    (where / "d.csv").write_text("\n".join(["text,y", *rows]), encoding="utf-8")
    options = [f"corpus.path={where}/d.csv", "loss=gaussian", "n_topics=3", "sweeps=6", "chains=2"]
    assert main(["fit", "corpus=csv", *options, "report=false", f"hydra.run.dir={where}/run"]) == 0
    return where / "run"


@pytest.fixture
def run(finished, tmp_path):
    """A copy of it, to be damaged."""
    return shutil.copytree(finished, tmp_path / "run")


def test_a_whole_one(run):
    posterior = ps.load(run, corpus=True)
    assert len(posterior.parts) == 2 and posterior.corpus.n_documents == 20
    assert [list(part.kept) for part in posterior.parts] == [[6], [6]] and posterior.burn_in == 3


GARBAGE = b"\xff\xfe\x00{["
DAMAGE = [
    ("config.yaml", GARBAGE, "config.yaml: this is no YAML"),
    ("config.yaml", b"- 1\n", "this is not the config.yaml of a run"),
    ("config.yaml", b"corpus: {", "config.yaml: this is no YAML"),
    ("config.yaml", b"burn_in: [1]\n", "metrics.json or config.yaml is damaged"),
    ("metrics.json", None, "the run in this folder is not finished; plugsamp resume run="),
    ("metrics.json", b"", "metrics.json: this is no metrics.json of a run"),
    ("metrics.json", b'{"kept_sweeps": 3}', "metrics.json or config.yaml is damaged"),
    ("metrics.json", b'{"kept_sweeps": [{"first": 1}]}', "metrics.json or config.yaml is damaged"),
    ("trace.csv", b"", "trace.csv: this table is empty"),
    ("trace.csv", b"a,b\n1,2\n", "trace.csv: this is no trace of a run"),
    ("trace.csv", b"chain,sweep,seconds\nchain 1,1,x\n", "trace.csv: a number cannot be read"),
    ("trace.csv", b"chain,sweep,seconds\nchain 1,1\n", "trace.csv, line 2: 2 cells, the first line has 3"),
    ("topics.csv", GARBAGE, "topics.csv: this table cannot be read"),
    ("topics.csv", b"chain,topic,tokens\nchain 1,0,5\n", "topics.csv: it has 1 topics of chain 1, and"),
    ("topics.csv", b"chain,topic,tokens\n" + b"chain 1,0,x\n" * 3, "topics.csv: a number cannot be read"),
    ("model/manifest.json", b"{", "manifest.json is damaged"),
    ("model/member0_phi.npy", b"x", "member0_phi.npy is damaged or cut short"),
    ("model/member1_alpha.npy", None, "member1_alpha.npy is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "content", "said"), DAMAGE)
def test_a_damaged_file_is_named(file, content, said, run):
    if content is None:
        (run / file).unlink()
    else:
        (run / file).write_bytes(content)
    with pytest.raises(ps.InputError if "model/" not in file else ValueError, match=said) as refused:
        ps.load(run)
    assert str(run) in str(refused.value)


@pytest.mark.parametrize(
    "file", ["trace.csv", "topics.csv", "topics.txt", "status.json", ".hydra/config.yaml"]
)
def test_files_that_can_be_done_without(file, run):
    whole = ps.load(run)
    (run / file).unlink()
    assert ps.load(run).digest == whole.digest


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "hydra.yaml is damaged: it does not say where the run was started"),
        (b"hydra: 2\n", "hydra.yaml is damaged"),
        (GARBAGE, "hydra.yaml is damaged"),
    ],
)
def test_a_damaged_hydra_file_is_named_where_it_is_needed(content, said, run):
    (run / ".hydra/hydra.yaml").write_bytes(content)
    assert len(ps.load(run).parts) == 2  # without the corpus nothing of it is needed
    with pytest.raises(ValueError, match=said):
        ps.load(run, corpus=True)


def test_a_corpus_that_is_gone(run):
    text = (run / "config.yaml").read_text()
    (run / "config.yaml").write_text(text.replace("d.csv", "gone.csv"))
    with pytest.raises(InputError, match=r"gone\.csv: there is no such file"):
        ps.load(run, corpus=True)
    (run / "config.yaml").write_text("corpus: 5\n")
    with pytest.raises(InputError, match="the run does not say what its corpus was"):
        ps.load(run, corpus=True)


def test_folders_that_are_no_finished_run(run, tmp_path):
    run.rename(tmp_path / "0")
    with pytest.raises(InputError, match=r"this folder holds runs .1. and is none; one of them is .*0"):
        ps.load(tmp_path)
    shutil.rmtree(tmp_path / "0" / "model")
    with pytest.raises(InputError, match=r"the run kept no model .save_model=false."):
        ps.load(tmp_path / "0")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="this folder holds no finished run"):
        ps.load(tmp_path / "empty")
