"""qtdl: rounded unit updates with truncated discrete Laplace noise, certified, next to Theorem 1 of Das et al.

The printed theorem is false (das.1). In its place the least noise by four proofs is returned: by the best of them,
unless the request names one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Generic

from typing_extensions import TypeVar

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.kinds.integers.truncated_discrete_laplace import BY_L2, EXACT, worst_shift
from epsilond.accountants.numerics.truncated_laplace import variance
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.conversions.escape import ESCAPE
from epsilond.accountants.theorems.papers.das.noise_law import EQUATION_7, LEMMA_1, update_error
from epsilond.accountants.theorems.papers.das.sensitivity import COUPLED, HOEFFDING
from epsilond.accountants.theorems.papers.das.truncated_noise import THEOREM_1
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Caution, Ends, GuaranteeAnswer, Parameters, Served
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.cautions import noise_cautions
from epsilond.calibrators.envelope import guarantee_answer
from epsilond.calibrators.qtdl.plan import PLANS
from epsilond.calibrators.qtdl.printed import (
    binomial_cautions,
    binomial_trials,
    communication,
    printed_cautions,
    printed_readings,
)
from epsilond.calibrators.qtdl.problem import GridProblem, Method, QtdlProblem
from epsilond.calibrators.qtdl.risk_bounds import RISK
from epsilond.calibrators.qtdl.search import least_noise
from epsilond.calibrators.search import Certified
from epsilond.calibrators.solution import Outcome, Solution, Training, TrainingT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.calibrators.answer import Communication, PrintedReading
    from epsilond.calibrators.qtdl.family import CertifiedNoise

CONDITIONS = (
    Condition("bounded-coordinates", "every coordinate that is rounded is in [−1, 1]; a zero update is sent as zeros"),
    Condition("neighbours-within", "neighbours' values are within the sensitivities for every earlier output"),
    Condition("fresh-randomness", "every message is rounded afresh and carries fresh noise"),
)


Problem = TypeVar("Problem", bound=GridProblem)
Answered_co = TypeVar("Answered_co", bound=GridProblem, covariant=True, default=GridProblem)


@dataclass(frozen=True, kw_only=True)
class QtdlParameters:
    """Parameters of the run: values are rounded to multiples of 1/s, and integer noise over s is added."""

    noise_levels: Annotated[int, Served("largest absolute value m of the integer noise, in grid steps")]
    decay_rate: Annotated[
        float, Served("decay rate α of the integer noise: the value y has probability proportional to e^(−α|y|)")
    ]
    noise_std: Annotated[
        float,
        Served(
            "standard deviation of the noise per coordinate, in units of the update (grid steps divided by "
            "quantization_levels)"
        ),
    ]
    variance: Annotated[
        float, Served("variance of the noise per coordinate, in squared units of the update (noise_std squared)")
    ]
    mean_squared_error: Annotated[
        float,
        Served(
            "expected squared ℓ2 error of one message, by rounding and noise together, in squared units of the update"
        ),
    ]
    quantization_levels: Annotated[int, Served("number of grid steps in a unit of the update")]
    method: Annotated[Method, Served("proof by which the noise is certified, as in the request")]
    l1_sensitivity: Annotated[float, Served("ℓ1 sensitivity in grid steps for which the noise is certified")]
    linf_sensitivity: Annotated[float, Served("ℓ∞ sensitivity in grid steps for which the noise is certified")]
    l2_sensitivity: Annotated[
        float | None,
        Served("ℓ2 sensitivity in grid steps for which the noise is certified; absent if the proof does not use it"),
    ] = None
    log10_failure_delta: Annotated[
        float | None,
        Served(
            "base-10 logarithm of the probability that the rounding of a round exceeds these "
            "sensitivities. δ includes it. Absent if rounding never exceeds them"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class GridSolution(Solution[Answered_co], Generic[Answered_co]):
    """A truncated discrete Laplace noise, given by its number of levels and its decay rate, that meets the target.

    Attributes:
        certified_noise: the noise with its guarantee, and with the method of proof.
    """

    certified_noise: CertifiedNoise

    @property
    def variance_in_steps(self) -> float:
        """Variance of the noise per coordinate, in squared grid steps."""
        return variance(self.certified_noise.noise.decay_rate, self.certified_noise.noise.noise_levels)

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise per coordinate, in units of the update."""
        return math.sqrt(self.variance_in_steps) / float(self.problem.quantization_levels)

    @property
    def mean_squared_error(self) -> float:
        """Expected squared ℓ2 error of one message by rounding and noise, in squared units of the update."""
        return update_error(
            dimension=self.problem.dimension,
            quantization_levels=self.problem.quantization_levels,
            variance_in_steps=self.variance_in_steps,
        )


