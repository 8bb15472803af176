"""`plugsamp guide` lists the pages, shows them, and writes them as one HTML file."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from plugsamp.cli import main
from plugsamp.commands.guide import pages, slug


class Anchors(HTMLParser):
    """Collect ids, and where links lead."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.sources = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        self.sources += [attrs[name] for name in ("src", "srcset") if name in attrs]


def test_the_list_has_every_page(capsys):
    assert main(["guide"]) == 0
    listed = re.findall(r"^  plugsamp guide (\w+) ", capsys.readouterr().out, re.M)
    assert listed == list(pages()) and listed[0] == "start"


def test_pages_are_written_as_markdown_into_a_pipe(capsys):
    assert main(["guide", "kernels", "model.md"]) == 0
    out = capsys.readouterr().out
    assert out == pages()["kernels"] + "\n" + pages()["model"] + "\n"


def test_a_page_is_laid_out_for_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["guide", "losses"]) == 0
    out = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert "```" not in out and max(map(len, out.splitlines())) <= 80


def test_an_unknown_page_is_an_error_with_a_suggestion(capsys):
    assert main(["guide", "kernel"]) == 2
    assert "did you mean 'kernels'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--html"], ["--html", "a.html", "b.html"]])
def test_html_needs_one_file(arguments, capsys):
    assert main(["guide", *arguments]) == 2
    assert "--html needs one file" in capsys.readouterr().err


def test_html_is_one_file_whose_links_lead_somewhere(tmp_path):
    file = tmp_path / "guide.html"
    assert main(["guide", "--html", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    found = Anchors(text)
    assert len(set(found.ids)) == len(found.ids)
    assert {*pages(), "model-2-losses", "runs-nothing-lost"} <= set(found.ids)
    inside = [link[1:] for link in found.links if link.startswith("#")]
    assert len(inside) > 50 and set(inside) <= set(found.ids)
    assert not found.sources and "<script" not in text and "@import" not in text
    assert "φ_kw (n_dk" in text or "φ_tw" in text


def test_anchors_are_those_of_code_hosts():
    assert slug("2. Losses, and `more`") == "2-losses-and-more"
