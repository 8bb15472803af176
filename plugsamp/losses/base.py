"""The contract of a loss: everything the sampler knows of it is how to draw (kappa, omega)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from plugsamp.losses.coding import Coding
from plugsamp.options import Configured


class Loss(Configured, ABC):
    """A loss as a scale mixture of Gaussians: psi(y|f) = integral of exp(kappa f - omega f^2/2).

    See model.md section 2.

    A subclass is a loss plugin. Its constructor's parameters are its configuration: they must be
    plain numbers, strings or booleans with type annotations, and be kept as attributes of the same
    name, from which `options` rebuilds the loss. Register it under the entry-point group
    ``plugsamp.losses``. An object never changes: what a chain draws of a loss (`start`) is the chain's.

    Shapes: `f` and `y` are float64 arrays ``(documents of a block, outputs)``. Where a response is
    missing, `y` holds the first observed response of that output, the caller sets kappa = omega = 0,
    and `weight` is 0, so a loss needs no code for it.

    A loss with parameters of its own (a variance, a scale) gives `start`, `statistics` and `update`, and
    takes ``parameters=`` in `augment`, `log_psi` and whichever of `probabilities`, `mean`, `cdf` and
    `simulate` it has: a dict of float64 arrays whose first axis is the output. One without never sees
    that argument.
    """

    #: Whether psi is a real likelihood, so that `probabilities` or `cdf` can be relied on (False: scores of
    #: a pseudo-posterior). `log_psi` of real responses is then normalised over y: it measures predictions.
    calibrated: ClassVar[bool] = False
    #: Whether an intercept is part of the default design (model.md section 4).
    intercept: ClassVar[bool] = False
    #: Whether the model has no responses at all.
    unsupervised: ClassVar[bool] = False
    #: Whether psi to the power of a document's weight stays in the family (`augment` takes `weight`).
    weighted: ClassVar[bool] = False
    #: Prior variance of the weights of topics where none is given (`plugsamp.priors.Normal`).
    weight_variance: ClassVar[float] = 1.0
    #: The same of covariates; None: that of topics.
    covariate_variance: ClassVar[float | None] = None
    #: Options of the normal prior where words are covariates (`plugsamp.fit`, ``words=True``).
    words: ClassVar[dict[str, float]] = {}
    #: Whether the weights have drawn variances where none is given (`plugsamp.priors.Hierarchical`).
    draws_variances: ClassVar[bool] = False
    #: Values that a search tries (`plugsamp.tune`) of options of the loss and of the weights' prior, by name.
    search: ClassVar[dict[str, tuple]] = {"variance": (0.1, 1.0, 10.0), "covariate_variance": (0.1, 1.0)}

    @abstractmethod
    def code(self, responses: np.ndarray, names=None) -> Coding:
        """Check the user's responses and code them.

        Parameters
        ----------
        responses : ndarray (D,) or (D, C)
            As the user gave them (see `plugsamp.Corpus.responses`).
        names : sequence of str, optional
            Names of the columns where there are several.

        Returns
        -------
        Coding
            With ``y`` float64 (D, C), NaN where missing. `plugsamp.losses.coding` has `code_classes`
            and `code_real`.

        Raises
        ------
        ValueError
            Where the responses do not fit the loss; the message says which and what would be right.
        """

    @abstractmethod
    def augment(self, f, y, rng, weight=None):
        """Draw (kappa, omega) given the linear predictor, for a block of documents.

        Parameters
        ----------
        f, y : ndarray (B, C) of float64
        rng : numpy.random.Generator
            The block's own stream; no other source of randomness may be used.
        weight : ndarray (B, C) of float64, optional
            psi counts to this power, above 0; given only where `weighted`, and there are weights.
        parameters : dict of arrays, only of a loss that has some

        Returns
        -------
        kappa, omega : ndarrays (B, C) of float64, omega >= 0
        """

    @abstractmethod
    def log_psi(self, y, f):
        """log psi(y | f) up to terms free of f (and of parameters), elementwise.

        The exactness tests integrate it; a loss with parameters keeps the terms that hold them.
        """

    def first_weights(self, x, y, variance: float, intercept: bool, weight, seed: int):
        """Return weights to start from where many covariates speak for a response, without the topics.

        They affect burn-in only. By default None: the weights start at 0.

        Parameters
        ----------
        x : float64 (D, P), sparse
            Covariates of the documents whose response is known.
        y : float64 (D,)
            Of one output, of more than one value.
        variance : float
            Of the prior of the weights.
        intercept : bool
        weight : float64 (D,) or None
        seed : int

        Returns
        -------
        (ndarray (P,), float) or None
            The weights and the intercept.
        """
        return None

    # -- parameters of its own ---------------------------------------------------------------------------

    def start(self, n_outputs: int) -> dict[str, np.ndarray]:
        """The first values of the loss's own parameters: float64 arrays, the first axis the output."""
        return {}

    def simulate_parameters(self, n_outputs: int, rng) -> dict[str, np.ndarray]:
        """Parameters drawn from their prior, for the joint-distribution tests; `start` if none is drawn."""
        return self.start(n_outputs)

    def statistics(self, f, y, weight, parameters, rng) -> np.ndarray:
        """What `update` needs of a block, as an array of fixed shape; blocks are summed in their order.

        `weight` (B, C) is 0 where the response is missing and 1, or the document's weight, elsewhere.
        Latent variables may be drawn afresh from `rng`, given f and the parameters.
        """
        raise NotImplementedError(f"{type(self).__name__} has parameters and no statistics")

    def update(self, parameters: dict[str, np.ndarray], total: np.ndarray, rng) -> None:
        """Draw the parameters in place given the summed statistics; once a sweep, before any augmentation."""
        raise NotImplementedError(f"{type(self).__name__} has parameters and no update")

    # -- prediction --------------------------------------------------------------------------------------

    def decide(self, f, coding: Coding) -> np.ndarray:
        """Return predicted responses in the user's own labels from the mean linear predictors f (D, C).

        Called only where the loss has no `probabilities`: labels follow those.
        """
        return coding.decide(f)

    def probabilities(self, f, coding: Coding) -> np.ndarray | None:
        """Class probabilities (D, classes) where the loss has them, otherwise None."""
        return None

    def positive(self, f) -> np.ndarray | None:
        """P(y = 1 | f), elementwise, where each output is a binary model by itself; None where it is not.

        Of several classes with an output each, prediction averages these over draws and divides a document's
        by their sum: each model estimates P(class). Where it is None, `probabilities` are averaged.
        """
        return None

    def calibrated_for(self, coding: Coding) -> bool:
        """Whether probabilities or intervals of such responses can be relied on: `calibrated`, by default."""
        return bool(self.calibrated)

    def mean(self, f):
        """E[y | f] of a real response, elementwise; f itself unless the loss says otherwise."""
        return f

    def cdf(self, y, f):
        """P(Y <= y | f) of a real response, elementwise, where psi is a likelihood; None where it is not.

        It gives prediction its intervals where the loss is `calibrated`.
        """
        return None

    def simulate(self, f, rng):
        """Draw y of psi(. | f), elementwise, where psi is a likelihood; None where it is not.

        It gives the joint-distribution tests their forward simulation.
        """
        return None


