"""The list of learning problems, discriminated by `kind`; `spec.build()` builds the problem.

All problems are on a ball around 0, where runs start, with features of norm at most 1. Populations are drawn from the
problem's own seed, so that every repetition of a simulation has the same one. Data sets are drawn from the population
in each repetition, or are the population itself.
"""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypeAliasType

from epsilond.accountants.quantities import Quantity, Tagged, request
from epsilond.simulators.problems.data_sets import KIND, DataSetProblem
from epsilond.simulators.problems.losses import LINEAR, LOGISTIC, SQUARED, huber
from epsilond.simulators.problems.populations import classification, points, regression
from epsilond.simulators.problems.synthetic import RIDGE, Recipe, Synthetic

TARGET_NOISE = Quantity(
    ge=0, le=1, description="standard deviation of the noise in the targets, before they are clipped to [−1, 1]"
)
THRESHOLD = Quantity(gt=0, le=1e3, description="absolute value of the residual beyond which the Huber loss is linear")
SHARPNESS = Quantity(
    ge=0,
    le=1e3,
    description="factor a: the log-odds of a label are a times the score of the model that the records follow. "
    "At 0 labels are fair coin flips",
)


@request
class MeanEstimationProblem(Synthetic):
    """Estimation of a mean: the loss is ½‖w − x‖² for the model w and a record x in the unit ball.

    The loss is 1-smooth and 1-strongly convex. The minimiser is the mean of the records, if it is in the domain.
    """

    kind: Annotated[Literal["mean-estimation"], KIND] = "mean-estimation"

    def recipe(self) -> Recipe:
        """Return the linear loss, the function that draws points, and the weight 1 of the ridge term.

        The loss ½‖w − x‖² is written as ½‖w‖² plus the linear loss ½‖x‖² − ⟨x, w⟩.
        """
        return Recipe(LINEAR, points, 1.0)


@request
class LinearProblem(Synthetic):
    """A linear loss ½‖x‖² − ⟨x, w⟩ for the model w and a record x in the unit ball, plus the ridge term ½μ‖w‖².

    μ is `strong_convexity`. If it is 0, the gradient is the same at every model, and the minimiser is on the sphere
    that bounds the domain.
    """

    kind: Annotated[Literal["linear"], KIND] = "linear"
    strong_convexity: Annotated[float, RIDGE] = 0.0

    def recipe(self) -> Recipe:
        """Return the linear loss, the function that draws points as for mean estimation, and the weight μ."""
        return Recipe(LINEAR, points, self.strong_convexity)


@request
class LeastSquaresProblem(Synthetic):
    """Least squares on synthetic records: the loss is ½(⟨x, w⟩ − y)² for features x and target y ∈ [−1, 1].

    Targets follow a linear model. `target_noise` is the standard deviation of their noise before they are clipped to
    [−1, 1]. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².
    """

    kind: Annotated[Literal["least-squares"], KIND] = "least-squares"
    strong_convexity: Annotated[float, RIDGE] = 0.0
    target_noise: Annotated[float, TARGET_NOISE] = 0.2

    def recipe(self) -> Recipe:
        """Return the squared loss, the function that draws records of a linear model, and the weight μ."""
        return Recipe(SQUARED, regression(self.target_noise), self.strong_convexity)


@request
class HuberProblem(Synthetic):
    """Huber regression on synthetic records: the loss is Huber's function of the residual ⟨x, w⟩ − y.

    Targets y are in [−1, 1] and follow a linear model of the features x. Without the ridge term a gradient has norm at
    most `threshold`, in every domain. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².
    """

    kind: Annotated[Literal["huber"], KIND] = "huber"
    strong_convexity: Annotated[float, RIDGE] = 0.0
    target_noise: Annotated[float, TARGET_NOISE] = 0.2
    threshold: Annotated[float, THRESHOLD] = 0.25

    def recipe(self) -> Recipe:
        """Return the Huber loss, the function that draws records of a linear model, and the weight μ."""
        return Recipe(huber(self.threshold), regression(self.target_noise), self.strong_convexity)


@request
class LogisticProblem(Synthetic):
    """Logistic regression on synthetic records: the loss is ln(1 + e^(−y⟨x, w⟩)) for features x and label y = ±1.

    A label is 1 with probability 1/(1 + e^(−a⟨x, v⟩)), where a is `sharpness` and v the model that the records follow.
    `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².
    """

    kind: Annotated[Literal["logistic"], KIND] = "logistic"
    strong_convexity: Annotated[float, RIDGE] = 0.0
    sharpness: Annotated[float, SHARPNESS] = 10.0

    def recipe(self) -> Recipe:
        """Return the logistic loss, the function that draws records of a logistic model, and the weight μ."""
        return Recipe(LOGISTIC, classification(self.sharpness), self.strong_convexity)


PROBLEMS: tuple[type, ...] = (
    MeanEstimationProblem,
    LinearProblem,
    LeastSquaresProblem,
    HuberProblem,
    LogisticProblem,
    DataSetProblem,
)
"""Every request class of a problem with one model for all clients."""

ProblemSpec = TypeAliasType(
    "ProblemSpec",
    Annotated[
        MeanEstimationProblem | LinearProblem | LeastSquaresProblem | HuberProblem | LogisticProblem | DataSetProblem,
        Tagged("kind"),
        Quantity(description="the learning problem"),
    ],
)
