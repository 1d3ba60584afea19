"""Certified (ε, δ) in place of targets that bound an attacker's risk, for clients and for the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from epsilond.calibrators.mb_sgd.problem import PacedProblem
from epsilond.calibrators.targets.certified import at_certified_epsilon, certified_target

if TYPE_CHECKING:
    from epsilond.accountants.json_types import Fields
    from epsilond.calibrators.mb_sgd.members import Member
    from epsilond.calibrators.search import Certified

Requested = TypeVar("Requested", bound=PacedProblem)


def members_at_certified_epsilon(members: Sequence[Member], certified: Sequence[Certified]) -> tuple[Member, ...]:
    """Return the kinds of clients of a run, with a certified ε in the target of each.

    A target is a pair (ε, δ), or a bound on an attacker's success ("risk") with a δ. A risk is completed by the ε that
    is certified for the client's noise at this δ. A pair stays as it is.

    Args:
        members: kinds of clients of a run, each with its target.
        certified: certificate (smallest noise and its guarantee) of each kind, in the same order.

    Returns:
        Copies of the kinds, in the same order; the target of each has an ε.

    Raises:
        Infeasible: a target is a risk, and no finite ε is certified at its δ.
    """
    return tuple(
        replace(member, target=certified_target(certificate.guarantee, member.target))
        for member, certificate in zip(members, certified, strict=True)
    )


def problem_at_certified_epsilon(problem: Requested, members: Sequence[Member]) -> Requested:
    """Return the request with certified (ε, δ) in place of targets that bound an attacker's success ("risk").

    The risk of a client group becomes the (ε, δ) that is certified for that group. The risk of the request becomes the
    largest ε that is certified for a client with this risk. If every group has another target, it becomes the largest
    ε of all clients.

    Args:
        problem: the request. It is unchanged if no target is a risk.
        members: the kinds of clients, each with a certified ε in its target.

    Returns:
        A copy of the request in which every target is a pair (ε, δ).
    """
    targets = [member.target for member in members]

    # One kind of client belongs to each group, in the same order.
    changes: Fields = {}
    if problem.client_groups and any(group.risk is not None for group in problem.client_groups):
        groups = zip(problem.client_groups, targets, strict=True)
        changes = {"client_groups": tuple(group.at_certified_epsilon(target) for group, target in groups)}
    if problem.risk is None:
        return replace(problem, **changes) if changes else problem

    # No client has the risk of the request if every group has a target of its own.
    inherited = [target for target in targets if target.risk == problem.risk]
    largest = max(inherited or targets, key=lambda target: target.epsilon)
    certified = at_certified_epsilon(problem, replace(largest, risk=problem.risk))
    return replace(certified, **changes) if changes else certified
