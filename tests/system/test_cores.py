"""Threads for reading and prediction: results in order, few jobs ahead, jobs without threads of their own."""

import signal
import threading
import time

import pytest

from plugsamp.system import cores


def test_results_come_in_order_and_few_jobs_are_taken_ahead():
    taken = []

    def jobs():
        for i in range(20):
            taken.append(i)
            yield i

    def work(i):
        return i, cores.n_threads(), threading.current_thread() is threading.main_thread()

    with cores.threads(3):
        found = cores.in_threads(work, jobs())
        assert cores.n_threads() == 3
    assert next(found) == (0, 1, False) and len(taken) == 4
    assert [i for i, *_ in found] == list(range(1, 20))
    assert list(cores.in_threads(work, range(2))) == [(0, 1, True), (1, 1, True)]


def test_an_error_is_raised_where_its_result_would_come():
    def work(i):
        if i == 2:
            raise ValueError("two")
        return i

    with cores.threads(2):
        found = cores.in_threads(work, range(9))
        assert next(found) == 0 and next(found) == 1
        with pytest.raises(ValueError, match="two"):
            next(found)


def test_none_leaves_the_number_as_it_is():
    with cores.threads(2), cores.threads(None):
        assert cores.n_threads() == 2
    assert cores.n_threads() == 1


def test_threads_end_before_their_next_job_once_nobody_waits():
    done = []

    def work(i):  # jobs within a job, as documents of a batch are
        for piece in cores.in_threads(lambda j: j, range(1_000_000)):
            done.append(piece)
            time.sleep(1e-4)

    with cores.threads(2):
        found = cores.in_threads(work, range(4))

    def consume():
        for _ in found:
            raise AssertionError("a job has ended that takes minutes")

    def interrupted(signum, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupted)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            consume()
        assert len(done) < 100_000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
