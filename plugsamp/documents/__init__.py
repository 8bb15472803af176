"""What a corpus holds beside its counts, what can be read of it, and how it is shown."""