ROUNDING_BOUNDED = "rounding-bounded"
"""Id of the condition that fails if rounding may move two updates further apart than the sensitivities."""


class GridCalibrator(
    Calibrator[Problem, Parameters, GridSolution[Problem], TrainingT], Generic[Problem, Parameters, TrainingT]
):
    """Base class of calibrators for clients that send integers with truncated discrete Laplace noise.

    A subclass defines its printed theorems, parameters and bounds on the risk. This class finds the noise and states
    its guarantee.
    """

    knob = "noise_std"

    def find(self, problem: Problem) -> GridSolution[Problem]:
        """Return the noise with the fewest levels for which a proof shows that it meets the target.

        Args:
            problem: the request. It may name the proof; otherwise all proofs are tried.

        Returns:
            The noise with its guarantee. Its slack is 0 if one level less provably misses the target by the same bound.
            Otherwise it is None, that is, unknown.

        Raises:
            Infeasible: no noise within the limits of the search meets the target.
        """
        noise = least_noise(problem)
        slack = 0.0 if noise.minimal == "proved" else None
        certified = Certified(noise.noise.noise_levels, noise.guarantee, slack)
        return GridSolution(problem=problem, target=problem.target, certified=certified, certified_noise=noise)

    def sensitivity(self, solution: GridSolution[Problem]) -> float:
        """Return a bound on the ℓ2 distance between the integer messages of two neighbours, in grid steps."""
        noise = solution.certified_noise.noise
        if noise.l2_sensitivity is not None:
            return noise.l2_sensitivity
        return math.sqrt(worst_shift(noise).square)

    def specs(self, solution: GridSolution[Problem]) -> tuple[Spec, ...]:
        """Return the specification of all rounds, from which a ledger computes the privacy loss of several releases.

        Args:
            solution: the certified noise, with the release that it protects.

        Returns:
            A tuple with a single specification, that of all rounds together.

        Raises:
            ConditionViolated: rounding may move two updates further apart than the mechanism's sensitivities, with a
                small probability that a specification cannot state.
        """
        release = solution.certified_noise.release
        if math.isinf(release.log_failure):  # the sensitivities hold with certainty, as the logarithm is −∞
            return (release.spec(solution.certified_noise.noise),)
        statement = "log10 of the probability that a rounding moves further than the sensitivities say is −∞"
        log10_failure = release.log_failure / math.log(10.0)
        violated_condition = ConditionResult(ROUNDING_BOUNDED, statement, Verdict.NO, log10_failure, -math.inf)
        message = (
            "A part of δ covers roundings that exceed the sensitivities, and a ledger cannot be charged for it: "
            "give sensitivities that no rounding exceeds."
        )
        raise ConditionViolated(message, violated_condition)

    def trust(self, problem: Problem) -> Definition:
        """Return the trust model that the guarantee names; by default it is `definition`."""
        return self.definition(problem)

    def guarantee(self, solution: GridSolution[Problem]) -> GuaranteeAnswer:
        """Return the proved guarantee in sentences and as bounds on ε and δ.

        An upper bound on δ above the target's δ is replaced by the target's. This is valid because the noise meets the
        target. Only the conversion between δ and its decimal logarithm can cause such a bound.

        Args:
            solution: the certified noise.

        Returns:
            The guarantee, as a member of the answer.
        """
        target = solution.target
        answer = guarantee_answer(
            solution.certified,
            target,
            definition=self.trust(solution.problem),
            sampling=self.sampling(solution),
            sensitivity=self.sensitivity(solution),
        )
        log10_delta = Ends(answer.log10_delta.lower, min(answer.log10_delta.upper, target.log10_delta))
        delta = answer.delta
        if target.delta is not None:
            delta = Ends(delta.lower, min(delta.upper, target.delta))
        return replace(answer, log10_delta=log10_delta, delta=delta)


