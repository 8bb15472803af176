"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import random
import signal
import sys
import time
import tracemalloc
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# The suite tests what is installed. The repository's own folder holds the sources without their compiled
# modules; `python -m pytest`, and `python -c` in a test, would find that first.
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != ROOT]

from plugsamp.system.blas import single_thread  # noqa: E402

from .chance import JUDGED, Chance  # noqa: E402
from .quick_hydra import quick_hydra  # noqa: E402, F401
from .quick_nursery import quick_nursery, real_nursery  # noqa: E402, F401


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Collect without looking for garbage: thousands of tests are made, and none is dropped."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish(session):
    """No test module may have put the repository back: child processes would import what is not compiled."""
    assert not [p for p in sys.path if Path(p or ".").resolve() == ROOT]


def pytest_configure():
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # shells start what is in the background so
        signal.signal(signal.SIGINT, signal.default_int_handler)
    found = find_spec("plugsamp.proposals.base") if find_spec("plugsamp") else None
    if found is None:
        raise pytest.UsageError(
            "plugsamp is not installed for this Python; install it first: pip install '.[test]'"
        )


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run tests in a random order")


@pytest.hookimpl(tryfirst=True)  # before what is not asked for is left out
def pytest_collection_modifyitems(config, items):
    statistical = [item for item in items if "chance" in getattr(item, "fixturenames", ())]
    for item in statistical:
        item.add_marker("statistical")
    config.stash[JUDGED] = [item.nodeid for item in statistical]
    seed = config.getoption("--shuffle", None)
    if seed is not None:
        random.Random(seed).shuffle(items)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config, log):
    """Give each process a row of tests: what neighbours share (enumerations, browsers) is made once."""
    if config.getoption("dist") == "load":
        from xdist.scheduler import WorkStealingScheduling

        return WorkStealingScheduling(config, log)
    return None


def pytest_report_header():
    where = Path(find_spec("plugsamp").origin).parent
    return f"plugsamp {version('plugsamp')} from {where}"


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory):
    """Tests run in a folder of their own: nothing is left in the repository, nor imported from it."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    yield
    os.chdir(before)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of benchmark data and messy inputs, where there is one."""
    folder = Path(os.environ.get("PLUGSAMP_SHARED", ROOT / ".." / "shared")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}; set PLUGSAMP_SHARED to run this test")
    return folder


@pytest.fixture
def little():
    """The test may take little time and memory, whatever sizes are claimed to it."""
    tracemalloc.start()
    begun = time.process_time()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6 and time.process_time() - begun < 2.0


@pytest.fixture(scope="session")
def golden():
    """A script of tests/golden as a module: ``golden("make")``."""

    def load(name):
        spec = spec_from_file_location(f"golden_{name}", ROOT / "tests" / "golden" / f"{name}.py")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def chance(request):
    """The judge of p-values: see `Chance`. Sweeps of tiny corpora find BLAS limited to a thread already."""
    with single_thread():
        yield Chance(request.node.nodeid)


@pytest.fixture
def site(tmp_path, monkeypatch) -> Path:
    """A folder on sys.path, as site-packages is; modules imported from it are forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def install():
    """Put a package where pip would put it, without pip: a module and a .dist-info folder."""

    def put(folder, package: str, module: str, source: str, groups: dict[str, dict[str, str]], version="1.0"):
        (folder / f"{module}.py").write_text(source)
        info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        lines = []
        for group, names in groups.items():
            lines.append(f"[plugsamp.{group}]")
            lines += [f"{name} = {module}:{attribute}" for name, attribute in names.items()]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")

    return put
