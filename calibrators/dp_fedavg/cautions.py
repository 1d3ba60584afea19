"""Cautions of `dp-fedavg`: common differences between training loops and the run that was accounted for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from epsilond.accountants.theorem import Condition
from epsilond.calibrators.answer import Caution

if TYPE_CHECKING:
    from epsilond.calibrators.dp_fedavg.problem import DpFedavgProblem
    from epsilond.calibrators.dp_fedavg.rounds import RoundsRun

CLIPPED = Condition(
    "clipped-updates", "every participant's whole update of a round has ℓ2 norm at most the clipping norm of the round"
)
FIXED_DENOMINATOR = Condition(
    "fixed-denominator",
    "the noisy sum is divided by the participants of the request, or by another number that no data has a part in",
)
EQUAL_WEIGHTS = Caution(
    code="equal-weights",
    message="every participant has the same weight in the sum. A mean weighted by the clients' numbers of examples "
    "is not covered. Its weights are data, and a weight above 1 lets an update exceed the clipping norm. Clip after "
    "weighting, with weights of at most 1",
)
SERVER_SEES = Caution(
    code="server-not-covered",
    message="the server sees every update and all participants: there is no guarantee against it. The draw does not "
    "amplify privacy against an observer of the participants (by logs or by network traffic). For the guarantee "
    "against such an observer, calibrate a full round, with participants equal to clients",
)


def own_cautions(problem: DpFedavgProblem, run: RoundsRun) -> Iterator[Caution]:
    """Yield cautions about training loops that differ from the certified run, and about noise that hides the updates.

    Common differences are the divisor of the sum, weights of clients, and a server that logs the participants.
    """
    yield Caution(code="fixed-denominator", message=_denominator(problem))
    yield EQUAL_WEIGHTS
    if problem.reporting < problem.clients:
        yield SERVER_SEES
    if run.remaining_share >= 1.0:
        yield Caution(
            code="noise-drowns-signal",
            message=f"the noise of the mean has norm {run.noise_norm_of_mean:.4g} in every round, and an update has "
            f"norm at most {problem.clipping_norm:.4g}. The run does not average this noise away (rounds: "
            f"{run.rounds}), and no bound shows that the model improves. More participants, fewer coordinates or a "
            "larger ε help",
        )


def _denominator(problem: DpFedavgProblem) -> str:
    """Return the sentence on the divisor of the noisy sum, which must not depend on who takes part."""
    fixed_divisor = f"the mean is the noisy sum over {problem.reporting}, fixed beforehand"
    is_random = problem.sampling == "poisson" and problem.reporting < problem.clients
    clause = "that happened to be drawn" if is_random else "that happened to answer"
    return (
        f"{fixed_divisor}: divided by the number of clients {clause}, a function of who takes part, it is not covered"
    )
