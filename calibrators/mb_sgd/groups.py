"""What an mb-sgd answer says of each group of clients, and of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from epsilond.accountants.guarantee import Tightness
from epsilond.calibrators.answer import CONTRIBUTION_NORM, Ends, GuaranteeAnswer, NumericalAnswer, Served, TargetAnswer
from epsilond.calibrators.envelope import numerical_answer

if TYPE_CHECKING:
    from epsilond.calibrators.mb_sgd.members import Member
    from epsilond.calibrators.mb_sgd.solution import MembersSolution
    from epsilond.calibrators.search import Certified


@dataclass(frozen=True, kw_only=True)
class GroupParameters:
    """What the clients of one group are to run with, and what is guaranteed to them."""

    clients: Annotated[int, Served("clients of this group")]
    samples_per_client: Annotated[int, Served("records of one of them")]
    batch_size: Annotated[int, Served("records of one of them per round")]
    lipschitz: Annotated[float, Served("bound on the norm of a gradient of the loss times its weight p_i N")]
    noise_std: Annotated[float, Served("σ per coordinate, added to the mean of batch_size weighted gradients")]
    noise_multiplier: Annotated[float, Served("noise_std over contribution_norm")]
    contribution_norm: Annotated[float, CONTRIBUTION_NORM]
    printed_noise_std: Annotated[float | None, Served("σ of the printed theorem at the answer's rounds")] = None
    guarantee: GuaranteeAnswer


def group_parameters(solution: MembersSolution) -> tuple[GroupParameters, ...]:
    """One entry a group, in the order of the request."""
    printed = solution.printed_stds
    return tuple(
        GroupParameters(
            clients=member.clients,
            samples_per_client=member.samples_per_client,
            batch_size=member.batch_size,
            lipschitz=member.lipschitz,
            noise_std=noise_std,
            noise_multiplier=found.noise,
            contribution_norm=norm,
            printed_noise_std=printed[member.place] if printed else None,
            guarantee=answer,
        )
        for member, found, noise_std, norm, answer in zip(
            solution.members, solution.each, solution.noise_stds, solution.norms, solution.answers, strict=True
        )
    )


def common(figures: Iterable[float]) -> float | None:
    """The figure of every group, None where they differ."""
    distinct = set(figures)
    return distinct.pop() if len(distinct) == 1 else None


@dataclass(frozen=True, kw_only=True)
class CommonNoise:
    """The figures of the noise that are those of every client; a figure in which clients differ is None."""

    noise_std: float | None
    noise_multiplier: float | None
    contribution_norm: float | None


def common_noise(solution: MembersSolution) -> CommonNoise:
    """Return the figures of the noise that are those of every client.

    Guarantees: noise_multiplier and contribution_norm are both given, or neither is.
    """
    multiplier, norm = common(one.noise for one in solution.each), common(solution.norms)
    both = multiplier is not None and norm is not None
    return CommonNoise(
        noise_std=common(solution.noise_stds),
        noise_multiplier=multiplier if both else None,
        contribution_norm=norm if both else None,
    )


def guarantee_of_all(answers: Sequence[GuaranteeAnswer]) -> GuaranteeAnswer:
    """The guarantee that holds for every client: at the largest ε and δ promised to any.

    At the largest δ a client's ε is at most that at its own δ, so the largest upper end covers all; a lower end is one
    of a client that was promised just that δ. The same with ε and δ exchanged. The sensitivity is absent where clients
    differ in it, as that of one of them does not go with the ε of another.
    """
    if len(answers) == 1:
        return answers[0]
    loosest_delta = max(answers, key=lambda one: one.target.log10_delta).target
    loosest_epsilon = max(one.target.epsilon for one in answers)
    at_delta = [one for one in answers if one.target.log10_delta == loosest_delta.log10_delta]
    at_epsilon = [one for one in answers if one.target.epsilon == loosest_epsilon]
    return replace(
        answers[0],
        sensitivity=common(one.sensitivity for one in answers if one.sensitivity is not None),
        target=TargetAnswer(epsilon=loosest_epsilon, delta=loosest_delta.delta, log10_delta=loosest_delta.log10_delta),
        epsilon=Ends(
            max(one.epsilon.lower for one in at_delta),
            max(one.epsilon.upper for one in answers),
        ),
        delta=Ends(
            max(one.delta.lower for one in at_epsilon),
            max(one.delta.upper for one in answers),
        ),
        log10_delta=Ends(
            max(one.log10_delta.lower for one in at_epsilon),
            max(one.log10_delta.upper for one in answers),
        ),
        tight=_tightness(answers),
        minimal=_minimal(answers),
        curve=None,
    )


def numerical_of_all(members: Sequence[Member], certified: Sequence[Certified]) -> NumericalAnswer:
    """The widest."""
    answers = (numerical_answer(one.guarantee, member.target) for one, member in zip(certified, members, strict=True))
    return max(answers, key=lambda one: one.relative_width)


def _tightness(answers: Sequence[GuaranteeAnswer]) -> Tightness:
    """Proved only where every client is promised the same: otherwise the lower ends are those of some clients."""
    kinds = {one.tight for one in answers}
    same = len({(one.target.epsilon, one.target.log10_delta) for one in answers}) == 1
    if len(kinds) == 1 and (same or kinds == {"unknown"}):
        return answers[0].tight
    return "unknown" if "unknown" in kinds else "witnessed"


def _minimal(answers: Sequence[GuaranteeAnswer]) -> Literal["proved", "searched"]:
    return "proved" if all(one.minimal == "proved" for one in answers) else "searched"
