"""What a chain's state and its draws say of themselves (model.md section 8)."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    dict.fromkeys(("log_documents", "log_joint", "log_topics", "log_words"), "plugsamp.sampling.log_joint")
    | dict.fromkeys(
        ("document_entropy", "sparsity", "supervised_effect", "topic_table"), f"{__name__}.measures"
    )
    | {"coherence": "plugsamp.posterior.quality", "top_words": "plugsamp.posterior.rankings"},
)
