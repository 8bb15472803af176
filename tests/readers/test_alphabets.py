"""Words of other alphabets and of other Unicode forms, stop words in them, and texts without blanks."""

from __future__ import annotations

import json
import unicodedata
import warnings

import pytest

import plugsamp as ps
from plugsamp import readers
from plugsamp.errors import InputWarning
from plugsamp.readers.text import TextOptions

#: One text a script, and its words.
SCRIPTS = {
    "Hindi": ("पुस्तक हिन्दी, खिलाड़ी मैच!", ["पुस्तक", "हिन्दी", "खिलाड़ी", "मैच"]),
    "Tamil": ("தமிழ் புத்தகம் விளையாட்டு", ["தமிழ்", "புத்தகம்", "விளையாட்டு"]),
    "Thai, with blanks": ("ภาษาไทย น้ำ รู้จัก", ["ภาษาไทย", "น้ำ", "รู้จัก"]),
    "Arabic with points": ("كَتَبَ الوَلَدُ", ["كَتَبَ", "الوَلَدُ"]),
    "Hebrew with points": ("שָׁלוֹם עֲלֵיכֶם", ["שָׁלוֹם", "עֲלֵיכֶם"]),
    "Persian with joiners": ("می\u200cخواهم کتاب", ["می\u200cخواهم", "کتاب"]),
    "German": ("Müller Käse Größe", ["müller", "käse", "größe"]),
    "Turkish": ("İstanbul İzmir Iğdır", ["istanbul", "izmir", "iğdır"]),
    "Vietnamese": ("Tiếng Việt", ["tiếng", "việt"]),
    "letters that do not compose": ("m̃b x̌y", ["m̃b", "x̌y"]),
}


def tokens(text, **options):
    options = {"min_df": 1, "stop_words": "none", **options}
    words = TextOptions(**options).count("text", [text])[1]
    return sorted(words)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_letter_and_its_marks_are_one(script, form):
    text, words = SCRIPTS[script]
    assert tokens(unicodedata.normalize(form, text)) == sorted(unicodedata.normalize("NFC", w) for w in words)


def test_letters_are_counted_without_their_marks():
    assert tokens("é e\u0301 ó x ab") == ["ab"]
    assert tokens("दो की मैच") == ["मैच"]
    assert tokens("a\u0301b \u0301\u0301 1\u0301 _\u0301") == ["áb"]


def test_soft_hyphens_and_word_joiners_do_not_divide():
    assert tokens("Donau\u00addampf\u00adschiff no\u2060where \ufeffbom") == [
        "bom",
        "donaudampfschiff",
        "nowhere",
    ]
    assert tokens("Donau\u00addampf", pattern="blanks") == ["donaudampf"]
    assert tokens("cafe\u00ad\u0301") == ["café"]


def test_a_pattern_of_ones_own_sees_composed_text():
    assert tokens("Mu\u0308ller", pattern="[a-zü]+") == ["müller"]
    assert tokens("Mu\u0308ller", pattern="blanks", lowercase=False) == ["Müller"]


def test_lists_and_counts_of_words_are_composed():
    words = ["über", "u\u0308ber"]
    assert TextOptions(min_df=1).count("tokens", [words])[1] == ["über"]
    X, found = TextOptions(min_df=1).count("counts", [{words[0]: 2, words[1]: 3, "a": 1}, {"a": 1}])
    assert found == ["a", "über"] and X.toarray().tolist() == [[1, 5], [1, 0]]


def test_a_model_knows_words_in_either_form():
    composed = ps.Corpus.from_counts([[1, 2, 3]], vocabulary=["café", "über", "ball"])
    names = [unicodedata.normalize("NFD", w) for w in composed.vocabulary]
    decomposed = ps.Corpus.from_counts([[1, 2, 3]], vocabulary=names)
    for one, other in ((composed, decomposed), (decomposed, composed)):
        changed = one.with_vocabulary(other.vocabulary[::-1])
        assert changed.counts().toarray().tolist() == [[3, 2, 1]] and changed.n_unknown[0] == 0


