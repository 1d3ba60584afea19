"""ppsgd: a model with a shared part and a part of each client's own, Algorithms 1 to 3 of Bietti et al.

In each round the server averages the clipped shared gradients of the clients that take part, adds N(0, σ_ζ²) per
coordinate and takes a step of αη; each client takes a step of its own. A client is protected as a whole against all
other clients together (joint differential privacy). The noise is the smallest that is certified, and how much of the
model to share is chosen by the bound on the excess risk at that noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.papers.bietti.billboard import BILLBOARD, COALITION
from epsilond.accountants.theorems.papers.bietti.noise import LEAST_NOISE, NORM_BOUNDED, THEOREM_4_1, implied_constant
from epsilond.accountants.theorems.papers.bietti.sampled_noise import THEOREM_5_1
from epsilond.accountants.theorems.risk.bietti.full_participation import ANY_STEP, THEOREM_4_5
from epsilond.accountants.theorems.risk.bietti.personalization import OPTIMUM
from epsilond.accountants.theorems.risk.bietti.privacy_cost import LEMMA_4_6
from epsilond.accountants.theorems.risk.bietti.sampled_participation import (
    PERSONALIZED_RISK,
    THEOREM_5_2,
    THEOREM_B_4,
)
from epsilond.calibrators.answer import CONTRIBUTION_NORM, Communication, Served
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.cautions import noise_cautions, printed_cautions
from epsilond.calibrators.ppsgd.cautions import participation_cautions, risk_cautions
from epsilond.calibrators.ppsgd.family import (
    ParticipationFigures,
    certify,
    noise_std_of,
    participation_figures,
    run_spec,
)
from epsilond.calibrators.ppsgd.plan import PLANS
from epsilond.calibrators.ppsgd.printed import printed_readings
from epsilond.calibrators.ppsgd.problem import PpsgdProblem
from epsilond.calibrators.ppsgd.risk_bounds import RISK
from epsilond.calibrators.ppsgd.sharing import Alpha, Sharing, SharingPlan, plan_of, start_of_run
from epsilond.calibrators.solution import Outcome, Solution, declared_by_all
from epsilond.calibrators.targets.certified import at_certified_epsilon, certified_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.calibrators.answer import Caution, PrintedReading
    from epsilond.calibrators.risk.baseline import Start

BITS_PER_COORDINATE = 32
FRESH_NOISE = Condition("fresh-server-noise", "the server adds fresh Gaussian noise in every round, unseen by clients")
PUBLIC_WEIGHT = Condition(
    "public-weight", "the total weight of the clients, which the average is divided by, is public and does not change"
)
CONDITIONS = (NORM_BOUNDED, FRESH_NOISE, PUBLIC_WEIGHT)


@dataclass(frozen=True, kw_only=True)
class PpsgdParameters:
    """Parameters of the run of PPSGD (Bietti et al.), and the bound on the risk for other degrees of sharing.

    α is the step size of the shared part of the model over N times that of a client's own part, for N clients.
    """

    noise_std: Annotated[
        float,
        Served(
            "standard deviation per coordinate of the noise that the server adds to the average of the "
            "clipped shared gradients"
        ),
    ]
    noise_multiplier: Annotated[float, Served("noise_std divided by contribution_norm")]
    contribution_norm: Annotated[float, CONTRIBUTION_NORM]
    noise_constant: Annotated[
        float,
        Served(
            "value of the constant in equation (4) or (12) of Bietti et al. at which their formula gives "
            "noise_std; 0 if the target ε is 0"
        ),
    ]
    clipping_norm: Annotated[float, Served("bound on the ℓ2 norm of one client's message")]
    rounds: Annotated[int, Served("number of rounds")]
    participation_rate: Annotated[float, Served("probability that a given client takes part in a round")]
    participants: Annotated[int | None, Served("number of clients in one round; absent if it is random")] = None
    personalization: Annotated[
        Alpha | None, Served("degree of sharing α to run with; absent if it is neither given nor chosen")
    ] = None
    step_size: Annotated[
        float | None, Served("step size η in the theorem of the risk bound; absent where no risk bound applies")
    ] = None
    shared_step_size: Annotated[
        float | None, Served("step size of the shared part of the model; absent where no risk bound applies")
    ] = None
    local_step_size: Annotated[
        float | None,
        Served(
            "step size of a client's own part: step_size divided by participation_rate and by the sum of "
            "the clients' weights. Absent where no risk bound applies"
        ),
    ] = None
    sharing: Annotated[
        Sharing | None,
        Served("bounds on the excess risk at other degrees of sharing; absent where no risk bound applies"),
    ] = None
    participation: Annotated[
        ParticipationFigures | None,
        Served(
            "ε of a client under different assumptions on what other clients see. Absent unless a fixed "
            "number of clients is drawn in each round"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PpsgdSolution(Solution[PpsgdProblem]):
    """A certified noise of personalised SGD (PPSGD), with a comparison of ways to draw the participants.

    Attributes:
        participation: ε with and without amplification by the random draw of clients, at the certified noise; None
            unless a fixed number of clients is drawn in each round.
    """

    participation: ParticipationFigures | None

    @property
    def noise_std(self) -> float:
        """Standard deviation σ_ζ per coordinate of the noise in the average of the shared gradients."""
        return noise_std_of(self.problem, self.certified.noise)


def noise_constant_of(solution: PpsgdSolution) -> float:
    """Return the constant c for which the noise formula of Bietti et al. gives the certified noise.

    The paper does not state the constant.

    Args:
        solution: the run with its certified noise.

    Returns:
        The constant, without unit; 0 if the target ε is 0.
    """
    problem, target = solution.problem, solution.target
    # The noise is proportional to c/ε, which stays finite as both approach 0.
    if target.epsilon == 0.0:
        return 0.0
    return implied_constant(
        noise_std=solution.noise_std,
        clipping_norm=problem.clipping_norm,
        contributions=problem.federation.weight,
        rounds=problem.rounds,
        epsilon=target.epsilon,
        log_delta=target.log_delta,
    )


EXAMPLE = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "clients": 1000,
    "rounds": 10_000,
    "sampling": "poisson",
    "participation_rate": 0.01,
    "clipping_norm": 1.0,
    "shared_dimension": 50,
    "smoothness": 2.0,
    "lipschitz": 1.0,
    "shared_gradient_std": 0.5,
    "local_gradient_std": 0.5,
    "shared_gradient_norm": 0.0,
    "optimum_norm": 1.0,
    "noise_constant": 1.5,
    "relation": "replace-one",
    "unit": "client",
    "observer": "other-clients",
}


class PpsgdCalibrator(Calibrator[PpsgdProblem, PpsgdParameters, PpsgdSolution, SharingPlan]):
    """Personalised learning with a noisy shared part."""

    name = "ppsgd"
    title = "Personalised learning with a noisy shared part"
    summary = (
        "Computes the smallest certified noise of PPSGD for a client against all others, and the best "
        "degree of sharing. Sources: Bietti et al., Theorems 4.1, 4.5, 5.1, 5.2, B.4, Lemma 4.6."
    )
    problem = PpsgdProblem
    parameters_type = PpsgdParameters
    theorems = tuple(
        theorem.id
        for theorem in (
            THEOREM_4_1,
            LEAST_NOISE,
            THEOREM_5_1,
            THEOREM_4_5,
            THEOREM_5_2,
            THEOREM_B_4,
            PERSONALIZED_RISK,
            ANY_STEP,
            LEMMA_4_6,
            OPTIMUM,
            BILLBOARD,
            COALITION,
        )
    )
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS
    plan_place = 1

    def cost(self, problem: PpsgdProblem) -> CostClass:
        """Return `closed-form` if all clients take part, because rounds are then exactly Gaussian, or `search`."""
        return "closed-form" if problem.sampling == "full" else "search"

    def definition(self, problem: PpsgdProblem) -> Definition:
        """Return `joint`, because a client is protected against all other clients together."""
        del problem
        return "joint"

    def find(self, problem: PpsgdProblem) -> PpsgdSolution:
        """Find the smallest certified noise of PPSGD, in which clients share a part of their models.

        Args:
            problem: the request, with the clients, the rounds and the privacy target.

        Returns:
            The certified noise. A target that bounds an attacker's risk is replaced by the certified (ε, δ). If a fixed
            number of clients is drawn, the solution also compares ε with that of secret independent draws.

        Raises:
            ConditionViolated: no theorem covers this sampling under this relation.
            Infeasible: no noise in the range of the search meets the target.
        """
        certified = certify(problem)
        target = certified_target(certified.guarantee, problem.target)
        problem = at_certified_epsilon(problem, target)
        return PpsgdSolution(
            problem=problem,
            target=target,
            certified=certified,
            norm=noise_std_of(problem, 1.0),
            participation=participation_figures(problem, certified),
        )

    def risk(self, solution: PpsgdSolution) -> SharingPlan | None:
        """Return how much to share at the certified noise, with the bound on the excess risk; None without a bound."""
        return plan_of(solution.problem, solution.noise_std)

    def printed_readings(
        self, outcome: Outcome[PpsgdSolution, SharingPlan], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Return the noise and the bounds that Bietti et al. print for the request."""
        del true_figures
        solution = outcome.solution
        return printed_readings(solution.problem, solution.certified, outcome.training)

    def start(self, problem: PpsgdProblem) -> Start | None:
        """Return the bound on the excess risk of the initial models; None if the learning problem is not given."""
        return start_of_run(problem)

    def parameters(self, outcome: Outcome[PpsgdSolution, SharingPlan]) -> PpsgdParameters:
        """Return the certified noise and, if a bound on the risk is proved, the degree of sharing α and the step sizes.

        PPSGD trains one model part that all clients share, and one part of each client. α is the weight of the shared
        part.

        Args:
            outcome: the certified noise, with the step sizes and the risk bound if a theorem gives one.

        Returns:
            Parameters to run with. Without a risk bound, α is that of the request, and no step sizes are given.
        """
        solution, plan = outcome.solution, outcome.training
        problem = solution.problem
        parameters = PpsgdParameters(
            noise_std=solution.noise_std,
            noise_multiplier=solution.certified.noise,
            contribution_norm=solution.norm,
            noise_constant=noise_constant_of(solution),
            clipping_norm=problem.clipping_norm,
            rounds=problem.rounds,
            participation_rate=problem.rate,
            participants=problem.participants,
            personalization=problem.personalization,
            participation=solution.participation,
        )
        if plan is None:
            return parameters
        chosen = plan.chosen
        return replace(
            parameters,
            personalization=chosen.personalization,
            step_size=chosen.step_size,
            shared_step_size=chosen.shared_step_size,
            local_step_size=chosen.local_step_size,
            sharing=plan.sharing,
        )

    def sampling(self, solution: PpsgdSolution) -> Sampling:
        """Return how the clients of a round are drawn."""
        return solution.problem.sampling

    def specs(self, solution: PpsgdSolution) -> tuple[Spec, ...]:
        """Return the mechanism that releases the noisy averages of all rounds."""
        return (run_spec(solution.problem, solution.certified.noise),)

    def communication(self, outcome: Outcome[PpsgdSolution, SharingPlan]) -> Communication:
        """Return the bits that clients send: the shared coordinates of every message, with 32 bits per coordinate.

        Args:
            outcome: the certified noise of the request.

        Returns:
            The bits of one message and of all messages. If the number of participants is random, the total is for all
            clients in every round, and its expected value is given too.
        """
        problem = outcome.solution.problem
        bits = BITS_PER_COORDINATE * problem.shared_dimension
        expected_total_bits = None
        if problem.participants is None:
            expected_total_bits = float(bits) * problem.rounds * problem.rate * problem.clients
        return Communication(
            bits_per_coordinate=float(BITS_PER_COORDINATE),
            bits_per_round_per_client=bits,
            total_bits=bits * problem.rounds * (problem.participants or problem.clients),
            expected_total_bits=expected_total_bits,
        )

    def premises(self, outcome: Outcome[PpsgdSolution, SharingPlan]) -> tuple[Condition, ...]:
        """Return the conditions on the run, those of the certificate, and those of the risk bound."""
        return (*CONDITIONS, *declared_by_all(outcome.solution, outcome.training))

    def risk_premises(self, training: SharingPlan) -> tuple[Condition, ...]:
        """Return the conditions of the theorem that bounds the risk."""
        del training
        return PERSONALIZED_RISK.conditions

    def warnings(self, outcome: Outcome[PpsgdSolution, SharingPlan]) -> Iterator[Caution]:
        """Yield every caution that applies, in a fixed order.

        Args:
            outcome: the certified noise, with the step sizes and the risk bound.

        Yields:
            Warnings about the noise, lost amplification, unused fields, printed theorems and the risk bound.
        """
        solution = outcome.solution
        problem = solution.problem
        yield from noise_cautions((solution.certified,), drawn="client")
        yield from participation_cautions(problem, solution.participation)
        yield from printed_cautions(outcome.printed, (solution.noise_std,))
        yield from risk_cautions(problem, outcome.training)


CALIBRATOR = PpsgdCalibrator()
