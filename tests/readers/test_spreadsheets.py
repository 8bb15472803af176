"""Tables and other files as programs write them: read as they are meant, or named with what to do."""

from __future__ import annotations

import gzip
import io
import pickle
import warnings
import zipfile

import numpy as np
import pytest

from plugsamp import readers
from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.base import Wanted

ANYTHING = Wanted()
ROWS = [("rocket orbit moon", "space"), ("bread butter soup", "food")] * 3


@pytest.fixture
def table(tmp_path):
    def make(text, name="a.csv", wanted=ANYTHING, quiet=True, **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        reader = readers.Table(path=str(path), min_df=1, **options).for_model(wanted)
        with warnings.catch_warnings():
            warnings.simplefilter("error" if quiet else "always")
            return reader.read().train

    return make


def joined(delimiter=",", more="", end="\n", head="text{}label"):
    rows = [head.format(delimiter), *(delimiter.join(row) for row in ROWS)]
    return "".join(f"{row}{more}{end}" for row in rows)


# -- what spreadsheets leave around a table ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, options",
    [
        ("sep=;\r\n" + joined(";", end="\r\n"), {}),
        ('\ufeff"sep=;"\n' + joined(";"), {}),
        ("sep=;\n" + joined(";"), {"delimiter": ";"}),
        ("SEP=\t\n" + joined("\t"), {}),
        (joined(";", ";;;", "\r\n"), {"delimiter": ";"}),
        (joined(",", ",,  ,"), {}),
        (joined(";") + ";\r\n; \r\n;\r\n", {"delimiter": ";"}),
        (";\n" + joined(";"), {"delimiter": ";"}),
        (joined(",") + ",,,\n", {}),
        (joined(",", head="text{}label\u200b"), {}),
    ],
)
def test_what_is_around_a_table_is_left_out(table, text, options):
    found = table(text, **options)
    assert found.responses.tolist() == [label for _, label in ROWS]
    assert found.vocabulary == ("bread", "butter", "moon", "orbit", "rocket", "soup")


def test_lines_are_counted_from_the_first_one_all_the_same(table):
    with pytest.raises(InputError, match=r"a\.csv, line 5: 2 fields expected, 3 found"):
        table("sep=;\ntext;label\n;\nball;b\na;b;c\n")
    assert table("sep=;\ntext;label\n;\nball;x\nlaw;y\n").ids == ("4", "5")
    with pytest.raises(InputError, match="names another delimiter than the option"):
        table("sep=;\ntext,label\na,b\n", delimiter=",")


def test_columns_without_a_name(table):
    assert table(",text,label\n0,ball goal,a\n1,law vote,b\n").n_documents == 2  # as pandas writes its index
    with pytest.raises(InputError, match="two columns have values and no name"):
        table("text,label,,\nball,a,1,2\n")
    with pytest.raises(InputError, match=r"line 3: 2 fields expected, 3 found; a delimiter in the text"):
        table("text,label\nball,a\nball,law,a\n")


# -- numbers -------------------------------------------------------------------------------------------------


def test_decimal_commas(table):
    text = 'text;price;year;w\nball;0,5;1,25;1\nlaw;-1,5e2;-3;0,5\nvote;7;"4,0";2\n'
    options = {"delimiter": ";", "y": "price", "weight": "w", "decimal": ","}
    found = table(text, wanted=Wanted("real", ("year",)), **options)
    assert found.responses.tolist() == [0.5, -150, 7]
    assert found.fields["year"].tolist() == [1.25, -3, 4] and found.weights.tolist() == [1, 0.5, 2]
    with pytest.raises(
        InputError, match="line 2: price must be a finite number, found '0,5'; decimal=\",\" reads"
    ):
        table(text, wanted=Wanted("real"), **options | {"decimal": "."})
    with pytest.raises(InputError, match="year must be a finite number, found '1,25'; decimal=\",\" reads"):
        table(text.replace(";0,5;1,", ";5;1,"), wanted=Wanted("none", ("year",)), delimiter=";")
    for wrong in ("1.000", "1.000,5", "1,000,5", "0,x"):
        with pytest.raises(InputError, match="line 2"):
            table(text.replace("0,5;1,", f"{wrong};1,"), wanted=Wanted("real"), **options)
    with pytest.raises(InputError, match="decimal must be"):
        table(text, decimal=";")


# -- quotes --------------------------------------------------------------------------------------------------

SWALLOWED = 'label\ttext\nspace\trocket\nspace\t"moon\nfood\tbread\nfood\tsoup"\nspace\torbit\n'


