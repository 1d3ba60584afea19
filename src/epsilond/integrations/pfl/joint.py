"""Several mechanisms of pfl under one budget, composed exactly and certified together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pfl.privacy.joint_privacy_accountant import JointPrivacyAccountant
from pfl.privacy.privacy_accountant import PLDPrivacyAccountant

from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.specs import Spec
from epsilond.integrations.pfl.accountant import EpsilondPrivacyAccountant
from epsilond.integrations.pfl.mechanism import MechanismPlan
from epsilond.integrations.pfl.planned import PlannedFigure, PlannedRun
from epsilond.integrations.pfl.runs import complete_target, curve_of, noise_for, spec_from_pfl

EPSILON_TOLERANCE = 1e-3
"""Relative tolerance of the search for ε', which keeps ε' within 0.1 % of the largest."""


class EpsilondJointPrivacyAccountant(PlannedRun, JointPrivacyAccountant):
    """pfl's `JointPrivacyAccountant` with one exact composition of the runs of all mechanisms.

    Give two of total_epsilon, total_delta and noise_parameters, or all three; or mechanism_epsilons and
    mechanism_deltas, from which the noises follow. From totals, mechanism i gets the noise of (ε'·p_i,
    total_delta·p_i), where p is `budget_proportions` (equal if absent). Here ε' is the largest for which all mechanisms
    together meet the totals. It is at least total_epsilon, by basic composition.

    Guarantees: all mechanisms together, with `noise_parameters`, are certified to be (total_epsilon, total_delta)-
    private for one user more or less. As in pfl, the guarantee ignores a `noise_scale` below 1, with a warning.

    Args:
        mechanisms: `gaussian` or `laplace` each.
        num_compositions, sampling_probability: of each, or one for all.
        total_epsilon, total_delta, mechanism_epsilons, mechanism_deltas, budget_proportions, noise_parameters,
            noise_scale: pfl's.

    Raises:
        InvalidInput: noises, ε and δ for which the guarantee does not hold. It is a `ValueError`.
        AssertionError: a check of pfl rejects the arguments.
        Infeasible: no noise in the range of the search meets a share.
    """

    if TYPE_CHECKING:  # pfl's field
        noise_parameters: Any
    total_epsilon = PlannedFigure()
    total_delta = PlannedFigure()

    def __init__(
        self,
        mechanisms: Sequence[str],
        num_compositions: int | Sequence[int],
        sampling_probability: float | Sequence[float],
        *,
        total_epsilon: float | None = None,
        total_delta: float | None = None,
        mechanism_epsilons: Sequence[float] | None = None,
        mechanism_deltas: Sequence[float] | None = None,
        budget_proportions: Sequence[float] | None = None,
        noise_parameters: Sequence[float] | None = None,
        noise_scale: float = 1.0,
    ) -> None:
        """Plan the runs of several mechanisms on the same users, with the arguments of pfl's class.

        Args:
            mechanisms: name of each mechanism, `gaussian` or `laplace`.
            num_compositions: number of runs of each mechanism; one number if all are equal.
            sampling_probability: probability that a user is in a cohort; one number if it is equal for all mechanisms.
            total_epsilon: ε [nat] of all mechanisms together.
            total_delta: δ of all mechanisms together.
            mechanism_epsilons: ε [nat] of each mechanism's run.
            mechanism_deltas: δ of each mechanism's run.
            budget_proportions: share of the totals that each mechanism gets; equal if absent.
            noise_parameters: noise parameter of each mechanism.
            noise_scale: factor of the noise in the run; 1 for the planned noise.
        """
        super().__init__(
            list(mechanisms),
            PLDPrivacyAccountant,  # pfl's check knows its own three only; it is replaced below
            num_compositions if isinstance(num_compositions, int) else list(num_compositions),
            sampling_probability if isinstance(sampling_probability, float | int) else list(sampling_probability),
            total_epsilon=total_epsilon,
            total_delta=total_delta,
            mechanism_epsilons=_as_list(mechanism_epsilons),
            mechanism_deltas=_as_list(mechanism_deltas),
            budget_proportions=_as_list(budget_proportions),
            noise_parameters=_as_list(noise_parameters),
            noise_scale=noise_scale,
        )

    def __post_init__(self) -> None:
        """Compute ε, δ or the noises of the mechanisms from the other values. If all are given, check the guarantee.

        The noises follow from the ε and δ of each mechanism if these are given, and otherwise from the totals.

        Raises:
            InvalidInput: the guarantee does not hold at the given values.
            Infeasible: no noise in the range of the search meets the target.
        """
        self.check_valid_parameter_settings()
        self.accountants = [EpsilondPrivacyAccountant] * len(self.mechanisms)
        if self.mechanism_epsilons is not None and self.noise_parameters is None:
            self.noise_parameters = self._noises(self.mechanism_epsilons, self.mechanism_deltas)
        if self.noise_parameters is None:
            self.noise_parameters = self._distribute_budget()
        self.total_epsilon, self.total_delta = complete_target(
            self.curve, self.total_epsilon, self.total_delta, parameter="noise_parameters"
        )
        self._prepare(max(self.num_compositions))
        # A scale below 1 reduces the noise of the run, and so increases its ε.
        if self.noise_scale < 1.0:
            as_run = curve_of(*self._specs(self.cohort_noise_parameters)).epsilon(delta=self.total_delta).upper
            self._warn_of_scale(self.noise_scale, as_run, stacklevel=4)

    def _find_curve(self) -> PrivacyCurve:
        """Return the certified privacy curve of all planned mechanisms together."""
        return curve_of(*self._specs(self.noise_parameters))

    def _target_delta(self) -> float:
        """Return the δ at which the ε of a statement is given."""
        return float(self.total_delta)

    def __repr__(self) -> str:
        return f"EpsilondJointPrivacyAccountant({self._specs(self.noise_parameters)!r}, {self.status})"

    def _plans(self) -> list[MechanismPlan]:
        """Return the plan of each mechanism at the noise that pfl adds to the cohorts of this run."""
        return self._plans_with(self.cohort_noise_parameters)

    def _plans_with(self, noises: Sequence[float]) -> list[MechanismPlan]:
        """Return the plan of each mechanism at given noise parameters.

        Args:
            noises: noise parameter of each mechanism.

        Returns:
            The plans, in the order of the mechanisms.
        """
        fields = zip(self.mechanisms, noises, self.sampling_probability, self.num_compositions, strict=True)
        return [MechanismPlan(*mechanism_fields) for mechanism_fields in fields]

    def _specs(self, noises: Sequence[float]) -> list[Spec]:
        """Return the descriptions of the planned runs with given noise, from which their privacy is computed.

        Args:
            noises: noise parameter of each mechanism.

        Returns:
            One description for each mechanism, in their order.
        """
        return [
            spec_from_pfl(
                mechanism=plan.mechanism,
                noise_parameter=plan.noise_parameter,
                sampling_probability=plan.sampling_probability,
                num_compositions=plan.iterations,
            )
            for plan in self._plans_with(noises)
        ]

    def _noises(self, epsilons: Sequence[float], deltas: Sequence[float]) -> list[float]:
        """Return the noise parameter of each mechanism at which its run has a given ε and δ.

        Args:
            epsilons: ε [nat] of each mechanism's run.
            deltas: δ of each mechanism's run.

        Returns:
            The noise parameters, in the order of the mechanisms.
        """
        noises = []
        runs = zip(self.mechanisms, self.sampling_probability, self.num_compositions, epsilons, deltas, strict=True)
        for mechanism, rate, times, epsilon, delta in runs:
            noise = noise_for(
                mechanism=mechanism, sampling_probability=rate, num_compositions=times, epsilon=epsilon, delta=delta
            )
            noises.append(noise)
        return noises

    def _distribute_budget(self) -> list[float]:
        """Find the noise of each mechanism such that all mechanisms together meet the total ε and δ.

        Mechanism i has the share p_i of the budget. It gets the noise for p_i times some ε' and p_i times the total δ.
        Bisection finds the largest ε' for which the composition meets the totals, to a relative error of
        `EPSILON_TOLERANCE`. It may exceed the total ε, because the ε of a composition is at most the sum of the ε of
        its parts.

        Returns:
            The noise parameter of each mechanism, from the largest ε' that was certified.
        """
        # The total ε is possible by basic composition. At the upper limit, the largest share gets all of the total ε.
        lower = self.total_epsilon
        upper = self.total_epsilon / max(self.budget_proportions)
        noises = self._noises_within(lower)
        while upper > lower * (1.0 + EPSILON_TOLERANCE):
            # The geometric mean bisects log ε'.
            middle = math.sqrt(lower * upper)
            trial = self._noises_within(middle)
            delta = curve_of(*self._specs(trial)).delta(epsilon=self.total_epsilon).upper
            if delta <= self.total_delta:
                lower = middle
                noises = trial
            else:
                upper = middle
        return noises

    def _noises_within(self, epsilon: float) -> list[float]:
        """Return the noise parameter of each mechanism if it gets its share of an ε and of the total δ.

        Args:
            epsilon: the ε [nat] that is divided.

        Returns:
            The noise parameters, in the order of the mechanisms.
        """
        epsilons = [epsilon * share for share in self.budget_proportions]
        deltas = [self.total_delta * share for share in self.budget_proportions]
        return self._noises(epsilons, deltas)


def _as_list(values: Sequence[float] | None) -> list[float] | None:
    """Return a sequence as a list, which pfl requires; None for None."""
    if values is None:
        return None
    return list(values)
