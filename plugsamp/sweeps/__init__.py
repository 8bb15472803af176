"""Several runs as one table: what their folders say of options, measures and how each ended."""

from plugsamp.sweeps.table import SweepTable, sweep_table

__all__ = ["SweepTable", "sweep_table"]
