"""What a search leaves: the settings that were tried, the best of them, and the fit with it."""

from __future__ import annotations

from plugsamp.files.tables import Table
from plugsamp.model import Model
from plugsamp.posterior.posterior import Posterior
from plugsamp.tuning.search import Search
from plugsamp.tuning.settings import described, with_setting


class Tuned:
    """The outcome of `plugsamp.tune`.

    Attributes
    ----------
    best : dict
        The best setting.
    model : Model
        The model with it.
    table : Table
        A row a setting, the best first: its values, ``sweeps`` that it was given, the score (named after the
        measure) on held-out documents, its standard ``error`` over these documents, ``seconds``.
    posterior : Posterior
        The fit of that model to all training documents.
    """

    def __init__(self, search: Search, best: int, posterior: Posterior | None = None):
        self._search = search
        self.best: dict = dict(search.settings[best])
        self.model: Model = with_setting(search.model, self.best)
        self.posterior = posterior
        reached = {i: max(r["sweeps"] for r in search.rows if r["setting"] == i)
                   for i in {r["setting"] for r in search.rows}}  # fmt: skip
        order = sorted(reached, key=lambda i: (i != best, -reached[i], -search.score(i, reached[i])[0]))
        columns: dict = {name: [search.settings[i][name] for i in order] for name in self.best}
        columns |= {
            "sweeps": [reached[i] for i in order],
            search.measure: [search.shown(i, reached[i]) for i in order],
            "error": [search.score(i, reached[i])[1] for i in order],
            "seconds": [sum(r["seconds"] for r in search.rows if r["setting"] == i) for i in order],
        }
        formats = dict.fromkeys(self.best, "g") | {"seconds": ".1f"}
        self.table = Table(columns, f"best of {len(order)} settings: {described(self.best)}", formats)

    def __repr__(self) -> str:
        return self.table.text()

    def _repr_html_(self) -> str:
        return self.table.html()

    def plot(self, ax=None):
        """Draw the scores of all settings after each number of sweeps, the best one in colour.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from plugsamp.posterior.plots import FOR, GREY, axes

        search, ax = self._search, axes(ax, 6.0, 4.0)
        for i, setting in sorted(enumerate(search.settings), key=lambda one: one[1] == self.best):
            sweeps = sorted({r["sweeps"] for r in search.rows if r["setting"] == i})
            scores = [search.shown(i, n) for n in sweeps]
            mine = dict(setting) == self.best
            errors = [search.score(i, n)[1] for n in sweeps] if mine else None
            ax.errorbar(
                sweeps, scores, None if errors is None or None in errors else errors, marker="o", capsize=3,
                color=FOR if mine else GREY, alpha=1.0 if mine else 0.6,
                label=described(setting) if mine else None,
            )  # fmt: skip
        ticks = sorted({r["sweeps"] for r in search.rows})
        ax.set_xscale("log")
        ax.set_xticks(ticks, [str(n) for n in ticks])
        ax.minorticks_off()
        ax.set_xlabel("sweeps")
        ax.set_ylabel(f"{search.measure.replace('_', ' ')} of held-out documents")
        ax.set_title("bars: standard error of the best", fontsize="small", loc="left")
        ax.legend(frameon=False)
        return ax
