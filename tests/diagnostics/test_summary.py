"""The table of topics: order, classes spoken for, and widths."""

from __future__ import annotations

import numpy as np
import pytest

from plugsamp.brief import one_line
from plugsamp.diagnostics.summary import plain_table, rich_table, topics
from plugsamp.losses.coding import Coding

PHI = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
WORDS = ("alpha", "beta", "gamma")


def coding(task, classes):
    named = np.empty(len(classes), dtype=object)
    named[:] = classes
    outputs = {"binary": 1, "none": 0}.get(task, len(classes))
    return Coding(np.zeros((2, outputs)), task, named)


def test_largest_topic_first_with_its_most_probable_words():
    rows = topics(PHI, [10, 30], np.zeros((0, 2)), coding("none", []), WORDS, n_words=2)
    assert [(t.index, t.share, t.words) for t in rows] == [
        (1, 0.75, ["gamma", "beta"]),
        (0, 0.25, ["alpha", "beta"]),
    ]
    assert all(t.speaks_for == [] for t in rows)


def test_the_sign_of_a_binary_weight_names_the_class():
    rows = topics(PHI, [30, 10], np.array([[-2.0, 0.5]]), coding("binary", [False, True]), WORDS)
    assert rows[0].speaks_for == [("False", 2.0)]
    assert rows[1].speaks_for == [("True", 0.5)]


def test_a_topic_of_many_classes_speaks_for_its_largest_weights():
    eta = np.array([[1.0, -1.0], [3.0, -0.5], [2.0, -2.0]])
    rows = topics(PHI, [30, 10], eta, coding("multiclass", ["x", "y", "z"]), WORDS)
    assert rows[0].speaks_for == [("y", 3.0), ("z", 2.0)]
    assert rows[1].speaks_for == [("z", -2.0)]  # against every class, most against z


def test_covariates_and_intercept_are_no_topics():
    eta = np.array([[0.0, 0.0, 9.0]])
    rows = topics(PHI, [1, 1], eta, coding("binary", ["a", "b"]), WORDS)
    assert len(rows) == 2


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_no_line_is_wider_than_the_terminal(width):
    long = tuple("supercalifragilistic" + str(i) for i in range(3))
    rows = topics(PHI, [1, 1], np.eye(2) * 3, coding("multilabel", ["a long class name", "b"]), long, 3)
    text = plain_table(rows, width)
    assert max(map(len, text.split("\n"))) <= width
    assert "a long" in text


def test_a_long_class_name_takes_one_line():
    name = "a.very.long.class.name.in.several.parts.of.which.the.end.is.left.out"
    rows = topics(PHI, [1, 1], np.array([[1.0, -1.0]]), coding("binary", ["b", name]), WORDS)
    assert len(plain_table(rows, 100).split("\n")) == 3
    assert "+1.00 a.very.long.class.name.in.…" in plain_table(rows, 100)


def test_control_characters_are_written_out():
    rows = topics(PHI, [1, 1], np.zeros((0, 2)), coding("none", []), ("tab\t", "new\nline", "\x1b[31mred"))
    text = plain_table(rows, 100)
    assert "\x1b" not in text and "\t" not in text and "\\x1b[31mred" in text
    assert one_line("grün 𝔘") == "grün 𝔘"


def test_the_rich_table_shows_the_same(capsys):
    from rich.console import Console

    rows = topics(PHI, [30, 10], np.array([[-2.0, 0.5]]), coding("binary", ["no", "[bold]yes"]), WORDS)
    console = Console(width=80, force_terminal=False)
    console.print(rich_table(rows, 80))
    shown = capsys.readouterr().out
    assert "alpha beta gamma" in shown and "+2.00 no" in shown and "[bold]yes" in shown
