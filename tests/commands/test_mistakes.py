"""Mistakes: one message, exit code 2, no traceback."""

from __future__ import annotations

import contextlib
import os

import cloudpickle
import numpy as np
import pytest
from hydra._internal.core_plugins import basic_launcher
from omegaconf import OmegaConf

from plugsamp.cli import main
from plugsamp.commands import wording


def test_a_failing_job_of_a_sweep_says_so_and_the_others_run(at, write_documents, fast, said):
    write_documents(at / "d.jsonl")
    code = main(["fit", "-m", *fast, "corpus.path=d.jsonl", "n_topics=0,2", "hydra.sweep.dir=sweep"])
    assert code == 2
    assert "n_topics must be from 1" in said()
    assert "n_topics must be from 1" in (at / "sweep/0/fit.log").read_text()
    assert (at / "sweep/1/metrics.json").exists()


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["loss.cots=5"], ["no option 'loss.cots'", "did you mean 'loss.cost'", "loss.margin"]),
        (["n_topcs=5"], ["no option 'n_topcs'", "did you mean 'n_topics'"]),
        (["missing_labels=true"], ["no option 'missing_labels'", "did you mean 'corpus.missing_labels'"]),
        (["corpus=svmlight", "path=d.svm"], ["no option 'path'", "did you mean 'corpus.path'"]),
        (
            ["kernel.steps=4"],
            ["no option 'kernel.steps' of kernel=auto", "it is one of kernel=alias, composed"],
        ),
        (["los=hinge"], ["no option 'los'", "did you mean 'loss'"]),
        (["loss=hing"], ["no loss named 'hing'", "did you mean 'hinge'", "none"]),
        (["loss.cost=much"], ["'cost' must be a number, not 'much'"]),
        (["loss.cost=-1"], ["cost must be a number above 0"]),
        (["sweeps=0"], ["sweeps must be a whole number, 1 or more, not 0"]),
        (["burn_in=8"], ["burn_in=8 leaves none of 8 sweeps"]),
        (["thin=0"], ["thin must be"]),
        (["n_topics=0"], ["n_topics must be from 1"]),
        (["alpha=0"], ["alpha must be"]),
        (["seed=-1"], ["seed must be"]),
        (["weight_update=best"], ["weight_update must be"]),
        (["predict.passes=1"], ["predict.burn_in"]),
        (["corpus.path=absent.jsonl"], ["absent.jsonl"]),
        (["corpus.path=."], ["."]),
        (
            ["corpus.text=body"],
            ["body", "fields are id, label, text, split; corpus.text=FIELD, corpus.tokens=F"],
        ),
        (
            ["corpus.label=team"],
            ["no field 'team'; fields are id, label", "corpus.label=FIELD names the right one"],
        ),
        (["corpus.only=space"], ["write 'corpus.only=[space]'"]),
        (["corpus.min_df=99"], ["is within corpus.min_df=99.0, corpus.max_df=1.0 and"]),
        (["d.jsonl"], ["a corpus is given as corpus=jsonl corpus.path=d.jsonl"]),
        (
            ["corpus=d.jsonl"],
            ["no corpus named 'd.jsonl'; a file is given as corpus=jsonl corpus.path=d.jsonl"],
        ),
        (["--n_topics", "5"], ["there is no flag --n_topics; options are written n_topics=5"]),
        (["--loss.cost=5"], ["there is no flag --loss.cost; options are written loss.cost=5"]),
        (["-v"], ["there is no flag -v; hydra.verbose=true"]),
        (["corpus.path=a,b.jsonl"], ["a,b.jsonl"]),
        (["corpus.path='a"], ["cannot read the argument"]),
        (["corpus=svmlight"], ["corpus=svmlight needs corpus.path"]),
        (["experiment=absent"], ["no experiment named 'absent'", "20ng"]),
        (["kernel=composed", "kernel.proposals=[doc,wrd]"], ["wrd", "word"]),
        (["loss.cost=1e300"], ["cost must be a number above 0 (to 1e+30), not 1e+300"]),
        (["weights.variance=5e-324"], ["variance must be a number from 1e-30 to 1e+30"]),
        (["alpha=1e39"], ["alpha must be 1e+09 or less everywhere, found 1e+39"]),
        (["beta=1e39"], ["beta must be 1e+09 or less"]),
        (["weight_update=x", "corpus.path=absent"], ["weight_update must be one of auto, block"]),
        (["weight_passes=0", "corpus.path=absent"], ["weight_passes must be a whole number, 1 or more"]),
        (["seed=-1", "corpus.path=absent"], ["seed must be a whole number, 0 or more, not -1"]),
        (["loss=null"], ["loss=null: a choice is needed", "hinge, logistic, multinomial, none"]),
        (["=3"], ["=3: a choice is needed"]),
        (["~loss"], ["loss has no name; choose one: loss=NAME"]),
        (["~n_topics"], ["the option n_topics is missing"]),
        (["n_topics=3,4"], ["n_topics=3,4 is several values; add --multirun", "n_topics=[3,4]"]),
        (["corpus.path=~/d.jsonl"], ["~ does not stand for the home folder", "$HOME"]),
        (["corpus.only=[]"], ["only= names no label"]),
        (["corpus.test_value=tset"], ["no document has 'tset' in the split field"]),
        (["corpus.split=label", "corpus.test_value=none"], ["no document has 'none' in the split field"]),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_mistakes_are_told_in_one_message(at, arguments, expected, write_documents, fast, run, said):
    write_documents(at / "d.jsonl")
    path = [] if any(a.startswith(("corpus.path", "corpus=")) for a in arguments) else ["corpus.path=d.jsonl"]
    fast = [a for a in fast if not a.startswith("corpus")] if "corpus=svmlight" in arguments else fast
    assert main(["fit", *fast, *path, *arguments, "hydra.run.dir=run"]) == 2
    err = said()
    assert "Traceback" not in err and "HYDRA_FULL_ERROR" not in err
    for part in expected:
        assert part in err
    assert not (at / "run").exists()  # nor is anything left


