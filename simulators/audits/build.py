"""From a spec to the attack on it: for each kind the neighbours that its definition makes easiest to tell apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Composed, ProjectedSgd, Repeated, Spec, Subsampled
from epsilond.accountants.specs import Shuffled as ShuffledSpec
from epsilond.accountants.specs.primitives import CategoryReport
from epsilond.simulators.audits.descent import descent
from epsilond.simulators.audits.noise import Added
from epsilond.simulators.audits.participation import SampledParticipation
from epsilond.simulators.audits.primitives import attack_primitive
from epsilond.simulators.audits.sampling import FixedSizeDraw, HiddenDraw, RepeatedDraw, SeenDraw
from epsilond.simulators.audits.sequence import in_sequence
from epsilond.simulators.audits.shuffling import ShuffledReports, ShuffledResponses
from epsilond.simulators.audits.worlds import PARTICIPANT_SEEN, Attacked, AttackSetting, AuditTarget, LogLikelihoodRatio

LARGEST_COUNTED = 500.0
"""ε of reports that are attacked by their counts: beyond, lies have no probability that a double holds."""


def target(spec: Spec, setting: AttackSetting) -> AuditTarget:
    """Return what is attacked: the loss where the likelihood of an output is known, and otherwise another statistic.

    Raises:
        InvalidInput: the spec has no neighbours in the relation that an attack can be stated for.
    """
    if isinstance(spec, ProjectedSgd):
        return descent(spec, setting)
    return LogLikelihoodRatio(attacked(spec, setting))


def attacked(spec: Spec, setting: AttackSetting) -> Attacked:
    """Return the mechanism on its worlds."""
    if spec.primitive is not None:
        return attack_primitive(spec.primitive, setting)
    return BUILDERS[spec.kind](spec, setting)


def _repeated(spec: Repeated, setting: AttackSetting) -> Attacked:
    return in_sequence([(attacked(spec.mechanism, setting), spec.times)])


def _composed(spec: Composed, setting: AttackSetting) -> Attacked:
    return in_sequence([(attacked(mechanism, setting), 1) for mechanism in spec.mechanisms])


def _shuffled(spec: ShuffledSpec, setting: AttackSetting) -> Attacked:
    """For whoever knows which report is the victim's the order hides nothing, and other clients know their own."""
    if setting.relation != "replace-one":
        raise InvalidInput.at("/relation", "the number of reports is seen", allowed="replace-one")
    if spec.clients == 1 or setting.observer in ("server", "other-clients"):
        return attacked(spec.mechanism, setting)
    report = spec.mechanism.primitive
    if isinstance(report, CategoryReport) and report.epsilon <= LARGEST_COUNTED:
        return ShuffledResponses(report.epsilon, report.categories, spec.clients)
    return ShuffledReports(attacked(spec.mechanism, setting), spec.clients)


def _subsampled(spec: Subsampled, setting: AttackSetting) -> Attacked:
    level = _level(spec, setting)
    inner = replace(setting, within_clients=True) if level == "clients" else setting
    if spec.inclusion_probability >= 1.0 and spec.sampling != "with-replacement":
        return attacked(spec.mechanism, inner)
    if level == "records" and setting.unit == "client":
        # Everything of the client changes: whichever of its records are drawn, they are the changed ones.
        return attacked(spec.mechanism, setting)
    drawn = _participation(spec, setting)
    if level == "clients" and _seen(spec, setting):
        return SeenDraw(attacked(spec.mechanism, inner), drawn)
    if spec.sampling == "with-replacement":
        return _with_replacement(spec, inner)
    if spec.sampling == "poisson":
        return _hidden(spec, replace(inner, zero_others=True), drawn)
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")
    if setting.zero_others:
        return _hidden(spec, inner, drawn)
    return FixedSizeDraw(attacked(spec.mechanism, inner), drawn)


def _hidden(spec: Subsampled, setting: AttackSetting, drawn: SampledParticipation) -> Attacked:
    inner = attacked(spec.mechanism, setting)
    if inner.worlds < 3:
        message = "what replacing a record does says nothing of leaving it out"
        raise InvalidInput.at("/sampling", message, allowed="without-replacement, full, or another relation")
    return HiddenDraw(inner, drawn, removal=setting.relation != "replace-one")


def _with_replacement(spec: Subsampled, setting: AttackSetting) -> Attacked:
    inner = attacked(spec.mechanism, setting)
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")
    if not isinstance(inner, Added):
        message = "what a record that is drawn twice does is known of noise on one number"
        raise InvalidInput.at("/mechanism/kind", message, allowed="gaussian, laplace, discrete_laplace")
    return RepeatedDraw(inner, spec.batch_size or 1, spec.population or 1)


def _level(spec: Subsampled, setting: AttackSetting) -> str:
    """As the spec says; left open it is the protected unit, but for a draw of something that draws again: clients."""
    if spec.level is not None:
        return spec.level
    if setting.within_clients:
        return "records"
    return "clients" if setting.unit == "client" or _draws(spec.mechanism) else "records"


def _draws(spec: object) -> bool:
    """Return whether a batch is drawn anywhere in it."""
    if isinstance(spec, Subsampled) and spec.sampling != "full":
        return True
    if isinstance(spec, Composed):
        return any(_draws(part) for part in spec.mechanisms)
    return isinstance(spec, Subsampled | Repeated | ShuffledSpec) and _draws(spec.mechanism)


def _seen(spec: Subsampled, setting: AttackSetting) -> bool:
    """A server gets the messages; all other clients together know who was drawn if the number of them is fixed."""
    fixed = spec.sampling != "poisson"
    return setting.observer in PARTICIPANT_SEEN or (setting.observer == "other-clients" and fixed)


def _participation(spec: Subsampled, setting: AttackSetting) -> SampledParticipation:
    """A coin; or the whole batch, where the implemented schedule is attacked and the spec has its counts."""
    rate = spec.inclusion_probability
    if setting.attack == "implemented" and spec.population is not None and spec.sampling != "with-replacement":
        batch_size = spec.batch_size if spec.sampling == "without-replacement" else None
        return SampledParticipation(rate, batch_size, spec.population)
    return SampledParticipation(rate)


def _nested(spec: ProjectedSgd, setting: AttackSetting) -> Attacked:
    del spec, setting
    raise InvalidInput.at("/kind", "a run of projected SGD is audited by itself, not inside another mechanism")


BUILDERS: Mapping[str, Callable[[Any, AttackSetting], Attacked]] = {
    "subsampled": _subsampled,
    "shuffled": _shuffled,
    "repeated": _repeated,
    "composed": _composed,
    "projected_sgd": _nested,
}
