"""The page in a real browser: sorted, filtered, ranked, opened, named, mapped, printed, read aloud."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.posterior import names
from plugsamp.posterior.parts import naming

from .pages import data_of, short

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"
LONG = "a label of more than sixty characters, as departments have them"
ROWS = "table.topics > tbody"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of a small run with hostile and long words and labels, covariates and two chains."""
    folder = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(0)
    words = [[f"{word}{i}" for i in range(15)] for word in ("orbit", "ملعب", "音樂")]
    words[0][0] = HOSTILE
    with open(folder / "d.jsonl", "w", encoding="utf-8") as out:
        for i in range(90):
            label = (f"{HOSTILE} kind", LONG, "ملعب كرة القدم")[i % 3]
            row = {"tokens": rng.choice(words[i % 3], 20).tolist(), "label": label}
            row |= {"id": f"d{i}{HOSTILE}", "split": "test" if i % 4 == 0 else "train", "size": i % 7}
            out.write(json.dumps(row) + "\n")
    options = ["corpus=jsonl", f"corpus.path={folder / 'd.jsonl'}", "n_topics=6", "sweeps=20", "chains=2"]
    options += ["corpus.min_df=1", "covariates.numeric=[size]", "loss=logistic"]
    assert main(["fit", *options, f"hydra.run.dir={folder / 'run'}"]) == 0
    return folder / "run" / "report.html"


def numbers(page) -> list[int]:
    heads = page.eval_on_selector_all(f"{ROWS} > tr > th", "all => all.map(e => e.dataset.v)")
    return [int(v) for v in heads]


def shares(page) -> list[float]:
    return page.eval_on_selector_all(f"{ROWS} .share", "all => all.map(e => Number(e.dataset.v))")


