"""The report of a posterior: one HTML file that needs nothing else, not even the network.

`page` gathers what is shown from the posterior's tables, a module a section (`verdict`, `topics`, `outcome`,
`weights`, `documents`, `chains`), and fills a template, which escapes all text. `svg` draws the charts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


def write(
    run,
    out=None,
    *,
    posterior=None,
    metrics=None,
    train=None,
    test=None,
    documents: Sequence[str] = (),
    texts: Mapping[str, str] | Callable | None = None,
    names=None,
) -> Path:
    """Write the report of a finished run.

    Parameters
    ----------
    run : path-like
        The run folder.
    out : path-like, optional
        The file; by default ``report.html`` in the folder. It is replaced if it is there.
    posterior : Posterior, optional
        That of the run; by default the folder's (`plugsamp.load`).
    metrics : dict, optional
        What metrics.json is going to hold, where it is not there yet.
    train, test : Corpus, optional
        The documents, of any vocabulary. Without them there are no documents on the page.
    documents : sequence of str
        Ids of documents whose predictions are explained; by default some are chosen, mistakes first.
    texts : mapping of str to str, or function, optional
        What documents say, by their ids; a function takes ids and returns such a mapping. Without it the page
        shows the text in a field of the corpus, if there is one, or the words.
    names : path-like, optional
        Names of topics (`plugsamp.posterior.names`); by default ``topic_names.json`` in the folder, if there
        is one. If that file is for other topics, it is ignored with a warning.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        A folder without a finished run or without a model, a file of it or of names that cannot be read, or
        an id that no document has.
    """
    from plugsamp.files.whole import write_text
    from plugsamp.posterior import run_folder
    from plugsamp.posterior.saved import load, take_names
    from plugsamp.report import page

    path = Path(run)
    files = run_folder.read(path, metrics)
    if posterior is None:
        posterior = load(path)
    elif names is None:
        take_names(posterior, path)
    if names is not None:
        posterior.names = {}
        posterior.rename(names)
    out = path / "report.html" if out is None else Path(out)
    text = page.page(posterior, files, train=train, test=test, chosen=documents, texts_by_id=texts)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, text)
    return out
