"""What messages advise is run: each line that a message says to type puts right what it was said of.

`advised` collects the options that a message names, as a shell would read them. Options with only a blank
between them are one piece of advice, others are alternatives.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import warnings

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from plugsamp.cli import main
from plugsamp.commands.arguments import as_typed, by_key, option, readable, typed

#: An option with a value that can be typed: not NAME or FIELD, which stand for another.
OPTION = r"""'[a-z][\w.]*=(?:[^']|'"'"')*'|(?<![\w.'"/])[a-z][\w.]*=(?![A-Z]{2,}\b)[^\s,;:()']+"""

ROWS = [("rocket orbit moon", "space"), ("bread butter soup", "food")] * 3


def advised(message: str) -> list[list[str]]:
    """The alternatives that a message advises, each a list of arguments."""
    message = re.sub(r"""the argument ('[^']*'|"[^"]*");""", "", message)
    found, end = [], None
    for one in re.finditer(OPTION, message):
        (argument,) = shlex.split(one[0].rstrip("."))
        if end is not None and message[end : one.start()] == " ":
            found[-1].append(argument)
        else:
            found.append([argument])
        end = one.end()
    return found


def with_options(arguments: list[str], advice: list[str]) -> list[str]:
    """The arguments with those of the advice in the place of what they are about."""
    names = {one.partition("=")[0] for one in advice}
    return [*(a for a in arguments if a.partition("=")[0] not in names), *advice]


def test_what_is_collected():
    message = (
        "'corpus.path=\"a b\"' or corpus.quote=none; corpus=csv corpus.path=a.csv, or text=FIELD. loss=none."
    )
    assert advised(message) == [
        ['corpus.path="a b"'],
        ["corpus.quote=none"],
        ["corpus=csv", "corpus.path=a.csv"],
        ["loss=none"],
    ]
    assert with_options(["corpus.path=b", "seed=1"], ["corpus.path=a"]) == ["seed=1", "corpus.path=a"]


def table(rows, head="text,label"):
    return "\n".join([head, *(",".join(row) for row in rows)]) + "\n"


PLAIN = table(ROWS)
NAMED = ["corpus.path=a.csv"]
#: A file, its contents, the arguments, and how many alternatives the message has.
CASES = {
    "letters beyond ASCII": ("größe.csv", PLAIN, ["corpus.path=größe.csv"], 1),
    "#": ("a#b.csv", PLAIN, ["corpus.path=a#b.csv"], 1),
    "&": ("a&b.csv", PLAIN, ["corpus.path=a&b.csv"], 1),
    "=": ("a=b.csv", PLAIN, ["corpus.path=a=b.csv"], 1),
    "brackets": ("a (1).csv", PLAIN, ["corpus.path=a (1).csv"], 1),
    "an apostrophe": ("it's.csv", PLAIN, ["corpus.path=it's.csv"], 1),
    "a file alone": ("größe.csv", PLAIN, ["größe.csv"], 1),
    "a file with blanks alone": ("a b#.csv", PLAIN, ["a b#.csv"], 1),
    "a field": ("a.csv", table(ROWS, "text,straße"), ["corpus.path=a.csv", "corpus.label=straße"], 1),
    "a list": (
        "a.csv", PLAIN.replace("space", "Köln"), ["corpus.path=a.csv", "corpus.only=[Köln,food]"], 1,
    ),
    "a mapping": ("a.csv", PLAIN.replace("space", "Köln"), ["corpus.path=a.csv", "class_weight={Köln:2}"], 1),
    "a mapping in quotes": (
        "a.csv", PLAIN.replace("space", "Köln"), ["corpus.path=a.csv", 'class_weight={"Köln":2,food:1}'], 1,
    ),
    "a mapping with #": (
        "a.csv", PLAIN.replace("space", "R&D #1"), [*NAMED, "class_weight={R&D #1:2,food:1}"], 1,
    ),
    "a reference in braces": ("a{b}.csv", PLAIN, ["corpus.path=a{b}.csv"], 1),
    "a tilde": ("~a.csv", PLAIN, ["corpus.path=~a.csv"], 1),
    "a file with a tilde alone": ("~a.csv", PLAIN, ["~a.csv"], 1),
    "a file with a comma alone": ("a,b.csv", PLAIN, ["a,b.csv"], 1),
    "a file with a quotation mark alone": ('a"b.csv', PLAIN, ['a"b.csv'], 1),
    "a file with a dash alone": ("-a.csv", PLAIN, ["-a.csv"], 1),
    "a file with a blank before it alone": (" a.csv", PLAIN, [" a.csv"], 1),
    "a file called null": ("null", PLAIN, ["corpus.path=null"], 1),
    "a path with a blank at its end": ("a.csv ", PLAIN, ["corpus.path=a.csv "], 1),
    "a path with a blank before it": (" b.csv", PLAIN, ["corpus.path= b.csv"], 1),
    "a class called ~": ("a.csv", PLAIN.replace("space", "~"), [*NAMED, "class_weight={~:2}"], 1),
    "classes called ~": ("a.csv", PLAIN.replace("space", "~"), [*NAMED, "corpus.only=[~,food]"], 1),
    "one value for a list": ("a.csv", PLAIN, ["corpus.path=a.csv", "corpus.missing_as=NA"], 1),
    "JSON lines": ("a.csv", '{"text": "moon", "label": "a"}\n{"text": "soup", "label": "b"}\n', NAMED, 1),
    "several labels in JSON": (
        "a.jsonl", '{"text": "moon", "label": ["a"]}\n{"text": "soup", "label": ["b", "a"]}\n',
        ["corpus=jsonl", "corpus.path=a.jsonl"], 1,
    ),
    "no label": ("a.csv", PLAIN + "rocket,\n", ["corpus.path=a.csv"], 2),
    "a missing label by name": ("a.csv", PLAIN + "moon,NA\nmoon,\n", ["corpus.path=a.csv"], 3),
    "no tag": ("a.csv", table([*ROWS, ("moon", "")], "text,tags"), [*NAMED, "corpus.labels=tags"], 2),
    "a delimiter": ("a.csv", PLAIN.replace(",", ";"), ["corpus.path=a.csv"], 1),
    "a tab": ("a.csv", PLAIN.replace(",", "\t"), ["corpus.path=a.csv"], 1),
    "a quoted table": ("a.csv", '"text";"label"\n"moon";"a"\n"soup";"b"\n', ["corpus.path=a.csv"], 1),
    "decimal commas": (
        "a.csv", "text;y\nmoon;0,5\nsoup;1,5\n", [*NAMED, 'corpus.delimiter=";"', "loss=gaussian"], 1,
    ),
    "a missing number": ("a.csv", "text,y\nmoon,0.5\nsoup,1\nsoup,NA\n", [*NAMED, "loss=gaussian"], 1),
    "an open quote": ("a.csv", 'text,label\nmoon 5",a\n"soup,b\n', ["corpus.path=a.csv"], 1),
    "quotes that do not fit": ("a.csv", 'text,label\n"moon" x,a\nsoup,b\n', ["corpus.path=a.csv"], 1),
    "ids that are none": ("a.csv", "id,text,label\n1,moon,a\n1,soup,b\n", ["corpus.path=a.csv"], 1),
    "cp1252": ("a.csv", "text,label\nlune \u0153uvre\u2019,a\nsoupe,b\n".encode("cp1252"), NAMED, 1),
    "latin-1": ("a.csv", "text,label\nKäse,a\nsoup,b\n".encode("latin-1"), ["corpus.path=a.csv"], 1),
    "utf-16": ("a.csv", PLAIN.encode("utf-16"), ["corpus.path=a.csv"], 1),
    "utf-16 without a mark": ("a.csv", PLAIN.encode("utf-16-le"), ["corpus.path=a.csv"], 1),
}  # fmt: skip


def fit(arguments):
    common = ["n_topics=2", "sweeps=1", "report=false", "hydra.run.dir=run", "overwrite=true"]
    named = any(a.startswith("corpus") for a in arguments)
    fixed = [*(["corpus=csv", "corpus.min_df=1"] if named else []), *common]
    given = {a.partition("=")[0] for a in arguments}
    return main(["fit", *(a for a in fixed if a.partition("=")[0] not in given), *arguments])


@pytest.fixture
def file(at):
    def write(name, contents):
        (at / name).write_bytes(contents.encode() if isinstance(contents, str) else contents)

    return write


@pytest.mark.parametrize("case", CASES)
def test_what_is_refused_is_taken_as_advised(case, file, capsys):
    name, contents, arguments, n_alternatives = CASES[case]
    file(name, contents)
    assert fit(arguments) == 2
    message = capsys.readouterr().err
    alternatives = advised(message)
    assert len(alternatives) == n_alternatives, message
    for alternative in alternatives:
        again = with_options([] if case.startswith("a file") else arguments, alternative)
        code = fit(again)
        told = capsys.readouterr()
        if len(alternatives) > 2 and code:  # one thing after the other
            rest = [one for others in alternatives if others != alternative for one in others]
            code = fit(with_options(again, [one for one in rest if not one.startswith("loss")]))
            told = capsys.readouterr()
        assert code == 0, (message, alternative, told.err)


TAGS = table([("moon orbit", '"a,b"'), ("bread soup", "b"), ("moon", "a")] * 2, "text,tags")
WARNINGS = {
    "several labels in one": ("a.csv", TAGS, ["corpus.path=a.csv", "corpus.label=tags"]),
    "another delimiter of labels": ("a.csv", TAGS, ["corpus.path=a.csv", "corpus.labels=tags"]),
    "quotes that are none": (
        "a.tsv", 'label\ttext\na\tmoon\nb\t"soup\na\tmoon\nb\tsoup"\na\tmoon\n', ["corpus.path=a.tsv"],
    ),
    "a label that looks missing": ("a.csv", PLAIN + "moon,N/A\n", ["corpus.path=a.csv"]),
    "an encoding": (
        "a.csv", "text,label\nlune \u0153uvre,a\nsoupe,b\n".encode("cp1252"),
        ["corpus.path=a.csv", "corpus.encoding=latin-1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WARNINGS)
def test_what_is_warned_of_is_told_no_more(case, file, capsys):
    name, contents, arguments = WARNINGS[case]
    file(name, contents)
    assert fit(arguments) == 0
    printed = capsys.readouterr()
    said = [line for line in (printed.out + printed.err).splitlines() if re.search(r"corpus\.\w+=", line)]
    said = [line for line in said if "test_size" not in line]
    assert len(said) == 1
    options = [one for alternative in advised(said[0]) for one in alternative]
    assert fit(with_options(arguments, options)) == 0
    printed = capsys.readouterr()
    assert said[0] not in printed.out + printed.err


def test_readers_without_the_option_are_not_advised_to_use_it(file, at, capsys):
    for name in ("law", "sport", "NA"):
        (at / "texts" / name).mkdir(parents=True)
        for i in range(3):
            file(f"texts/{name}/{i}.txt", "court goal team")
    arguments = ["corpus=folder", "corpus.path=texts"]
    assert fit(arguments) == 0
    said = capsys.readouterr()
    (line,) = [line for line in (said.out + said.err).splitlines() if "looks like a missing" in line]
    assert (
        "missing_" not in line and "'corpus.only=[LABEL,...]' takes the documents of certain labels" in line
    )
    assert fit([*arguments, "corpus.only=[law,sport]"]) == 0
    said = capsys.readouterr()
    assert "looks like a missing" not in said.out + said.err


# -- values that Hydra's grammar has in its own way ----------------------------------------------------------


@pytest.mark.parametrize(
    "argument, right",
    [
        ("corpus.path=a.csv", "corpus.path=a.csv"),
        ("corpus.path=größe.csv", 'corpus.path="größe.csv"'),
        ("corpus.path='größe #1'.csv", "corpus.path=\"'größe #1'.csv\""),
        ('corpus.path=a"b#.csv', 'corpus.path="a\\"b#.csv"'),
        ("corpus.only=[Köln,New York]", 'corpus.only=["Köln","New York"]'),
        ('corpus.only=["Köln",a#]', 'corpus.only=["Köln","a#"]'),
        ("class_weight={Köln:2,b:.5}", 'class_weight="{Köln: 2,b: .5}"'),
        ("größe=1", None),
        ("größe", None),
    ],
)
def test_arguments_that_can_be_read(argument, right):
    assert readable(argument) == right


@pytest.mark.parametrize(
    "value, shown",
    [
        ('","', "'corpus.x=\",\"'"),
        ('"ab-c"', "corpus.x=ab-c"),
        ('"NaN"', "'corpus.x=\"NaN\"'"),
        ('"null"', "'corpus.x=\"null\"'"),
        ('"1"', "'corpus.x=\"1\"'"),
        ('["NA"]', "'corpus.x=[\"NA\"]'"),
        ("straße", "'corpus.x=\"straße\"'"),
        ("True", "corpus.x=true"),
    ],
)
def test_options_as_they_are_typed(value, shown):
    assert typed("corpus.x", value) == shown


def test_mappings_as_texts():
    assert by_key("{Köln: 2, TRUE: 1}") == by_key('{"Köln":2, "TRUE":1}') == {"Köln": 2.0, "TRUE": 1.0}
    assert by_key("{a, b: 1}".replace("a, ", "")) == {"b": 1.0}
    assert by_key("balanced") == "balanced" and by_key({"a": 1}) == {"a": 1} and by_key(None) is None
    for wrong in ("{a", "{a: b}", "{a: [1]}", "{a}"):
        with pytest.raises(ValueError, match=r"mapping|number for each"):
            by_key(wrong)


#: What Hydra and YAML read as numbers, as nothing or as true, and what is a class here.
READ_OTHERWISE = ["null", "1_000", "TRUE", "NaN"]
MORE = ["true", "1e5", "1.0", ".5", "inf", "01", "-1", "0x10", "yes"]


@pytest.mark.parametrize(
    "label", [*READ_OTHERWISE, *(pytest.param(label, marks=pytest.mark.slow) for label in MORE)]
)
def test_labels_that_are_read_as_something_else(label, file, capsys):
    file("a.csv", PLAIN.replace("space", label))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*looks like a missing")
        assert fit([*NAMED, f"class_weight={{{label}:2}}", f"corpus.only=[{label},food]"]) == 0
    if label != "null":  # alone it is none
        file(label, table([*ROWS, ("moon", label)], f"text,{label}"))
        options = ["corpus.missing_labels=true", f"corpus.missing_as=[{label}]"]
        capsys.readouterr()
        assert fit([f"corpus.path={label}", f"corpus.label={label}", *options]) == 0
        printed = capsys.readouterr()
        assert "looks like a missing" not in printed.out + printed.err


@pytest.mark.parametrize(
    "argument, typed",
    [
        ("corpus.only=[1e5,a]", 'corpus.only=["1e5",a]'),
        ("+corpus.only=[1_000]", '+corpus.only=["1_000"]'),
        ("corpus.path=1e5", 'corpus.path="1e5"'),
        ("class_weight={null:2,b:1}", 'class_weight="{null: 2,b: 1}"'),
        ("covariates.numeric=[1_0]", 'covariates.numeric=["1_0"]'),
        *((one, one) for one in ("corpus.only=[2024,a]", "corpus.label=2024", "corpus.only=null")),
        *((one, one) for one in ("corpus.missing_labels=true", "corpus.test_size=.2", "corpus.min_df=1e-2")),
        *((one, one) for one in ("class_weight={1:2}", "class_weight=balanced", "class_weight={a:1},{a:2}")),
        *((one, one) for one in ("n_topics=1_0", "seed=1e5", "corpus.only=[[1e5]", "corpus.only=[a],[1e5]")),
    ],
)  # fmt: skip
def test_options_as_they_were_typed(argument, typed):
    assert as_typed(argument) == typed


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("name", ["${x}.csv", "a${oc.env:HOME}.csv"])
def test_a_path_with_a_reference(name, alone, file, at, capsys):
    file(name, PLAIN)
    assert fit([name] if alone else [f"corpus.path={name}"]) == 2
    message = capsys.readouterr().err
    link = message.partition(" such as with ")[2].partition(", and write ")[0]
    subprocess.run(link, shell=True, check=True)
    assert fit(["corpus=csv", *(one for found in advised(message.partition(link)[2]) for one in found)]) == 0


@pytest.mark.parametrize(
    "value, shown",
    [
        (["NA", "a-b"], "'corpus.x=[NA,a-b]'"),
        (["NaN", "straße"], '\'corpus.x=["NaN","straße"]\''),
        ("Köln", "'corpus.x=\"Köln\"'"),
        ("true", "'corpus.x=\"true\"'"),
        (";", "'corpus.x=\";\"'"),
        (True, "corpus.x=true"),
        (None, "corpus.x=null"),
    ],
)
def test_values_as_options(value, shown):
    assert option("corpus.x", value) == shown
    assert OverridesParser.create().parse_override(shlex.split(shown)[0]).value() == value


def test_options_that_are_the_run_s_own_can_be_typed(file, capsys):
    file("a.csv", table([("rocket moon", "Köln"), ("bread soup", "b"), ("soup", "NaN")] * 2, "text,straße"))
    arguments = ["corpus.path=a.csv", 'corpus.missing_as=["NaN"]', "corpus.missing_labels=true"]
    assert fit([*arguments, 'corpus.label="straße"']) == 0
    capsys.readouterr()
    assert main(["predict", "model=run", "corpus=csv", "corpus.path=a.csv", "out=-"]) == 0
    printed = capsys.readouterr()
    said = next(line for line in (printed.out + printed.err).splitlines() if "the run's own" in line)
    typed_again = [one for one in shlex.split(said.partition(": ")[2]) if one.startswith("corpus.")]
    assert set(typed_again) == {'corpus.label="straße"', 'corpus.missing_as=["NaN"]'}


def test_a_run_folder_is_given_as_advised(file, capsys):
    file("a.csv", PLAIN)
    assert fit(["corpus.path=a.csv"]) == 0
    for command, line in (("report", "run=run"), ("evaluate", "model=run"), ("predict", "model=run")):
        capsys.readouterr()
        assert main([command, "run"]) == 2
        assert capsys.readouterr().err.strip().endswith(f"is given as {line}")
        corpus = [] if command == "report" else ["corpus=csv", "corpus.path=a.csv"]
        assert main([command, line, *corpus]) == 0
