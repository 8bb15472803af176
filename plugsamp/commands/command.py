"""What a Hydra command is: a configuration, a task, a manual page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from hydra.errors import HydraException
from omegaconf import DictConfig

from plugsamp.commands import hydra_app


@dataclass(frozen=True)
class Command:
    """A command whose options come from a file of ``conf``.

    Attributes
    ----------
    name, config : str
        The command, and the configuration's name.
    task : callable
        Takes the composed configuration.
    usage, examples : str
        Of the manual page.
    groups : tuple of str
        The config groups that it has.
    optional : tuple of str
        Those groups that need no choice.
    experiments : bool
        Whether there are experiments to choose from.
    table : bool
        Whether a sweep ends with the table of its jobs.
    extends : str, optional
        The configuration whose options it has too.
    """

    name: str
    config: str
    task: Callable[[DictConfig], object]
    usage: str
    examples: str
    groups: tuple[str, ...] = ("corpus",)
    experiments: bool = False
    table: bool = False
    optional: tuple[str, ...] = ()
    extends: str | None = None

    def main(self, arguments: list[str]) -> int:
        """Run it, or print its manual page; returns the exit code."""
        asked = [a for a in arguments if a in ("-h", "--help")]
        if not asked:
            return hydra_app.run(self.name, self.task, arguments, self.config, self.table)
        from plugsamp.commands import manual

        try:
            page = manual.page(self, [a for a in arguments if a not in asked])
        except (HydraException, *hydra_app.USER_ERRORS) as error:
            if hydra_app.wants_traceback():
                raise
            why = hydra_app.explain(error, arguments, self.config)
            print(f"plugsamp {self.name}: {why}", file=sys.stderr)
            return 2
        print(page)
        return 0
