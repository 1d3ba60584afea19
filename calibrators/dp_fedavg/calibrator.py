"""dp-fedavg: clipped updates of clients, averaged with Gaussian noise by a trusted server, round after round.

A client is protected as a whole. The server draws the participants of a round, and adds Gaussian noise to the sum of
their clipped updates. It divides this sum by a number that is fixed beforehand (McMahan et al. 2018, Learning
Differentially Private Recurrent Language Models). With adaptive clipping, a second noisy sum counts the clipped
updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.structure import DRAW_UNSEEN
from epsilond.accountants.structure.random_draws import draws_of, loses_amplification
from epsilond.accountants.theorems.mechanisms.adaptive_clipping import NOISE_SPLIT, SHIFTED_BITS
from epsilond.accountants.theorems.risk.averaged_steps import AVERAGED_STEPS
from epsilond.calibrators.answer import Communication, Risk, RiskBound
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.cautions import assumption_cautions, format_bound, noise_cautions, not_amplified
from epsilond.calibrators.certificates import Certificates
from epsilond.calibrators.dp_fedavg.cautions import CLIPPED, FIXED_DENOMINATOR, own_cautions
from epsilond.calibrators.dp_fedavg.family import FAMILY, spec
from epsilond.calibrators.dp_fedavg.parameters import AdaptiveClippingAnswer, DpFedavgParameters
from epsilond.calibrators.dp_fedavg.plan import PLANS
from epsilond.calibrators.dp_fedavg.problem import BITS_PER_COORDINATE, DpFedavgProblem
from epsilond.calibrators.dp_fedavg.risk_bounds import RISK
from epsilond.calibrators.dp_fedavg.rounds import RoundsRun, choose, noise_of, run_of
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.risk.baseline import Start, start_of
from epsilond.calibrators.solution import Outcome, RunSolution, declared_by_all
from epsilond.calibrators.targets.certified import at_certified_epsilon, certified_target

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.theorem import Condition, Step
    from epsilond.calibrators.answer import Caution


@dataclass(frozen=True, kw_only=True)
class DpFedavgSolution(RunSolution[DpFedavgProblem, int]):
    """A certified noise of DP-FedAvg for the chosen number of rounds, with its figures such as the traffic.

    Attributes:
        figures: noise, remaining share of the excess risk, and traffic of the run.
        rounds_runs: the figures for each number of rounds that was considered; None if the request gave the rounds.
    """

    figures: RoundsRun
    rounds_runs: tuple[RoundsRun, ...] | None = None

    @property
    def split(self) -> AdaptiveClippingAnswer | None:
        """Split of the noise between updates and clipped bits; None without adaptive clipping.

        With adaptive clipping each client also reports one bit: whether its update was clipped. The noise of the sum of
        these bits counts against the same target.
        """
        adaptive = self.problem.adaptive_clipping
        if adaptive is None:
            return None
        return AdaptiveClippingAnswer(
            count_std=adaptive.count_std,
            noise_std_of_share=round_up(Fraction(adaptive.count_std) / self.problem.reporting),
            whole_noise_multiplier=self.certified.noise,
        )


@dataclass(frozen=True, kw_only=True)
class DpFedavgTraining:
    """A bound on the risk of a run in which clients send gradients, and its step size.

    Attributes:
        risk: the upper bound on the excess risk.
        step_size: the step size that the bound is for.
        derivation: the theorem, with its inputs.
        declared: conditions of the bound, for which the caller vouches.
    """

    risk: Risk
    step_size: float
    derivation: Step
    declared: tuple[Condition, ...] = tuple(
        condition for condition in AVERAGED_STEPS.conditions if not condition.checked
    )


EXAMPLE = {
    "epsilon": 2.0,
    "delta": 1e-8,
    "clients": 1000000,
    "participants": 10000,
    "rounds": 2000,
    "dimension": 1000000,
    "clipping_norm": 1.0,
    "lipschitz": 1.0,
    "diameter": 10.0,
    "relation": "add-or-remove-one",
    "unit": "client",
    "observer": "released-models",
}


class DpFedavgCalibrator(Calibrator[DpFedavgProblem, DpFedavgParameters, DpFedavgSolution, DpFedavgTraining]):
    """DP-FedAvg with fixed or adaptive clipping."""

    name = "dp-fedavg"
    title = "DP-FedAvg: clipped updates of clients, averaged with Gaussian noise"
    summary = (
        "Computes the smallest certified noise of a run that protects every client as a whole, against "
        "everyone except the server. The noise is given for the sum and for the mean of the updates. "
        "If rounds are absent, they are chosen. Adaptive clipping is possible."
    )
    problem = DpFedavgProblem
    parameters_type = DpFedavgParameters
    theorems = (
        "balle-wang-2018.8",
        "balle-barthe-gaboardi-2018.8",
        "balle-barthe-gaboardi-2018.9",
        "zhu-dong-wang-2022.10",
        NOISE_SPLIT.id,
        AVERAGED_STEPS.id,
    )
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS
    plan_place = 2

    def cost(self, problem: DpFedavgProblem) -> CostClass:
        """Return `closed-form` for a given number of full rounds, which are exactly Gaussian; otherwise `search`."""
        is_full = problem.reporting == problem.clients
        return "closed-form" if is_full and problem.rounds is not None else "search"

    def definition(self, problem: DpFedavgProblem) -> Definition:
        """Return `joint` if the observer is all other clients, and `central` otherwise."""
        return "joint" if problem.observer == "other-clients" else "central"

    def find(self, problem: DpFedavgProblem) -> DpFedavgSolution:
        """Return the number of rounds, as requested or chosen, with its smallest certified noise.

        Args:
            problem: the request. If it gives no rounds, they are chosen by `rounds.choose`.

        Returns:
            The certified noise with the figures of the run, and those of all numbers of rounds that were considered.

        Raises:
            ConditionViolated: no theorem covers this sampling under this relation.
            Infeasible: no noise meets the target, or adaptive clipping leaves too little noise for the count of clipped
                updates.
        """
        certificates = Certificates(FAMILY, problem)
        runs: tuple[RoundsRun, ...] | None = None
        rounds = problem.rounds
        if rounds is None:
            runs = choose(problem, certificates)
            rounds = next(run.rounds for run in runs if run.chosen)

        # A target that is a risk is replaced by the certified (ε, δ).
        certified = certificates.of(rounds)
        target = certified_target(certified.guarantee, problem.target)
        return DpFedavgSolution(
            problem=at_certified_epsilon(problem, target),
            target=target,
            certified=certified,
            norm=problem.clipping_norm,
            run=rounds,
            certificates=certificates,
            figures=run_of(problem, rounds, noise_of(problem, certified.noise)),
            rounds_runs=runs,
        )

    def risk(self, solution: DpFedavgSolution) -> DpFedavgTraining | None:
        """Return the step size and the bound on the excess risk of averaged noisy gradient steps.

        The bound is for clients that send one gradient per round.

        Args:
            solution: the certified noise and rounds.

        Returns:
            The bound with its step size. None if the Lipschitz constant or the diameter is unknown, if gradients may
            exceed the clipping norm, or if the clipping norm adapts.
        """
        problem = solution.problem
        if problem.lipschitz is None or problem.diameter is None:
            return None
        if problem.lipschitz > problem.clipping_norm:
            return None
        if problem.adaptive_clipping is not None:
            return None  # the clipping norm of a round may fall below any gradient's
        noise_std = solution.figures.noise_std_of_mean
        outputs = TheoremAtInputs.of(
            AVERAGED_STEPS,
            problem,
            sampling=self.sampling(solution),
            participants=problem.reporting,
            noise_std=noise_std,
            rounds=solution.run,
        ).outputs
        terms = {name: outputs[name] for name in ("without_noise", "noise_alone")}
        upper = RiskBound(value=outputs["excess_risk"], constant="explicit", theorem=AVERAGED_STEPS.id, terms=terms)
        step = AVERAGED_STEPS.because(noise_std=noise_std, rounds=solution.run)
        return DpFedavgTraining(risk=Risk(upper=upper), step_size=outputs["step_size"], derivation=step)

    def start(self, problem: DpFedavgProblem) -> Start | None:
        """Return the bound on the excess risk of the initial model; None without Lipschitz constant or diameter."""
        if problem.lipschitz is None or problem.diameter is None:
            return None
        return start_of("empirical", distance=problem.diameter, lipschitz=problem.lipschitz)

    def parameters(self, outcome: Outcome[DpFedavgSolution, DpFedavgTraining]) -> DpFedavgParameters:
        """Return the certified noise of the sum and of the mean, with the size and the traffic of the run.

        Args:
            outcome: the certified noise of the request, and the training, which is None without a bound on the risk.

        Returns:
            The parameters for the answer. Quotients and products of the noise are rounded up.
        """
        solution, training = outcome.solution, outcome.training
        problem, run = solution.problem, solution.figures
        clip = Fraction(problem.clipping_norm)
        return DpFedavgParameters(
            noise_multiplier=run.noise_multiplier,
            contribution_norm=problem.clipping_norm,
            noise_std_of_sum=round_up(Fraction(run.noise_multiplier) * clip),
            noise_std_of_mean=run.noise_std_of_mean,
            noise_norm_of_mean=run.noise_norm_of_mean,
            clipping_norm=problem.clipping_norm,
            noise_to_signal=round_up(Fraction(run.noise_norm_of_mean) / clip),
            rounds=run.rounds,
            participants=problem.reporting,
            participation_rate=problem.rate,
            reports_per_client=run.reports_per_client,
            bytes_per_client=run.bytes_per_client,
            remaining_share=run.remaining_share,
            step_size=training.step_size if training else None,
            adaptive_clipping=solution.split,
            frontier=solution.rounds_runs,
        )

    def sampling(self, solution: DpFedavgSolution) -> Sampling:
        """Return `full` if all clients report, and otherwise the sampling of the request."""
        problem = solution.problem
        return "full" if problem.reporting == problem.clients else problem.sampling

    def specs(self, solution: DpFedavgSolution) -> tuple[Spec, ...]:
        """Return the noisy sums of all rounds."""
        return (spec(solution.problem, solution.run, solution.certified.noise),)

    def communication(self, outcome: Outcome[DpFedavgSolution, DpFedavgTraining]) -> Communication:
        """Return the traffic: 32 bits per coordinate, and one bit more per report if the clipping norm adapts.

        Args:
            outcome: the certified noise of the request, with its rounds.

        Returns:
            The bits of a report, and of all reports together. If the number of participants is random, the total is the
            largest possible one, and the expected total is given too.
        """
        solution = outcome.solution
        problem = solution.problem
        # With Poisson sampling, all clients may participate in a round.
        is_random = problem.sampling == "poisson" and problem.reporting < problem.clients
        most_reports = problem.clients if is_random else problem.reporting
        return Communication(
            bits_per_coordinate=float(BITS_PER_COORDINATE),
            bits_per_round_per_client=problem.bits_per_report,
            total_bits=problem.bits_per_report * most_reports * solution.run,
            expected_total_bits=float(solution.figures.total_bits) if is_random else None,
        )

    def derivation(self, outcome: Outcome[DpFedavgSolution, DpFedavgTraining]) -> tuple[Step, ...]:
        """Return the proofs of the privacy guarantee, of the split of its noise, and of the risk bound.

        Args:
            outcome: the certified noise of the request, and the training, which is None without a bound on the risk.

        Returns:
            The steps of the guarantee, of the split of the noise under adaptive clipping, and of the risk bound.
        """
        solution, training = outcome.solution, outcome.training
        steps = [solution.certified.guarantee.derivation]
        if solution.split is not None:
            numbers = {"noise_multiplier": solution.certified.noise, "count_std": solution.split.count_std}
            steps.append(NOISE_SPLIT.because(**numbers, update_noise_multiplier=solution.figures.noise_multiplier))
        if training is not None:
            steps.append(training.derivation)
        return tuple(steps)

    def premises(self, outcome: Outcome[DpFedavgSolution, DpFedavgTraining]) -> Iterator[Condition]:
        """Yield clipping and the fixed denominator, the premises of the certificate, and those of the risk bound."""
        solution = outcome.solution
        yield from (CLIPPED, FIXED_DENOMINATOR)
        if solution.split is not None:
            yield SHIFTED_BITS
        yield from declared_by_all(solution, outcome.training)

    def warnings(self, outcome: Outcome[DpFedavgSolution, DpFedavgTraining]) -> Iterator[Caution]:
        """Yield warnings about the noise, assumed values, the training loop, and lost amplification.

        Random sampling of clients amplifies privacy only if the adversary does not see which clients participate. If it
        does, the last warning states the noise that would suffice otherwise.

        Args:
            outcome: the certified noise of the request.

        Yields:
            The warnings that apply, in a fixed order.
        """
        solution = outcome.solution
        problem = solution.problem
        yield from noise_cautions((solution.certified,), drawn=None if problem.sampling == "full" else "client")
        yield from assumption_cautions(problem)
        yield from own_cautions(problem, solution.figures)
        # The random draws of clients do not depend on the numbers of rounds and the noise, so both are 1.
        draws = draws_of(spec(problem, 1, 1.0), "client")
        if not loses_amplification(draws, problem.observer, "client"):
            return

        # Certify the same run for an observer who does not see the participants.
        requested = solution.certificates.problem  # with a risk, if that is the target
        try:
            unseen = Certificates(FAMILY, replace(requested, observer=DRAW_UNSEEN)).of(solution.run).noise
        except NoCertificate:
            yield not_amplified(problem.observer)
            return
        yield not_amplified(
            problem.observer,
            f"noise_multiplier = {format_bound(solution.certified.noise)}",
            f"noise_multiplier = {format_bound(unseen)}",
        )


CALIBRATOR = DpFedavgCalibrator()
