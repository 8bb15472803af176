"""`plugsamp fit backend=processes`."""

from __future__ import annotations

import json
import os

PLUGIN = """
import os, signal
import plugsamp as ps

class Deadly(ps.losses.Hinge):
    def __init__(self, owner: int):
        super().__init__()
        self.owner = owner

    def augment(self, f, y, rng, weight=None):
        if os.getpid() != self.owner:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().augment(f, y, rng, weight)
"""

WORKERS = ["backend=processes", "backend.workers=2"]


def test_the_same_model_as_serial(at, write_documents, run):
    write_documents(at / "documents.jsonl")
    common = ["corpus.path=documents.jsonl", "kernel.collapse=partial", "overwrite=true"]
    found = []
    for backend in ([], WORKERS):
        assert run(*common, *backend) == 0
        metrics = json.loads((at / "run" / "metrics.json").read_text())
        trace = (at / "run" / "trace.csv").read_text().splitlines()
        found.append((metrics["test"], [line.split(",")[3] for line in trace], metrics["backend"]))
    assert found[0][:2] == found[1][:2]
    assert found[1][2] == "Processes(workers=2, folder=None, collapsed='auto')"
    assert "2 worker processes" in (at / "run" / "fit.log").read_text()


def test_a_dead_worker_is_told_of(at, site, install, write_documents, run, said):
    install(site, "deadly", "deadly_loss", PLUGIN, {"losses": {"deadly": "Deadly"}})
    write_documents(at / "documents.jsonl")
    assert run("corpus.path=documents.jsonl", "loss=deadly", f"loss.owner={os.getpid()}", *WORKERS) == 2
    message = said().splitlines()[-1]
    assert message.startswith("plugsamp fit: worker ")
    assert "was killed by SIGKILL" in message
    assert "memory" in message
