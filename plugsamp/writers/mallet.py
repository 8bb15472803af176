"""Mallet's lines of name, label and text, a word as often as it counts (`plugsamp.readers.mallet`)."""

from __future__ import annotations

from plugsamp.errors import InputError
from plugsamp.writers import Target, Written, check_name, labels_of, unused
from plugsamp.writers.ldac import rows


def write(corpus, target: Target) -> Written:
    for word in corpus.vocabulary:
        if word.split() != [word]:
            raise InputError(f"word {word!r} holds blanks, which separate words here; to=jsonl keeps it")
    labels = labels_of(corpus)
    named = ["X"] * corpus.n_documents if labels is None else labels
    for what, names in (("label", set(named)), ("id", corpus.ids)):
        for name in names:
            check_name(name, what, str(target.path))
            if "\t" in name:
                raise InputError(f"{what} {name!r} holds a tab, which separates fields here")
    with target.open() as file:
        for name, label, (words, counts) in zip(corpus.ids, named, rows(corpus), strict=True):
            text = " ".join(
                corpus.vocabulary[w] for w, n in zip(words, counts, strict=True) for _ in range(n)
            )
            file.write(f"{name}\t{label}\t{text}\n")
    options = {"pattern": "blanks", "stop_words": "none", "min_df": 1, "lowercase": False}
    if labels is None:
        options["response"] = "none"
    elif corpus.responses.dtype.kind == "f":
        options["response"] = "y"
    return Written(options=options, left_out=unused(corpus))
