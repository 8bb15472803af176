"""The report of a run: one HTML file that needs nothing else, neither the network nor scripts.

What is shown is gathered as plain data, a module a section (`topics`, `weights`, `outcome`, `explain`,
`chains`), drawn as SVG (`svg`) and put into a page by a template (`page`), which escapes all text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def write(
    run,
    out=None,
    *,
    metrics=None,
    predictor=None,
    train=None,
    test=None,
    train_prediction=None,
    documents: Sequence[str] = (),
    names=None,
) -> Path:
    """Write the report of a finished run.

    Parameters
    ----------
    run : path-like
        The run folder.
    out : path-like, optional
        The file; by default ``report.html`` in the folder. It is replaced if it is there.
    metrics : dict, optional
        What metrics.json is going to hold, where it is not there yet.
    predictor : Predictor or Ensemble, optional
        The fitted model; by default the one in the folder, if there is one.
    train, test : Corpus, optional
        The documents, of any vocabulary. Without them there are no documents on the page.
    train_prediction : Prediction, optional
        That of `train`, where it has been made already.
    documents : sequence of str
        Ids of documents whose predictions are explained; by default some are chosen, mistakes first.
    names : path-like, optional
        Names of topics (`plugsamp.report.names`); by default ``topic_names.json`` in the folder, if there
        is one (which is left out with a warning where it is for other topics).

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        A folder without a finished run, a file of it or of names that cannot be read, or an id that no
        document has.
    """
    from plugsamp.files.whole import write_text
    from plugsamp.report import page

    folder = Path(run)
    out = folder / "report.html" if out is None else Path(out)
    text = page.text(folder, metrics, predictor, train, test, train_prediction, documents, names)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, text)
    return out