def test_quotes_that_are_none(table):
    with pytest.warns(
        InputWarning, match="line 3: the quoted cell that begins here holds 2 lines .* quote=none"
    ):
        assert table(SWALLOWED, "a.tsv", quiet=False).n_documents == 3
    one = 'text\tlabel\nrocket\tspace\n"moon\tspace\nbread"\tfood\nsoup\tfood\n'  # one end of a row
    for text, name in ((one, "a.tsv"), (one.replace("\t", ","), "a.csv")):
        with pytest.warns(InputWarning, match="line 3: the quoted cell .* holds 1 line that looks like rows"):
            assert table(text, name, quiet=False).n_documents == 3
    found = table(SWALLOWED, "a.tsv", quote="none")
    assert found.responses.tolist() == ["space", "space", "food", "food", "space"]
    assert found.vocabulary == ("bread", "moon", "orbit", "rocket", "soup")
    open_ended = 'text,label\nball 5" long,a\n"never closed,b\n'
    with pytest.raises(
        InputError, match="line 3, column 1: the quote opened here is never closed; quote=none"
    ):
        table(open_ended)
    assert table(open_ended, quote="none").n_documents == 2
    with pytest.raises(InputError, match=r"not a table: .*; quote=none takes"):
        table('text,label\n"a" b,c\n')


def test_quoted_lines_that_are_text(table):
    found = table('text,label\n"ball\ngoal, and, more\nlaw",a\n"vote, then\nand, so on",b\n')
    assert found.n_documents == 2
    assert table("text,label\n'ball, goal\nlaw',a\nvote,b\n", quote="'").responses.tolist() == ["a", "b"]
    for wrong in ("", "ab", "x", " "):
        with pytest.raises(InputError, match="quote must be none or one quotation mark"):
            table(SWALLOWED, quote=wrong)


@pytest.mark.parametrize(
    "quoted", ['"text";"label"\n"ball";"a"\n', "text;label\nball;a\n", "text|label\nball|a\n"]
)
def test_the_delimiter_of_a_table(table, quoted):
    mark = "|" if "|" in quoted else ";"
    with pytest.raises(InputError, match=rf'delimiter="\{mark}" says so'):
        table(quoted)
    assert table(quoted, delimiter=mark).n_documents == 1


def test_carriage_returns(table):
    found = table('text,label\n"ball\rgoal\r\nlaw",a\nvote,b\n')
    assert found.vocabulary == ("ball", "goal", "law", "vote")
    with pytest.raises(InputError, match=r"line 2, column 5: carriage return without a line feed; .* CRLF$"):
        table('text,label\nball\rgoal,a\n"law",b\n')
    with pytest.raises(InputError, match="line 3, column 3: carriage return"):
        table('text,label\n"a ""b""\r",a\nla\rw,b\n')
    with pytest.raises(InputError, match=r"old Macs\), save the file with line feeds"):
        table("text,label\rball,a\r")
    with pytest.raises(InputError, match="carriage return"):
        table('text,label\n"ball\rgoal",a\n', quote="none")


# -- several labels, and ids ---------------------------------------------------------------------------------

TAGS = "text,tags\nball,net;db\nlaw,\nvote,db\n"


def test_an_empty_cell_of_several_labels(table):
    with pytest.raises(
        InputError, match=r"line 3: 1 document without a tags .* empty_labels=none .*=missing"
    ):
        table(TAGS, labels="tags")
    found = table(TAGS, labels="tags", empty_labels="none")
    assert found.response_names == ("db", "net")
    assert found.responses.tolist() == [[1, 1], [0, 0], [1, 0]]
    for options in ({"empty_labels": "missing"}, {"missing_labels": True}):
        missing = table(TAGS, labels="tags", **options).responses
        assert np.isnan(missing).tolist() == [[False] * 2, [True] * 2, [False] * 2]
    named = table(
        TAGS + "soup,NA\n", labels="tags", empty_labels="none", missing_as=["NA"], missing_labels=True
    )
    assert named.responses[1].tolist() == [0, 0] and np.isnan(named.responses[3]).all()
    with pytest.raises(InputError, match="line 5: 1 document without"):
        table(TAGS + "soup,NA\n", labels="tags", empty_labels="none", missing_as=["NA"])


def test_where_an_empty_cell_can_say_nothing_of_the_kind(table):
    with pytest.raises(InputError, match="empty_labels=none is for documents of several labels"):
        table(joined(), empty_labels="none")
    assert table("text,label\nball,a\nlaw,\n", empty_labels="missing").responses.tolist() == ["a", None]
    with pytest.raises(InputError, match="empty_labels must be none or missing, not 'all'"):
        table(TAGS, empty_labels="all")


@pytest.mark.parametrize("cell", ["['net', 'db']", '["net"]', "{'net'}", "('net',)", "[]"])
def test_printed_lists_are_told_of(table, cell):
    quoted = '"' + cell.replace('"', '""') + '"'
    for options in ({"labels": "tags"}, {"label": "tags"}):
        with pytest.warns(InputWarning, match="cells of tags look like printed lists, such as"):
            table(f"text,tags\nball,{quoted}\nlaw,db\n", quiet=False, **options)
    table("text,tags\nball,(net)\nlaw,[db]\n", labels="tags")


def test_a_column_id_that_is_none(table, tmp_path):
    text = "id,text,label\n1,ball,x\n1,law,y\n"
    with pytest.raises(InputError, match="id 1 is on lines 2 and 3; id=none calls documents by their lines"):
        table(text)
    for none in ("none", None):
        assert table(text, id=none).ids == ("2", "3")
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "text": "ball"}\n{"id": 1, "text": "law"}\n')
    with pytest.raises(InputError, match="id=none"):
        readers.JsonLines(path=str(path), min_df=1).read()
    assert readers.JsonLines(path=str(path), min_df=1, id="none").read().train.ids == ("1", "2")


