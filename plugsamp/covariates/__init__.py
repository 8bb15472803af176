"""Covariates made of a corpus' own columns and words: `Covariates` says which, `Encoder` is fitted."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"Covariates": "plugsamp.covariates.options", "Encoder": "plugsamp.covariates.encoder"},
)
