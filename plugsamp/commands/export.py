"""`plugsamp export`: what a run has left, for other programs: its chains for ArviZ, its model in one file."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from pathlib import Path
from zipfile import is_zipfile

from omegaconf import DictConfig

from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.commands.targets import target
from plugsamp.commands.wording import warnings_to
from plugsamp.errors import InputError
from plugsamp.options import shown

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
    for name, (to, without) in APPLY.items():
        if settings.to != to and (given := getattr(settings, name)) != without:
            raise ValueError(
                f"{name}={shown(given)} is an option of to={to}; to={settings.to} has no use for it"
            )
    with contextlib.chdir(HydraConfig.get().runtime.cwd), warnings_to(log):
        out, run = target("out", settings.out, settings.overwrite), Path(settings.run)
        if not run.exists():
            raise InputError("there is no such folder", file=run)
        WRITERS[settings.to](settings, run, out)
        print(f"{out}: {out.stat().st_size:,} bytes")


def _netcdf(settings: Settings, run: Path, out: Path) -> None:
    from plugsamp.exchange import write_netcdf

    if run.is_file():
        what = "a model in one file" if is_zipfile(run) else "a file"
        raise InputError(f"this is {what}, and no run: chains are in a run's folder", file=run)
    try:
        write_netcdf(run, out, draws=settings.draws, aligned=settings.aligned)
    except ImportError as error:
        raise ValueError(str(error)) from None


def _model(settings: Settings, run: Path, out: Path) -> None:
    from plugsamp.commands.saved import load
    from plugsamp.posterior.saved import export

    export(load(settings.run, {}, None), out, eta=settings.eta, overwrite=settings.overwrite)


WRITERS = {"netcdf": _netcdf, "model": _model}

#: Options of one of them: of which, and the value that asks for nothing.
APPLY = {"aligned": ("netcdf", False), "draws": ("netcdf", None), "eta": ("model", "draws")}

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
