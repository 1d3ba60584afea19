"""DP-NormFedAvg beside its calibrator and its convergence bounds, and beside the noise that its paper prints.

How the comparison with the printed noise is made honest. Noise is certified for any two unit updates of a client, in
every round, to the observer of the run. Theorem 1 as printed has too few levels at every ε: whatever ε it is asked
for, one coordinate alone leaves the common support with probability 0.14 or more, so that no ε at all is true of it at
a small δ. `as-printed` is that noise, at the ε₀ that Theorem 2 gives for the target; the calibration's `as_printed` has
its true δ, which is next to 1. There is no printed noise of equal true ε. What comes nearest is `as-printed-raised`:
the printed decay α = ε₀/Δ₁, with ε₀ by the paper's own composition but none of its amplification and half of δ left
for escapes, and the least number of levels with which it is certified at the target. So every run beside
the private one has either its true guarantee or none, and takes the steps that the paper prescribes for its own noise.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.numerics.truncated_laplace import least_levels
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.papers.das.composed_rounds import (
    THEOREM_2,
    InverseInputs,
    RunInputs,
    equation_22,
)
from epsilond.accountants.theorems.risk.das.convergence import (
    EQUATION_39,
    THEOREM_2_UTILITY,
    ConvergenceInputs,
    local_step,
    printed_ratio,
)
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.norm_fedavg.calibrator import CALIBRATOR
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
from epsilond.calibrators.qtdl.family import IntegerRelease
from epsilond.simulators.algorithms.norm_fedavg import NormFedavgRun, compression, step_sizes
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join, PromisedBound
from epsilond.witness.joins.das_setting import DasSetting

SAME = 1e-9
"""Relative difference of step sizes that are the same."""
NEAR = 1e-3
"""The same, where the distance to the minimiser is a part of them."""
MOST_DOUBLINGS = 20


def asked(problem: SimulatedProblem, run: NormFedavgRun, target: Target) -> NormFedavgProblem:
    """The calibrator's question: clients' whole updates, any two unit vectors."""
    setting = DasSetting.of(problem)
    assert run.quantization_levels is not None
    delta = target.given_delta
    return NormFedavgProblem(
        epsilon=target.epsilon,
        delta=delta,
        log10_delta=None if delta is not None else target.log10_delta,
        dimension=problem.dimension,
        quantization_levels=run.quantization_levels,
        rounds=run.rounds,
        participants=run.participants,
        clients=problem.clients,
        relation="replace-one",
        unit="client" if run.observer == "released-models" else "record",
        observer=run.observer,
        smoothness=setting.smoothness,
        quasar_convexity=1.0,
        initial_distance=setting.initial_distance or 0.5 * problem.constants.diameter,
        client_optimum_distance=setting.client_optimum_distance,
        local_steps=run.local_steps,
    )


def calibrate(problem: SimulatedProblem, run: NormFedavgRun, target: Target) -> tuple[NormFedavgRun, Calibration]:
    """The least certified noise; beside it the printed one, and the printed one raised until it is true."""
    question = asked(problem, run, target)
    found = solved(question)
    noisy = replace(run, noise_levels=found.parameters.noise_levels, decay_rate=found.parameters.decay_rate)
    printed = next((one.parameters for one in found.readings if "noise_levels" in one.parameters), None)
    if printed is not None:
        noisy = replace(
            noisy, printed_noise_levels=int(printed["noise_levels"]), printed_decay_rate=printed["decay_rate"]
        )
    raised = raised_noise(question)
    if raised is not None:
        noisy = replace(noisy, raised_noise_levels=raised[0], raised_decay_rate=raised[1])
    return noisy, found


@functools.lru_cache(maxsize=64)
def solved(question: NormFedavgProblem) -> Calibration:
    """The calibrator's answer, which the cells of an experiment ask for again and again.

    Raises:
        NoCertificate: as the calibrator.
    """
    answer: Calibration = CALIBRATOR.solve(question)
    return answer


@functools.lru_cache(maxsize=64)
def raised_noise(question: NormFedavgProblem) -> tuple[int, float] | None:
    """The printed α for the target, with the fewest certified levels: (m, α).

    None where the draw of clients is unseen, where δ is no double, or where no number of levels is certified.
    """
    delta = question.target.delta
    if delta is None or question.rate < 1.0:
        return None
    composed = equation_22(InverseInputs(composed_epsilon=question.epsilon, delta=0.5 * delta))
    inputs = RunInputs(
        epsilon=float(composed["epsilon"]),
        delta=0.5 * delta,
        rounds=question.rounds,
        clients=question.clients,
        participants=question.reporting,
        dimension=question.dimension,
    )
    rate = float(THEOREM_2.evaluate(inputs).outputs["round_epsilon"]) / question.movement.l1
    release = IntegerRelease(problem=question, movement=question.movement)

    def certified(levels: int) -> bool:
        try:
            curve = release.guarantee(release.noise(rate, levels)).curve
        except NoCertificate:
            return False
        return curve.bound_log_delta(question.epsilon).upper <= question.target.log_delta

    high = max(least_levels(rate, release.parts, question.target.log_delta), 1)
    low = high - 1
    for _ in range(MOST_DOUBLINGS):
        if certified(high):
            break
        low, high = high, 2 * high
    else:
        return None
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if certified(middle) else (middle, high)
    return high, rate


def printed_log_delta(problem: SimulatedProblem, run: NormFedavgRun, epsilon: float) -> float:
    """Lower end of log δ at ε of all rounds with the run's printed noise, on two updates that are furthest apart.

    Raises:
        InvalidInput: the run has no printed noise.
    """
    if run.printed_noise_levels is None or run.printed_decay_rate is None:
        raise InvalidInput.at("/printed_noise_levels", "is needed")
    question = asked(problem, run, Target.of(epsilon, 0.5, None))
    release = IntegerRelease(problem=question, movement=question.movement)
    escaped = release.escapes(release.noise(run.printed_decay_rate, run.printed_noise_levels))
    return escaped.curve.bound_log_delta(epsilon).lower


def bounds(problem: SimulatedProblem, run: NormFedavgRun) -> tuple[PromisedBound, ...]:
    """(39) on the mean gradient norm over rounds, and Theorem 2 on the least; no theorem is on the excess risk."""
    setting, steps = DasSetting.of(problem), step_sizes(problem, run)
    if setting.initial_distance == 0.0:
        return ()
    gamma = compression(run, problem.dimension)
    ratio = steps.server / steps.local
    inputs = ConvergenceInputs(
        smoothness=setting.smoothness,
        quasar_convexity=1.0,
        initial_distance=setting.initial_distance,
        client_optimum_distance=setting.client_optimum_distance,
        rounds=run.rounds,
        local_steps=run.local_steps,
        step_ratio=ratio,
        compression=gamma,
        participants=run.participants,
    )
    prescribed = local_step(
        smoothness=setting.smoothness,
        quasar_convexity=1.0,
        local_steps=run.local_steps,
        compression=gamma,
        participants=run.participants,
    )
    printed = printed_ratio(
        smoothness=setting.smoothness, quasar_convexity=1.0, initial_distance=setting.initial_distance
    )
    conditions = (
        *setting.conditions,
        ConditionResult(
            "full-gradients", "clients descend on their full gradient; updates are exact unit vectors", Verdict.YES
        ),
        ConditionResult(
            "uniform-clients", "participants are drawn uniformly without replacement in each round", Verdict.YES
        ),
        same("local-step", "η = ζ/(4LE √(1 + γ/r))", steps.local, prescribed),
    )
    # The distance is known from above; where steps are not those of exactly this bound of it, (39) is the safe one.
    server = same("server-step", "β/η = 4L ‖w₀ − w*‖/ζ", ratio, printed, to=NEAR)
    mean = _bound(EQUATION_39, inputs, "mean_gradient_norm", conditions)
    least = _bound(THEOREM_2_UTILITY, inputs, "least_gradient_norm", (*conditions, server))
    return mean, replace(least, value=max(least.value, mean.value) if server.holds == Verdict.YES else least.value)


def same(name: str, statement: str, left: float, right: float, *, to: float = SAME) -> ConditionResult:
    """Whether a step is the prescribed one."""
    return ConditionResult(name, statement, Verdict.of(math.isclose(left, right, rel_tol=to)), left, right)


def _bound(
    theorem: Theorem, inputs: ConvergenceInputs, quantity: str, conditions: tuple[ConditionResult, ...]
) -> PromisedBound:
    """At the run's parameters; what the theorem itself checks is added to what was checked here."""
    found = theorem.evaluate(inputs)
    own = tuple(one for one in found.conditions if one.left is not None)
    return PromisedBound(
        theorem=theorem.id,
        status=found.status,
        value=float(found.outputs["gradient_norm"]),
        quantity=quantity,
        constant="explicit",
        conditions=(*conditions, *own),
    )


JOIN = Join(
    algorithm="norm-fedavg",
    noise=("noise_levels", "decay_rate"),
    calibrate=calibrate,
    bounds=bounds,
    allowance=Allowance(2.5),
)
