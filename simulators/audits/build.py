"""Construction of the attack on a spec: for each kind, the neighbours that are easiest to distinguish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Composed, ProjectedSgd, Repeated, Spec, Subsampled
from epsilond.accountants.specs import Shuffled as ShuffledSpec
from epsilond.accountants.specs.primitives import CategoryReport
from epsilond.simulators.audits.descent import attack_descent
from epsilond.simulators.audits.noise import NoisyValue
from epsilond.simulators.audits.participation import SampledParticipation
from epsilond.simulators.audits.primitives import attack_primitive
from epsilond.simulators.audits.sampling import FixedSizeDraw, HiddenDraw, RepeatedDraw, SeenDraw
from epsilond.simulators.audits.sequence import in_sequence
from epsilond.simulators.audits.shuffling import ShuffledReports, ShuffledResponses
from epsilond.simulators.audits.worlds import (
    PARTICIPANT_SEEN,
    AttackedMechanism,
    AttackSetting,
    AuditTarget,
    LogLikelihoodRatio,
)

LARGEST_COUNTED = 500.0
"""Largest ε of reports that are attacked by their counts; above it, the probability of a false report underflows."""


def target(spec: Spec, setting: AttackSetting) -> AuditTarget:
    """Return the statistic of the attack: the privacy loss if likelihoods are known, and otherwise another statistic.

    Raises:
        InvalidInput: the spec has no neighbours in the relation that an attack can be stated for.
    """
    if isinstance(spec, ProjectedSgd):
        return attack_descent(spec, setting)
    return LogLikelihoodRatio(attack_spec(spec, setting))


def attack_spec(spec: Spec, setting: AttackSetting) -> AttackedMechanism:
    """Return the spec's mechanism on the worlds that the attacker distinguishes.

    Raises:
        InvalidInput: the spec has no neighbours in the relation that an attack can be stated for.
    """
    if spec.primitive is not None:
        return attack_primitive(spec.primitive, setting)
    return BUILDERS[spec.kind](spec, setting)


def _attack_repeated(spec: Repeated, setting: AttackSetting) -> AttackedMechanism:
    """Attack a repeated mechanism as a sequence."""
    return in_sequence([(attack_spec(spec.mechanism, setting), spec.times)])


def _attack_composed(spec: Composed, setting: AttackSetting) -> AttackedMechanism:
    """Attack composed mechanisms as a sequence."""
    return in_sequence([(attack_spec(mechanism, setting), 1) for mechanism in spec.mechanisms])


def _attack_shuffled(spec: ShuffledSpec, setting: AttackSetting) -> AttackedMechanism:
    """Attack shuffled reports.

    An observer who knows the victim's report, or all other reports, learns nothing from the order.
    """
    if setting.relation != "replace-one":
        raise InvalidInput.at("/relation", "the number of reports is seen", allowed="replace-one")
    if spec.clients == 1 or setting.observer in ("server", "other-clients"):
        return attack_spec(spec.mechanism, setting)
    report = spec.mechanism.primitive
    if isinstance(report, CategoryReport) and report.epsilon <= LARGEST_COUNTED:
        return ShuffledResponses(report.epsilon, report.categories, spec.clients)
    return ShuffledReports(attack_spec(spec.mechanism, setting), spec.clients)


def _attack_subsampled(spec: Subsampled, setting: AttackSetting) -> AttackedMechanism:
    """Attack subsampling, according to the level of the draw, the observer and the relation."""
    level = _level(spec, setting)
    inner = replace(setting, within_clients=True) if level == "clients" else setting
    if spec.inclusion_probability >= 1.0 and spec.sampling != "with-replacement":
        return attack_spec(spec.mechanism, inner)
    if level == "records" and setting.unit == "client":
        # All records of the client change, so that every batch consists of changed records.
        return attack_spec(spec.mechanism, setting)
    participation = _participation(spec, setting)
    if level == "clients" and _sees_participation(spec, setting):
        return SeenDraw(attack_spec(spec.mechanism, inner), participation)
    if spec.sampling == "with-replacement":
        return _attack_with_replacement(spec, inner)
    if spec.sampling == "poisson":
        return _attack_hidden_draw(spec, replace(inner, zero_others=True), participation)
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")
    if setting.zero_others:
        return _attack_hidden_draw(spec, inner, participation)
    return FixedSizeDraw(attack_spec(spec.mechanism, inner), participation)


def _attack_hidden_draw(
    spec: Subsampled, setting: AttackSetting, participation: SampledParticipation
) -> AttackedMechanism:
    """Attack a secret draw among zero contributions, or with a missing record."""
    inner = attack_spec(spec.mechanism, setting)
    if inner.worlds < 3:
        message = "what replacing a record does says nothing of leaving it out"
        raise InvalidInput.at("/sampling", message, allowed="without-replacement, full, or another relation")
    return HiddenDraw(inner, participation, removal=setting.relation != "replace-one")


def _attack_with_replacement(spec: Subsampled, setting: AttackSetting) -> AttackedMechanism:
    """Attack draws with replacement of noise on one number."""
    inner = attack_spec(spec.mechanism, setting)
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")
    if not isinstance(inner, NoisyValue):
        message = "what a record that is drawn twice does is known of noise on one number"
        raise InvalidInput.at("/mechanism/kind", message, allowed="gaussian, laplace, discrete_laplace")
    return RepeatedDraw(inner, spec.batch_size or 1, spec.population or 1)


def _level(spec: Subsampled, setting: AttackSetting) -> str:
    """Return the level of the draw: the spec's level, or a default.

    The default is the protected unit. It is clients if the mechanism inside draws again, and records within drawn
    clients.
    """
    if spec.level is not None:
        return spec.level
    if setting.within_clients:
        return "records"
    return "clients" if setting.unit == "client" or _draws(spec.mechanism) else "records"


def _draws(spec: object) -> bool:
    """Return whether a batch is drawn anywhere in the spec."""
    if isinstance(spec, Subsampled) and spec.sampling != "full":
        return True
    if isinstance(spec, Composed):
        return any(_draws(part) for part in spec.mechanisms)
    return isinstance(spec, Subsampled | Repeated | ShuffledSpec) and _draws(spec.mechanism)


def _sees_participation(spec: Subsampled, setting: AttackSetting) -> bool:
    """Return whether the observer sees if the victim participates.

    A server receives the messages. All other clients together know the participants if their number is fixed.
    """
    fixed = spec.sampling != "poisson"
    return setting.observer in PARTICIPANT_SEEN or (setting.observer == "other-clients" and fixed)


def _participation(spec: Subsampled, setting: AttackSetting) -> SampledParticipation:
    """Return the draw of the victim: a coin, or the whole batch if the implemented schedule is attacked."""
    rate = spec.inclusion_probability
    if setting.attack == "implemented" and spec.population is not None and spec.sampling != "with-replacement":
        batch_size = spec.batch_size if spec.sampling == "without-replacement" else None
        return SampledParticipation(rate, batch_size, spec.population)
    return SampledParticipation(rate)


def _reject_nested(spec: ProjectedSgd, setting: AttackSetting) -> AttackedMechanism:
    """Reject projected SGD inside another mechanism."""
    del spec, setting
    raise InvalidInput.at("/kind", "a run of projected SGD is audited by itself, not inside another mechanism")


BUILDERS: Mapping[str, Callable[[Any, AttackSetting], AttackedMechanism]] = {
    "subsampled": _attack_subsampled,
    "shuffled": _attack_shuffled,
    "repeated": _attack_repeated,
    "composed": _attack_composed,
    "projected_sgd": _reject_nested,
}
