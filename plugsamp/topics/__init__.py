"""Priors of the topics, one module each."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Dirichlet": "plugsamp.topics.base",
        "Seeded": "plugsamp.topics.seeded",
        "SpikeSlab": "plugsamp.topics.spike_slab",
        "TopicPrior": "plugsamp.topics.base",
    },
)
