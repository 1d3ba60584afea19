"""Every problem that can be asked for, as one union told apart by `kind`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypeAliasType

from accountants.quantities import Tagged
from simulators.data_sets import DataSetProblem
from simulators.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares
from simulators.problems import (
    HuberProblem,
    LeastSquaresProblem,
    LinearProblem,
    LogisticProblem,
    MeanEstimationProblem,
)

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
        | PersonalizedHuber,
        Tagged("kind"),
    ],
)
"""Those of one model for all, and the personalised ones."""
