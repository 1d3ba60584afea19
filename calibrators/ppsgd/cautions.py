"""Cautions for a caller of ppsgd to read before relying on the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from epsilond.calibrators.answer import Caution
from epsilond.calibrators.cautions import assumption_cautions

if TYPE_CHECKING:
    from epsilond.calibrators.ppsgd.family import ParticipationFigures
    from epsilond.calibrators.ppsgd.problem import PpsgdProblem
    from epsilond.calibrators.ppsgd.sharing import SharingPlan


def participation_cautions(problem: PpsgdProblem, figures: ParticipationFigures | None) -> Iterator[Caution]:
    """Warn that drawing a fixed number of clients gives no amplification, and that `noise_constant` is not used.

    Args:
        problem: the request, with its sampling of clients.
        figures: ε with and without amplification at the certified noise; None unless a fixed number is drawn.

    Yields:
        At most two warnings.
    """
    if figures is not None:
        yield Caution(
            code="no-amplification",
            message="the number of participants is fixed, so all other clients together know the draw, and "
            f"there is no amplification. ε is {figures.epsilon_against_other_clients.upper:.6g} at this noise; "
            f"secret independent draws would give {figures.epsilon_if_unseen.upper:.6g}",
        )
    if problem.noise_constant is not None and problem.sampling == "without-replacement":
        yield Caution(
            code="field-not-used",
            message="noise_constant is for equations (4) and (12), which exclude a fixed number of participants",
        )


def risk_cautions(problem: PpsgdProblem, plan: SharingPlan | None) -> Iterator[Caution]:
    """Yield cautions about the risk bound: there is none, nothing is shared, or values are assumed.

    α is the weight of the model part that all clients share.

    Args:
        problem: the request, in which constants of the losses may be absent.
        plan: the chosen α, with its step sizes; None if no theorem bounds the excess risk.

    Yields:
        The warnings that apply, in a fixed order.
    """
    missing = [name for name in ("smoothness", "optimum_norm") if getattr(problem, name) is None]
    if missing:
        yield Caution(
            code="no-risk-without-the-problem",
            message=f"without {' and '.join(missing)} there is no bound on the excess risk, and no α is chosen",
        )
    elif problem.clipping_may_bind:
        yield Caution(
            code="clipping-may-bind",
            message=f"a message is a sum of gradients of norm up to {problem.gradient_bound:.6g}, which may exceed "
            "clipping_norm. The risk bounds are for messages that are not clipped; the guarantee holds",
        )
    if plan is None:
        return

    if plan.chosen.personalization == 0.0:
        yield Caution(
            code="nothing-is-shared",
            message="at α = 0 the shared part never moves and no noise is needed; noise_std applies where the model "
            "is shared",
        )
    yield from assumption_cautions(problem)
