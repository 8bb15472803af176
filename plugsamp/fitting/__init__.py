"""A whole fit, from a start to the files of its run."""
