"""Plots draw into the axes that they are given, and show what they should."""

import numpy as np
import pytest

from plugsamp.files.tables import Table
from plugsamp.posterior import plots

matplotlib = pytest.importorskip("matplotlib")

WEIGHTS = np.array([0.5, -1.0, 0.1]), np.array([0.2, -1.5, -0.2]), np.array([0.8, -0.5, 0.4])
EFFECTS = Table(
    {
        "topic": [0, 0, 1, 1],
        "term": ["Intercept", "x=yes"] * 2,
        "estimate": [0.5, -0.1, 0.5, 0.1],
        "lower": [0.4, -0.2, 0.4, -0.1],
        "upper": [0.6, -0.05, 0.6, 0.3],
    }
)


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


def rows(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def colours(ax) -> list[str]:
    return [line.get_color() for line in ax.lines if line.get_marker() == "o"]


def test_topics_and_words(ax):
    assert plots.plot_topics([0.2, 0.5, 0.3], [["a", "b"], ["$x$"], ["c"]], ["x", "y", "z"], ax=ax) is ax
    assert rows(ax) == ["y", "z", "x"] and [t.get_text() for t in ax.texts] == [r"\$x\$", "c", "a b"]
    assert ax.patches[0].get_width() == 0.5 and ax.get_ylim()[0] > ax.get_ylim()[1]
    ax.figure.canvas.draw()


def test_words_of_a_topic(ax):
    assert plots.plot_words([0.3, 0.1], ["moon", "orbit"], [0.1, 0.1], "space", ax=ax) is ax
    assert rows(ax) == ["moon", "orbit"] and ax.get_title(loc="left") == "space"
    ax.figure.canvas.draw()


def test_weights_for_and_against(ax):
    assert plots.plot_weights(WEIGHTS[0], ["a", "b", "c"], *WEIGHTS[1:], output="cats", ax=ax) is ax
    assert rows(ax) == ["a", "c", "b"] and colours(ax) == [plots.FOR, plots.GREY, plots.AGAINST]
    assert ax.get_xlabel() == "weight for cats"


def test_of_many_weights_the_ends(ax):
    plots.plot_weights(np.arange(100.0), [str(i) for i in range(100)], ax=ax)
    assert len(rows(ax)) == plots.ROWS and rows(ax)[0] == "99" and rows(ax)[-1] == "0"
    assert ax.get_title(loc="left").startswith("40 more weights")


def test_a_map_of_weights(ax):
    assert plots.plot_weight_map([[1.0, -2.0], [0.5, 0.0]], ["x", "y"], ["0", "1"], ax=ax) is ax
    assert ax.images[0].get_clim() == (-2.0, 2.0) and rows(ax) == ["x", "y"]


def test_a_trace_of_two_chains(ax):
    climb = np.concatenate([np.linspace(-1e6, 0, 20), np.zeros(20) + np.arange(20) % 3])
    assert plots.plot_trace([climb, climb + 1], burn_in=20, ax=ax) is ax
    assert len(ax.lines) == 2 and ax.get_ylim()[0] > -1e3  # the climb does not hide the rest
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["chain 1", "chain 2"]


def test_effects_of_a_term(ax):
    assert plots.plot_effects(EFFECTS, ax=ax) is ax
    assert rows(ax) == ["topic 1", "topic 0"] and colours(ax) == [plots.GREY, plots.AGAINST]
    assert "x=yes" in ax.get_xlabel()
    with pytest.raises(ValueError, match="no term 'y'; the terms are Intercept, x=yes"):
        plots.plot_effects(EFFECTS, "y", ax=ax)


def test_confusions(ax):
    assert plots.plot_confusion([[3, 1], [0, 4]], ["a", "b"], ax=ax) is ax
    assert [t.get_text() for t in ax.texts] == ["3", "1", "4"] and rows(ax) == ["a", "b"]


def test_axes_of_their_own(monkeypatch):
    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = plots.plot_trace([[1.0, 2.0]])
    assert found.get_figure() is pyplot.gcf()
    pyplot.close(found.get_figure())
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'plugsamp\[plots\]'"):
        plots.plot_trace([[1.0, 2.0]])
