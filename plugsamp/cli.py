"""The command line: a table of commands, each a module imported when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module

#: Command -> (module, one line). A command's module has `main(arguments) -> exit code`.
COMMANDS = {
    "fit": ("plugsamp.commands.fit", "fit a supervised topic model and evaluate it"),
    "plugins": (
        "plugsamp.commands.plugins",
        "list the installed losses, kernels, priors, readers, backends",
    ),
}

EXAMPLES = """\
Examples:
  plugsamp fit                                       the docstrings of the installed numpy, scipy, ...
  plugsamp fit n_topics=100 loss.cost=50 seed=1      any option is name=value
  plugsamp fit corpus=jsonl corpus.path=news.jsonl   your own documents
  plugsamp fit -m loss=none,hinge n_topics=20,50     a run for each combination
  plugsamp fit --help                                every option
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit code (2 where the user can put it right)."""
    try:
        code = _command(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe (head, less) had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _command(arguments: list[str]) -> int:
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

        print(f"plugsamp: no command {name!r}{suggestion(name, COMMANDS)}", file=sys.stderr)
        return 2
    return import_module(COMMANDS[name][0]).main(arguments[1:]) or 0


def overview() -> str:
    """What `plugsamp` alone prints."""
    width = max(map(len, COMMANDS))
    lines = ["plugsamp: exact samplers for supervised topic models", "", "Commands:"]
    lines += [f"  plugsamp {name:{width}}  {line}" for name, (_, line) in COMMANDS.items()]
    return "\n".join([*lines, "", EXAMPLES]).rstrip()


if __name__ == "__main__":
    sys.exit(main())
