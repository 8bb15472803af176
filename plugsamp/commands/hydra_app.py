"""Runs a task under Hydra, and says what went wrong in words instead of a traceback."""

from __future__ import annotations

import logging
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.errors import (
    CompactHydraException,
    ConfigCompositionException,
    MissingConfigException,
    OverrideParseException,
)
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from plugsamp import hydra_source, registry
from plugsamp.commands.arguments import readable
from plugsamp.commands.failures import RunFolder, of_plugin
from plugsamp.commands.sweeping import Completed, Sweep, awaiting, finish
from plugsamp.commands.wording import corpus_of, speak_of, spoken_error
from plugsamp.errors import Interrupted, InUse

log = logging.getLogger(__name__)

#: What the user can put right: bad values, unreadable files, quantities that left the real numbers.
USER_ERRORS = (ValueError, TypeError, OSError, ArithmeticError, MemoryError, OmegaConfBaseException)

#: Either of these in the environment brings the tracebacks back.
TRACEBACK_VARIABLES = ("PLUGSAMP_TRACEBACK", "HYDRA_FULL_ERROR")

#: Flags of Hydra's that are followed by a value.
VALUED = (
    "--cfg", "-c", "--package", "-p", "--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd",
    "--experimental-rerun", "--info", "-i",
)  # fmt: skip

#: What may be meant by an option that a command does not have, as another one has it.
SAME = {
    "run": ("model", "folder"), "model": ("run",), "folder": ("run", "model"), "out": ("hydra.run.dir",),
    "output": ("out",), "path": ("corpus.path",), "file": ("out", "corpus.path"),
}  # fmt: skip

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
    if unknown := _unknown_flag(command, arguments):
        print(f"plugsamp {command}: {unknown}", file=sys.stderr)
        return 2
    arguments = _in_order(arguments)
    for argument in arguments:
        empty = re.fullmatch(r"""\+{0,2}hydra\.(run|sweep)\.dir=\s*(''|""|null)?\s*""", argument)
        if empty:  # Hydra would write into the working folder, before anything else
            print(f"plugsamp {command}: {NO_FOLDER.format(empty[1])}", file=sys.stderr)
            return 2
    if not table and _sweeps(arguments) and not any(re.match(r"\+*hydra\.sweep\.", a) for a in arguments):
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


def _unknown_flag(command: str, arguments: list[str]) -> str | None:
    """What to say of a flag that Hydra does not have: an option, written as other programs have them."""
    known = get_args_parser()._option_string_actions
    for place, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        if not flag.startswith("-") or (place and arguments[place - 1] in VALUED):
            continue
        if flag in known or (flag[:2] == "--" and len(flag) > 2 and any(k.startswith(flag) for k in known)):
            continue
        if flag in ("-v", "-vv", "--verbose"):
            return f"there is no flag {flag}; hydra.verbose=true says more"
        follows = next((a for a in arguments[place + 1 :] if not a.startswith("-")), None)
        name = flag.strip("-").replace("-", "_") or "NAME"
        value = value if equals else follows if follows and "=" not in follows else "VALUE"
        return f"there is no flag {flag}; options are written {name}={value} (plugsamp {command} --help)"
    return None


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
    options = {} if _hydra_version() >= (1, 4) else {"version_base": "1.3"}
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
            if not jobs and _sweeps(arguments) and (empty := _empty(arguments)):
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
        why = f"{type(error).__name__}: {_first_line(str(error))}{sweep.died_in()}"
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


def compose(arguments: list[str], config_name: str = "config", hydra_too: bool = False) -> DictConfig:
    """The configuration that `arguments` make, without running anything; Hydra's too where asked for."""
    from hydra.core.global_hydra import GlobalHydra

    options = {} if _hydra_version() >= (1, 4) else {"version_base": "1.3"}
    GlobalHydra.instance().clear()
    with hydra_source.registered(), hydra.initialize_config_module("plugsamp.conf", **options):
        return hydra.compose(config_name, overrides=list(arguments), return_hydra_config=hydra_too)


def explain(error: BaseException, arguments: list[str], config_name: str) -> str:
    """One plain message for an error of composition or of the task."""
    if isinstance(error, OverrideParseException):
        if "~" in error.override[1:]:
            return (
                f"cannot read the argument {error.override!r}; ~ does not stand for the home folder here: "
                "write $HOME, or quote the value: 'name=\"a~b\"'"
            )
        if (right := readable(error.override)) is not None and not Path(error.override).exists():
            return (
                f"cannot read the argument {error.override!r}; write {shlex.quote(right)}. A value with "
                "letters beyond ASCII, brackets, = or other signs goes in quotes inside quotes"
            )
        if (path := corpus_of(error.override)) is not None:
            return f"cannot read the argument {error.override!r}; a corpus is given as {path}"
        return (
            f"cannot read the argument {error.override!r}; options are written name=value. A value with "
            f"blanks, commas, brackets or = goes in quotes inside quotes: 'name=\"a, b\"'"
        )
    if isinstance(error, MissingConfigException):
        return _unknown_choice(error)
    bad = next((a for a in arguments if _no_choice(a)), None)
    if bad is not None and "Config group override must be" in str(error):
        return f"{bad}: a choice is needed{_there_are(bad.partition('=')[0])}"
    if isinstance(error, ConfigCompositionException):
        key = re.match(r"Could not override '(.+?)'", str(error))
        if key:
            return _unknown_key(key[1], arguments, config_name)
        several = re.match(r"Ambiguous value for argument '(.+?)=(.+)'\n", str(error))
        if several:
            name, values = several.groups()
            return (
                f"{name}={values} is several values; add --multirun for a run of each, write a list as "
                f"{name}=[{values}], or quote one value: '{name}=\"{values}\"'"
            )
        cause = f": {error.__cause__}" if isinstance(error.__cause__, OmegaConfBaseException) else ""
        return f"{error}{_first_line(cause)}" if str(error) else str(error.__cause__)
    return _no_folder(error, arguments) or message_of(error)


