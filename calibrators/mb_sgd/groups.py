"""Groups of clients in a calibration: equal clients that may have a target of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import ClientGroupRequest
from epsilond.accountants.quantities import ANY_EPSILON, SQUARES, request
from epsilond.accountants.quantities.risks import RISK_FIELDS, RiskTargetFields
from epsilond.accountants.quantity import Checks
from epsilond.accountants.target import Target

if TYPE_CHECKING:
    from epsilond.accountants.quantities import TargetedProblem


def check_one_target(group: TargetedGroup) -> None:
    """Raise an error if a group of clients has both an ε and a bound on an attacker's success as its target.

    Args:
        group: the group of clients, with its own target or none.

    Raises:
        InvalidInput: both are given.
    """
    risk = group.risk
    if group.epsilon is not None and risk is not None:
        raise InvalidInput.at("/epsilon", f"is one target, and {risk.kind} is another")


@request
class TargetedGroup(ClientGroupRequest, RiskTargetFields):
    """A group of equal clients: their number, and the values in which they differ from the rest of the request.

    Its own target is an `epsilon` of at least 0, or a risk such as `advantage`. Without one it has that of the request.
    If `batch_size` is absent, it is the same fraction of the group's records as in the rest of the request. It is
    rounded to the nearest whole record, at least one. The published theorems require equal fractions. `weight` is that
    of one client's loss, relative to those of other groups.
    """

    epsilon: Annotated[float | None, ANY_EPSILON, SQUARES] = None

    checks: ClassVar[Checks] = (check_one_target,)

    @property
    def has_delta(self) -> bool:
        """True if the group has a δ of its own."""
        return self.delta is not None or self.log10_delta is not None

    @property
    def has_target(self) -> bool:
        """True if the group has an ε, a δ or a risk of its own."""
        return self.epsilon is not None or self.risk is not None or self.has_delta

    def target_in(self, problem: TargetedProblem) -> Target:
        """Return the privacy target of a group; values that the group lacks are those of the request.

        If the request's target is a risk, a group without a target of its own has that risk. A group with a risk has
        its ε stated at its own δ, at that of the request, or at 1e-5.

        Args:
            problem: the request that the group belongs to.

        Returns:
            The target: (ε, δ), or a risk with the δ at which ε is stated.
        """
        risk = self.risk
        if self.epsilon is None and risk is None and problem.risk is not None:
            return problem.target
        # δ is the group's own, if it has one.
        delta_fields = self if self.has_delta else problem
        if risk is not None:
            return Target.of_risk(risk, delta_fields.delta, delta_fields.log10_delta)
        epsilon = problem.target.epsilon if self.epsilon is None else self.epsilon
        return Target.of(epsilon, delta_fields.delta, delta_fields.log10_delta)

    def at_certified_epsilon(self, target: Target) -> Self:
        """Return the group with the certified (ε, δ) in place of its own risk, if it has one.

        A risk is a bound on an attacker's success, such as the advantage over guessing.

        Args:
            target: the certified (ε, δ), which implies the group's risk.

        Returns:
            A copy with ε and δ; the group itself if it has no risk of its own.
        """
        if self.risk is None:
            return self
        # The fields state δ in one form only, the one in which it was given.
        log10_delta = target.log10_delta if target.given_delta is None else None
        return replace(
            self,
            epsilon=target.epsilon,
            delta=target.given_delta,
            log10_delta=log10_delta,
            advantage=None,
            true_positive_rate=None,
            false_positive_rate=None,
            gaussian_dp_mu=None,
            rho=None,
        )


def own_epsilons(problem: TargetedProblem, groups: Sequence[TargetedGroup]) -> Iterator[float]:
    """Yield the ε of the request's target, then the ε of each group's target.

    Args:
        problem: the request. Its target is that of groups without a target of their own.
        groups: groups of clients of the request.
    """
    yield problem.target.epsilon
    for group in groups:
        yield group.target_in(problem).epsilon


def group_target_faults(problem: TargetedProblem, groups: Sequence[TargetedGroup]) -> Iterator[Fault]:
    """Yield the faults of client groups with an incomplete target (ε, δ) of their own.

    Groups can only be incomplete if the request's target is a bound on an attacker's success ("risk"), so that it has
    no ε to complete them. A group with a δ then needs an ε or a risk. A group with an ε needs a δ, of the group or of
    the request.

    Args:
        problem: the request.
        groups: its groups of clients.

    Yields:
        Faults with the pointer to the missing field of a group, and the reason.
    """
    if problem.risk is None:
        return
    request_has_delta = problem.delta is not None or problem.log10_delta is not None
    for index, group in enumerate(groups):
        lacks_epsilon = group.epsilon is None and group.risk is None
        if group.has_delta and lacks_epsilon:
            message = f"is needed with a δ of the group, as {problem.risk.kind} has none"
            yield Fault(f"/client_groups/{index}/epsilon", message)
        lacks_delta = not (group.has_delta or request_has_delta)
        if group.epsilon is not None and lacks_delta:
            yield Fault(f"/client_groups/{index}/delta", "is needed with an ε of the group, as the request has no δ")


def pair_target_faults(groups: Sequence[TargetedGroup]) -> Iterator[Fault]:
    """Yield the faults of client groups with a target that is not a pair (ε, δ) with ε > 0.

    Bounds on the excess risk of training are stated for such pairs only. The other targets are ε = 0 and bounds on an
    attacker's success.

    Args:
        groups: groups of clients in a request for bounds on the excess risk.

    Yields:
        Faults with the pointer to the field, the reason and, for ε, the allowed values.
    """
    for index, group in enumerate(groups):
        if group.epsilon == 0.0:
            message = "is out of range for bounds on the risk, which divide by ε"
            yield Fault(f"/client_groups/{index}/epsilon", message, "> 0")
        for name in RISK_FIELDS:
            if getattr(group, name) is not None:
                message = "is not a target here, where all is stated for δ at one ε. Give epsilon with delta"
                yield Fault(f"/client_groups/{index}/{name}", message)
