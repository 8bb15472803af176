"""`plugsamp export`: what a run has left, for other programs: its chains for ArviZ, its model in one file."""

from __future__ import annotations

import contextlib
import logging
import warnings
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.errors import InputError

log = logging.getLogger(__name__)


@dataclass
class Settings:
    """The options and their types; the values come from conf/export.yaml."""

    run: str
    to: str
    aligned: bool
    draws: str | None
    eta: str
    out: str
    overwrite: bool


def task(config: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    if settings.to not in WRITERS:
        raise ValueError(f"to must be {' or '.join(WRITERS)}, not {settings.to!r}")
    with contextlib.chdir(HydraConfig.get().runtime.cwd), warnings.catch_warnings():
        warnings.showwarning = lambda message, *rest, **more: log.warning("%s", message)
        out, run = Path(settings.out), Path(settings.run)
        if out.exists() and not settings.overwrite:
            raise InputError("the file is there already; overwrite=true replaces it", file=out)
        if not run.exists():
            raise InputError("there is no such folder", file=run)
        WRITERS[settings.to](settings, run, out)
        print(f"{out}: {out.stat().st_size:,} bytes")


def _netcdf(settings: Settings, run: Path, out: Path) -> None:
    from plugsamp.exchange import write_netcdf

    try:
        write_netcdf(run, out, draws=settings.draws, aligned=settings.aligned)
    except ImportError as error:
        raise ValueError(str(error)) from None


def _model(settings: Settings, run: Path, out: Path) -> None:
    from plugsamp.commands.saved import load
    from plugsamp.compact import export

    export(load(settings.run, {}, None), out, eta=settings.eta, overwrite=settings.overwrite)


WRITERS = {"netcdf": _netcdf, "model": _model}

USAGE = """\
plugsamp export run=FOLDER to=netcdf|model out=FILE [OPTION=VALUE ...]

Write what a run has left for other programs. to=netcdf: its chains as ArviZ reads them (arviz.from_netcdf,
xarray.open_datatree). to=model: one small file with all that prediction needs and nothing else, which
plugsamp predict and ps.load_model take like a model folder."""

EXAMPLES = """\
  plugsamp export run=outputs/2026-01-31/12-00-00 to=netcdf out=chains.nc
  plugsamp export run=run to=netcdf aligned=true out=chains.nc
  plugsamp export run=run to=model out=model.zip
  plugsamp predict model=model.zip corpus=lines corpus.path=new.txt"""

COMMAND = Command("export", "export", task, USAGE, EXAMPLES, ())
main = COMMAND.main
