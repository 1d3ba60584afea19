"""mu2-sgd: federated learning with noise cancellation, DP-μ²-FL of Reshef and Levy.

A client that reports for the N-th time subtracts the noise of its previous report and adds noise of variance base² N.
The server's sum therefore contains only each client's last noise. The release of a record to the server is exactly one
Gaussian mechanism (Theorem 5.1), for every pattern of dropouts. If a trusted server adds the noise, all noise except
the last is cancelled (Theorem F.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from epsilond.accountants.json_types import Fields
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.papers.reshef_levy.conversions import epsilons, mus
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import (
    SCHEDULE,
    SILENT_LAST,
    TRUSTED,
    UNTRUSTED,
)
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import CERTIFIED
from epsilond.calibrators.answer import CONTRIBUTION_NORM, Caution, Communication, Number, Served
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.mu2_sgd.cautions import cautions_of
from epsilond.calibrators.mu2_sgd.client_reports import ClientReport, describe_clients
from epsilond.calibrators.mu2_sgd.family import (
    ScheduleNoise,
    certify,
    contribution_norm,
    noise_std_of,
    residual_noise_std,
)
from epsilond.calibrators.mu2_sgd.plan import PLANS
from epsilond.calibrators.mu2_sgd.printed import printed_readings
from epsilond.calibrators.mu2_sgd.problem import BITS_PER_COORDINATE, Mu2SgdProblem
from epsilond.calibrators.mu2_sgd.risk_bounds import RISK
from epsilond.calibrators.mu2_sgd.training import Mu2Training, start_of_run, training_of
from epsilond.calibrators.solution import Outcome, Solution

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.target import Target
    from epsilond.accountants.theorem import Step
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.risk.baseline import Start

MOST_QUICK = 8
"""Largest number of client groups whose privacy curves take about as little time as a closed form."""
ABSENT_IS_ZERO = Condition(
    "absent-record-sends-noise",
    "if a record is added, removed or zeroed, its client still reports in that round, with s = 0 and its noise",
)


@dataclass(frozen=True, kw_only=True)
class ScheduleAnswer:
    """The rule for the standard deviation of the noise of every report."""

    base_std: Annotated[
        float,
        Served(
            "standard deviation per coordinate of the noise of a client's first report. With a trusted "
            "server: of the noise in every round's mean"
        ),
    ]
    rule: Annotated[
        Literal["base_std * sqrt(participations)", "base_std"],
        Served(
            "formula for the standard deviation of the noise of a report. participations is the number of "
            "the client's reports so far, with this one"
        ),
    ]
    added_by: Annotated[
        Literal["client", "server"],
        Served(
            "who draws new noise and subtracts the earlier noise: each client at its own reports, or the "
            "server in each round"
        ),
    ]
    most_participations: Annotated[
        int,
        Served(
            "largest number of reports of one client for which the guarantee holds. After them the client must stop"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class ByConversion:
    """One number, computed by three conversions between (ε, δ) and Gaussian differential privacy."""

    exact: Annotated[float, Served("value by the exact conversion, from the trade-off curve of the Gaussian mechanism")]
    zcdp: Annotated[float, Served("value by the best conversion from zero-concentrated differential privacy")]
    lemma: Annotated[float, Served("value by Lemma 2.6 of Reshef and Levy, as printed")]


@dataclass(frozen=True, kw_only=True)
class ConversionAnswer:
    """Three conversions between (ε, δ) and the parameter μ of Gaussian differential privacy.

    The exact conversion needs the least noise. The last two fields say how much more noise the others need.
    """

    gaussian_dp_mu: Annotated[
        ByConversion, Served("largest parameter μ of Gaussian differential privacy that implies the target (ε, δ)")
    ]
    epsilon: Annotated[ByConversion, Served("ε at the target δ that follows from the gaussian_dp_mu of the parameters")]
    noise_over_exact: Annotated[
        Number,
        Served(
            "noise for the target by Lemma 2.6 of Reshef and Levy, divided by the noise for the target by "
            "the exact conversion",
            may_be_unbounded=True,
        ),
    ]
    zcdp_noise_over_exact: Annotated[
        Number,
        Served(
            "noise for the target by the best conversion from zCDP, divided by the noise for the target by "
            "the exact conversion",
            may_be_unbounded=True,
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Mu2SgdParameters:
    """Parameters of a run of Algorithm 1 of Reshef and Levy, which adds noise to sums of gradient differences.

    Round t has the weight t. The model moves from x_t to x_{t+1} = x_t + 2/(t + 2) (w_{t+1} − x_t), where w_{t+1} is
    the next iterate of the gradient steps.
    """

    noise_std: Annotated[
        float,
        Served(
            "standard deviation per coordinate of the noise of a client's first report. With a trusted "
            "server: of the noise in every round's mean"
        ),
    ]
    noise_multiplier: Annotated[float, Served("noise_std divided by contribution_norm")]
    contribution_norm: Annotated[float, CONTRIBUTION_NORM]
    schedule: ScheduleAnswer
    gaussian_dp_mu: Annotated[
        float, Served("parameter μ of Gaussian differential privacy for the least protected record, rounded up")
    ]
    clipping_norm: Annotated[
        float,
        Served(
            "bound on the ℓ2 norm of a client's message: lipschitz + 2 · smoothness · diameter. A longer "
            "message is scaled down to it before noise is added"
        ),
    ]
    rounds: int
    step_size: Annotated[
        float | None, Served("step size η: round t moves by η times t times the gradient; absent without a risk bound")
    ] = None
    residual_noise_std: Annotated[
        float,
        Served("root mean square per coordinate of the noise that is left in the server's mean after the last round"),
    ]
    conversion: ConversionAnswer
    client_reports: Annotated[
        tuple[ClientReport, ...], Served("what is and what is not protected, for each kind of client")
    ]


@dataclass(frozen=True, kw_only=True)
class Mu2SgdSolution(Solution[Mu2SgdProblem]):
    """A certified noise of federated learning with noise cancellation, and the protection that it gives to each client.

    Attributes:
        noise: the noise that is added in the run.
        mu: parameter μ of Gaussian differential privacy of the least protected record, rounded up (ρ in the paper).
        reports: the protection of each kind of client: each group of the request, or two typical clients.
    """

    noise: ScheduleNoise
    mu: float
    reports: tuple[ClientReport, ...]


def conversion_of(mu: float, target: Target) -> ConversionAnswer:
    """Compare three conversions between (ε, δ) and the parameter μ of Gaussian differential privacy.

    The conversions are the exact one, the best one by zero-concentrated differential privacy, and Lemma 2.6 of Reshef
    and Levy, who call the parameter ρ.

    Args:
        mu: parameter μ of the certified noise. Each conversion gives an ε for it at the target's δ.
        target: target (ε, δ). Each conversion gives the largest μ for it.

    Returns:
        The ε and the largest μ by each conversion. `noise_over_exact` and `zcdp_noise_over_exact` are the noise by
        Lemma 2.6 and by zero-concentrated privacy, divided by the noise by the exact conversion.
    """
    exact, zcdp, lemma = mus(epsilon=target.epsilon, log_delta=target.log_delta).values()
    epsilon_at_mu = epsilons(mu=mu, log_delta=target.log_delta)
    # The noise for a target is inversely proportional to μ. A conversion may give no μ above 0.
    return ConversionAnswer(
        gaussian_dp_mu=ByConversion(exact=exact, zcdp=zcdp, lemma=lemma),
        epsilon=ByConversion(
            exact=epsilon_at_mu["exact_epsilon"],
            zcdp=epsilon_at_mu["zcdp_epsilon"],
            lemma=epsilon_at_mu["lemma_epsilon"],
        ),
        noise_over_exact=exact / lemma if lemma > 0.0 else math.inf,
        zcdp_noise_over_exact=exact / zcdp if zcdp > 0.0 else math.inf,
    )


EXAMPLE = {
    "epsilon": 8.0,
    "delta": 1e-5,
    "clients": 100,
    "participants": 50,
    "rounds": 1200,
    "dimension": 7850,
    "lipschitz": 40.0,
    "smoothness": 392.5,
    "diameter": 0.1,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


class Mu2SgdCalibrator(Calibrator[Mu2SgdProblem, Mu2SgdParameters, Mu2SgdSolution, Mu2Training]):
    """Federated learning with noise cancellation."""

    name = "mu2-sgd"
    title = "Federated learning with noise cancellation and partial participation"
    summary = (
        "Clients take back their earlier noise, so that only their last noise stays in the sum. Computes the noise "
        "schedule for any participation, with an untrusted or a trusted server (Reshef and Levy, Theorems 5.1, 5.2, "
        "F.1 and F.2)."
    )
    problem = Mu2SgdProblem
    parameters_type = Mu2SgdParameters
    theorems = ("reshef.5.1", "reshef.5.2", "reshef.f.1", "reshef.f.2", "reshef.lemma-2.6", SCHEDULE.id, CERTIFIED.id)
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS

    def cost(self, problem: Mu2SgdProblem) -> CostClass:
        """Return `search` if the step size is searched, or if many client groups need a curve each."""
        is_step_searched = problem.server == "untrusted" and problem.printed_participation
        has_many_groups = len(problem.taking_part.groups or ()) > MOST_QUICK
        return "search" if is_step_searched or has_many_groups else "closed-form"

    def definition(self, problem: Mu2SgdProblem) -> Definition:
        """Return `local` for an untrusted server, and `central` for a trusted one."""
        return "local" if problem.server == "untrusted" else "central"

    def find(self, problem: Mu2SgdProblem) -> Mu2SgdSolution:
        """Find the smallest noise that is certified to meet the target.

        With an untrusted server, it is the noise of a client's first report. The guarantee then holds for every record
        of every client that reports at most `most_participations` times, and does not depend on other clients'
        reports. With a trusted server, it is the noise of each round.

        Args:
            problem: the request, with the clients, their reports, the losses and the privacy target.

        Returns:
            The certified noise, with the protection of each kind of client.

        Raises:
            Infeasible: the largest noise that is offered does not meet the target.
        """
        certified, target = certify(problem)
        noise = ScheduleNoise(problem=problem, std=noise_std_of(problem, certified.noise))
        return Mu2SgdSolution(
            problem=problem,
            target=target,
            certified=certified,
            norm=contribution_norm(problem),
            noise=noise,
            mu=noise.mu(problem.cap),
            reports=describe_clients(problem, noise, target),
        )

    def risk(self, solution: Mu2SgdSolution) -> Mu2Training:
        """Return the step size and the bounds on the risk; without a step size only the order of the lower bound."""
        return training_of(solution.problem, solution.noise.std, solution.target.epsilon)

    def printed_readings(
        self, outcome: Outcome[Mu2SgdSolution, Mu2Training], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Evaluate the paper's theorems at the inputs of the request, in each requested interpretation (reading)."""
        del true_figures  # the true ε and δ are always included
        solution = outcome.solution
        return printed_readings(solution.problem, solution.target, solution.norm)

    def start(self, problem: Mu2SgdProblem) -> Start:
        """Return the bound on the excess risk of the initial model."""
        return start_of_run(problem)

    def parameters(self, outcome: Outcome[Mu2SgdSolution, Mu2Training]) -> Mu2SgdParameters:
        """Return the certified noise, the step size, and the protection of each kind of client.

        With an untrusted server each client adds its own noise, which grows with the number of its reports. Otherwise
        the server adds the noise, which is the same in every round.

        Args:
            outcome: the certified noise, with the step size if a bound on the risk is proved.

        Returns:
            Parameters to run with; `step_size` is None without a risk bound.
        """
        solution, training = outcome.solution, outcome.training
        problem, std = solution.problem, solution.noise.std
        if problem.server == "untrusted":
            noise: Fields = {"rule": "base_std * sqrt(participations)", "added_by": "client"}
        else:
            noise = {"rule": "base_std", "added_by": "server"}
        return Mu2SgdParameters(
            noise_std=std,
            noise_multiplier=std / solution.norm,
            contribution_norm=solution.norm,
            schedule=ScheduleAnswer(base_std=std, **noise, most_participations=problem.cap),
            gaussian_dp_mu=solution.mu,
            clipping_norm=problem.federation.clipping_norm,
            rounds=problem.rounds,
            step_size=training.step_size if training else None,
            residual_noise_std=residual_noise_std(problem, std),
            conversion=conversion_of(solution.mu, solution.target),
            client_reports=solution.reports,
        )

    def sampling(self, solution: Mu2SgdSolution) -> Sampling:
        """Return `full`, because the guarantee uses no amplification by subsampling."""
        del solution
        return "full"

    def specs(self, solution: Mu2SgdSolution) -> tuple[Spec, ...]:
        """Return the single Gaussian mechanism to which all releases about a record are equivalent."""
        return (Gaussian(noise_multiplier=solution.certified.noise),)

    def communication(self, outcome: Outcome[Mu2SgdSolution, Mu2Training]) -> Communication:
        """Return the traffic of the reports, with one number of 32 bits per coordinate."""
        problem = outcome.solution.problem
        bits = BITS_PER_COORDINATE * problem.dimension
        return Communication(
            bits_per_coordinate=float(BITS_PER_COORDINATE),
            bits_per_round_per_client=bits,
            total_bits=bits * problem.reporting * problem.rounds,
        )

    def derivation(self, outcome: Outcome[Mu2SgdSolution, Mu2Training]) -> tuple[Step]:
        """Return the theorem by which all releases about a record are one Gaussian mechanism, with its guarantee."""
        solution = outcome.solution
        problem = solution.problem
        theorem = UNTRUSTED if problem.server == "untrusted" else TRUSTED
        premise = solution.certified.guarantee.derivation
        norm = problem.federation.clipping_norm
        return (theorem.because(premise, clipping_norm=norm, gaussian_dp_mu=solution.mu),)

    def premises(self, outcome: Outcome[Mu2SgdSolution, Mu2Training]) -> tuple[Condition, ...]:
        """Return the conditions that only the caller can check: those of the guarantee, then those of the risk bound.

        Args:
            outcome: the certified noise of the request, with the step size, which is None if no theorem bounds the
                risk.

        Returns:
            The conditions. They depend on who adds the noise and on the neighbouring relation.
        """
        training = outcome.training
        problem = outcome.solution.problem
        conditions = list(UNTRUSTED.conditions)
        if problem.server == "trusted":
            conditions = [*TRUSTED.conditions, SILENT_LAST]
        if problem.relation != "replace-one":
            conditions.append(ABSENT_IS_ZERO)
        if training is not None:
            conditions += training.declared
        return tuple(conditions)

    def warnings(self, outcome: Outcome[Mu2SgdSolution, Mu2Training]) -> Iterator[Caution]:
        """Yield every caution about the result that applies, in a fixed order."""
        solution = outcome.solution
        return cautions_of(solution.problem, solution.certified, solution.noise, solution.reports, outcome.printed)


CALIBRATOR = Mu2SgdCalibrator()