# -- files that are something else ---------------------------------------------------------------------------


def archive(*names):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name in names:
            file.writestr(name, "text,label\nball,a\n")
    return packed.getvalue()


OTHERS = {
    "xlsx": (
        archive("[Content_Types].xml", "xl/workbook.xml"),
        "an Excel workbook, not text; save the sheet as CSV",
    ),
    "docx": (
        archive("[Content_Types].xml", "word/document.xml"),
        "a Word document, not text; save it as plain text",
    ),
    "ods": (archive("mimetype", "content.xml"), "an OpenDocument file, not text"),
    "npz": (archive("data.npy", "indices.npy"), "an .npz file of NumPy, not text; corpus=npz reads it"),
    "zip": (archive("a.csv"), r"a zip archive \('a.csv' in it\), not text; unpack it"),
    "zip of many": (archive("b/", "b/a.csv", "c.csv"), r"a zip archive \('b/a.csv' and others in it\)"),
    "damaged zip": (b"PK\x03\x04 and so on", "a damaged zip archive"),
    "gzip": (gzip.compress(b"text,label\nball,a\n"), r"gzip data.* call the file other\.gz"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "an old Excel or Word file"),
    "mallet": (b"\xac\xed\0\x05sr\0\x1ecc.mallet.types.InstanceList", r"a \.mallet file of Mallet"),
    "pdf": (b"%PDF-1.7\n", "a PDF file"),
    "parquet": (b"PAR1\x15\x04", "a Parquet file"),
    "npy": (b"\x93NUMPY\x01\0v\0{'descr'", "a NumPy array"),
    "pickle": (pickle.dumps({"a": "b" * 300}, protocol=4), "a pickle of Python"),
    "bzip2": (b"BZh91AY&SY\x12", "bzip2 data"),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("reader", ["Table", "Lines", "JsonLines", "SvmLight", "MalletText", "BagOfWords"])
def test_files_that_are_no_text_are_named(kind, reader, tmp_path):
    raw, said = OTHERS[kind]
    path = tmp_path / "other"
    path.write_bytes(raw)
    encodings = ["utf-8", "latin-1"] if reader in ("Table", "Lines", "JsonLines", "MalletText") else [None]
    for encoding in encodings:
        options = {} if encoding is None else {"encoding": encoding}
        with pytest.raises(InputError, match=said):
            getattr(readers, reader)(path=str(path), **options).read()


def test_gzip_data_is_read_under_the_name_that_is_advised(table):
    assert table(gzip.compress(joined().encode()), "other.gz").n_documents == len(ROWS)


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "euc_kr", "gb18030"])
def test_other_scripts_are_not_taken_for_western_ones(table, encoding):
    words = {"euc_kr": "고양이와 집", "gb18030": "我们喜欢猫"}.get(encoding, "привет мир снова")
    raw = f"text,label\n{words},a\nb c,b\n".encode(encoding)
    with pytest.raises(InputError, match=r"such as encoding=cp1251 \(Cyrillic\), shift_jis"):
        table(raw)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_the_encoding_that_is_advised_reads_the_file(table, encoding):
    text = "text,label\nl\u2019\u0153uvre du c\u0153ur,a\nle \u0160ibenik,b\n"
    raw = text.encode(encoding)
    with pytest.raises(InputError, match=f"such as encoding={encoding}$"):
        table(raw)
    assert table(raw, encoding=encoding, stop_words="none").vocabulary == (
        "cœur",
        "du",
        "le",
        "œuvre",
        "šibenik",
    )


def test_control_characters_of_a_wrong_encoding_are_told_of(table):
    raw = "text,label\ncœur,a\nŠibenik,b\n".encode("cp1252")
    with pytest.warns(InputWarning, match=r"line 2: control character U\+009C .* is encoding=cp1252 right"):
        table(raw, encoding="latin-1", quiet=False)
    table("text,label\ncaf\u00e9,a\nna\u00efve,b\n".encode("latin-1"), encoding="latin-1")


def test_one_bad_byte_is_placed(table):
    raw = "text,label\nKäse und Brötchen,a\nMüller Bäume #,b\n".encode().replace(b"#", b"\xfc")
    with pytest.raises(
        InputError, match=r"line 3, column 14: not UTF-8 at byte .* UTF-8 but for 1 byte, to be put"
    ):
        table(raw)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("1.234,5", "; signs between thousands must be removed from the file"),
        ("1 234.5", "; signs between thousands must be removed from the file"),
        ("1.234.567", "; signs between thousands must be removed from the file"),
        ("1,234", '; decimal="," reads decimal commas, and commas between thousands must be removed'),
        ("12,5", '; decimal="," reads decimal commas'),
    ],
)
def test_signs_between_thousands(cell, said, table):
    with pytest.raises(InputError) as refused:
        table(f"text;price\nsome words here;{cell}\n", delimiter=";", y="price", wanted=Wanted("real"))
    assert refused.value.what.startswith(f"price must be a finite number, found {cell!r}{said}")