@pytest.mark.parametrize(
    ("width", "scheme", "scripts"), [(400, "light", True), (1280, "dark", True), (1600, "light", False)]
)
def test_it_opens(opened, page, width, scheme, scripts):
    shown = opened(page, width, color_scheme=scheme, java_script_enabled=scripts)
    assert shown.requests == [page.resolve().as_uri()]  # and nothing else, anywhere
    assert shown.complaints == []
    assert "owned" not in shown.title()
    assert shown.locator("img").count() == 0
    assert shown.locator(f"{ROWS}:visible").count() == 6
    # the page itself does not scroll sideways, nor does its menu
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    menu = shown.locator("nav").bounding_box()
    assert menu["width"] <= width and menu["height"] < 80
    colour = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(colour[4:-1].split(",")[0]) < 60) == (scheme == "dark")
    assert shown.locator(".tools[data-for=topics]:visible").count() == scripts
    for section in ("topics", "map", "classes", "documents", "chains", "run"):
        assert shown.locator(f"#{section} h2").is_visible(), section
    if width < 720:  # folded, and all of it within a few screens
        assert shown.evaluate("document.documentElement.scrollHeight") < 6000
        assert not shown.locator("#classes .confusion").is_visible()
        shown.click("#classes summary >> nth=0")
        assert shown.locator("#classes .confusion").is_visible()
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    ("width", "scheme"), [(400, "dark"), pytest.param(1280, "light", marks=pytest.mark.slow)]
)
def test_nobody_is_left_out(opened, page, width, scheme):
    """axe-core finds nothing, on a wide and a narrow page, light and dark, with everything opened."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    shown = opened(page, width, color_scheme=scheme)
    shown.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    shown.locator("button.open").first.click()
    before = shown.locator("details.document").count()
    shown.get_by_label("Find a document").fill(short(data_of(page))[-1][0])
    assert shown.locator("details.document").count() == before + 1
    found = axe.run(shown).response["violations"]
    told = [(one["id"], one["nodes"][0]["html"][:200], len(one["nodes"])) for one in found]
    assert told == []


def test_topics_are_sorted(opened, page):
    shown = opened(page)
    assert shares(shown) == sorted(shares(shown), reverse=True)
    head = shown.locator("table.topics thead button")
    head.nth(0).click()
    assert numbers(shown) == list(range(6))
    head.nth(0).click()
    assert numbers(shown) == list(range(6))[::-1]
    assert shown.locator("table.topics th").first.get_attribute("aria-sort") == "descending"
    head.nth(1).click()
    assert shares(shown) == sorted(shares(shown), reverse=True)
    head.nth(0).focus()  # by keyboard too
    shown.keyboard.press("Enter")
    assert numbers(shown) == list(range(6))
    shown.locator(".tools[data-for=topics] select").nth(1).select_option(label="Share, smallest first")
    assert shares(shown) == sorted(shares(shown))


def test_topics_are_filtered(opened, page):
    shown = opened(page)
    field = shown.locator(".tools[data-for=topics] input[type=search]")
    field.fill("ملعب1")
    seen = shown.locator(f"{ROWS}:visible").all()
    assert 0 < len(seen) < 6 and all("ملعب1" in row.inner_text() for row in seen)
    assert shown.locator(".tools[data-for=topics] output").first.inner_text() == f"{len(seen)} of 6"
    field.fill("")
    assert shown.locator(f"{ROWS}:visible").count() == 6


def test_the_slider_ranks_words(opened, page):
    shown = opened(page)
    posterior = ps.load(page.parent)
    slider = shown.locator(".tools input[type=range]")

    def words(row):
        return shown.locator(f"#t0\\.{row['topic']} .ws").inner_text().split()

    def same(by, n):
        rows = [row for row in posterior.topics(by=by) if HOSTILE not in row["words"]]  # it has blanks
        return len(rows) > 0 and all(words(row)[:n] == row["words"][:n] for row in rows)

    assert same("relevance", 3)
    slider.fill("1")
    assert same("probability", 3)
    assert shown.locator(".tools select").first.input_value() == "probability"
    shown.locator(".tools select").first.select_option("frex")
    assert same("frex", 10)
    assert slider.is_disabled()


def test_topics_open(opened, page):
    shown = opened(page)
    row = shown.locator(ROWS).nth(2)
    button = row.locator("button.open")
    button.focus()
    shown.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert row.locator(".wordbars tr").count() > 3 and row.locator(".opened li").count() > 5
    assert "Documents that have most of it" in row.inner_text()
    button.click()
    assert row.locator(".detail").count() == 0
    # a link to a topic opens it, and its section
    shown.click("#topics > details > summary")
    link = shown.locator("#classes a.topic").first
    key = link.get_attribute("href")[1:]
    link.click()
    assert shown.locator(f"[id='{key}'] .detail").is_visible()


def test_documents_are_looked_up(opened, page):
    shown = opened(page, 400)
    shown.click("nav a[href='#documents']")
    told, rows = data_of(page)["documents"], short(data_of(page))
    explained = shown.eval_on_selector_all("details.document .id", "all => all.map(e => e.textContent)")
    assert explained == [row[0] for row in told["full"]]
    assert len(explained) + len(rows) == told["n"] == told["total"] == 23  # all held-out documents
    row = rows[0]
    field = shown.get_by_label("Find a document")
    field.fill(row[0])
    card = shown.locator("details.document:visible")
    assert card.count() == 1 and card.get_attribute("open") is not None
    assert card.locator(".id").inner_text() == row[0]
    sure = f"{row[8] / 10:.1f}\u00a0%"  # of the class that is predicted
    assert row[1] in card.locator("summary").inner_text() and sure in card.locator("summary").inner_text()
    assert 1000 / 3 <= row[8] <= 1000
    assert "Topic or covariate" in card.inner_text()
    f = [float(v.replace("−", "-")) for v in card.locator("tfoot .n").all_inner_texts()]
    cells = card.locator("tbody .pos, tbody .neg").all_inner_texts()
    parts = np.array([float(v.replace("−", "-")) for v in cells]).reshape(-1, len(f))
    np.testing.assert_allclose(np.sum(parts, axis=0), f, atol=0.006)
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    field.fill(explained[0])
    assert shown.locator("details.document:visible").count() == 1
    field.fill("d1000")
    assert "documents=[ID]" in shown.locator(".tools[data-for=documents] output").inner_text()
    field.fill("")
    assert shown.locator("details.document:visible").count() == len(explained)
    assert shown.complaints == []


def test_the_map_and_its_list_go_together(opened, page):
    shown = opened(page)
    circles, items = shown.locator("svg.map g"), shown.locator(".listed li")
    assert circles.count() == items.count() == 6
    circles.nth(3).locator("circle").hover(force=True)
    chosen = shown.locator(".listed li.at")
    assert chosen.count() == 1
    assert chosen.get_attribute("data-t") == shown.locator("svg.map g.at").get_attribute("data-t")
    items.nth(1).locator("a").focus()
    assert shown.locator("svg.map g.at").get_attribute("data-t") == items.nth(1).get_attribute("data-t")
    assert shown.locator(".chosen .wordbars tr").count() > 3
    shown.locator(".chosen .wordbars tr").first.hover()  # which circles have the word
    dark = "all => all.map(e => Number(e.style.fillOpacity)).sort()"
    assert shown.eval_on_selector_all("svg.map circle", dark)[-1] > 0.2
    shown.locator("h1").hover()
    assert shown.eval_on_selector_all("svg.map circle", dark) == [0] * 6


def test_names_are_kept_and_taken_again(opened, page, tmp_path):
    shown = opened(page)

    def name(key, text, end="Enter"):
        shown.locator(f"[id='t0.{key}'] .rename").click()
        shown.keyboard.insert_text(text)
        shown.keyboard.press(end)

    name(2, HOSTILE)
    name(4, "the sea", "Escape")
    name(3, "kitchen")
    shown.reload()

    def named(key, of=None):
        return (of or shown).locator(f"[id='t0.{key}'] .tn").text_content()

    if not named(3):  # a busy browser hands its storage to the new page a moment later
        shown.reload()
    assert (named(2), named(3), named(4)) == (HOSTILE, "kitchen", "")
    assert "owned" not in shown.title() and shown.locator("img").count() == 0
    elsewhere = shown.locator(".tn:not(.own)[data-t='0.3']").all_text_contents()
    assert set(elsewhere) == {"kitchen"}
    # The file that the page writes is the file that the command takes.
    with shown.expect_download() as download:
        shown.click("text=Download names")
    written = tmp_path / "topic_names.json"
    download.value.save_as(written)
    assert json.loads(written.read_text())["names"] == {"0.2": HOSTILE, "0.3": "kitchen"}
    again = tmp_path / "again.html"
    assert main(["report", f"run={page.parent}", f"names={written}", f"out={again}"]) == 0
    assert named(3, opened(again, java_script_enabled=False)) == "kitchen"
    # And the page takes it, in a browser that knows nothing of the names.
    fresh = opened(page)
    assert named(3, fresh) == ""
    fresh.set_input_files("input[type=file]", written)
    fresh.wait_for_function("document.querySelector('.tools').textContent.includes('2 names loaded')")
    assert named(3, fresh) == "kitchen"


def test_names_of_topics_that_the_page_does_not_show(opened, page, tmp_path):
    posterior = ps.load(page.parent)
    member = posterior.parts[1]
    posterior.names = {"0.1": "\U0001f469\u200d\U0001f680 salt", "1.2": "sea"}
    posterior.report(tmp_path / "report.html")
    content = {"model": member.topics_digest, "names": {"0": "x" * 79 + "\U0001f600\U0001f600"}}
    (tmp_path / "part.json").write_text(json.dumps(content))
    shown = opened(tmp_path / "report.html")
    assert shown.locator("[id='t0.1'] .tn").text_content().endswith(" salt")
    shown.set_input_files("input[type=file]", tmp_path / "part.json")
    shown.wait_for_function("document.querySelector('.tools').textContent.includes('1 names loaded')")
    with shown.expect_download() as download:
        shown.click("text=Download names")
    download.value.save_as(tmp_path / "kept.json")
    found = names.read(tmp_path / "kept.json", naming(posterior))
    expected = {"0.1": "\U0001f469\u200d\U0001f680 salt", "1.0": "x" * 79 + "\U0001f600", "1.2": "sea"}
    assert found == expected


def test_colours_need_no_new_browser(opened, page):
    """Declarations with functions that are not known everywhere would leave the page without colours."""
    style = page.read_text(encoding="utf-8").split("<style>")[1].split("</style>")[0]
    light, dark = re.findall(r"(?s):root \{(.*?)\}", style)[:2]
    named = [set(re.findall(r"(--\w+): #[0-9a-f]{3,6};", part)) for part in (light, dark)]
    assert set(re.findall(r"var\((--\w+)\)", style)) <= named[0] and named[0] - named[1] == {"--deep3"}
    assert "light-dark(" not in style and "color-mix(" not in style


def test_it_is_printed(opened, page):
    shown = opened(page)
    pdf = shown.pdf(format="A4", print_background=True)
    assert pdf.startswith(b"%PDF")
    assert 3 <= pdf.count(b"/Type /Page\n") <= 20
    shown.emulate_media(media="print")
    assert not shown.locator("nav").is_visible() and not shown.locator(".tools").first.is_visible()


def test_a_notebook_shows_it(opened, page, tmp_path):
    made = ps.load(page.parent).report()
    (tmp_path / "cell.html").write_text(f"<!DOCTYPE html><p>before</p>{made._repr_html_()}")
    shown = opened(tmp_path / "cell.html")
    frame = shown.frame_locator("iframe")
    assert frame.locator(f"{ROWS}:visible").count() == 6
    frame.locator("#map a[href^='#t']").first.click()  # stays within the frame
    frame.locator("nav a[href='#run']").click()
    assert frame.locator("#run").is_visible() and shown.locator("p").first.inner_text() == "before"