def test_what_is_left_of_a_run_that_was_refused(at, write_documents, fast, said):
    write_documents(at / "d.jsonl")
    refused = ["fit", *fast, "corpus.path=d.jsonl", "corpus.text=body"]
    (at / "mine").mkdir()
    assert main(refused) == main([*refused, "hydra.run.dir=mine"]) == 2
    assert not (at / "outputs").exists() and (at / "mine").exists()
    said()
    for flags, option in ([], "hydra.run.dir"), (["-m"], "hydra.sweep.dir"):
        for folder, why in ("d.jsonl", "File exists"), ("d.jsonl/a", "Not a directory"):
            assert main([*refused, *flags, f"{option}={folder}"]) == 2
            what = f"{option}={folder}: this folder cannot be made ({folder}: {why})"
            assert said() == f"plugsamp fit: {what}\n"


def test_options_are_told_as_they_are_typed(at, said):
    (at / "t.csv").write_text("id;text;label\n1;a b;x\n")
    assert main(["fit", "corpus=csv", "corpus.path=t.csv"]) == 2
    assert """'corpus.delimiter=";"' says so""" in said()
    (at / "t.csv").write_text("id,text,label\n1,a b,\n2,c d,y\n")
    assert main(["fit", "corpus=csv", "corpus.path=t.csv"]) == 2
    assert "pass corpus.missing_labels=true to keep them unlabelled, or loss=none to use none" in said()
    assert main(["fit", "experiment=20ng", "data_dir=here"]) == 2
    assert "vocab.txt: there is no such file; data_dir=FOLDER, or PLUGSAMP_DATA" in said()
    assert main(["predict", "run=run"]) == main(["evaluate", "run=run"]) == 2
    assert said().count("did you mean 'model'") == 2
    assert main(["report", "run=.", "documents=T1"]) == 2
    assert "write 'documents=[T1]'" in said()
    config = OmegaConf.create({"corpus": {"name": "csv", "text": "t", "test_size": 0}, "loss": {"cost": 1.0}})
    wording.speak_of(config)
    told = wording.spoken(
        "Hinge(cost=1.0): the 'test_size' of text, test_size and cost=None are not in a.test_size"
    )
    assert told == (
        "Hinge(cost=1.0): the 'test_size' of text, corpus.test_size and loss.cost=null are not in a.test_size"
    )


