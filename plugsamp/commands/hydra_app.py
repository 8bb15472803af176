"""Runs a task under Hydra, and says what went wrong in words instead of a traceback."""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import (
    CompactHydraException,
)
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from plugsamp import hydra_source
from plugsamp.commands.arguments import as_typed
from plugsamp.commands.failures import RunFolder, of_plugin
from plugsamp.commands.mistakes import (
    TRACEBACK_VARIABLES,
    VALUED,
    explain,
    first_line,
    message_of,
    sweeps,
    unknown_flag,
)
from plugsamp.commands.sweeping import Completed, Sweep, awaiting, finish
from plugsamp.commands.wording import speak_of
from plugsamp.errors import Interrupted, InUse

log = logging.getLogger(__name__)

#: What the user can put right: bad values, unreadable files, quantities that left the real numbers.
USER_ERRORS = (ValueError, TypeError, OSError, ArithmeticError, MemoryError, OmegaConfBaseException)

NO_FOLDER = "hydra.{0}.dir is empty; name the folder to write to, hydra.{0}.dir=FOLDER"


def run(
    command: str,
    task: Callable[[DictConfig], object],
    arguments: list[str],
    config_name: str = "config",
    table: bool = False,
) -> int:
    """Compose the configuration from `arguments` and run `task` on it; returns the exit code.

    0 is success, 2 what the user can put right (said on standard error), 130 or 143 what a signal
    has ended. With `table` a sweep of the command ends with the table of its jobs, however it ends.
    Jobs of other commands have no folders: nothing is left of what Hydra writes of their sweep.
    """
    speak_of(None)
    if unknown := unknown_flag(command, arguments):
        print(f"plugsamp {command}: {unknown}", file=sys.stderr)
        return 2
    arguments = list(map(as_typed, _in_order(arguments)))
    for argument in arguments:
        empty = re.fullmatch(r"""\+{0,2}hydra\.(run|sweep)\.dir=\s*(''|""|null)?\s*""", argument)
        if empty:  # Hydra would write into the working folder, before anything else
            print(f"plugsamp {command}: {NO_FOLDER.format(empty[1])}", file=sys.stderr)
            return 2
    if not table and sweeps(arguments) and not any(re.match(r"\+*hydra\.sweep\.", a) for a in arguments):
        with tempfile.TemporaryDirectory(prefix="plugsamp-") as passing:
            return _run(command, task, _with(arguments, _sweep_folder(passing)), config_name, None)
    sweep = Sweep() if table else None
    code = worst = 0

    def once() -> int:
        given = _with(arguments, *(() if sweep is None else sweep.options))
        if sweep is not None and sweep.folder is not None:  # another round, whatever the time is by now
            given = _with(given, _sweep_folder(sweep.folder))
        return _run(command, task, given, config_name, sweep)

    def tell(what: str) -> None:
        print(f"plugsamp {command}: {what}", file=sys.stderr)

    try:
        if sweep is None:
            code = once()
        else:
            with sweep.patient(tell):
                code = sweep.rounds(once, tell)
    finally:
        if sweep is not None and sweep.folder is not None:
            try:
                without, worst = finish(sweep)
            finally:
                sweep.release()
            if without:
                tell(without)
    return code or worst


def _in_order(arguments: list[str]) -> list[str]:
    """Options, then flags with their values: Hydra's parser takes options only if nothing is between them."""
    options, flags = [], []
    for i, argument in enumerate(arguments):
        value = i > 0 and arguments[i - 1] in VALUED
        (flags if value or argument.startswith("-") else options).append(argument)
    return [*options, *flags]


def _with(arguments: list[str], *more: str) -> list[str]:
    """More options, behind those that are there."""
    first_flag = next((i for i, a in enumerate(arguments) if a.startswith("-")), len(arguments))
    return [*arguments[:first_flag], *more, *arguments[first_flag:]]


def _sweep_folder(folder: str) -> str:
    """The argument that has a sweep write there."""
    return 'hydra.sweep.dir="{}"'.format(folder.replace("\\", "\\\\").replace('"', '\\"'))


