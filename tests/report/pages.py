"""Runs for reports, and their pages, held to what every page must be."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser

import numpy as np

from plugsamp.cli import main

HOSTILE = "</script><img/src=x/onerror=boom()>"
THEMES = {"space": ["orbit", "rocket", "moon", "launch"], "food": ["bread", "soup", "salt", "butter"],
          "music": ["song", "drum", "opera", "violin"]}  # fmt: skip
VOID = {"meta", "link", "br", "img", "input"}


class Reading(HTMLParser):
    """Tags that fit into each other, their attributes, and the text between."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.ids, self.text = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def data_of(path) -> dict:
    """What the script of a page knows."""
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"))[1])


def short(data: dict) -> list:
    """The rows of documents that are explained in short."""
    return json.loads(zlib.decompress(base64.b64decode(data["documents"]["short"])))


def strings(value) -> list[str]:
    """All texts in lists within lists."""
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


def read(path) -> Reading:
    """The page, held to what every page must be."""
    page = path.read_text(encoding="utf-8")
    found = Reading(page)
    # Nothing is loaded: no source, no address but places on the page and the empty icon, no import in styles.
    for tag, attributes in found.seen:
        assert tag not in ("img", "iframe", "object", "embed", "base")
        assert "src" not in attributes and not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#")[0] == "#" or attributes["href"] == "data:,"
        if tag == "th":
            assert attributes["scope"] in ("col", "row")
        if tag == "svg":
            assert attributes.get("role") == "img" or attributes.get("aria-hidden") == "true"
    assert sum(tag == "script" for tag, _ in found.seen) == 2
    assert not re.search(r"@import|url\(|https?://", page)
    explained = data_of(path)["documents"]
    if explained is not None:  # the script writes them
        found.text += strings([explained["full"]])
        if explained["n"] > len(explained["full"]):
            assert len(short({"documents": explained})) == explained["n"] - len(explained["full"])
    assert "undefined" not in page.split("<script>")[0] and "nan" not in "".join(found.text).lower().split()
    return found


def documents(path, n=18, labels=tuple(THEMES), word=None, empty=False, split=True, **more):
    """JSON lines with some documents a label."""
    rng = np.random.default_rng(5)
    with open(path, "w") as out:
        for i in range(n):
            for c, label in enumerate(labels):
                words = rng.choice(list(THEMES.values())[c % len(THEMES)], 9).tolist() + [word] * (
                    word is not None
                )
                row = {
                    "id": f"{label}-{i}",
                    "label": label,
                    "tokens": words,
                    "place": f"p{i % 3}",
                    "size": float(c),
                }
                row |= {"split": "test" if i % 3 == 2 else "train"} if split else {}
                row |= {name: make(i, c) for name, make in more.items()}
                if empty and i in (2, 3) and c == 0:
                    row["tokens"] = []
                out.write(json.dumps(row) + "\n")
    return path


def fit(*arguments, path="d.jsonl", to="run") -> int:
    options = ["corpus=jsonl", f"corpus.path={path}", "corpus.min_df=1", "n_topics=3", "sweeps=20", "thin=2"]
    return main(["fit", *options, *arguments, f"hydra.run.dir={to}"])