def test_the_traceback_of_a_plugin_is_its_own(at, site, install, write_documents, run, said, monkeypatch):
    source = "import plugsamp as ps\n\nclass Broken(ps.losses.Hinge):\n"
    source += "    def augment(self, f, y, rng, weight=None):\n        return undefined\n"
    install(site, "broken", "broken_loss", source, {"losses": {"broken": "Broken"}})
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "loss=broken") == 1
    err = said()
    assert "NameError: name 'undefined' is not defined" in err and "line 5, in augment" in err
    assert "of the loss Broken" in err and "hydra/" not in err and len(err.splitlines()) < 20
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(NameError):
        run("corpus.path=d.jsonl", "loss=broken", "overwrite=true")


@pytest.mark.parametrize(
    "content, expected",
    [
        ("", "document"),
        ("\n\n", "document"),
        ('{"text": "", "label": "a"}\n{"text": "", "label": "b"}\n', "token"),
        ('{"text": "aa bb", "label": "a"}\n{"text": "aa cc", "label": "a"}\n', "only one class"),
        ('{"text": "aa bb"}\n{"text": "aa cc"}\n', "label"),
        ('{"text": "aa bb", "label"}\n', "line 1"),
    ],
    ids=["empty", "blank", "no tokens", "one class", "no labels", "not JSON"],
)
def test_corpora_that_cannot_be_fitted(at, content, expected, run, said):
    (at / "d.jsonl").write_text(content)
    assert run("corpus.path=d.jsonl") == 2
    err = said()
    assert expected in err and "Traceback" not in err


def test_hinge_without_labels(at, write_documents, run, said):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "corpus.response=none") == 2
    assert "no labels; choose loss=none" in said()


def test_a_file_that_may_not_be_read(at, write_documents, run, said):
    path = write_documents(at / "d.jsonl")
    path.chmod(0)
    with contextlib.suppress(PermissionError):
        path.open().close()
        pytest.skip("this user reads everything")
    assert run("corpus.path=d.jsonl") == 2
    assert "d.jsonl" in said()


def test_a_used_run_folder_is_refused(at, write_documents, run, said):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl") == 0
    before = (at / "run/metrics.json").read_bytes()
    assert run("corpus.path=d.jsonl", "seed=5") == 2
    assert "holds a run already" in said()
    assert (at / "run/metrics.json").read_bytes() == before
    assert run("corpus.path=d.jsonl", "seed=5", "overwrite=true") == 0
    assert (at / "run/metrics.json").read_bytes() != before


def test_a_plugin_that_is_none_or_cannot_be_saved_is_told_before_the_run(
    at, write_documents, run, said, site, install
):
    source = "import math\nfrom plugsamp.losses import Hinge\nclass Odd(Hinge):\n"
    source += "    def __init__(self, scale: float = 1.0, horizon: float = math.inf):\n"
    source += "        super().__init__()\n"
    source += "        self.scale, self.horizon = scale, horizon\nclass Foreign: ...\n"
    groups = {"losses": {"odd": "Odd"}}
    groups |= {group: {"foreign": "Foreign"} for group in ("kernels", "backends", "readers")}
    install(site, "plugsamp-odd", "odd_plugin", source, groups)
    write_documents(at / "d.jsonl")
    for options, message in (
        (["loss=odd", "loss.scale=inf"], "loss 'odd': option 'scale' must be finite, not inf"),
        (["loss=odd"], "its option horizon is inf, which is no plain, finite value; save_model=false"),
        (["kernel=foreign"], "kernel must be a plugsamp.kernels.Kernel or a name, not odd_plugin.Foreign of"),
        (["backend=foreign"], "backend must be a plugsamp.backends.Backend or a name, not odd_plugin"),
    ):
        assert run("corpus.path=d.jsonl", *options) == 2
        assert message in said()
    assert main(["fit", "corpus=foreign", "sweeps=2", "hydra.run.dir=run"]) == 2
    assert "corpus must be a plugsamp.readers.Reader or a name, not odd_plugin.Foreign of package" in said()
    assert not (at / "run/trace.csv").exists()
    assert run("corpus.path=d.jsonl", "loss=odd", "save_model=false", "report=false") == 0


