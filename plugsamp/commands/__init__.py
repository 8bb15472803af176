"""One module a command; see `plugsamp.cli.COMMANDS`."""
