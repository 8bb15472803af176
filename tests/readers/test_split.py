import numpy as np
import pytest

from plugsamp.errors import InputError
from plugsamp.readers.split import seeded_split


def test_each_class_keeps_its_share():
    classes = np.repeat(["a", "b", "c"], [60, 30, 10])
    test = seeded_split(100, 0.2, 0, classes)
    assert [int(test[classes == c].sum()) for c in "abc"] == [12, 6, 2]


def test_a_seed_is_a_split_and_zero_is_a_seed():
    first, again, other = (seeded_split(50, 0.3, seed) for seed in (0, 0, 1))
    assert (first == again).all() and not (first == other).all()
    assert first.sum() == 15


def test_a_class_of_one_document_trains():
    classes = ["rare"] + ["a"] * 20 + ["b"] * 20
    for seed in range(20):
        assert not seeded_split(41, 0.2, seed, classes)[0]


@pytest.mark.parametrize("classes", [[str(i) for i in range(10)], [str(i // 2) for i in range(10)]])
def test_more_classes_than_test_documents(classes):
    assert seeded_split(10, 0.2, 0, classes).sum() == 2


def test_both_parts_have_a_document():
    assert seeded_split(2, 0.01, 0).sum() == 1
    assert seeded_split(2, 0.99, 0).sum() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 0.0, 0), "test_size"),
        ((10, 1.0, 0), "test_size"),
        ((10, 0.5, -1), "seed"),
        ((10, 0.5, 0.5), "seed"),
        ((1, 0.5, 0), "1 document cannot"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        seeded_split(*arguments)


def test_the_share_is_one_of_the_classes_that_have_several_documents():
    classes = ["A"] * 50 + ["B"] * 50 + [f"only {i}" for i in range(400)]
    test = seeded_split(500, 0.19, 0, classes)
    assert test.sum() == 19 and 9 <= test[:50].sum() <= 10 and not test[100:].any()


def test_shares_without_rounding_errors():
    assert seeded_split(90, 0.35, 0).sum() == 32  # 31.5, and 31.499999999999996 in floating point
