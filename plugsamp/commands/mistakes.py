"""What is said of a command that ends with an error: one plain message, with what to type instead."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from hydra._internal.utils import get_args_parser
from hydra.errors import ConfigCompositionException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from plugsamp import hydra_source, registry
from plugsamp.commands.arguments import option, readable
from plugsamp.commands.wording import corpus_of, spoken_error
from plugsamp.errors import InputError

#: Flags of Hydra's that are followed by a value.
VALUED = (
    "--cfg", "-c", "--package", "-p", "--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd",
    "--experimental-rerun", "--info", "-i",
)  # fmt: skip

#: Commands that read a run folder, or the model in it.
READ_A_RUN = ("resume", "report", "export", "predict", "evaluate")

#: What may be meant by an option that a command does not have, as another one has it.
SAME = {
    "run": ("model", "folder"), "model": ("run",), "folder": ("run", "model"), "out": ("hydra.run.dir",),
    "output": ("out",), "path": ("corpus.path",), "file": ("out", "corpus.path"),
}  # fmt: skip

#: Either of these in the environment brings the tracebacks back.
TRACEBACK_VARIABLES = ("PLUGSAMP_TRACEBACK", "HYDRA_FULL_ERROR")


def unknown_flag(command: str, arguments: list[str]) -> str | None:
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
        if (path := corpus_of(argument)) is not None:
            return f"cannot read the argument {argument!r}; a corpus is given as {path}"
        follows = next((a for a in arguments[place + 1 :] if not a.startswith("-")), None)
        name = flag.strip("-").replace("-", "_") or "NAME"
        value = value if equals else follows if follows and "=" not in follows else "VALUE"
        return f"there is no flag {flag}; options are written {name}={value} (plugsamp {command} --help)"
    return None


def explain(error: BaseException, arguments: list[str], config_name: str) -> str:
    """One plain message for an error of composition or of the task."""
    if isinstance(error, OverrideParseException):
        home = re.fullmatch(r"([^=]+)=~/(.*)", error.override)
        if home is not None:
            return (
                f"cannot read the argument {error.override!r}; ~ does not stand for the home folder here: "
                f"write {home[1]}=$HOME/{shlex.quote(home[2])}"
            )
        if (right := readable(error.override)) is not None and not Path(error.override).exists():
            return (
                f"cannot read the argument {error.override!r}; write {shlex.quote(right)}. A value with "
                "letters beyond ASCII, brackets, = or other signs goes in quotes inside quotes"
            )
        if (other := _reference(error.override)) is not None:
            return other
        if (saved := _saved(error.override, config_name)) is not None:
            return f"cannot read the argument {error.override!r}; a {saved}"
        if (path := corpus_of(error.override)) is not None:
            return f"cannot read the argument {error.override!r}; a corpus is given as {path}"
        return (
            f"cannot read the argument {error.override!r}; options are written name=value. A value with "
            f"blanks, commas, brackets or = goes in quotes inside quotes: 'name=\"a, b\"'"
        )
    if isinstance(error, MissingConfigException):
        return _unknown_choice(error)
    for argument in arguments:  # what begins with ~ is taken away, and a name with ${ is another option's
        if argument.startswith("~") and (path := corpus_of(argument)) is not None:
            return f"cannot read the argument {argument!r}; a corpus is given as {path}"
        if (other := _reference(argument)) is not None:
            return other
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
        return f"{error}{first_line(cause)}" if str(error) else str(error.__cause__)
    return _no_folder(error, arguments) or message_of(error) + _as_text(error, arguments)


def _reference(argument: str) -> str | None:
    """What to say where a path has the signs that stand for another option's value."""
    name, _, path = argument.partition("=")
    path = (path or name).strip("'\"")
    if "${" not in path or not Path(path).is_file():
        return None
    plain = re.sub(r"[^\w.\-/]", "", path)
    link = f"ln -s {shlex.quote(os.path.abspath(path))} {shlex.quote(plain)}"
    return (
        f"{argument}: in a value ${{...}} stands for another option; give the file another name, such as "
        f"with {link}, and write {name if '=' in argument else 'corpus.path'}={plain}"
    )


def _saved(given: str, command: str) -> str | None:
    """How a run folder or a saved model is given to a command that reads one; None where it is none."""
    name = {"predict": "model", "evaluate": "model"}.get(command, "run")
    path = Path(given.strip("'\""))
    if command not in READ_A_RUN or not any(
        (path / one).is_file() for one in ("status.json", "manifest.json")
    ):
        return None
    return f"{'run folder' if name == 'run' else 'model'} is given as {option(name, str(path))}"


def _as_text(error: BaseException, arguments: list[str]) -> str:
    """The line to type for a text that Hydra reads as another: null, and blanks at the ends of a path."""
    for argument in arguments:
        name, _, value = argument.partition("=")
        last = name.rpartition(".")[2]
        text = value.strip()
        refused = isinstance(error, registry.RegistryError) and str(error).endswith("not None")
        if refused and text.lower() == "null" and f"option {last!r} must be" in str(error):
            return f"; write {option(name, text)} for the text {text}"
        if isinstance(error, InputError) and error.file == text != value and Path(value).exists():
            return f"; blanks at the ends are kept inside quotes: write {option(name, value)}"
    return ""


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
        return first_line(str(error))
    return spoken_error(error) or type(error).__name__


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
    if sweeps(arguments):  # of several values the first
        others = [a if "[" in a or "{" in a else a.partition(",")[0] for a in others if "(" not in a]
    try:
        config = hydra_source.compose([a for a in others if "=" in a], config_name, key.startswith("hydra."))
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


def sweeps(arguments: list[str]) -> bool:
    """Whether the arguments ask for a sweep, and not just for what Hydra knows of itself."""
    asked = set(arguments)
    return bool(asked & {"-m", "--multirun"}) and not asked & {"--version", "--hydra-help"}


def first_line(text: str) -> str:
    return text.strip().split("\n")[0] if text.strip() else ""
