"""tools/reproduce: every study runs in its smallest form and writes its table and picture."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / "tools" / "reproduce").is_dir():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)

sys.path.insert(0, str(ROOT))
from tools.reproduce import STUDIES  # noqa: E402
from tools.reproduce.__main__ import main  # noqa: E402
from tools.reproduce.claims import Claim  # noqa: E402

sys.path[:] = [p for p in sys.path if p != str(ROOT)]  # the tool may have put it there too


#: Studies that run by default: one of each kind.
SHORT = {"lightmed_proposals", "lightmed_ovr", "logistic_alpha", "dolda_films"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in SHORT)) for name in STUDIES]
)
def test_a_study_runs(name, tmp_path):
    assert main([name, "--smoke", "--out", str(tmp_path)]) == 0
    with open(tmp_path / f"{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 2 and all(None not in row.values() and "" not in row.values() for row in rows)
    pytest.importorskip("matplotlib", reason="the extra 'plots' is not installed")
    assert (tmp_path / f"{name}.png").stat().st_size > 5_000
    assert (tmp_path / f"{name}.md").read_text().startswith("**A SMOKE RUN")


def test_claims_are_printed_from_what_runs_have_left(tmp_path, capsys):
    assert main(["logistic_parts", "pclda_priors", "--smoke", "--out", str(tmp_path)]) == 0
    drawn = (tmp_path / "pclda_priors.md").read_text()
    assert (
        drawn.startswith("**A SMOKE RUN: simulated documents, tiny sizes.")
        and "Magnusson et al. 2018, fig. 4.1" in drawn
    )
    assert f"--claims --out {tmp_path}" in capsys.readouterr().out
    with open(tmp_path / "pclda_priors.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:  # as if the partially collapsed kernel were the slower one where the paper says so
        least = row["alpha"] == "0.1" and row["beta"] == "0.01"
        row["ns_token"] = "100" if row["kernel"] == "sparse LDA" else "150" if least else "50"
    with open(tmp_path / "pclda_priors.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "pclda_priors.md").unlink()

    def redrawn():
        capsys.readouterr()
        assert main(["--claims", "--redraw", "pclda_priors", "--out", str(tmp_path)]) == 0
        # without matplotlib there is a word on that first
        return [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")][2:]

    about = (tmp_path / "pclda_priors.json").read_text()
    assert {line.rpartition(" | ")[2] for line in redrawn()} == {"not judged |"}  # of made-up documents
    assert {row["made_of"] for row in rows} == {"simulated documents"}
    (tmp_path / "pclda_priors.json").unlink()
    lines = redrawn()
    assert len(lines) == 2 and all(line.endswith("| agrees |") for line in lines)
    (tmp_path / "pclda_priors.json").write_text(about)
    assert "alpha 0.1, beta 0.01: 1.50" in (tmp_path / "pclda_priors.md").read_text()
    assert main(["--claims", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert (
        said.startswith("**A SMOKE RUN") and said.count("SMOKE") == 1 and "Zhu et al. 2013, table 1" in said
    )
    (tmp_path / "pclda_priors.json").unlink()  # of a run before there were such
    assert main(["--claims", "--out", str(tmp_path)]) == 0
    assert "(logistic_parts)\n" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--claims", "spike_slab", "--out", str(tmp_path)])
    assert "no study of these" in capsys.readouterr().err


def test_claims_of_a_smoke_run_are_found(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["--claims"])
    assert "left a CSV in reproduced, nor in reproduced/smoke" in capsys.readouterr().err
    assert main(["lightmed_passes", "--smoke"]) == 0
    assert "python -m tools.reproduce --claims --smoke\n" in capsys.readouterr().out
    for options in (["--claims"], ["--claims", "--smoke"]):
        assert main(options) == 0
        assert capsys.readouterr().out.startswith("**A SMOKE RUN")


def test_whoever_differs_has_a_reason_or_says_that_there_is_none():
    def claim(agrees, because=""):
        return Claim("Zheng et al. 2015, fig. 8", "", "", agrees, because).verdict

    assert (claim(True, "x"), claim(None, "x"), claim(False, "x")) == ("agrees", "open: x", "differs: x")
    assert claim(False) == "differs: why was not found out"
    rows = [{"passes": n, "accuracy": a, "cpu_seconds": 1.0} for n, a in ((1, 0.77), (2, 0.73), (8, 0.78))]
    said = [claim.verdict for claim in STUDIES["lightmed_passes"].claims(rows)]
    assert said[0].startswith("differs: but in no order by passes: after 25 sweeps")
    rows = [{**row, "standard_error": row["passes"] / 1000} for row in rows]
    assert "standard errors 0.001 to 0.008" in next(STUDIES["lightmed_passes"].claims(rows)).verdict


def test_what_stops_a_study_leaves_what_there_was(tmp_path, capsys, monkeypatch):
    data, kept = tmp_path / "data", tmp_path / "pclda_priors.csv"
    data.mkdir()
    kept.write_text("as it was")
    names = ["pclda_priors", "lightmed_binary", "dolda_films"]
    assert main([*names, "--data", str(data), "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert all(f"== {name}: {data}" in said for name in names) and said.count("there is no such file") == 3
    assert main(["pclda_priors", "--smoke", "--out", str(kept)]) == 1
    assert "File exists" in capsys.readouterr().err

    def rows(context):
        yield {"alpha": 1}
        raise KeyboardInterrupt

    monkeypatch.setitem(STUDIES, "pclda_priors", replace(STUDIES["pclda_priors"], rows=rows))
    assert main(["pclda_priors", "--smoke", "--out", str(tmp_path)]) == 130
    assert "pclda_priors.part.csv" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data", "pclda_priors.csv", "pclda_priors.part.csv"]
    assert kept.read_text() == "as it was"
    for option in (["--tokens", "0"], ["--seed", "-1"]):
        with pytest.raises(SystemExit):
            main(["pclda_priors", *option])
        assert "must be a whole number" in capsys.readouterr().err


def test_names_are_listed_and_checked(tmp_path, capsys):
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in STUDIES)
    with pytest.raises(SystemExit):
        main(["nothing", "--out", str(tmp_path)])
    assert "no study 'nothing'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
