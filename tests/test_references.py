"""What to cite."""

import re

import pytest

from plugsamp import references, registry
from plugsamp.cli import main
from plugsamp.model import Model

KINDS = ("losses", "priors", "topics", "kernels")


def test_every_entry_reads_as_a_line():
    for key, entry in references.table().items():
        line = references.as_text(entry)
        assert re.fullmatch(r"[A-Z][^{}\\]+, (19|20)\d\d\.", line), (key, line)
        assert entry.count("{") == entry.count("}")
    assert references.as_text(references.table()["zhu2014"]) == (
        "Jun Zhu, Ning Chen, Hugh Perkins, Bo Zhang. Gibbs Max-Margin Topic Models with Data Augmentation, "
        "Journal of Machine Learning Research 15, 2014."
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_registered_refers_to_what_there_is(kind):
    for name in registry.names(kind):
        for reference in getattr(registry.load(kind, name), "references", ()):
            assert reference in references.table() or references.key_of(reference)


def test_a_model_and_a_plugin_of_somebody():
    class Theirs:
        references = ("@misc{mine,\n title = {Mine}\n}", "zhu2014")

    model = Model(2, loss="hinge", weights="horseshoe", learn_alpha="slice")
    entries = references.entries_of(
        [*references.parts_of(model, registry.resolve("kernels", "sparse")), Theirs()]
    )
    keys = [references.key_of(entry) for entry in entries]
    assert keys == ["blei2003", "zhu2014", "polson2011", "carvalho2010", "neal2003", "yao2009", "mine"]
    kept = references.parts_of(model, registry.resolve("kernels", "dense", collapse="partial"))
    assert references.key_of(references.entries_of(kept)[-1]) == "magnusson2018"
    Theirs.references = ("someone, 1999",)
    with pytest.raises(ValueError, match="BibTeX entries, not 'someone"):
        references.entries_of([Theirs()])


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    fast = ["n_topics=2", "sweeps=2", "loss=logistic", "corpus=csv", "corpus.path=a.csv", "corpus.min_df=1",
            "weights.variance=1"]  # fmt: skip
    (tmp_path / "a.csv").write_text("text,label\nmoon orbit,a\nsoup bread,b\n")
    assert main(["fit", *fast, "hydra.run.dir=run"]) == 0
    capsys.readouterr()
    assert main(["cite", "run=run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and lines[0].startswith("David M. Blei") and "version" in lines[-1]
    assert main(["cite", "run=run", "format=bibtex"]) == 0
    assert capsys.readouterr().out.count("@") == 5
    assert main(["cite"]) == 0
    assert capsys.readouterr().out.count("\n") == len(references.table()) + 1
    assert main(["cite", "run=nowhere"]) == 2
    assert "nowhere: there is no such folder" in capsys.readouterr().err
    assert main(["cite", "run=."]) == 2
    assert "holds no finished run" in capsys.readouterr().err
    assert main(["cite", "--help"]) == 0
    assert capsys.readouterr().out.startswith("plugsamp cite [run=FOLDER]")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "run"]
