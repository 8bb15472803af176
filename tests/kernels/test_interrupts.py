"""A signal is handled in the middle of a document of a million tokens, and the chain goes on from there."""

from __future__ import annotations

import contextlib
import signal
import time

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.prediction.perplexity import left_to_right

#: Seconds of CPU time, as the machine may be busy, from a signal to the exception that its handler raises.
HEARD = 1.0


class Stopped(Exception):
    """What the handler raises."""


@contextlib.contextmanager
def interrupted(seconds: float):
    """Yield a function that sends a signal after so many seconds, which must be heard within `HEARD`."""
    sent = []

    def stop(number, frame):
        raise Stopped

    def send():
        if not sent:
            sent.append(time.process_time() + seconds)
            signal.setitimer(signal.ITIMER_PROF, seconds)

    before = signal.signal(signal.SIGPROF, stop)
    try:
        with pytest.raises(Stopped):
            yield send
        assert time.process_time() - sent[0] < HEARD
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def long_document(tokens: int) -> ps.Corpus:
    rng = np.random.default_rng(0)
    counts = np.vstack([rng.poisson(tokens / 200, 200), rng.poisson(1.0, (5, 200))])
    return ps.Corpus.from_counts(counts, responses=np.arange(6.0))


KERNELS = {
    "dense": "gaussian", "fast": "none", "sparse": "none", "composed": "gaussian", "sparse_pc": "none",
    "light_pc": "gaussian",
}  # fmt: skip


@pytest.mark.parametrize("kernel, loss", KERNELS.items())
def test_a_sweep_is_interrupted_in_a_document(kernel, loss, monkeypatch):
    corpus = long_document(1_500_000)
    chain = ps.Chain(corpus, ps.Model(64, loss=loss), kernel, seed=1)
    chain.run(1)
    sample, before = chain.phases.sampler.sample, chain.z
    seconds = 0.03
    while (chain.z == before).all():  # on a busy machine the signal may come before the first token
        with interrupted(seconds) as send:

            def sent_meanwhile(*arguments, send=send):
                send()
                return sample(*arguments)

            monkeypatch.setattr(chain.phases.sampler, "sample", sent_meanwhile)
            chain.run(100)
        seconds *= 1.5
    z = chain.z
    counts = np.zeros((64, corpus.n_words), int)
    np.add.at(counts, (z, corpus.words), 1)
    assert (chain.counts.topic_word == counts).all()


@pytest.fixture(scope="module")
def predictor():
    counts = np.random.default_rng(0).poisson(1.0, (40, 200))
    model = ps.Model(40, loss="logistic")
    return ps.fit(ps.Corpus.from_counts(counts, responses=["a", "b"] * 20), model, sweeps=4)


@pytest.mark.parametrize("what", [lambda p, c: p.predict(c), left_to_right], ids=["predict", "left_to_right"])
def test_a_long_document_is_interrupted(what, predictor):
    corpus = long_document(3_000_000)
    with interrupted(0.3) as send:
        send()
        what(predictor, corpus)
