"""Documents kept out of the training documents to choose settings by."""

import json
import warnings

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.errors import InputError, InputWarning
from plugsamp.store import write_store


def write(path, n=100, split=True):
    with open(path, "w", encoding="utf-8") as file:
        for i in range(n):
            words = "moon orbit rocket" if i % 4 else "bread soup butter"
            row = {
                "id": str(i),
                "text": f"{words} word{'abcde'[i % 5]}",
                "label": "space" if i % 4 else "food",
            }
            file.write(json.dumps(row | ({"split": "test" if i < 20 else "train"} if split else {})) + "\n")
    return str(path)


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "news.jsonl")


def test_validation_documents_come_from_the_training_documents_alone(path):
    whole, split = (
        ps.readers.JsonLines(path=path).read(),
        ps.readers.JsonLines(path=path, validation_size=0.25).read(),
    )
    train, test = split  # still a pair
    assert test.ids == whole.test.ids == tuple(map(str, range(20)))
    assert sorted(train.ids + split.validation.ids) == sorted(whole.train.ids)
    assert train.vocabulary == split.validation.vocabulary == whole.train.vocabulary
    assert whole.validation is None
    classes, counts = np.unique(split.validation.responses.astype(str), return_counts=True)
    assert dict(zip(classes.tolist(), counts.tolist(), strict=True)) == {"food": 5, "space": 15}


def test_a_corpus_is_divided_as_a_reader_divides_it(path):
    train = ps.readers.JsonLines(path=path).read().train
    rest, chosen = train.split(0.25, seed=3)
    read = ps.readers.JsonLines(path=path, validation_size=0.25, split_seed=3).read()
    assert (rest.digest(), chosen.digest()) == (read.train.digest(), read.validation.digest())
    assert chosen.ids != train.split(0.25, seed=4)[1].ids


def test_stores_have_validation_documents_too(path, tmp_path):
    train = ps.readers.JsonLines(path=path).read().train
    write_store(tmp_path / "store", train)
    split = ps.readers.Store(path=str(tmp_path / "store"), validation_size=0.25).read()
    assert (split.train.n_documents, split.validation.n_documents) == (60, 20)


@pytest.mark.parametrize("size", [1, -0.2, 1.5])
def test_shares_that_are_none(path, size):
    with pytest.raises(InputError, match="size must be a share"):
        ps.readers.JsonLines(path=path, validation_size=size).read()
    with pytest.raises(InputError, match="size must be a share"):
        ps.readers.JsonLines(path=path).read().train.split(size)


def test_an_official_split_that_an_option_overrides_is_said(path):
    with pytest.warns(
        InputWarning, match="field 'split', and test_size=0.5 chooses the test documents instead"
    ):
        ps.readers.JsonLines(path=path, test_size=0.5).read()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ps.readers.JsonLines(path=path, test_size=0.5, split="none").read()
        ps.readers.JsonLines(path=path).read()


def test_the_command_scores_them_and_sweeps_go_by_them(path, tmp_path, capsys):
    options = [
        "corpus=jsonl",
        f"corpus.path={path}",
        "corpus.validation_size=0.25",
        "n_topics=2",
        "report=false",
    ]
    folder = tmp_path / "sweep"
    assert main(["fit", "-m", *options, "sweeps=3,6", f"hydra.sweep.dir={folder}"]) == 0
    metrics = json.loads((folder / "0" / "metrics.json").read_text())
    assert (
        metrics["main_name"] == "validation_accuracy" and metrics["main"] == metrics["validation"]["accuracy"]
    )
    assert (metrics["n_documents"], metrics["n_validation"], metrics["test"]["n_scored"]) == (60, 20, 20)
    assert "validation_accuracy" in capsys.readouterr().out
    loaded = ps.load(folder / "0", corpus=True)
    assert loaded.validation.n_documents == 20
    assert loaded.evaluate(loaded.validation).measures == metrics["validation"]
    assert list(loaded.evaluations) == ["validation"]


def test_a_metric_of_validation_documents_needs_some(path, tmp_path, capsys):
    options = ["corpus=jsonl", f"corpus.path={path}", "n_topics=2", "sweeps=2", "metric=validation_accuracy"]
    assert main(["fit", "-m", *options, "seed=0,1", f"hydra.sweep.dir={tmp_path / 'sweep'}"]) == 2
    assert "corpus.validation_size=0.2 keeps out a fifth" in "".join(capsys.readouterr())
