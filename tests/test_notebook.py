"""The notebook of the guide runs, and is as short as it says."""

from importlib import resources

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(tmp_path):
    notebook = nbformat.reads((resources.files("plugsamp") / "guide" / "notebook.ipynb").read_text(), 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert sum(bool(line.strip()) for cell in code for line in cell.source.splitlines()) <= 25
    assert not any(cell.outputs for cell in code)  # is kept without them
    for cell in code:  # what is shown does not depend on how many sweeps there are
        cell.source = cell.source.replace("sweeps=100", "sweeps=10")
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = [
        out for cell in code for out in cell.outputs if out.output_type in ("execute_result", "display_data")
    ]
    assert sum("text/html" in out.data for out in shown) == 5  # corpus, topics, scores, predictions, terms
    assert sum("image/png" in out.data for out in shown) == 2
    assert shown[-1].data["text/plain"].endswith("True")
    assert (tmp_path / "docstrings_model").is_dir()
