"""Bounds on the excess risk in the answer to a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.calibrators.serving.values import BASELINE, OBJECTIVE, Baseline, Number, Objective, Served


@dataclass(frozen=True, kw_only=True)
class RiskBound:
    """An upper or lower bound on the excess risk by `theorem`, with the `terms` that it consists of.

    If the theorem leaves its constant factor open, `constant` is `hidden`, and the value is only an order of growth.
    """

    value: Number
    constant: Literal["explicit", "hidden"]
    theorem: str
    terms: Mapping[str, float]
    vacuous: Annotated[
        bool | None,
        Served(
            "true: the upper bound is not below the baseline and carries no information. Absent for a "
            "bound with a hidden constant"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PrescribedRisk:
    """A bound on the excess risk of the run that a theorem prescribes, with the theorem's known errors corrected.

    The prescribed run has the batch size of the answer.
    """

    theorem: str
    reading: Annotated[
        TheoremReading,
        Served("interpretation of the theorem that prescribes the run: the one with its errors corrected"),
    ]
    batch_size: int
    rounds: int
    step_size: float
    envelope_smoothness: Annotated[
        float | None,
        Served("smoothness constant of the Moreau envelope that replaces the loss; absent if the loss is smooth"),
    ] = None
    within_budget: Annotated[
        bool,
        Served("whether the prescribed run keeps to the limits max_gradients and communication_budget of the request"),
    ]
    certified_noise: Annotated[
        float,
        Served(
            "upper bound on the excess risk of the prescribed run at the smallest certified noise",
            may_be_unbounded=True,
        ),
    ]
    printed_noise: Annotated[
        float,
        Served(
            "upper bound on the excess risk of the prescribed run at the noise that the theorem prescribes",
            may_be_unbounded=True,
        ),
    ]
    ratio: Annotated[
        float,
        Served(
            "certified_noise divided by the upper bound on the excess risk of the answer's run", may_be_unbounded=True
        ),
    ]
    vacuous: Annotated[
        bool | None, Served("true: certified_noise is not below the baseline and carries no information")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Bounds on the excess risk of the run, its objective, and a bound for the initial model for comparison."""

    objective: Annotated[Objective | None, OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    upper: Annotated[RiskBound | None, Served("upper bound on the excess risk; absent if no theorem gives one")] = None
    lower: Annotated[RiskBound | None, Served("lower bound on the excess risk; absent if no theorem gives one")] = None
    declared_conditions: Annotated[
        tuple[str, ...] | None,
        Served(
            "ids of conditions of the risk bound, beyond those of the guarantee, that the service cannot "
            "check. GET /v1/theorems/{theorem} has the statement of each"
        ),
    ] = None
    as_prescribed: Annotated[
        PrescribedRisk | None,
        Served(
            "bound on the excess risk of the run that the corrected theorem prescribes; absent unless "
            "rounds or batch_size was chosen"
        ),
    ] = None
