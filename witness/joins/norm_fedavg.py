"""norm-fedavg: its calibrator and its convergence bounds, and the noise that its paper prints.

The calibrator certifies noise for any two unit updates of a client, in every round. The noise of Theorem 1 of Das et
al. has too few levels at every ε: a coordinate takes a value that is impossible for the other update (an escape) with
probability 0.14 or more, so that no ε is valid at a small δ. Two runs with printed noise are compared with the
certified one. They take the steps that the paper prescribes for their own noise:

`as-printed` has the printed noise at the ε₀ that Theorem 2 gives for the target. Its true δ is close to 1; the
calibration's `as_printed` states it.

`as-printed-raised` has the printed decay rate α = ε₀/Δ₁ and enough levels for the target to be certified. Here ε₀ comes
from the paper's composition of rounds, without its amplification by client sampling. Half of δ is reserved for escapes.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Theorem
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
from epsilond.witness.joins.printed.raised_noise import raise_printed_noise

SAME = 1e-9
"""Relative tolerance for equal step sizes; it allows for rounding."""
QUASAR_CONVEXITY = 1.0
"""Quasar-convexity ζ of the simulated losses, which are convex."""
NEAR = 1e-3
"""Relative tolerance for step sizes that depend on the distance to the minimiser, which is computed numerically."""
ANSWERS_KEPT = 64
"""Number of answers that each function of this module keeps, for the cells of an experiment that repeat a problem."""


def calibration_problem(problem: SimulatedProblem, run: NormFedavgRun, target: Target) -> NormFedavgProblem:
    """Return the calibrator's request for a simulated run of DP-NormFedAvg.

    One client's update may differ between neighbouring data sets. A normalised update can be any unit vector. If the
    observer sees only the released models, a whole client is protected and the draw of clients is hidden. Otherwise one
    record is protected, which may change the update just as much.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise, with its quantization levels.
        target: the (ε, δ) to meet.

    Returns:
        The request, with the constants that step sizes and bounds need.
    """
    setting = DasSetting.of(problem)
    assert run.quantization_levels is not None  # every run with noise has quantised messages
    delta = target.given_delta
    log10_delta = None
    if delta is None:  # a δ too small for a double is given by its logarithm
        log10_delta = target.log10_delta

    # The calibrator requires a positive distance. A start at the minimiser gets the radius of the ball.
    initial_distance = setting.initial_distance or 0.5 * problem.constants.diameter
    return NormFedavgProblem(
        epsilon=target.epsilon,
        delta=delta,
        log10_delta=log10_delta,
        dimension=problem.dimension,
        quantization_levels=run.quantization_levels,
        rounds=run.rounds,
        participants=run.participants,
        clients=problem.clients,
        relation="replace-one",
        unit="client" if run.observer == "released-models" else "record",
        observer=run.observer,
        smoothness=setting.smoothness,
        quasar_convexity=QUASAR_CONVEXITY,
        initial_distance=initial_distance,
        client_optimum_distance=setting.client_optimum_distance,
        local_steps=run.local_steps,
    )


def calibrate(problem: SimulatedProblem, run: NormFedavgRun, target: Target) -> tuple[NormFedavgRun, Calibration]:
    """Calibrate the noise of a run to a target, and add two other noises for comparison.

    All three are truncated discrete Laplace noise. The calibrated one is the least that is certified. Another one is
    the noise that Theorem 1 of Das et al. prints, if it is defined. The third one has the printed decay rate, but
    enough noise levels for the target, if such a number is certified.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with all these noises, and the calibrator's answer with its certified guarantee.

    Raises:
        NoCertificate: the calibrator certifies no noise for the target.
    """
    calibrator_problem = calibration_problem(problem, run, target)
    answer = solve(calibrator_problem)
    certified = answer.parameters
    noisy = replace(run, noise_levels=certified.noise_levels, decay_rate=certified.decay_rate)

    # The paper's parameters in each interpretation of its text. Some have no noise levels.
    prescribed = (reading.parameters for reading in answer.readings)
    printed = next((parameters for parameters in prescribed if "noise_levels" in parameters), None)
    if printed is not None:
        printed_levels = int(printed["noise_levels"])
        noisy = replace(noisy, printed_noise_levels=printed_levels, printed_decay_rate=printed["decay_rate"])

    raised = raise_printed_noise(calibrator_problem)
    if raised is not None:
        raised_levels, raised_rate = raised
        noisy = replace(noisy, raised_noise_levels=raised_levels, raised_decay_rate=raised_rate)
    return noisy, answer


@functools.lru_cache(maxsize=ANSWERS_KEPT)
def solve(calibrator_problem: NormFedavgProblem) -> Calibration:
    """Calibrate noise to a target (ε, δ). Recent answers are cached, because an experiment repeats problems.

    Args:
        calibrator_problem: the request for the calibrator.

    Returns:
        The calibrator's answer, with the least noise that it certifies.

    Raises:
        NoCertificate: the calibrator certifies no noise for the target.
    """
    answer: Calibration = CALIBRATOR.solve(calibrator_problem)
    return answer


def printed_log_delta(problem: SimulatedProblem, run: NormFedavgRun, epsilon: float) -> float:
    """Return a lower bound on log δ at ε for all rounds with the noise that Das et al. print.

    The bound is the probability of an output that is impossible for the neighbouring update (an escape), for two
    updates that are as far apart as possible.

    Args:
        problem: the simulated learning problem.
        run: the run with its printed noise.
        epsilon: ε of all rounds together.

    Returns:
        The bound, as a natural logarithm.

    Raises:
        InvalidInput: the run has no printed noise.
    """
    if run.printed_noise_levels is None or run.printed_decay_rate is None:
        raise InvalidInput.at("/printed_noise_levels", "is needed")
    # The request needs a δ, which does not influence the probability of an escape.
    any_delta = 0.5
    calibrator_problem = calibration_problem(problem, run, Target.of(epsilon, any_delta, None))
    release = IntegerRelease(problem=calibrator_problem, movement=calibrator_problem.movement)
    printed_noise = release.noise(run.printed_decay_rate, run.printed_noise_levels)
    escape = release.escapes(printed_noise)
    return escape.curve.bound_log_delta(epsilon).lower


def bounds(problem: SimulatedProblem, run: NormFedavgRun) -> tuple[PromisedBound, ...]:
    """Return the bounds of Das et al. on the mean and on the least gradient norm over the rounds of a run.

    They are equation (39) and Theorem 2. No theorem of the paper bounds the excess risk.

    Args:
        problem: the simulated learning problem, with convex and smooth losses.
        run: the algorithm with its parameters, noise and steps.

    Returns:
        Both bounds; none if the run starts at the minimiser, because the theorems need a positive distance from it.
    """
    setting = DasSetting.of(problem)
    if setting.initial_distance == 0.0:
        return ()
    steps = step_sizes(problem, run)
    step_ratio = steps.server / steps.local
    inputs = ConvergenceInputs(
        smoothness=setting.smoothness,
        quasar_convexity=QUASAR_CONVEXITY,
        initial_distance=setting.initial_distance,
        client_optimum_distance=setting.client_optimum_distance,
        rounds=run.rounds,
        local_steps=run.local_steps,
        step_ratio=step_ratio,
        compression=compression(run, problem.dimension),
        participants=run.participants,
    )
    conditions = (*setting.conditions, *_run_conditions(inputs, steps.local))
    mean_bound = _bound(EQUATION_39, inputs, "mean_gradient_norm", conditions)

    # Theorem 2 is stated for one ratio of the step sizes.
    server_step = _check_server_step(setting, step_ratio)
    least_bound = _bound(THEOREM_2_UTILITY, inputs, "least_gradient_norm", (*conditions, server_step))
    if server_step.holds == Verdict.YES:
        # The ratio depends on the distance from the minimiser, of which only an upper bound is known. Equation (39) is
        # valid for every ratio.
        safe_value = max(least_bound.value, mean_bound.value)
        least_bound = replace(least_bound, value=safe_value)
    return mean_bound, least_bound


def _run_conditions(inputs: ConvergenceInputs, local_step_size: float) -> tuple[ConditionResult, ...]:
    """Check the conditions on the run that the bounds on its mean and its least gradient norm share.

    They are on the gradients, on the draw of clients, and on the local step size:

        η = ζ/(4LE √(1 + γ/r)),

    for the constant ζ of quasar-convexity, the smoothness L, E local steps, the compression variance γ and r
    participants.

    Args:
        inputs: inputs of the bounds at the run's parameters.
        local_step_size: local step size η of the run.

    Returns:
        Three conditions. The first two hold by construction of the simulation.
    """
    prescribed = local_step(
        smoothness=inputs.smoothness,
        quasar_convexity=QUASAR_CONVEXITY,
        local_steps=inputs.local_steps,
        compression=inputs.compression,
        participants=inputs.participants,
    )
    return (
        ConditionResult(
            "full-gradients", "clients descend on their full gradient; updates are exact unit vectors", Verdict.YES
        ),
        ConditionResult(
            "uniform-clients", "participants are drawn uniformly without replacement in each round", Verdict.YES
        ),
        check_step("local-step", "η = ζ/(4LE √(1 + γ/r))", local_step_size, prescribed),
    )


def _check_server_step(setting: DasSetting, step_ratio: float) -> ConditionResult:
    """Check whether the ratio β/η of the server's and the local step size is that of Theorem 2 of Das et al.

    The theorem prescribes β/η = 4L ‖w₀ − w*‖/ζ, for the smoothness L, the start w₀, the minimiser w*, and the constant
    ζ of quasar-convexity.

    Args:
        setting: constants of the simulated problem.
        step_ratio: ratio of the run's steps.

    Returns:
        The condition, with both sides of its equation.
    """
    prescribed = printed_ratio(
        smoothness=setting.smoothness, quasar_convexity=QUASAR_CONVEXITY, initial_distance=setting.initial_distance
    )
    return check_step("server-step", "β/η = 4L ‖w₀ − w*‖/ζ", step_ratio, prescribed, tolerance=NEAR)


def check_step(name: str, statement: str, left: float, right: float, *, tolerance: float = SAME) -> ConditionResult:
    """Check whether a step size of the run is the one that a theorem prescribes.

    The theorem's bound holds only at that step size.

    Args:
        name: id of the condition.
        statement: the condition in words.
        left: step size of the run.
        right: prescribed step size.
        tolerance: relative tolerance.

    Returns:
        The condition, with both step sizes and whether they are equal up to the tolerance.
    """
    is_equal = math.isclose(left, right, rel_tol=tolerance)
    return ConditionResult(name, statement, Verdict.of(is_equal), left, right)


def _bound(
    theorem: Theorem, inputs: ConvergenceInputs, quantity: str, conditions: tuple[ConditionResult, ...]
) -> PromisedBound:
    """Return a theorem's bound on the gradient norm of the mean loss over the rounds of a run.

    Args:
        theorem: the theorem.
        inputs: inputs of the theorem, at the run's parameters.
        quantity: name of the measured quantity that the theorem bounds.
        conditions: conditions that were checked before. The theorem's own conditions that compare two numbers are
            added.

    Returns:
        The bound, with all conditions and whether each holds.
    """
    evaluation = theorem.evaluate(inputs)
    theorem_conditions = tuple(result for result in evaluation.conditions if result.left is not None)
    return PromisedBound(
        theorem=theorem.id,
        status=evaluation.status,
        value=float(evaluation.outputs["gradient_norm"]),
        quantity=quantity,
        constant="explicit",
        conditions=(*conditions, *theorem_conditions),
    )


JOIN = Join(
    algorithm="norm-fedavg",
    noise=("noise_levels", "decay_rate"),
    calibrate=calibrate,
    bounds=bounds,
    allowance=Allowance(2.5),
)
