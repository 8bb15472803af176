"""Sampling supervised topic models: exact, fast, reproducible to the bit, open to plugins."""
