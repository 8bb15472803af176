"""Figures of sweeps: what they show."""

from __future__ import annotations

import statistics

import pytest

from plugsamp.sweeps.figure import draw, lines, said_of_bars
from plugsamp.sweeps.table import Job, SweepTable


def job(main, *overrides, status="done", name="test_accuracy"):
    metrics = {"main": main, "main_name": name, "test": {}, "seconds": 1.0} if status == "done" else {}
    return Job("0", overrides, status, metrics=metrics)


@pytest.fixture
def table():
    jobs = [
        job(0.5 + k / 100 + seed / 10 + (loss == "hinge"), f"n_topics={k}", f"loss={loss}", f"seed={seed}")
        for k in (20, 5)
        for loss in ("hinge", "probit")
        for seed in range(3)
    ]
    return SweepTable([*jobs, job(None, "n_topics=0", "loss=hinge", "seed=0", status="failed")])


def test_a_line_a_loss_over_seeds(table):
    x, measure, made = lines(table)
    assert (x, measure, [line.name for line in made]) == ("n_topics", "test_accuracy", ["hinge", "probit"])
    for line, shift in zip(made, (1.0, 0.0), strict=True):
        assert line.x == [5, 20]
        assert line.means == pytest.approx([0.65 + shift, 0.8 + shift])
        assert line.spreads == pytest.approx([statistics.stdev([0.0, 0.1, 0.2])] * 2)


def test_other_lines(table):
    x, _, made = lines(table, "loss", ["n_topics", "seed"])
    assert x == "loss" and len(made) == 6 and made[0].name == "n_topics=20, seed=0"
    assert made[0].x == ["hinge", "probit"] and made[0].spreads == [0.0, 0.0]
    assert [line.name for line in lines(table, by=[])[2]] == [""]


@pytest.mark.parametrize(
    "x, by, said",
    [("topics", None, "no run was given the option 'topics'"), (None, ["los"], "did you mean 'loss'")],
)
def test_options_that_were_not_given(table, x, by, said):
    with pytest.raises(ValueError, match=said):
        lines(table, x, by)


def test_any_measure_that_runs_have():
    jobs = [job(0.5, f"n_topics={k}") for k in (1, 2)]
    for one in jobs:
        one.metrics.update(tokens_per_second=3e6, test={"coverage_90": 0.8})
    for name in ("tokens_per_second", "coverage_90", "seconds", "test_coverage_90", "test_accuracy", "main"):
        _, measure, made = lines(SweepTable(jobs, name))
        assert measure == (name if name != "main" else "test_accuracy") and made[0].x == [1, 2]


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="no run is done"):
        lines(SweepTable([job(None, "seed=0", status="failed")]))
    with pytest.raises(ValueError, match="no axis to draw along"):
        lines(SweepTable([job(0.5, "seed=0"), job(0.6, "seed=1")]))
    mixed = [job(0.5, "n_topics=1"), job(-7.0, "n_topics=2", name="test_log_likelihood")]
    with pytest.raises(ValueError, match="choose one by metric="):
        lines(SweepTable(mixed))
    with pytest.raises(ValueError, match="no run has log_loss; they have test_accuracy"):
        lines(SweepTable([job(0.5, "n_topics=1"), job(0.5, "n_topics=2")], "log_loss"))


def test_drawn(table, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("matplotlib.figure")
    assert said_of_bars(lines(table)[2]) == "bars: standard deviation of 3 runs"
    assert said_of_bars(lines(table, "loss", ["n_topics", "seed"])[2]) == ""
    figures = []
    Figure = matplotlib.figure.Figure
    monkeypatch.setattr(
        "matplotlib.figure.Figure", lambda **more: figures.append(Figure(**more)) or figures[-1]
    )
    for name in ("f.png", "f.svg"):
        assert draw(table, tmp_path / name) == tmp_path / name
        assert (tmp_path / name).stat().st_size > 5000
    (axes,) = figures[0].axes
    assert axes.get_xticks().tolist() == [5, 20] and axes.get_title("left").startswith("bars: ")
    assert len({line.lines[0].get_marker() for line in axes.containers}) == 2
    with pytest.raises(ValueError, match="not supported"):
        draw(table, tmp_path / "f.xyz")
    assert not list(tmp_path.glob("*f.xyz*"))
    assert draw(table, tmp_path / "noend") == tmp_path / "noend.png"
    assert (tmp_path / "noend.png").read_bytes().startswith(b"\x89PNG")


def test_values_that_are_partly_numbers_are_categories(tmp_path):
    table = SweepTable(
        Job(str(i), (f"alpha={value}", f"loss={loss}"), "done", metrics=job(0.1 * i).metrics)
        for i, (value, loss) in enumerate(
            [("10", "a"), ("null", "a"), ("[0.1,0.2]", "a"), ("2", "a"), ("10", "b"), ("2", "b")]
        )
    )
    x, _, made = lines(table, "alpha")
    assert x == "alpha" and [line.name for line in made] == ["a", "b"]
    assert made[0].x == ["2", "10", "[0.1,0.2]", "null"] and made[1].x == ["2", "10"]
    assert made[0].means == pytest.approx([0.3, 0.0, 0.2, 0.1])
    pytest.importorskip("matplotlib")
    draw(table, tmp_path / "f.svg", "alpha")


def test_a_copy_is_no_other_seed():
    def one(main, seed):
        config = {"n_topics": 2, "seed": seed, "overwrite": seed == 0}
        return Job("0", ("n_topics=2",), "done", metrics=job(main).metrics, config=config)

    assert lines(SweepTable([one(0.5, 0), one(0.5, 0), one(0.7, 1)]), "n_topics")[2][0].values == [[0.7, 0.5]]
