"""The page in a real browser: sorted, filtered, named, read again, printed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.posterior import names
from plugsamp.posterior.parts import naming

ROWS = "[...document.querySelectorAll('table.topics tbody tr')]"
SEEN = f"{ROWS}.filter(row => row.checkVisibility())"
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of a small run with hostile words and labels, and covariates."""
    folder = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(0)
    words = [[f"{word}{i}" for i in range(15)] for word in ("orbit", "soup", "song")]
    words[0][0] = HOSTILE
    with open(folder / "d.jsonl", "w") as out:
        for i in range(90):
            row = {"tokens": rng.choice(words[i % 3], 20).tolist(), "label": f"{HOSTILE} kind {i % 3}"}
            row |= {"id": f"d{i}{HOSTILE}", "split": "test" if i % 4 == 0 else "train", "size": i % 7}
            out.write(json.dumps(row) + "\n")
    options = [
        "corpus=jsonl",
        f"corpus.path={folder / 'd.jsonl'}",
        "n_topics=6",
        "sweeps=20",
        "corpus.min_df=1",
    ]
    assert main(["fit", *options, "covariates.numeric=[size]", f"hydra.run.dir={folder / 'run'}"]) == 0
    return folder / "run" / "report.html"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_opens(chromium, page, width, dark, scripts):
    chromium.requests.clear()
    chromium.complaints.clear()
    chromium.open(page, width, dark=dark, scripts=scripts)
    assert chromium.requests == [page.resolve().as_uri()]  # and nothing else, anywhere
    assert chromium.complaints == []
    if not scripts:
        chromium.send("Emulation.setScriptExecutionDisabled", value=False)
    assert "owned" not in chromium.value("document.title")
    assert chromium.value("document.images.length") == 0
    assert chromium.value(f"{SEEN}.length") == 6
    # no sideways scrolling of the page itself, at any width, nor of its menu
    assert chromium.value("document.documentElement.scrollWidth <= innerWidth")
    menu = "document.querySelector('nav')"
    assert chromium.value(f"{menu}.scrollWidth <= {menu}.clientWidth && {menu}.clientHeight < 80")
    colour = chromium.value("getComputedStyle(document.body).backgroundColor")
    assert (int(colour[4:-1].split(",")[0]) < 60) == dark
    assert chromium.value("document.querySelectorAll('.tools:not([hidden]), .rename').length > 0") == scripts
    for section in ("topics", "weights", "predictions", "documents", "chain", "run"):
        assert chromium.value(f"document.getElementById('{section}').getBoundingClientRect().height > 100"), (
            section
        )
    assert chromium.value(
        "[...document.querySelectorAll('svg')].every(e => e.querySelector('title').textContent)"
    )


def test_topics_are_sorted(chromium, page):
    chromium.open(page)
    numbers = f"{ROWS}.map(row => Number(row.cells[0].dataset.v))"
    shares = f"{ROWS}.map(row => Number(row.cells[1].dataset.v))"
    assert chromium.value(shares) == sorted(chromium.value(shares), reverse=True)
    chromium.click("table.topics thead th:nth-child(1) button")
    assert chromium.value(numbers) == list(range(6))
    chromium.click("table.topics thead th:nth-child(1) button")
    assert chromium.value(numbers) == list(range(6))[::-1]
    assert (
        chromium.value("document.querySelector('table.topics th').getAttribute('aria-sort')") == "descending"
    )
    chromium.click("table.topics thead th:nth-child(2) button")
    assert chromium.value(shares) == sorted(chromium.value(shares), reverse=True)
    # by keyboard too
    chromium.value("document.querySelector('table.topics thead th:nth-child(1) button').focus()")
    chromium.press("Enter", 13)
    assert chromium.value(numbers) == list(range(6))


def test_topics_are_filtered(chromium, page):
    chromium.open(page)
    chromium.click(".tools input[type=search]")
    chromium.type("soup")
    seen = chromium.value(
        f"{SEEN}.map(row => row.querySelector('.words > span').textContent.includes('soup'))"
    )
    assert 0 < len(seen) < 6 and all(seen)
    assert chromium.value("document.querySelector('.tools output').textContent") == f"{len(seen)} of 6"
    chromium.value("document.querySelector('.tools input').select()")
    chromium.press("Backspace", 8)
    assert chromium.value(f"{SEEN}.length") == 6


