"""Union of all problems, discriminated by `kind`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypeAliasType

from epsilond.accountants.quantities import Tagged
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.simulators.problems.kinds import (
    HuberProblem,
    LeastSquaresProblem,
    LinearProblem,
    LogisticProblem,
    MeanEstimationProblem,
)
from epsilond.simulators.problems.personalized_digits import PersonalizedDigits
from epsilond.simulators.problems.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares

AnyProblem = TypeAliasType(
    "AnyProblem",
    Annotated[
        MeanEstimationProblem
        | LinearProblem
        | LeastSquaresProblem
        | HuberProblem
        | LogisticProblem
        | DataSetProblem
        | PersonalizedLeastSquares
        | PersonalizedHuber
        | PersonalizedDigits,
        Tagged("kind"),
    ],
)
"""A problem with one model for all clients, or a personalised problem."""