def noise_parameters(solution: GridSolution) -> QtdlParameters:
    """Return the certified noise of a message as parameters of the answer, with its variance and the sensitivities.

    The sensitivities are bounds on the distances between two neighbours' messages, for which the noise is certified.

    Args:
        solution: the certified noise, a number of levels and a decay rate.

    Returns:
        The parameters. Lengths are in grid steps, except for the standard deviation, the variance and the error. These
        are in units of the update.
    """
    noise = solution.certified_noise.noise
    movement = solution.certified_noise.release.movement
    levels = solution.problem.quantization_levels
    log_failure = movement.log_failure
    return QtdlParameters(
        noise_levels=noise.noise_levels,
        decay_rate=noise.decay_rate,
        noise_std=solution.noise_std,
        variance=solution.variance_in_steps / levels**2,
        mean_squared_error=solution.mean_squared_error,
        quantization_levels=levels,
        method=solution.certified_noise.method,
        l1_sensitivity=movement.l1,
        linf_sensitivity=movement.linf,
        l2_sensitivity=movement.l2,
        log10_failure_delta=None if math.isinf(log_failure) else log_failure / math.log(10.0),
    )


EXAMPLE = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "dimension": 10000,
    "quantization_levels": 512,
    "sensitivity_rule": {"kind": "relative", "relative_movement": 0.1},
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


class QtdlCalibrator(GridCalibrator[QtdlProblem, QtdlParameters, Training]):
    """Calibrator of quantized updates with truncated discrete Laplace noise.

    Clients round their updates to integers and add noise that takes finitely many values. The calibrator finds the
    noise with the fewest values that provably meets a target (ε, δ), and the bits of a message.
    """

    name = "qtdl"
    title = "Quantised updates with truncated discrete Laplace noise"
    summary = (
        "Computes the truncated discrete Laplace noise with the fewest levels that is certified to "
        "meet the target, and the bits of the messages. The noise that Das et al., Theorem 1, "
        "prescribe does not meet it, and is shown for comparison."
    )
    problem = QtdlProblem
    parameters_type = QtdlParameters
    theorems = tuple(
        theorem.id for theorem in (THEOREM_1, EXACT, BY_L2, ESCAPE, COUPLED, HOEFFDING, LEMMA_1, EQUATION_7)
    )
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS
    plan_place = 8

    def cost(self, problem: QtdlProblem) -> CostClass:
        """Return `closed-form`, the lowest cost, for one round by the method `escape`, otherwise `search`.

        By that method δ is the probability of a message that only one of two neighbours can send.
        """
        has_closed_form = problem.method == "escape" and problem.rounds == 1
        return "closed-form" if has_closed_form else "search"

    def printed_readings(
        self, outcome: Outcome[GridSolution[QtdlProblem], Training], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Return the printed Theorem 1 of Das et al. at the inputs of the request, always with the true ε and δ."""
        del true_figures
        return printed_readings(outcome.solution.problem)

    def parameters(self, outcome: Outcome[GridSolution[QtdlProblem], Training]) -> QtdlParameters:
        """Return the certified noise of a message."""
        return noise_parameters(outcome.solution)

    def sampling(self, solution: GridSolution[QtdlProblem]) -> Sampling:
        """Return `full`, because every client sends every coordinate."""
        del solution
        return "full"

    def communication(self, outcome: Outcome[GridSolution[QtdlProblem], Training]) -> Communication:
        """Return the bits of a message with the certified noise, and in the encodings that it is compared with."""
        solution = outcome.solution
        problem = solution.problem
        return communication(
            problem, solution.certified_noise.noise.noise_levels, outcome.printed, binomial_trials(problem)
        )

    def premises(self, outcome: Outcome[GridSolution[QtdlProblem], Training]) -> tuple[Condition, ...]:
        """Return the conditions of the guarantee that no computation can check: on the messages, and of the proof."""
        return (*CONDITIONS, *outcome.solution.certified.guarantee.declared)

    def warnings(self, outcome: Outcome[GridSolution[QtdlProblem], Training]) -> Iterator[Caution]:
        """Yield warnings about theorems of papers, the mechanisms that are compared, and the certified noise.

        Args:
            outcome: the certified noise of the request, with the evaluated interpretations ("readings") of the printed
                theorems.

        Yields:
            The warnings that apply, in a fixed order.
        """
        solution = outcome.solution
        yield from printed_cautions(outcome.printed, solution.noise_std)
        yield from binomial_cautions(solution.problem)
        yield from noise_cautions((solution.certified,))
        if solution.problem.rounds > 1:
            yield Caution(
                code="printed-speaks-of-one-round",
                message="theorem das.1 is about one message, and its noise is shown for one message at the target ε. "
                "The answer is for all messages",
            )


CALIBRATOR = QtdlCalibrator()
