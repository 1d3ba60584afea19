"""The question that `norm-fedavg` answers: a run of DP-NormFedAvg, who sees it, and how smooth the losses are."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    PARTICIPANTS,
    PARTICIPANTS_AMONG_CLIENTS,
    RATIOS,
    SAMPLES_PER_CLIENT,
    Checks,
    Clients,
    InitialDistance,
    Rounds,
    Smoothness,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    CLIENT_OPTIMUM_DISTANCE,
    GROWTH_RATIO,
    LOCAL_STEPS,
    STEP_RATIO,
    QuasarConvexity,
)
from epsilond.accountants.specs import Spec, Subsampled, TruncatedDiscreteLaplace
from epsilond.accountants.theorems.risk.das.convergence import best_ratio
from epsilond.calibrators.qtdl.problem import GridProblem

OBSERVERS = ("server", "released-models")


@request
class NormFedavgProblem(GridProblem):
    """A run of DP-NormFedAvg. The adversary sees every message (`server`) or every model (`released-models`).

    The observer `released-models` does not see who took part. If clients are protected, and the sensitivities are those
    of replacing all data of a client, the random draw of clients then amplifies privacy. Absent sensitivities are those
    of any two unit vectors. If `participants` is absent, all clients take part. Absent `local_steps` are the root of
    `rounds`, rounded. An absent `step_ratio` is the one with the smallest bound on the gradient norm.
    """

    scale: ClassVar = RATIOS
    checks: ClassVar[Checks] = (PARTICIPANTS_AMONG_CLIENTS,)

    clients: Clients
    participants: Annotated[int | None, PARTICIPANTS] = None
    rounds: Rounds
    smoothness: Smoothness
    quasar_convexity: Annotated[QuasarConvexity, RATIOS]
    initial_distance: InitialDistance
    client_optimum_distance: Annotated[float, CLIENT_OPTIMUM_DISTANCE, RATIOS] = 0.0
    growth_ratio: Annotated[float | None, GROWTH_RATIO, RATIOS] = None
    samples_per_client: Annotated[int | None, SAMPLES_PER_CLIENT] = None
    local_steps: Annotated[int | None, LOCAL_STEPS] = None
    step_ratio: Annotated[float | None, STEP_RATIO, RATIOS] = None

    def check_own(self) -> None:
        """Check the fields of a run of norm-fedavg.

        Raises:
            InvalidInput: the algorithm does not have this observer or this relation. Or the method cannot account for
                an unseen draw of clients. Or only one of `growth_ratio` and `samples_per_client` is given, but Theorem
                3 of Das et al. needs both.
        """
        if self.observer not in OBSERVERS:
            raise InvalidInput.at("/observer", "is not one that this run has", allowed=", ".join(OBSERVERS))
        if self.relation == "add-or-remove-one":
            message = "does not apply, because every participant sends an update of norm 1"
            raise InvalidInput.at("/relation", message, allowed="replace-one, zero-out-one")
        if self.rate < 1.0 and (self.movement.l2 is None or self.method in ("escape", "hockey-stick")):
            message = "where the draw of clients is unseen, a bound on the ℓ2 distance is needed and used"
            raise InvalidInput.at("/method", message, allowed="concentrated, concentrated-coupled")
        if (self.growth_ratio is None) != (self.samples_per_client is None):
            raise InvalidInput.at("/growth_ratio", "growth_ratio and samples_per_client go together")

    @property
    def reporting(self) -> int:
        """Number of clients that send a message in one round; all clients if `participants` is absent."""
        return self.participants or self.clients

    @property
    def rate(self) -> float:
        """Fraction of the clients that a round draws if the observer does not see the draw; otherwise 1."""
        return self.reporting / self.clients if self.observer == "released-models" else 1.0

    def round_of(self, message: TruncatedDiscreteLaplace) -> Spec:
        """Return the mechanism of a round: one client's message, subsampled if `rate` is below 1.

        Args:
            message: mechanism of one message (truncated discrete Laplace noise on a grid).
        """
        if self.rate == 1.0:
            return message
        return Subsampled(
            sampling="without-replacement",
            batch_size=self.reporting,
            population=self.clients,
            level="clients",
            mechanism=message,
        )

    @property
    def steps(self) -> int:
        """Number E of local steps, by default √K rounded, for K rounds."""
        return self.local_steps or max(1, round(math.sqrt(self.rounds)))

    @property
    def ratio(self) -> float:
        """Ratio β/η of the server's step size to the clients'. By default it minimises the bound on gradient norms."""
        if self.step_ratio is not None:
            return self.step_ratio
        return best_ratio(
            smoothness=self.smoothness,
            quasar_convexity=self.quasar_convexity,
            initial_distance=self.initial_distance,
            rounds=self.rounds,
            local_steps=self.steps,
        )
