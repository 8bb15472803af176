"""Chains as ArviZ has them: InferenceData before its version 1, an xarray DataTree since; netCDF files.

Both are named groups of the same xarray data sets, so these are made here (`datasets`), of what a fit or a
run folder has of its chains (`chains`), and put into whichever there is.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from pathlib import Path

from plugsamp.exchange.chains import of_folder, of_posterior

#: The file of a run folder.
FILE = "trace.nc"


def to_arviz(fitted, *, draws: str | None = None, aligned: bool = False):
    """A fit's chains for ArviZ.

    Parameters
    ----------
    fitted : Posterior or path-like
        Or the folder of a run.
    draws : {"sweeps", "kept"}, optional
        Every sweep after the burn-in, with what is traced of it; or those whose draws were kept, with the
        weights of covariates, intercepts and the loss's parameters too. By default the first, and with
        `aligned` the second.
    aligned : bool
        Bring the topics of every chain into the order that fits the first's best
        (`plugsamp.diagnostics.convergence.align`, by mean topics), and have the topics' weights ``eta``
        among the draws. Topics that change places *within* a chain are not seen by this.

    Returns
    -------
    arviz.InferenceData, or xarray.DataTree where ArviZ is 1 or newer, or not installed
        Groups ``posterior``; ``sample_stats`` (``lp``, parts of the log joint, share of tokens moved,
        acceptance by proposal, seconds); ``observed_data`` with the responses, where the documents are at
        hand; ``constant_data`` with the documents' lengths and, aligned, each chain's mean topics. Of the
        kept draws of a loss that is a likelihood also ``log_likelihood`` and ``posterior_predictive``, for
        `az.loo` and `az.plot_ppc` (`plugsamp.exchange.predictive`): responses are in the units as they were
        given, classes are numbers, and attributes name them. Draws are called by their sweeps.

    Raises
    ------
    ValueError
        Models of several posteriors (multiclass=ovr, ovo), no sweep after the burn-in, or draws that were not
        kept.
    ImportError
        Where xarray is not installed; the message says how to.
    """
    if isinstance(fitted, str | Path):
        data = of_folder(fitted, documents=aligned or draws == "kept")
    else:
        data = of_posterior(fitted)
    _check_xarray()
    from plugsamp.exchange.datasets import datasets

    groups, attributes = datasets(*data, draws, aligned)
    inference_data = _inference_data()
    if inference_data is not None:
        return inference_data(attrs=attributes, **groups)
    import xarray

    tree = xarray.DataTree.from_dict(groups)
    tree.attrs.update(attributes)
    return tree


def write_netcdf(fitted, path, **options) -> Path:
    """Write `to_arviz` as netCDF, which ``arviz.from_netcdf`` and ``xarray.open_datatree`` read.

    Parameters
    ----------
    fitted, options
        Of `to_arviz`.
    path : path-like
        There complete or not at all; replaced if it is there.
    """
    path, data = Path(path), to_arviz(fitted, **options)
    check_netcdf()
    temporary = path.with_name(f".{path.name}.part")
    try:
        data.to_netcdf(str(temporary), engine="h5netcdf")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def check_netcdf() -> None:
    """Refuse (ImportError) where netCDF cannot be written, before a long run."""
    _check_xarray()
    try:
        import h5netcdf  # noqa: F401
        import h5py  # noqa: F401
    except ImportError:
        raise ImportError("netCDF files are written by h5netcdf: pip install 'plugsamp[arviz]'") from None


def _check_xarray() -> None:
    try:
        import xarray
    except ImportError:
        raise ImportError("chains are handed to ArviZ by xarray: pip install 'plugsamp[arviz]'") from None
    if not hasattr(xarray, "DataTree") and _inference_data() is None:
        raise ImportError(f"xarray {xarray.__version__} is too old: pip install 'plugsamp[arviz]'")


def _inference_data():
    """The class of ArviZ before 1; None where it is newer or not installed."""
    try:
        with _quietly():
            import arviz
    except ImportError:
        return None
    if int(arviz.__version__.partition(".")[0]) >= 1:  # the name stands for xarray's DataTree there
        return None
    return arviz.InferenceData


@contextmanager
def _quietly():
    """What ArviZ says of itself when it is imported, of its next version and so on, is not said."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.INFO))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
