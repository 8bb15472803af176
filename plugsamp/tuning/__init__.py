"""A short search for the settings of a model: which there are, how they are compared, what comes of it."""
