"""The runs that the calibration of a plan's recommended entry compared, with figures per client."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import as_json, number_of
from epsilond.calibrators.planning.answer import PlanChoice

if TYPE_CHECKING:
    from epsilond.calibrators.planning.answer import PlanEntry
    from epsilond.calibrators.planning.problem import PlanProblem


def choices_of(plan: PlanProblem, best: PlanEntry) -> tuple[PlanChoice, ...] | None:
    """Return the runs that the calibration of the recommended algorithm compared, with figures per client.

    The runs differ in the number of rounds and, for some algorithms, in the batch size. A calibration compares runs if
    its request leaves these numbers open.

    Args:
        plan: the plan, which describes the learning problem and its clients.
        best: entry of the recommended algorithm, with its calibration.

    Returns:
        The runs, or None if none were compared or if the number of clients is unknown.
    """
    answer = as_json(best.calibration)
    parameters = answer["parameters"]
    runs = parameters.get("frontier") or answer.get("frontier")
    if not runs or not plan.clients:
        return None
    baseline = None
    if best.risk is not None and best.risk.baseline is not None:
        baseline = best.risk.baseline.value

    # The runs state shares relative to the clipping norm. A comparison of risks is relative to the Lipschitz constant.
    clipping_norm = parameters.get("clipping_norm")
    if clipping_norm is not None and best.basis == "risk" and plan.lipschitz is not None:
        runs = [{**run, "remaining_share": _share_of_gradients(run, clipping_norm, plan.lipschitz)} for run in runs]
    return tuple(_describe_choice(run, baseline, clipping_norm, plan.clients) for run in runs)


def _share_of_gradients(run: JsonObject, clipping_norm: float, lipschitz: float) -> float:
    """Restate a run's remaining share of the excess risk for gradients that are bounded by their Lipschitz constant.

    The run states a share for updates that are clipped to the norm C. The result has the Lipschitz constant L instead:

        stated share = √((s + (z/C)²)/R),   result = √((s + (z/L)²)/R).

    Here R is the number of rounds, and z the norm of the noise in a round's mean. s ≥ 1 is the second moment of the
    number of participants, divided by the squared divisor of the mean. It follows from the stated share.

    Args:
        run: JSON form of a run, with its rounds R, its noise z and its share.
        clipping_norm: bound C on the norm of a clipped update.
        lipschitz: bound L on the norm of a gradient.

    Returns:
        The share, without unit.
    """
    noise_norm = run["noise_norm_of_mean"]
    rounds = run["rounds"]
    squared_share = number_of(run["remaining_share"]) ** 2
    signal_term = squared_share * rounds - (noise_norm / clipping_norm) ** 2
    noise_term = (noise_norm / lipschitz) ** 2
    # The exact s is at least 1, so a smaller value is a rounding error.
    return math.sqrt((max(signal_term, 1.0) + noise_term) / rounds)


def _describe_choice(run: JsonObject, baseline: float | None, clipping_norm: float | None, clients: int) -> PlanChoice:
    """Describe an alternative run of the recommended algorithm in the form of the plan's answer.

    Args:
        run: JSON form of the run. It has the share of the initial risk that remains, or a bound on the excess risk.
        baseline: bound on the excess risk of the initial model; None if it is unknown and each run has a share.
        clipping_norm: bound on the norm of a clipped update; None if updates are not clipped.
        clients: number of clients.

    Returns:
        The run with its remaining share, its traffic, and the ratio of noise to clipping norm if updates are clipped.
    """
    bits = int(run.get("total_bits_exact", run["total_bits"]))
    noise_to_signal = None if clipping_norm is None else run["noise_norm_of_mean"] / clipping_norm
    share = run.get("remaining_share")
    if share is None:
        assert baseline is not None  # runs without a share have a bound on the risk, and so has the start
        share = number_of(run["risk"]) / baseline
    return PlanChoice(
        rounds=run["rounds"],
        batch_size=run.get("batch_size"),
        remaining_share=number_of(share),
        noise_to_signal=noise_to_signal,
        bytes_per_client=bits / 8 / clients,
        total_bits=bits,
        certified=run.get("certified", True),
        chosen=run["chosen"],
    )