def _no_folder(error: BaseException, arguments: list[str]) -> str | None:
    """What to say where the folder of a run or sweep, or one that it is to be in, cannot be made."""
    if not isinstance(error, OSError) or not isinstance(error.filename, str):
        return None
    for argument in arguments:
        named = re.fullmatch(r"\+{0,2}(hydra\.(?:run|sweep)\.dir)=(.*)", argument)
        folder = Path(named[2].strip("'\"")) if named else None
        if folder is not None and Path(error.filename) in (folder, *folder.parents) and not folder.is_dir():
            return f"{named[1]}={folder}: this folder cannot be made ({error.filename}: {error.strerror})"
    return None


def message_of(error: BaseException) -> str:
    notes = getattr(error, "__notes__", None)  # which plugin it comes from
    if notes:
        where = f"{'; '.join(notes)}; {TRACEBACK_VARIABLES[0]}=1 shows the line"
        return f"{type(error).__name__}: {_plain(error)} ({where})"
    return _plain(error)


def _plain(error: BaseException) -> str:
    if isinstance(error.__cause__, OSError) and str(error).startswith("Unable to configure handler"):
        error = error.__cause__  # logging's own words for a log that cannot be written
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, OmegaConfBaseException):
        return _first_line(str(error))
    return spoken_error(error) or type(error).__name__


def _sweeps(arguments: list[str]) -> bool:
    """Whether the arguments ask for a sweep, and not just for what Hydra knows of itself."""
    asked = set(arguments)
    return bool(asked & {"-m", "--multirun"}) and not asked & {"--version", "--hydra-help"}


def _empty(arguments: list[str]) -> str | None:
    """What to say where one of the arguments of a sweep stands for no value at all."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    options = {} if _hydra_version() >= (1, 4) else {"version_base": "1.3"}
    GlobalHydra.instance().clear()
    with hydra.initialize_config_module("plugsamp.conf", **options):
        parser = OverridesParser.create(GlobalHydra.instance().config_loader())
        overrides = parser.parse_overrides([a for a in arguments if "=" in a and not a.startswith("-")])
        for one in (o for o in overrides if o.is_sweep_override()):
            if next(iter(one.sweep_string_iterator()), None) is None:
                why = "is an empty range" if one.is_range_sweep() else "matches no choice"
                return f"the sweep has no run: {one.input_line} {why}"
    return None


def _no_choice(argument: str) -> bool:
    """Whether `argument` gives a group, or nothing, what is no name: ``loss=null``, ``=3``."""
    group, _, value = argument.partition("=")
    groups = ("", "experiment", *hydra_source.CONFIG_GROUPS)
    return group in groups and re.fullmatch(r"null|true|false|[-+.\d].*", value, re.I) is not None


def _there_are(group: str) -> str:
    kind = hydra_source.CONFIG_GROUPS.get(group)
    return registry.suggestion("", registry.names(kind)) if kind else ""


def _unknown_choice(error: MissingConfigException) -> str:
    for kind, preset, package in hydra_source.PRESETS:
        if f"{kind}/{hydra_source.PLUGIN}{preset}" in str(error):
            return f"{kind}={preset} needs {package}: pip install 'plugsamp[sweeps]'"
    missing = error.missing_cfg_file or ""
    group, _, name = missing.rpartition("/")
    if not group or error.options is None:
        return str(error)
    if group == "corpus" and (path := corpus_of(name)) is not None:
        return f"no corpus named {name!r}; a file is given as {path}"
    available = sorted(o for o in error.options if not o.startswith(hydra_source.PLUGIN))
    elsewhere = registry.elsewhere(hydra_source.CONFIG_GROUPS.get(group, group), name)
    return f"no {group} named {name!r}{elsewhere}{registry.suggestion(name, available)}"


def _unknown_key(key: str, arguments: list[str], config_name: str) -> str:
    """Say what options there are where `key` was looked for."""
    others = [a for a in arguments if not a.startswith("-") and a.lstrip("+~").split("=")[0] != key]
    if _sweeps(arguments):  # of several values the first
        others = [a if "[" in a or "{" in a else a.partition(",")[0] for a in others if "(" not in a]
    try:
        config = compose([a for a in others if "=" in a], config_name, key.startswith("hydra."))
    except Exception:  # more than one thing is wrong: the others get their turn
        return f"there is no option {key!r}"
    parent, _, _ = key.rpartition(".")
    while parent and not OmegaConf.is_dict(OmegaConf.select(config, parent)):
        parent = parent.rpartition(".")[0]
    node = OmegaConf.select(config, parent) if parent else config
    valid = [f"{parent}.{k}" if parent else str(k) for k in node if not (parent and k == "name")]
    where = f"of {parent}={node.name}" if parent and "name" in node else "there"
    groups = {name: part for name, part in config.items_ex(resolve=False) if OmegaConf.is_dict(part)}
    nested = [f"{name}.{key}" for name, part in groups.items() if key in part.keys()]  # noqa: SIM118 (??? too)
    nested = [*nested, *(other for other in SAME.get(key, ()) if other in valid)]
    return hydra_source.unknown_option(key, valid, where, nested)


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0] if text.strip() else ""


def _hydra_version() -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", hydra.__version__)[:2])
