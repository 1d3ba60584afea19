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
    "the noisy sum is divided by the number of participants in the request, or by another number independent of data",
)
EQUAL_WEIGHTS = Caution(
    code="equal-weights",
    message="every participant has the same weight in the sum. A mean weighted by the clients' numbers of examples "
    "is not covered. Such weights are data, and a weight above 1 lets an update exceed the clipping norm. If updates "
    "are weighted, clip them after weighting, with weights of at most 1",
)
SERVER_SEES = Caution(
    code="server-not-covered",
    message="the server sees every update and who takes part, so there is no guarantee against the server. Against an "
    "observer who learns the participants from logs or network traffic, the draw does not amplify privacy. For the "
    "guarantee against such an observer, calibrate a full round, with participants equal to clients",
)


def own_cautions(problem: DpFedavgProblem, run: RoundsRun) -> Iterator[Caution]:
    """Yield warnings about training loops that differ from the certified one, and about too much noise.

    Common differences are the divisor of the sum, weights of clients, and a server that logs the participants.

    Args:
        problem: the request, with the clients, the participants and the clipping norm.
        run: the figures of the certified run.

    Yields:
        The warnings that apply, in a fixed order.
    """
    yield Caution(code="fixed-denominator", message=_denominator_message(problem))
    yield EQUAL_WEIGHTS
    if problem.reporting < problem.clients:
        yield SERVER_SEES

    if run.remaining_share >= 1.0:
        yield Caution(
            code="noise-drowns-signal",
            message=f"the noise of the mean update has norm {run.noise_norm_of_mean:.4g} in every round, and an update "
            f"has norm at most {problem.clipping_norm:.4g}. The run does not average this noise away (rounds: "
            f"{run.rounds}), and no bound shows that the model improves. More participants, fewer coordinates or a "
            "larger ε help",
        )


def _denominator_message(problem: DpFedavgProblem) -> str:
    """Return a message on the divisor of the noisy sum, which must not depend on who takes part.

    Args:
        problem: the request, with the number of participants and their sampling.

    Returns:
        The message, which names the fixed divisor, and a divisor that the guarantee does not cover.
    """
    fixed_divisor = f"the mean update is the noisy sum divided by {problem.reporting}, a number fixed beforehand"
    is_random = problem.sampling == "poisson" and problem.reporting < problem.clients
    clause = "that happened to be drawn" if is_random else "that happened to answer"
    return (
        f"{fixed_divisor}. A mean divided by the number of clients {clause} is not covered, as this number depends on "
        "who takes part"
    )