def test_what_may_be_anyones_file_is_called_no_run(at, write_documents, run, said):
    write_documents(at / "d.jsonl")
    (at / "run").mkdir()
    (at / "run/metrics.json").write_text("{}")
    assert run("corpus.path=d.jsonl") == 2
    assert "run has a metrics.json, as a run has; choose another hydra.run.dir" in said()
    assert (at / "run/metrics.json").read_text() == "{}"


def test_the_traceback_can_be_had(at, monkeypatch, run):
    monkeypatch.setenv("PLUGSAMP_TRACEBACK", "1")
    with pytest.raises(ValueError, match="sweeps must be"):
        run("corpus.path=d.jsonl", "sweeps=0")


def test_what_is_not_finite_stops_the_run_and_is_named(at, monkeypatch, write_documents, run, said, read_csv):
    from plugsamp.chain import Chain

    write_documents(at / "d.jsonl")
    real = Chain.log_joint
    monkeypatch.setattr(
        Chain, "log_joint", lambda c: {**real(c), "weights": np.nan} if c.sweep == 3 else real(c)
    )
    assert run("corpus.path=d.jsonl") == 2
    assert "sweep 3: the weights part of the log joint is nan, by log_density of Normal(" in said()
    assert len(read_csv(at / "run/trace.csv")) == 2


def test_numbers_that_leave_their_range_are_a_message(at, monkeypatch, write_documents, run, said):
    from plugsamp import chain
    from plugsamp.regression import weights

    write_documents(at / "d.jsonl")

    def fails(*arguments, **more):
        raise weights.WeightError("output 0: the precision matrix of its weights is not positive definite")

    monkeypatch.setattr("plugsamp.sampling.phases.update_outputs", fails)
    assert run("corpus.path=d.jsonl") == 2
    assert "plugsamp fit: output 0: the precision matrix" in said()
    monkeypatch.undo()
    os.chdir(at)
    monkeypatch.setattr(chain, "LARGEST_WEIGHT", 1e-3)
    assert run("corpus.path=d.jsonl", "overwrite=true") == 2
    assert "sweep 1: the weight of output 0, column 0 is" in said()


def test_a_sweep_without_runs_is_a_mistake(at, write_documents, fast, run, said):
    write_documents(at / "d.jsonl")
    assert main(["fit", "-m", *fast, "corpus.path=d.jsonl", "loss=glob(x*)", "hydra.sweep.dir=sweep"]) == 2
    assert "the sweep has no run: loss=glob(x*) matches no choice" in said()
    assert (
        main(["fit", "-m", *fast, "corpus.path=d.jsonl", "n_topics=range(3,3)", "hydra.sweep.dir=sweep"]) == 2
    )
    assert "the sweep has no run: n_topics=range(3,3) is an empty range" in said()


def test_runs_in_other_processes_are_runs_of_the_sweep(at, write_documents, fast, said, monkeypatch):
    """A launcher such as joblib's gives the task to other processes, by cloudpickle."""

    def elsewhere(task_function, **options):
        return run_job(cloudpickle.loads(cloudpickle.dumps(task_function)), **options)

    run_job = basic_launcher.run_job
    monkeypatch.setattr(basic_launcher, "run_job", elsewhere)
    write_documents(at / "d.jsonl")
    sweep = ["fit", "-m", *fast, "corpus.path=d.jsonl", "hydra.sweep.dir=sweep"]
    assert main([*sweep, "loss=hinge,none"]) == 0
    assert "the sweep has no run" not in said()
    assert len(list((at / "sweep").glob("*/metrics.json"))) == 2


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["second_step.regression=linear_svc"], "options of second_step are for supervised=two_step"),
        (["learn_alpha=slice"], "learn_alpha has options of its own: write learn_alpha.method=slice"),
        (["start=random"], "start has options of its own: write start.method=random"),
    ],
)
def test_options_that_would_do_nothing(at, capsys, arguments, said):
    assert main(["fit", *arguments]) == 2
    assert said in capsys.readouterr().err
