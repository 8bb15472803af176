"""Losses, one module each; a plugin's base class is `Loss`."""

from plugsamp._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Coding": "plugsamp.losses.coding",
        "EpsilonInsensitive": "plugsamp.losses.epsilon_insensitive",
        "Gaussian": "plugsamp.losses.gaussian",
        "Heteroscedastic": "plugsamp.losses.heteroscedastic",
        "Hinge": "plugsamp.losses.hinge",
        "Logistic": "plugsamp.losses.logistic",
        "Loss": "plugsamp.losses.base",
        "Multinomial": "plugsamp.losses.multinomial",
        "NoLoss": "plugsamp.losses.none",
        "Probit": "plugsamp.losses.probit",
        "StudentT": "plugsamp.losses.student_t",
    },
)
