"""Prediction is done in pieces of documents, between which a signal is heard; they change no bit."""

from __future__ import annotations

from concurrent.futures import CancelledError

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.kernels import left_to_right as compiled
from plugsamp.prediction import fold_in, perplexity, predictive
from plugsamp.prediction.fold_in import pieces
from plugsamp.system import cores


@pytest.fixture(scope="module")
def fitted():
    counts = np.random.default_rng(0).poisson(1.0, (60, 30)) + np.eye(60, 30, dtype=int)
    corpus = ps.Corpus.from_counts(counts, responses=["a", "b", "c"] * 20)
    return ps.fit(corpus, ps.Model(4, loss="logistic"), sweeps=6).parts[0], corpus


def test_pieces():
    steps = np.array([1, 1, 5, 20, 1, 0, 0, 3])
    assert list(pieces(steps, 6)) == [(0, 2), (2, 3), (3, 4), (4, 8)]
    assert list(pieces(steps, 1)) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 7), (7, 8)]
    assert list(pieces(np.empty(0), 6)) == []


@pytest.mark.parametrize(("most", "n_jobs"), [(1, 1), (300, 1), (300, 3)])
def test_pieces_and_threads_change_no_bit(most, n_jobs, fitted, monkeypatch):
    predictor, corpus = fitted
    whole = predictor.predict(corpus)
    draws = predictor.fold_in.draws(predictor.fold_in.tokens(corpus), 3, 50)
    words = perplexity.left_to_right(predictor, corpus, 3).log_p
    monkeypatch.setattr(fold_in, "STEPS", most)
    monkeypatch.setattr(perplexity, "STEPS", most)
    monkeypatch.setattr(predictive, "_CHUNK", 7)
    with cores.threads(n_jobs):
        found = predictor.predict(corpus)
        again = predictor.fold_in.draws(predictor.fold_in.tokens(corpus), 3, 50)
    assert np.array_equal(found.zbar, whole.zbar) and np.array_equal(found.probabilities, whole.probabilities)
    assert np.array_equal(again, draws)
    assert np.array_equal(perplexity.left_to_right(predictor, corpus, 3).log_p, words)


def test_a_thread_ends_within_a_document_that_nobody_waits_for(monkeypatch):
    counts = np.full((1, 20), 100_000)
    corpus = ps.Corpus.from_counts(np.eye(20, dtype=int) + 1, responses=["a", "b"] * 10)
    predictor = ps.fit(corpus, ps.Model(20, loss="hinge"), sweeps=2).predictor
    compiled_loop, ended = fold_in._compiled, []

    class Forgotten:
        """The compiled code, called when nobody waits any more."""

        @staticmethod
        def fold_in(*arguments):
            cores._stop.get().set()
            try:
                compiled_loop.fold_in(*arguments)
            except CancelledError:
                ended.append(True)
                raise

    monkeypatch.setattr(fold_in, "_compiled", Forgotten())
    with cores.threads(2), pytest.raises(CancelledError):
        predictor.predict(ps.Corpus.from_counts(counts))
    assert ended == [True]


@pytest.mark.parametrize("what", ["predict", "left_to_right"])
def test_a_signal_is_heard_between_pieces(what, fitted, monkeypatch):
    predictor, corpus = fitted
    calls, module = [], fold_in._compiled if what == "predict" else compiled
    name = "fold_in" if what == "predict" else what
    original = getattr(module, name)

    class Stopped:
        """What a handler of the signal raises, when Python has its turn."""

        def __getattr__(self, attribute):
            return getattr(module, attribute)

    def once(*arguments):
        calls.append(1)
        original(*arguments)
        raise KeyboardInterrupt

    stopped = Stopped()
    setattr(stopped, name, once)
    monkeypatch.setattr(fold_in, "STEPS", 1)
    monkeypatch.setattr(perplexity, "STEPS", 1)
    if what == "predict":
        monkeypatch.setattr(fold_in, "_compiled", stopped)
    else:
        monkeypatch.setattr("plugsamp.kernels.left_to_right", stopped)
    with pytest.raises(KeyboardInterrupt):
        predictor.predict(corpus) if what == "predict" else perplexity.left_to_right(predictor, corpus)
    assert len(calls) == 1
