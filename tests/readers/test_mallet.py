"""Mallet's text and state files."""

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.errors import InputError
from plugsamp.readers.base import Wanted
from plugsamp.readers.mallet import STATE, MalletText
from plugsamp.readers.mallet_state import MalletState

PLAIN = {"pattern": "blanks", "stop_words": "none", "min_df": 1, "lowercase": False}


def test_real_responses(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\t1.5\tx y\nb\t-2\tx\n")
    reader = MalletText(path=str(path), **PLAIN)
    assert reader.read().train.responses.tolist() == ["1.5", "-2"]
    assert reader.for_model(Wanted("real")).read().train.responses.tolist() == [1.5, -2.0]
    path.write_text("a\tgood\tx y\nb\t-2\tx\n")
    with pytest.raises(InputError, match="response 'good' is not a number"):
        reader.for_model(Wanted("real")).read()


def state(tmp_path, tokens, alpha="0.5 0.25", beta="0.01", head=STATE):
    path = tmp_path / "state.txt"
    path.write_text(f"{head}\n#alpha : {alpha}\n#beta : {beta}\n" + "".join(f"{t}\n" for t in tokens))
    return MalletState(path=str(path))


def test_state(tmp_path):
    tokens = [
        "0 my file.txt 0 3 ball 1", "0 my file.txt 1 0 goal 0", "0 my file.txt 2 3 ball 0",
        "2 other 0 7 vote 1",
    ]  # fmt: skip
    found = state(tmp_path, tokens).state()
    assert found.corpus.n_documents == 3 and found.corpus.ids == ("my file.txt", "1", "other")
    assert found.corpus.vocabulary == ("goal", "ball", "vote")
    assert found.corpus.words.tolist() == [0, 1, 1, 2]
    assert found.z.tolist() == [0, 1, 0, 1]
    assert found.alpha.tolist() == [0.5, 0.25] and found.beta == 0.01
    model = ps.Model(n_topics=2, alpha=found.alpha, beta=found.beta)
    chain = ps.Chain(found.corpus, model, "sparse", init=found.z)
    assert chain.counts.topic_word.tolist() == [[1, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize(
    ("options", "line", "says"),
    [
        ({"head": "x"}, 1, "not a Mallet state file"),
        ({"alpha": "0.5 x"}, 2, "must be #alpha : and positive numbers"),
        ({"beta": "0.1 0.1"}, 3, "1 value of beta expected"),
        ({"tokens": ["0 a 0 0 ball 2"]}, 4, "topic 2 is not below 2"),
        ({"tokens": ["0 a 0 0 ball"]}, 4, "6 fields expected"),
        ({"tokens": ["0 a 0 -1 ball 0"]}, 4, "typeindex must be a whole number"),
        ({"tokens": ["99999999999 a 0 0 ball 0"]}, 4, "doc must be a whole number"),
        ({"tokens": ["0 a 0 0 ball 0", "0 a 1 0 goal 0"]}, 5, "type 0 is 'goal' here and 'ball' on line 4"),
        ({"tokens": ["0 a 0 0 ball 0", "0 b 1 0 ball 0"]}, 5, "document 0 is 'b' here"),
        ({"tokens": []}, None, "no tokens"),
    ],
)
def test_refusals_of_states(options, line, says, tmp_path):
    with pytest.raises(InputError) as caught:
        state(tmp_path, **{"tokens": ["0 a 0 0 ball 0"], **options}).read()
    assert says in str(caught.value) and caught.value.line == line


def test_a_state_has_no_labels(tmp_path):
    split = state(tmp_path, ["0 a 0 0 ball 0", "1 b 0 0 ball 0"]).read(vocabulary=["goal", "ball"])
    assert split.train.responses is None and split.train.counts().toarray().tolist() == [[0, 1], [0, 1]]
    assert np.all(split.train.n_unknown == 0)