@pytest.mark.parametrize(
    "other",
    [
        "cafe\u0301",
        " café",
        "café\u00a0",
        "ca\u00adfé",
        "caf\u200eé",
        "\u200fcafé",
        "caf\u200cé",
        "café\u200d",
    ],
)
def test_columns_of_words_that_read_the_same_are_added(other):
    with pytest.warns(InputWarning, match="are one word: 'caf.xe9', ") as told:
        both = ps.Corpus.from_counts([[1, 2, 5], [0, 3, 0]], vocabulary=["café", other, "a"])
    assert len(told) == 1 and both.vocabulary == ("café", "a")
    assert both.counts().toarray().tolist() == [[3, 5], [3, 0]]
    with pytest.warns(InputWarning, match="are one word"):
        of_tokens = ps.Corpus([0, 1, 1, 2, 1], [0, 4, 5], ["café", other, "a"])
    assert of_tokens.vocabulary == ("café", "a") and of_tokens.counts().toarray().tolist() == [[3, 1], [1, 0]]
    alone = ps.Corpus.from_counts([[2, 5]], vocabulary=[other, "a"])
    assert alone.with_vocabulary(both.vocabulary).counts().toarray().tolist() == [[2, 5]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        X, found = TextOptions(min_df=1).count("tokens", [["café", other, "a"], [other]])
    assert found == ["a", "café"] and X.toarray().tolist() == [[1, 2], [0, 1]]


def test_words_that_are_two_stay_two():
    names = ["a", "A", "1", "1.0", "new york", "newyork", "می\u200cخواهم", "میخواهم", "ക്\u200d", "ക്"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ps.Corpus.from_counts([range(1, 11)], vocabulary=names).vocabulary == tuple(names)


def test_a_model_with_both_forms_keeps_them():
    names = ["café", "cafe\u0301"]
    bag = ps.Corpus.from_counts([[1, 2]])._bag
    model = ps.Corpus.from_bag(bag, vocabulary=names)
    assert model.vocabulary == tuple(names)
    assert model.with_vocabulary(names[::-1]).counts().toarray().tolist() == [[2, 1]]


def test_characters_without_a_shape_do_not_divide():
    """All format characters (Cf) but signs with a shape, zero-width spaces and annotations."""
    apart = {*map(chr, range(0x600, 0x606)), *"\u06dd\u070f\u0890\u0891\u08e2\u200b\ufff9\ufffa\ufffb"}
    unseen = [chr(c) for c in (*range(0x10000), *range(0xE0000, 0xE0100))]
    unseen = [c for c in unseen if unicodedata.category(c) == "Cf" and c not in apart]
    assert len(unseen) > 100
    words = [f"go{c}al {c}orbit moon{c}" for c in unseen]
    assert tokens(" ".join(words)) == ["goal", "moon", "orbit"]


def test_joiners_at_the_ends_and_between_latin_letters_do_nothing():
    assert tokens("auf\u200clage کتاب\u200c، \u200dکتاب") == ["auflage", "کتاب"]
    assert tokens("അവന്\u200d") == ["അവന്\u200d"]  # behind a virama it makes another letter
    assert tokens("👩\u200d💻", pattern="blanks") == ["👩\u200d💻"]


def test_a_model_of_composed_texts_reads_decomposed_ones(tmp_path):
    rows = [("Müller Käse Größe", "a"), ("Häuser Bäume Flüsse", "b")] * 8
    for form in ("NFC", "NFD"):
        lines = [f"{unicodedata.normalize(form, t)},{label}" for t, label in rows]
        (tmp_path / f"{form}.csv").write_text("\n".join(["text,label", *lines]), encoding="utf-8")
    train = readers.Table(path=str(tmp_path / "NFC.csv")).read().train
    other = readers.Table(path=str(tmp_path / "NFD.csv")).read(vocabulary=train.vocabulary).train
    assert other.vocabulary == train.vocabulary and not other.n_unknown.any()
    assert other.digest() == train.digest()


@pytest.mark.parametrize("of_file", ["NFC", "NFD"])
@pytest.mark.parametrize("of_option", ["NFC", "NFD"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "jsonl with escapes"])
def test_names_of_fields_are_the_same_in_both_forms(of_file, of_option, kind, tmp_path):
    names = [unicodedata.normalize(of_file, name) for name in ("téxt", "lábel", "größe")]
    text, label, size = (unicodedata.normalize(of_option, name) for name in ("téxt", "lábel", "größe"))
    rows = [("rocket moon", "a", 1), ("moon rocket", "b", 2)]
    if kind == "csv":
        lines, reader = [",".join(map(str, row)) for row in [names, *rows]], readers.Table
    else:
        escapes = kind != "jsonl"
        lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=escapes) for row in rows]
        reader = readers.JsonLines
    (tmp_path / "d").write_text("\n".join(lines), encoding="utf-8")
    corpus = reader(path=str(tmp_path / "d"), text=text, label=label, fields=[size]).read().train
    assert corpus.responses.tolist() == ["a", "b"]
    assert list(map(float, corpus.fields["größe"])) == [1.0, 2.0]
    found = ps.Covariates(numeric=[size]).fit(corpus).transform(corpus)
    assert found.covariates.shape == (2, 1)


