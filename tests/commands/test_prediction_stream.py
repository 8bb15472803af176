"""`plugsamp predict` in batches: the same rows whatever the batch, formats, interruption, pipes."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from plugsamp.cli import main
from plugsamp.commands import predict as command


def predict(*arguments):
    return main(["predict", "model=run", "corpus=jsonl", *arguments])


def test_rows_are_the_same_in_any_batch_and_with_any_number_of_jobs(fitted):
    assert predict("corpus.path=docs.jsonl", "out=whole.csv") == 0
    expected = (fitted / "whole.csv").read_bytes()
    for i, options in enumerate((["batch=1"], ["batch=7", "n_jobs=2"], ["batch=1000", "n_jobs=2"])):
        assert predict("corpus.path=docs.jsonl", f"out={i}.csv", *options) == 0
        assert (fitted / f"{i}.csv").read_bytes() == expected


def test_the_name_of_the_file_says_what_is_written(fitted):
    for name in ("p.csv", "p.csv.gz", "p.csv.bz2", "p.jsonl", "p.jsonl.gz"):
        assert predict("corpus.path=docs.jsonl", f"out={name}", "batch=5") == 0
    plain = (fitted / "p.csv").read_bytes()
    assert gzip.decompress((fitted / "p.csv.gz").read_bytes()) == plain
    assert bz2.decompress((fitted / "p.csv.bz2").read_bytes()) == plain
    lines = (fitted / "p.jsonl").read_bytes()
    assert gzip.decompress((fitted / "p.jsonl.gz").read_bytes()) == lines
    table = list(csv.DictReader(io.StringIO(plain.decode())))
    for row, line in zip(table, lines.splitlines(), strict=True):
        found = json.loads(line)
        assert list(found) == list(row)
        assert all(str(found[name]) == row[name] for name in row)
        assert isinstance(found["score_food"], float) and isinstance(found["n_known"], int)


def test_parquet(fitted):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    assert predict("corpus.path=docs.jsonl", "out=p.parquet", "batch=9") == 0
    assert predict("corpus.path=docs.jsonl", "out=p.csv") == 0
    found = parquet.read_table(fitted / "p.parquet").to_pydict()
    table = list(csv.DictReader((fitted / "p.csv").read_text().splitlines()))
    assert list(found) == list(table[0])
    assert found["predicted"] == [row["predicted"] for row in table]
    assert found["score_food"] == [float(row["score_food"]) for row in table]
    assert predict("corpus.path=docs.jsonl", "out=p.parquet.gz") == 2


def test_without_pyarrow_the_message_names_the_extra(fitted, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert predict("corpus.path=docs.jsonl", "out=p.parquet") == 2
    assert "plugsamp[parquet]" in capsys.readouterr().err
    assert not list(fitted.glob(".p*"))


def test_an_interrupted_command_goes_on_where_it_stopped(fitted, monkeypatch, capsys):
    options = ["corpus.path=docs.jsonl", "batch=4"]
    assert predict(*options, "out=whole.csv.gz") == 0
    predicted, made = command.predicted, []

    def interrupted(*given):
        for n, pair in enumerate(predicted(*given)):
            if n == 2:
                raise KeyboardInterrupt
            made.append(pair[0].ids)
            yield pair

    monkeypatch.setattr(command, "predicted", interrupted)
    assert predict(*options, "out=p.csv.gz") == 130
    assert not (fitted / "p.csv.gz").exists()
    with open(fitted / ".p.csv.gz.part", "ab") as file:  # what a kill leaves of a batch
        file.write(b"half a row")
    again = []

    def counted(*given):
        for pair in predicted(*given):
            again.extend(pair[0].ids)
            yield pair

    monkeypatch.setattr(command, "predicted", counted)
    capsys.readouterr()
    assert predict(*options[:1], "batch=3", "out=p.csv.gz") == 0
    assert "going on behind the 8 documents" in capsys.readouterr().err
    done = {name for ids in made for name in ids}
    assert not done & set(again) and len(done) == 8
    whole, found = (gzip.decompress((fitted / n).read_bytes()) for n in ("whole.csv.gz", "p.csv.gz"))
    assert found == whole
    assert not list(fitted.glob(".p.csv*"))


def run_command(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "plugsamp.cli", "predict", "model=run", *arguments], **options
    )


def test_a_killed_command_goes_on_where_it_stopped(fitted):
    texts = [{"id": str(i), "text": "orbit rocket soup"} for i in range(4_000)]
    (fitted / "new.jsonl").write_text("\n".join(map(json.dumps, texts)))
    options = ["corpus=jsonl", "corpus.path=new.jsonl", "batch=10"]
    state = fitted / ".p.jsonl.gz.state.json"
    process = run_command(*options, "out=p.jsonl.gz", stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not state.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL  # it was not done
    assert state.exists() and not (fitted / "p.jsonl.gz").exists()
    done = json.loads(state.read_text())["rows"]
    assert 0 < done < 4_000
    assert main(["predict", "model=run", *options[:2], "out=p.jsonl.gz"]) == 0
    assert main(["predict", "model=run", *options[:2], "out=whole.jsonl.gz"]) == 0
    whole, found = (gzip.decompress((fitted / n).read_bytes()) for n in ("whole.jsonl.gz", "p.jsonl.gz"))
    assert found == whole and found.count(b"\n") == 4_000
    assert not list(fitted.glob(".p.jsonl*"))


def test_the_reader_of_a_pipe_may_stop_early(fitted):
    line = json.dumps({"text": "orbit rocket soup"}) + "\n"
    options = ["corpus=jsonl", "corpus.path=-", "out=-", "batch=20"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with run_command(*options, **pipes) as process:
        writer = threading.Thread(target=write_to, args=(process.stdin, line * 20_000))
        writer.start()
        first = [process.stdout.readline() for _ in range(2)]
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(60) == 0
        writer.join()
    assert first[0].startswith("id,predicted") and first[1].startswith("1,")
    assert "Traceback" not in errors and "Error" not in errors and "roken" not in errors, errors


def write_to(pipe, text):
    try:
        pipe.write(text)
        pipe.close()
    except BrokenPipeError:
        pass


def test_other_documents_start_anew(fitted, monkeypatch):
    def cut(*given):
        yield next(iter(predicted(*given)))
        raise KeyboardInterrupt

    predicted = command.predicted
    monkeypatch.setattr(command, "predicted", cut)
    assert predict("corpus.path=docs.jsonl", "batch=4", "out=p.csv") == 130
    monkeypatch.undo()
    monkeypatch.chdir(fitted)
    lines = (fitted / "docs.jsonl").read_text().splitlines()
    (fitted / "docs.jsonl").write_text("\n".join(lines[:6]) + "\n")
    assert predict("corpus.path=docs.jsonl", "out=p.csv") == 0
    assert predict("corpus.path=docs.jsonl", "out=whole.csv") == 0
    assert (fitted / "p.csv").read_bytes() == (fitted / "whole.csv").read_bytes()


def test_a_pipe(fitted, monkeypatch, capsys):
    texts = [{"id": str(i), "text": "orbit rocket soup"} for i in range(10)]
    data = "\n".join(map(json.dumps, texts)).encode()
    (fitted / "new.jsonl").write_bytes(data)
    assert predict("corpus.path=new.jsonl", "out=-", "batch=3") == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert predict("corpus.path=-", "out=-", "batch=4") == 0
    assert capsys.readouterr().out == expected and expected.count("\n") == 11


def test_a_mistake_in_mid_stream_names_the_line_and_leaves_nothing(fitted, capsys):
    good = "\n".join(json.dumps({"text": "soup"}) for _ in range(9)) + "\n"
    (fitted / "new.jsonl").write_text(good + "{]\n" + good)
    assert predict("corpus.path=new.jsonl", "out=p.csv", "batch=4") == 2
    assert "new.jsonl, line 10" in capsys.readouterr().err
    assert not list(fitted.glob("*p.csv*")) and not list(fitted.glob(".p.csv*"))


def test_an_id_that_two_batches_share_is_refused(fitted, capsys):
    rows = [{"id": str(i % 9), "text": "soup"} for i in range(10)]
    (fitted / "new.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert predict("corpus.path=new.jsonl", "out=p.csv", "batch=4") == 2
    assert "id 0 occurs twice" in capsys.readouterr().err


def test_what_is_wrong_with_many_documents_is_told_once(fitted, capsys):
    rows = [{"text": "zebra" if i % 2 else "soup zebra"} for i in range(20)]
    (fitted / "new.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert predict("corpus.path=new.jsonl", "out=p.csv", "batch=3") == 0
    said = capsys.readouterr().err
    assert said.count("10 documents have no word of the model") == 1
    assert said.count("20 tokens are no words of the model") == 1
    (fitted / "new.jsonl").write_text("\n".join(json.dumps({"text": "zebra"}) for _ in range(9)))
    assert predict("corpus.path=new.jsonl", "out=q.csv", "batch=2") == 0
    assert capsys.readouterr().err.count("no document has a word of the model") == 1


@pytest.mark.parametrize("form", ["csv", "lines"])
def test_tables_and_lines_in_batches(fitted, form):
    if form == "csv":
        rows = [f'{i},"soup, {"bread" if i % 2 else "orbit"}\nrocket\r",,{i}' for i in range(11)]
        (fitted / "new.csv").write_text("\n".join(["id,text,label,", *rows]), newline="")
    else:
        (fitted / "new.lines").write_text("\n".join(["soup bread", "", "orbit rocket"] * 4))
    options = ["predict", "model=run", f"corpus={form}", f"corpus.path=new.{form}"]
    assert main([*options, "out=whole.csv"]) == 0
    found = (fitted / "whole.csv").read_bytes()
    assert len(found.splitlines()) == (12 if form == "csv" else 13)
    for batch in (1, 2, 5):
        assert main([*options, "out=p.csv", f"batch={batch}", "overwrite=true"]) == 0
        assert (fitted / "p.csv").read_bytes() == found


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('3,"law', "line 4, column 3: the quote opened here"),
        ("3,law,more", "line 4: 2 fields expected, 3 found"),
        ("3,la\rw", "line 4, column 5: carriage return"),
        ("0,law", "id 0 occurs twice"),
    ],
)
def test_a_mistake_late_in_a_table_names_its_line(fitted, rows, message, capsys):
    (fitted / "new.csv").write_text("id,text\n0,soup\n1,bread\n" + rows + "\n4,soup\n", newline="")
    options = ["predict", "model=run", "corpus=csv", "corpus.path=new.csv", "out=p.csv", "batch=1"]
    assert main(options) == 2
    assert message in capsys.readouterr().err
    assert not list(fitted.glob("*p.csv*"))


def test_predict_iter_yields_what_predict_says(fitted):
    import plugsamp as ps
    from plugsamp.prediction.stream import predict_iter
    from plugsamp.readers import JsonLines

    model = ps.load_model(fitted / "run/model")
    reader = JsonLines(path="docs.jsonl", split="none")
    corpus = reader.read(vocabulary=model.vocabulary).train
    whole = model.predict(corpus)
    for documents in (reader, corpus, [corpus]):
        parts = list(model.predict_iter(documents, batch=5, n_jobs=2))
        assert np.array_equal(np.vstack([part.f for part in parts]), whole.f)
        assert [i for part in parts for i in part.ids] == list(whole.ids)
    with pytest.raises(ValueError, match="batch"):
        predict_iter(model, corpus, batch=0)
