import subprocess
import sys
from collections import Counter

import pytest

from plugsamp.readers import docstrings
from plugsamp.readers.docstrings import Docstrings, blocks, distinct, prose, without_boilerplate


def test_prose_leaves_out_code_headings_and_paths():
    doc = """Draw a line with `scipy.stats.norm`.

    Examples
    --------
    Say this:

    >>> draw(1)
    array([1, 2])
    rubbish

    .. versionadded:: 1.2

    See :func:`numpy.linalg.norm` or https://example.org/x.
    """
    text = prose(doc)
    assert text.split() == ["Draw", "a", "line", "with", "`norm`.", "Say", "this:", "See", "`norm`", "or"]


def test_blocks_are_paragraphs_and_parameters():
    assert blocks("f(x, y) -> int\n\nOne\ntwo.\n\nx : int\n    The x.\ny : float\n    The y.") == [
        "One\ntwo.",
        "x : int\n    The x.",
        "y : float\n    The y.",
    ]


def test_shared_blocks_go_whatever_the_name_in_them():
    named = [(f"f{i}", f"Own words {i}.\n\n`f{i}` runs on a GPU.") for i in range(9)]
    assert without_boilerplate(named) == [f"Own words {i}." for i in range(9)]
    assert without_boilerplate(named[:3])[0] == "Own words 0.\n\n`f0` runs on a GPU."


def test_near_duplicates_keep_the_first():
    text = "one two three four five six seven eight nine ten eleven twelve"
    assert distinct([text, "something else entirely", text + " more", text]) == [0, 1]


@pytest.fixture(scope="module")
def split():
    return Docstrings().read()


def test_a_corpus_of_many_classes(split):
    sizes = Counter([*split.train.responses, *split.test.responses])
    assert 1000 < sum(sizes.values()) < 10_000
    assert len(sizes) > 10 and min(sizes.values()) >= 30
    assert {"scipy.stats", "sklearn.metrics", "numpy.random"} <= set(sizes)
    assert set(split.train.responses) == set(split.test.responses)
    names = [part for name in (*split.train.ids, *split.test.ids) for part in name.split(".")]
    assert not [name for name in names if name.startswith("_")]
    assert not {"tests", "testing", "conftest"} & set(names)


def test_it_is_built_silently_and_the_same_in_another_process(monkeypatch):
    """All packages are imported without a word; the corpus is compared of one of them."""
    monkeypatch.setattr(docstrings, "PACKAGES", ("sklearn",))
    code = (
        "from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer\n"
        "from plugsamp.readers import docstrings; n = sum(1 for _ in docstrings._public_docstrings())\n"
        "assert n > 3000; docstrings.PACKAGES = ('sklearn',)\n"
        "print(docstrings.Docstrings().read().train.digest())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", code],
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == docstrings.Docstrings().read().train.digest()
    assert done.stderr == ""