def _run(command: str, task, arguments: list[str], config_name: str, sweep: Sweep | None) -> int:
    failure: list[BaseException] = []
    gone: list[BrokenPipeError] = []  # the reader of the output
    keep = wants_traceback()
    folder = RunFolder(arguments)
    jobs = 0  # in this process: launchers may run them in others

    def job(config: DictConfig):
        nonlocal jobs
        jobs += 1
        if gone:
            return None
        speak_of(config)
        sweeping = HydraConfig.get().mode == RunMode.MULTIRUN
        try:
            if not (sweeping and sweep is not None):
                folder.path = Path(HydraConfig.get().runtime.output_dir)
                return task(config)
            _label_console(f"#{HydraConfig.get().job.num} ")
            with sweep.job():
                return task(config)
        except BrokenPipeError as error:
            if sweeping and sweep is not None:
                raise
            gone.append(error)  # Hydra would call it an error of the job
            return None
        except Exception as error:
            mistake = isinstance(error, USER_ERRORS)
            if sweeping and (mistake or sweep is not None):
                # The other jobs of a sweep go on; this one's failure is told at once, in its own log too.
                short = None if keep or mistake else of_plugin(error)
                trace = keep or not (mistake or short)
                if isinstance(error, InUse):  # its log is another's
                    number = HydraConfig.get().job.num
                    print(f"#{number} {command}: {message_of(error)}", file=sys.stderr)
                else:
                    log.error("%s: %s", command, short or message_of(error), exc_info=trace)
                if sweep is not None and sweep.lenient:
                    return None
            if keep or sweeping or not (mistake or of_plugin(error)):
                raise
            failure.append(error)  # Hydra would add lines of its own
            return None

    job.__module__ = task.__module__  # Hydra names the job after it
    options = {} if hydra_source.hydra_version() >= (1, 4) else {"version_base": "1.3"}
    app = hydra.main(config_path=hydra_source.CONF, config_name=config_name, **options)(job)
    argv, full = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    handlers = set(logging.getLogger().handlers)
    try:
        sys.argv = [f"plugsamp {command}", *arguments]
        os.environ["HYDRA_FULL_ERROR"] = "1"  # so that errors reach us, not Hydra's printer
        with hydra_source.registered(), awaiting(sweep):
            app()
            if gone:
                raise gone[0]
            if not jobs and sweeps(arguments) and (empty := _empty(arguments)):
                failure.append(ValueError(empty))
    except BrokenPipeError:
        raise
    except Completed:
        return _run(command, task, _with(arguments, *sweep.options), config_name, sweep)
    except KeyboardInterrupt as interrupt:
        print(f"plugsamp {command}: {str(interrupt) or 'interrupted'}", file=sys.stderr)
        return interrupt.exit_code if isinstance(interrupt, Interrupted) else 130
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except (CompactHydraException, *USER_ERRORS) as error:
        if keep:
            raise
        failure.append(error)
    except Exception as error:
        if keep or sweep is None or sweep.folder is None:
            raise
        # Jobs keep their own: this is the launcher's, such as a pool one of whose processes was killed.
        why = f"{type(error).__name__}: {first_line(str(error))}{sweep.died_in()}"
        sweep.broken = True
        print(f"plugsamp {command}: the launcher has ended early: {why}", file=sys.stderr)
        return 1
    finally:
        _forget_logs(handlers)
        sys.argv = argv
        if full is None:
            os.environ.pop("HYDRA_FULL_ERROR", None)
        else:
            os.environ["HYDRA_FULL_ERROR"] = full
    if failure and not isinstance(failure[0], (CompactHydraException, *USER_ERRORS)):
        print(f"plugsamp {command}: an error in a plugin's code\n{of_plugin(failure[0])}", file=sys.stderr)
        print(f"({TRACEBACK_VARIABLES[0]}=1 shows the whole traceback)", file=sys.stderr)
        return 1
    if failure:
        if sweep is not None:
            folder.forget()
        print(f"plugsamp {command}: {explain(failure[0], arguments, config_name)}", file=sys.stderr)
        return 2
    return 0


def _forget_logs(before: set[logging.Handler]) -> None:
    """Detach the log files of runs: what this process says afterwards is not theirs."""
    root = logging.getLogger()
    for handler in set(root.handlers) - before:
        if isinstance(handler, logging.FileHandler):
            root.removeHandler(handler)
            handler.close()


def _label_console(label: str) -> None:
    """Begin each line on the terminal with `label`: jobs of a sweep that run at once share it."""
    for handler in logging.getLogger().handlers:
        ours = handler.formatter is not None and handler.formatter._fmt == "%(message)s"
        if (
            ours
            and isinstance(handler, logging.StreamHandler)
            and not isinstance(handler, logging.FileHandler)
        ):
            handler.setFormatter(logging.Formatter(f"{label}%(message)s"))


def wants_traceback() -> bool:
    return any(os.environ.get(name, "0") not in ("", "0") for name in TRACEBACK_VARIABLES)


def _empty(arguments: list[str]) -> str | None:
    """What to say where one of the arguments of a sweep stands for no value at all."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    options = {} if hydra_source.hydra_version() >= (1, 4) else {"version_base": "1.3"}
    GlobalHydra.instance().clear()
    with hydra.initialize_config_module("plugsamp.conf", **options):
        parser = OverridesParser.create(GlobalHydra.instance().config_loader())
        overrides = parser.parse_overrides([a for a in arguments if "=" in a and not a.startswith("-")])
        for one in (o for o in overrides if o.is_sweep_override()):
            if next(iter(one.sweep_string_iterator()), None) is None:
                why = "is an empty range" if one.is_range_sweep() else "matches no choice"
                return f"the sweep has no run: {one.input_line} {why}"
    return None