def test_a_field_in_both_forms_is_refused(tmp_path):
    names = [unicodedata.normalize(form, "é") for form in ("NFC", "NFD")]
    (tmp_path / "d").write_text(json.dumps({"text": "a b", names[0]: 1, names[1]: 2}), encoding="utf-8")
    with pytest.raises(ps.InputError, match='line 1: key "é" appears twice, in two Unicode forms'):
        readers.JsonLines(path=str(tmp_path / "d")).read()


# -- stop words ----------------------------------------------------------------------------------------------


@pytest.fixture
def stop_file(tmp_path):
    path = tmp_path / "stop.txt"

    def write(text):
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_stop_words_are_divided_as_the_pattern_divides_them(stop_file):
    file = stop_file("don't\nc'est\nnew york\nthe\n")
    with pytest.warns(InputWarning, match="divides 3 stop words.*\"don't\", 'new york'"):
        assert tokens("I don't know New York, c'est the moon", stop_words=file) == ["know", "moon"]
    with pytest.warns(InputWarning, match="divides 1 stop words.*'new york'$"):
        found = tokens("I don't know new york c'est the moon", stop_words=file, pattern="blanks")
    assert found == ["i", "know", "moon"]


def test_stop_words_are_matched_in_any_case_and_form(stop_file):
    file = stop_file("The\nU\u0308BER\nİstanbul\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for lowercase in (True, False):
            text = "THE The the über Über u\u0308ber İstanbul istanbul Moon"
            assert [w.lower() for w in tokens(text, stop_words=file, lowercase=lowercase)] == ["moon"]
    assert tokens("The the THE Moon", stop_words="english", lowercase=False) == ["Moon"]


# -- texts without blanks ------------------------------------------------------------------------------------

UNDIVIDED = {
    "Chinese": "火箭发射到月球轨道上运行良好。面包和黄油以及汤都很好吃。",
    "Japanese": "ロケットは月の軌道に打ち上げられました。パンとバターとスープはおいしいです。",
    "Thai": "จรวดถูกส่งขึ้นสู่วงโคจรของดวงจันทร์เมื่อวานนี้ ขนมปังและเนยกับซุปอร่อยมาก",
}
DIVIDED = {
    "Chinese": "火箭 发射 到 月球 轨道 上 运行 良好 。",
    "Thai": "จรวด ถูก ส่ง ขึ้น สู่ วงโคจร ของ ดวงจันทร์ เมื่อวาน นี้",
    "English": "a 火箭 is a rocket, as everybody knows who has been to China",
    "Korean": "로켓은 달 궤도에 발사되었습니다 빵과 버터와 수프는 맛있습니다",
}


@pytest.mark.parametrize("language", UNDIVIDED)
def test_texts_without_blanks_are_told_of(language, tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": UNDIVIDED[language]}) + "\n" for _ in range(3)))
    with pytest.warns(InputWarning, match="whole sentences become words; .* option tokens names the field"):
        readers.JsonLines(path=str(path)).read()


@pytest.mark.parametrize("language", DIVIDED)
def test_texts_with_blanks_are_not(language):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokens(DIVIDED[language])
        tokens(UNDIVIDED["Chinese"], pattern=r"[^\W\d_]")
