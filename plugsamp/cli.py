"""The command line: a table of commands, each a module imported when it is called."""

from __future__ import annotations

import contextlib
import os
import sys
from importlib import import_module

#: Command -> (module, one line). A command's module has `main(arguments) -> exit code`.
COMMANDS = {
    "fit": ("plugsamp.commands.fit", "fit a supervised topic model and evaluate it"),
    "tune": ("plugsamp.commands.tune", "search for good settings, then fit with the best"),
    "resume": ("plugsamp.commands.resume", "go on with a run that was interrupted or killed"),
    "predict": ("plugsamp.commands.predict", "predict new documents with a saved model"),
    "evaluate": ("plugsamp.commands.evaluate", "score a saved model on documents with known responses"),
    "report": ("plugsamp.commands.report", "write the HTML report of a run: topics, weights, why, chains"),
    "sweep": ("plugsamp.commands.sweep", "one table, and a figure, of the runs of a sweep or of any folder"),
    "convert": ("plugsamp.commands.convert", "write a corpus in another format"),
    "cite": ("plugsamp.commands.cite", "the papers behind what a run used"),
    "export": (
        "plugsamp.commands.export",
        "a run's chains for ArviZ (netCDF), or its model as one small file",
    ),
    "guide": ("plugsamp.commands.guide", "read the guide in the terminal, or as one HTML file"),
    "plugins": (
        "plugsamp.commands.plugins",
        "list the installed losses, kernels, priors, readers, backends",
    ),
}

#: Methods of a posterior that people try as commands.
IN_PYTHON = ("topics", "weights", "documents", "explain", "effects", "convergence", "plot", "rename")

EXAMPLES = """\
Examples:
  plugsamp fit                                       the docstrings of the installed numpy, scipy, ...
  plugsamp fit n_topics=100 loss.cost=50 seed=1      any option is name=value
  plugsamp fit corpus=jsonl corpus.path=news.jsonl   your own documents
  plugsamp fit -m loss=none,hinge n_topics=20,50     a run for each combination
  plugsamp predict model=FOLDER corpus=lines corpus.path=new.txt
  plugsamp fit --help                                every option (likewise for the other commands)
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit code (2 where the user can put it right)."""
    _make_writable()
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()  # here, where a failure can still be told
        return code
    except BrokenPipeError:  # the reader of a pipe (head, less) had enough
        _discard_output()
        return 0
    except OSError as error:  # a full disk behind standard output
        _discard_output()
        print(f"plugsamp: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # while a command is still being imported
        print("plugsamp: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        if not _interrupted(error):
            raise
        print("plugsamp: interrupted", file=sys.stderr)
        return 130


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if arguments[0] in ("-V", "--version"):
        from importlib.metadata import version

        print("plugsamp", version("plugsamp"))
        return 0
    name = arguments[0]
    if name not in COMMANDS:
        from plugsamp.registry import suggestion

        if name in IN_PYTHON:
            hint = (
                f": in Python ps.load(FOLDER, corpus=True).{name}() has it, of a run folder; "
                "plugsamp report writes topics, weights, explanations and chains as one page"
            )
        else:
            hint = suggestion(name, COMMANDS)
        print(f"plugsamp: no command {name!r}{hint}", file=sys.stderr)
        return 2
    return import_module(COMMANDS[name][0]).main(arguments[1:]) or 0


def _interrupted(error: BaseException) -> bool:
    """Whether it was raised while Ctrl-C was being handled, as by a `finally` whose file is not open yet."""
    seen = error.__context__
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__context__
    return seen is not None


def _make_writable() -> None:
    """Standard streams that were closed, or whose encoding lacks a letter, are no reason to fail."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif stream.errors == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """What is still buffered goes nowhere, so that the interpreter does not fail on it at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def overview() -> str:
    """What `plugsamp` alone prints."""
    width = max(map(len, COMMANDS))
    lines = ["plugsamp: exact samplers for supervised topic models", "", "Commands:"]
    lines += [f"  plugsamp {name:{width}}  {line}" for name, (_, line) in COMMANDS.items()]
    return "\n".join([*lines, "", EXAMPLES]).rstrip()


if __name__ == "__main__":
    sys.exit(main())
