"""Model folders: what is loaded predicts as what was saved, to the bit."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from plugsamp.corpus import Corpus
from plugsamp.files import storage
from plugsamp.files.storage import StorageError
from plugsamp.fitting.fit import fit, kept_sweeps
from plugsamp.losses.hinge import Hinge
from plugsamp.model import Model
from plugsamp.posterior.saved import load_model, save_model

WORDS = ["plain", "new york", "tab\there", "e\u0301", "𝔘", '"q"', "", "line\nbreak"]


def corpus(labels, covariates=None):
    counts = np.random.default_rng(5).integers(0, 4, (len(labels), len(WORDS)))
    return Corpus.from_counts(counts, responses=labels, vocabulary=WORDS, covariates=covariates)


def fitted(labels, covariates=None, loss=None, **options):
    documents = corpus(labels, covariates)
    model = Model(3, loss=loss or Hinge(cost=2.5), **options)
    return documents, model, fit(documents, model, sweeps=4, thin=1)


LABELS = {
    "strings": ["a", "b", "c", "a", "b", "c"],
    "ints": [3, 1, 2, 3, 1, 2],
    "bools": [True, False, True, False, True, True],
    "floats": [0.5, 1.5, 0.5, 1.5, 0.5, 1.5],
    "missing": ["a", None, "b", "a", None, "b"],
    "several": np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("covariates", [None, np.arange(6.0)[:, None]], ids=["plain", "covariates"])
def test_a_loaded_model_predicts_to_the_bit(tmp_path, labels, covariates):
    documents, model, predictor = fitted(labels, covariates)
    loaded = load_model(save_model(tmp_path / "model", predictor, model))
    before, after = predictor.predict(documents), loaded.predict(documents)
    assert before.f.tobytes() == after.f.tobytes()
    assert before.zbar.tobytes() == after.zbar.tobytes()
    assert before.labels.tolist() == after.labels.tolist()
    assert [type(v) for v in before.labels.tolist()] == [type(v) for v in after.labels.tolist()]
    assert loaded.vocabulary == tuple(WORDS)
    assert loaded.digest == predictor.digest
    for option in ("passes", "burn_in", "restarts", "seed"):
        assert getattr(loaded.parts[0], option) == getattr(predictor.parts[0], option)


def test_a_model_without_responses(tmp_path):
    documents, model, predictor = fitted([None] * 6, loss="none")
    loaded = load_model(save_model(tmp_path / "model", predictor, model))
    assert loaded.predict(documents).zbar.tobytes() == predictor.predict(documents).zbar.tobytes()


def test_predicting_and_saving_change_nothing(tmp_path):
    documents, model, predictor = fitted(LABELS["strings"])
    save_model(tmp_path / "model", predictor, model)
    before = {f.name: f.read_bytes() for f in (tmp_path / "model").iterdir()}
    load_model(tmp_path / "model").predict(documents)
    save_model(tmp_path / "again", predictor, model)
    assert before == {f.name: f.read_bytes() for f in (tmp_path / "model").iterdir()}
    assert before == {f.name: f.read_bytes() for f in (tmp_path / "again").iterdir()}


def test_the_manifest_says_what_the_model_needs(tmp_path):
    _, model, predictor = fitted(LABELS["strings"], beta=[0.1] * len(WORDS))
    folder = save_model(tmp_path / "m", predictor, model)
    content = json.loads((folder / "manifest.json").read_text())["content"]
    assert content["loss"]["options"] == {"cost": 2.5, "margin": 1.0}
    assert (content["loss"]["name"], content["loss"]["package"]) == ("hinge", "plugsamp")
    assert content["weights"]["options"]["variance"] == 0.01
    arrays, _ = storage.read_folder(tmp_path / "m", "model")
    assert arrays["beta"].tolist() == [0.1] * len(WORDS)


PLUGIN = "from plugsamp.losses.hinge import Hinge\nclass Mine(Hinge):\n"
PLUGIN += (
    "    def __init__(self, extra: float = 1.0):\n        super().__init__()\n        self.extra = extra\n"
)


def test_a_plugin_and_its_options_come_back_and_its_absence_is_named(tmp_path, site, install):
    install(site, "plugsamp-mine", "mine_plugin", PLUGIN, {"losses": {"mine": "Mine"}}, version="3.1")
    from plugsamp.registry import resolve

    _, model, predictor = fitted(LABELS["strings"], loss=resolve("losses", "mine", extra=7))
    save_model(tmp_path / "model", predictor, model)
    assert load_model(tmp_path / "model").loss.extra == 7.0
    shutil.rmtree(site / "plugsamp_mine-3.1.dist-info")  # as an uninstallation does
    with pytest.raises(StorageError, match=r"needs the loss 'mine' of package plugsamp-mine 3\.1"):
        load_model(tmp_path / "model")


def test_an_unregistered_loss_cannot_be_saved(tmp_path):
    class Private(Hinge):
        pass

    _, model, predictor = fitted(LABELS["strings"], loss=Private())
    with pytest.raises(StorageError, match="Private cannot be saved"):
        save_model(tmp_path / "model", predictor, model)
    assert list(tmp_path.iterdir()) == []


def test_parts_that_do_not_fit_are_refused(tmp_path):
    _, model, predictor = fitted(LABELS["strings"])
    arrays, content = storage.read_folder(save_model(tmp_path / "m", predictor, model), "model")
    swapped = {**content, "vocabulary": content["vocabulary"][::-1]}
    storage.write_folder(tmp_path / "swapped", "model", arrays, swapped)
    with pytest.raises(StorageError, match="do not make the model that was saved"):
        load_model(tmp_path / "swapped")
    del content["task"]
    storage.write_folder(tmp_path / "lacking", "model", arrays, content)
    with pytest.raises(StorageError, match="lacks 'task'"):
        load_model(tmp_path / "lacking")


@pytest.mark.parametrize(
    "sweeps, burn_in, thin, kept",
    [
        (10, None, 5, {10}),
        (10, None, 2, {10, 8, 6}),
        (10, 0, 1, set(range(1, 11))),
        (1, None, 5, {1}),
        (10, 9, 1, {10}),
    ],
)
def test_kept_sweeps_end_with_the_last(sweeps, burn_in, thin, kept):
    assert kept_sweeps(sweeps, burn_in, thin) == kept


@pytest.mark.parametrize("arguments", [(0,), (10, 10), (10, -1), (10, None, 0), (1.5,), (True,)])
def test_what_leaves_no_draw_is_refused(arguments):
    with pytest.raises(ValueError, match=r"sweeps|burn_in|thin"):
        kept_sweeps(*arguments)


def test_labels_that_are_dates_survive(tmp_path):
    from datetime import date

    import plugsamp as ps

    labels = [date(2020, 1, 1), date(2021, 1, 1)] * 3
    counts = np.random.default_rng(0).poisson(1.0, (6, 5)) + 1
    train, new = ps.Corpus.from_counts(counts, responses=labels), ps.Corpus.from_counts(counts)
    predictor = ps.fit(train, ps.Model(2, loss="hinge"), sweeps=4)
    found = ps.load_model(ps.save_model(tmp_path / "model", predictor)).predict(new).labels
    assert found.tolist() == predictor.predict(new).labels.tolist()
    assert {type(v) for v in found.tolist()} == {date}