def test_names_are_kept_and_taken_again(chromium, page, tmp_path):
    chromium.open(page)
    chromium.value("localStorage.clear()")
    chromium.open(page)
    chromium.click("#t2 .rename")
    chromium.type(HOSTILE)
    chromium.press("Enter", 13)
    chromium.click("#t4 .rename")
    chromium.type("the sea")
    chromium.press("Escape", 27)
    chromium.click("#t3 .rename")
    chromium.type("kitchen")
    chromium.press("Enter", 13)
    chromium.open(page)
    name = "document.querySelector('#t{} .tn').textContent"
    assert chromium.value(name.format(2)) == HOSTILE
    assert chromium.value(name.format(3)) == "kitchen" and chromium.value(name.format(4)) == ""
    assert "owned" not in chromium.value("document.title") and chromium.value("document.images.length") == 0
    elsewhere = "[...document.querySelectorAll('.tn:not(.own)[data-t=\"3\"]')].map(e => e.textContent)"
    assert set(chromium.value(elsewhere)) == {"kitchen"}
    # The file that the page writes is the file that the command takes.
    folder = tmp_path / "down"
    folder.mkdir()
    session, chromium._session = chromium._session, None
    chromium.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    chromium._session = session
    chromium.click(".tools button")
    written = folder / "topic_names.json"
    chromium.value(f"new Promise(done => setTimeout(done, {500}))")
    for _ in range(20):
        if written.exists() and written.stat().st_size:
            break
        chromium.value("new Promise(done => setTimeout(done, 250))")
    assert json.loads(written.read_text())["names"] == {"2": HOSTILE, "3": "kitchen"}
    again = tmp_path / "again.html"
    assert main(["report", f"run={page.parent}", f"names={written}", f"out={again}"]) == 0
    chromium.open(again, scripts=False)
    chromium.send("Emulation.setScriptExecutionDisabled", value=False)
    assert chromium.value(name.format(3)) == "kitchen"
    # And the page takes it, in a browser that knows nothing of the names.
    chromium.open(page)
    chromium.value("localStorage.clear()")
    chromium.open(page)
    assert chromium.value(name.format(3)) == ""
    node = chromium.send("Runtime.evaluate", expression="document.querySelector('input[type=file]')")
    chromium.send("DOM.setFileInputFiles", files=[str(written)], objectId=node["result"]["objectId"])
    chromium.value("new Promise(done => setTimeout(done, 300))")
    assert chromium.value(name.format(3)) == "kitchen"
    assert chromium.value("document.querySelector('.tools').textContent.includes('2 names loaded')")


def test_names_of_topics_that_the_page_does_not_show(chromium, tmp_path):
    run = tmp_path / "run"
    rows = [json.dumps({"tokens": ["salt", "sea"] * 3, "label": "ab"[i % 2]}) for i in range(8)]
    (tmp_path / "d.jsonl").write_text("\n".join(rows))
    options = ["corpus=jsonl", f"corpus.path={tmp_path / 'd.jsonl'}", "corpus.min_df=1", "n_topics=3"]
    assert main(["fit", *options, "sweeps=2", "chains=2", "report=false", f"hydra.run.dir={run}"]) == 0
    member = ps.load_model(run / "model").members[1]
    for name, content in (
        ("topic_names.json", {"names": {"0.1": "\U0001f469\u200d\U0001f680 salt", "1.2": "sea"}}),
        ("part.json", {"model": member.topics_digest, "names": {"0": "x" * 79 + "\U0001f600\U0001f600"}}),
    ):
        (run / name).write_text(json.dumps(content))
    assert main(["report", f"run={run}"]) == 0
    chromium.open(run / "report.html")
    chromium.value("localStorage.clear()")
    chromium.open(run / "report.html")
    assert chromium.value("document.querySelector('#t0\\\\.1 .tn').textContent").endswith(" salt")
    node = chromium.send("Runtime.evaluate", expression="document.querySelector('input[type=file]')")
    chromium.send(
        "DOM.setFileInputFiles", files=[str(run / "part.json")], objectId=node["result"]["objectId"]
    )
    chromium.value("new Promise(done => setTimeout(done, 300))")
    chromium.value(
        "URL.createObjectURL = blob => { blob.text().then(t => { window.kept = t; }); return '#'; }"
    )
    chromium.click(".tools button")
    chromium.value("new Promise(done => setTimeout(done, 300))")
    (tmp_path / "kept.json").write_text(chromium.value("window.kept"))
    found = names.read(tmp_path / "kept.json", naming(ps.load_model(run / "model")))
    expected = {"0.1": "\U0001f469\u200d\U0001f680 salt", "1.0": "x" * 79 + "\U0001f600", "1.2": "sea"}
    assert found == expected


def test_it_is_printed(chromium, page):
    chromium.open(page)
    pdf = chromium.pdf()
    assert pdf.startswith(b"%PDF")
    assert 3 <= pdf.count(b"/Type /Page\n") <= 20
    chromium.send("Emulation.setEmulatedMedia", media="print")
    assert not chromium.value("document.querySelector('nav').checkVisibility()")
    chromium.send("Emulation.setEmulatedMedia", media="")
