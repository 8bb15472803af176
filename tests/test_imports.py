"""What commands import: scikit-learn takes a second, so it is left to those who use it."""

import json
import subprocess
import sys

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from plugsamp.readers.text import TextOptions

SLOW = ("sklearn", "pandas", "matplotlib", "arviz", "xarray", "scipy.stats")

SCRIPT = """
import json, sys
{}
print(json.dumps([name for name in {!r} if name in sys.modules]))
"""


def imported(code: str, folder) -> list[str]:
    command = [sys.executable, "-c", SCRIPT.format(code, SLOW)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "code",
    [
        "import plugsamp; plugsamp.Chain, plugsamp.fit, plugsamp.Draws, plugsamp.export",
        "from plugsamp import cli; cli.main(['fit', '--help'])",
        "import plugsamp.commands.run_fit, plugsamp.commands.evaluate, plugsamp.commands.report",
    ],
    ids=["package", "help", "commands"],
)
def test_slow_libraries_are_imported_where_they_are_used(code, tmp_path):
    assert imported(code, tmp_path) == []


def test_texts_are_fitted_and_predicted_without_them(tmp_path):
    lines = [json.dumps({"text": f"goal team game number{i % 2}", "label": "ab"[i % 2]}) for i in range(20)]
    (tmp_path / "news.jsonl").write_text("\n".join(lines))
    options = ["corpus=jsonl", "corpus.path=news.jsonl"]
    fit = [*options, "corpus.test_size=0", "sweeps=2", "report=false", "hydra.run.dir=run", "loss=none"]
    predict = [*options, "model=run", "part=all", "out=answers.csv"]
    code = f"""from plugsamp import cli
assert cli.main(["fit", *{fit!r}]) == 0
assert cli.main(["predict", *{predict!r}]) == 0"""
    assert imported(code, tmp_path) == []
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 21


def test_english_stop_words_are_those_of_scikit_learn_and_clitics():
    words = TextOptions().stop_set()
    assert words > ENGLISH_STOP_WORDS
    assert {"don", "couldn", "ll", "ve", "re"} <= words and len(words - ENGLISH_STOP_WORDS) == 20