class DrawError(ValueError):
    """What `augment` or `log_psi` returned has not the shape of f, or is no pair (kappa, omega)."""


class BoundLoss:
    """A loss with the parameters that it has in one chain, or draw; the same calls without them."""

    def __init__(self, loss: Loss, parameters: dict[str, np.ndarray] | None = None):
        self.loss, self.parameters = loss, parameters or {}

    def augment(self, f, y, rng, weight=None):
        weights = {} if weight is None else {"weight": weight}
        drawn = self._call("augment", f, y, rng, **weights)
        try:
            kappa, omega = drawn
        except (TypeError, ValueError):
            found = f"an array of shape {drawn.shape}" if isinstance(drawn, np.ndarray) else repr(drawn)
            raise DrawError(
                f"augment of {type(self.loss).__name__} must return (kappa, omega), not {found}"
            ) from None
        for name, values in (("kappa", kappa), ("omega", omega)):
            if np.shape(values) != f.shape:
                raise DrawError(
                    f"augment of {type(self.loss).__name__}: {name} has shape {np.shape(values)} "
                    f"for f of shape {f.shape}, (documents, outputs)"
                )
        return kappa, omega

    def log_psi(self, y, f):
        values = self._call("log_psi", y, f)
        shape = np.broadcast_shapes(np.shape(y), np.shape(f))
        if np.shape(values) != shape:
            raise DrawError(
                f"log_psi of {type(self.loss).__name__} has shape {np.shape(values)} for f of shape {shape}, "
                "(documents, outputs)"
            )
        return np.asarray(values)

    def probabilities(self, f, coding: Coding):
        return self._call("probabilities", f, coding)

    def positive(self, f):
        return self._call("positive", f)

    def mean(self, f):
        return self._call("mean", f)

    def cdf(self, y, f):
        return self._call("cdf", y, f)

    def simulate(self, f, rng):
        return self._call("simulate", f, rng)

    def _call(self, name: str, *arguments, **options):
        inherited = getattr(type(self.loss), name) is getattr(Loss, name)
        if self.parameters and not inherited:
            options["parameters"] = self.parameters
        try:
            return getattr(self.loss, name)(*arguments, **options)
        except Exception as error:
            error.add_note(f"in `{name}` of the loss {type(self.loss).__name__}")
            raise
