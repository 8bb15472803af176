"""What a fit leaves, and the views of it: tables, rankings of words, quality of topics, effects, plots."""
