"""Construction of the attack on a spec: for each kind, the neighbours that are easiest to distinguish."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import (
    Composed,
    PoissonRepetitions,
    ProjectedSgd,
    RandomAllocation,
    Repeated,
    SelectBest,
    Spec,
    Subsampled,
)
from epsilond.accountants.specs import Shuffled as ShuffledSpec
from epsilond.accountants.specs.primitives import CategoryReport, NoisySum, RandomSum
from epsilond.simulators.audits.descent import attack_descent
from epsilond.simulators.audits.draws.allocation import AllocatedSum
from epsilond.simulators.audits.draws.choices import level_of_draw, participation_of, sees_participation
from epsilond.simulators.audits.draws.client_records import attack_client_records
from epsilond.simulators.audits.draws.participation import SampledParticipation
from epsilond.simulators.audits.draws.sampling import FixedSizeDraw, HiddenDraw, RepeatedDraw, SeenDraw
from epsilond.simulators.audits.noise import NoisyValue
from epsilond.simulators.audits.primitives import attack_primitive
from epsilond.simulators.audits.sequence import in_sequence
from epsilond.simulators.audits.shuffling import ShuffledReports, ShuffledResponses
from epsilond.simulators.audits.worlds import (
    AttackedMechanism,
    AttackSetting,
    AuditTarget,
    LogLikelihoodRatio,
)

LARGEST_COUNTED = 500.0
"""Largest ε of reports that are attacked by their counts; above it, a false report's probability is near underflow."""


def target(spec: Spec, setting: AttackSetting) -> AuditTarget:
    """Return the attack that audits a mechanism.

    It distinguishes two data sets by the privacy loss of an output if likelihoods are known, and otherwise by another
    statistic.

    Args:
        spec: the mechanism.
        setting: neighbouring relation, protected unit, observer and implementation that are attacked.

    Raises:
        InvalidInput: no attack is implemented on neighbouring data sets of the mechanism in this relation.

    Returns:
        The attack, which simulates the mechanism and computes the statistic.
    """
    if isinstance(spec, ProjectedSgd):
        return attack_descent(spec, setting)
    return LogLikelihoodRatio(attack_spec(spec, setting))


def attack_spec(spec: Spec, setting: AttackSetting) -> AttackedMechanism:
    """Return a sampler of a mechanism's outputs on the neighbouring data sets that an attacker distinguishes.

    The code calls these data sets "worlds", and the client or record in which they differ the victim.

    Args:
        spec: the mechanism.
        setting: neighbouring relation, protected unit, observer and implementation that are attacked.

    Returns:
        The sampler, which also computes log densities of the outputs on each data set.

    Raises:
        InvalidInput: no attack is implemented on neighbouring data sets of the mechanism in this relation.
    """
    if spec.primitive is not None:
        return attack_primitive(spec.primitive, setting)
    return BUILDERS[spec.kind](spec, setting)


def _attack_repeated(spec: Repeated, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on a repeated mechanism: on the sequence of all its outputs."""
    return in_sequence([(attack_spec(spec.mechanism, setting), spec.times)])


def _attack_composed(spec: Composed, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on composed mechanisms: on the sequence of all their outputs."""
    return in_sequence([(attack_spec(mechanism, setting), 1) for mechanism in spec.mechanisms])


def _attack_selection(spec: SelectBest, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on a selection of the best of several runs, which attacks a single run.

    If all outputs are equally good and ties are broken at random, the best output is distributed like any other.

    Args:
        spec: the selection.
        setting: neighbouring relation, protected unit, observer and implementation that are attacked.

    Returns:
        The attack on one run of the selected mechanism.

    Raises:
        InvalidInput: the number of runs may be 0, which this attack does not describe.
    """
    if isinstance(spec.repetitions, PoissonRepetitions):
        message = "an attack on a Poisson number of runs is not implemented"
        raise InvalidInput.at("/repetitions/kind", message, allowed="geometric, negative-binomial")
    return attack_spec(spec.mechanism, setting)


def _attack_shuffled(spec: ShuffledSpec, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on clients that send reports through a shuffler.

    The victim is the client in which the two data sets differ. An observer who knows the victim's report, or all other
    reports, learns nothing from the order. The report itself is then attacked. Randomized response is attacked by the
    counts of its categories, unless ε is so large that the probability of a false report is close to underflow.

    Args:
        spec: mechanism of a report, and the number of clients.
        setting: neighbouring relation, observer and implementation that are attacked.

    Raises:
        InvalidInput: the relation changes the number of reports, which the observer sees.

    Returns:
        A sampler of outputs, with their log densities on each neighbouring data set.
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
    """Return the attack on a mechanism that runs on a random batch of clients, or of records.

    The victim is the client or record in which the data sets differ. If it always participates, the mechanism on the
    batch is attacked. If clients are drawn and the observer sees them, the output is compared only when the victim is
    among them. Otherwise the output has a mixture of its distributions with and without the victim.

    Args:
        spec: the draw of a batch, and the mechanism on the batch.
        setting: neighbouring relation, protected unit, observer and implementation that are attacked.

    Returns:
        A sampler of outputs, with their log densities on each neighbouring data set.

    Raises:
        InvalidInput: no attack is implemented on such batches. For example, the relation is add-or-remove-one and
            batches have a fixed size, or records are drawn with replacement for other mechanisms than one noisy number.
    """
    level = level_of_draw(spec, setting)
    if spec.sampling == "shuffled-epochs":
        return _attack_shuffled_epochs(spec, setting)
    # In the mechanism on a batch of clients, a further draw is of records.
    inner = setting
    if level == "clients":
        inner = replace(setting, within_clients=True)

    # Several records of the changed client may be in a batch, or the victim is in every batch.
    if spec.records_of_one_client is not None and setting.unit == "client":
        return attack_client_records(spec, attack_spec(spec.mechanism, setting), setting)
    if spec.inclusion_probability >= 1.0 and spec.sampling != "with-replacement" and spec.largest_batch is None:
        return attack_spec(spec.mechanism, inner)
    if level == "records" and setting.unit == "client":
        # All records of the client change, so that every batch consists of changed records.
        return attack_spec(spec.mechanism, setting)

    # The client or record is in some batches only.
    participation = participation_of(spec, setting)
    if level == "clients" and sees_participation(spec, setting):
        return SeenDraw(attack_spec(spec.mechanism, inner), participation)
    if spec.sampling == "with-replacement":
        return _attack_with_replacement(spec, inner)
    if spec.sampling == "poisson":
        return _attack_hidden_draw(spec, replace(inner, zero_others=True), participation)
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")
    if setting.zero_others or isinstance(spec.mechanism.primitive, RandomSum):
        return _attack_hidden_draw(spec, inner, participation)
    return FixedSizeDraw(attack_spec(spec.mechanism, inner), participation)


def _attack_shuffled_epochs(spec: Subsampled, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on noisy sums of batches that are cut from a secret random order of the records.

    The order changes each epoch. The noise is Gaussian. The victim is the record in which the data sets differ. It is
    in each batch of an epoch with equal probability. For replace-one all other contributions equal the replacing one.
    For zero-out-one they are zero.

    Args:
        spec: the shuffled epochs.
        setting: neighbouring relation of the data sets.

    Raises:
        InvalidInput: a record is added or removed, the batch size does not divide the number of records, or the noise
            is not Gaussian.

    Returns:
        A sampler of outputs, with their log densities on each neighbouring data set.
    """
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "the cut of the order moves", allowed="replace-one, zero-out-one")
    primitive = spec.mechanism.primitive
    batch_size = spec.batch_size or 1
    population = spec.population or 1
    if not isinstance(primitive, NoisySum) or primitive.distribution != "gaussian":
        raise InvalidInput.at(
            "/mechanism/kind", "an attack on shuffled epochs is on Gaussian noise", allowed="gaussian"
        )
    if population % batch_size:
        raise InvalidInput.at("/batch_size", "an attack is on batches of equal size", allowed="a divisor of population")

    # In units of the noise, a contribution moves the sum by 1 over the noise multiplier. Its replacement by the
    # opposite one moves the sum twice as far.
    shift = 1.0 / primitive.multiplier
    if setting.relation == "replace-one":
        shifts: tuple[float, ...] = (2.0 * shift, 0.0)
    else:
        shifts = (shift, 0.0, 0.0)
    return in_sequence([(AllocatedSum(shifts, population // batch_size), spec.epochs or 1)])


def _attack_random_allocation(spec: RandomAllocation, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on a mechanism in which a unit takes part in a random set of each epoch's batches.

    All other contributions are zero. If the batches of the unit are the same in all epochs, the attack is on the sum of
    each batch's outputs over the epochs.

    Args:
        spec: the allocation.
        setting: neighbouring relation that is attacked.

    Returns:
        A sampler of outputs, with their log densities on each neighbouring data set.

    Raises:
        InvalidInput: the noise is not Gaussian.
    """
    primitive = spec.mechanism.primitive
    if not isinstance(primitive, NoisySum) or primitive.distribution != "gaussian":
        message = "an attack on a random allocation is on Gaussian noise"
        raise InvalidInput.at("/mechanism/kind", message, allowed="gaussian")

    # The shift of a batch sum by a contribution, in units of the noise.
    shift = 1.0 / primitive.multiplier
    allocations = spec.epochs
    if spec.kept:  # the sum over the epochs has their number times the shift, and its root times the noise
        shift *= math.sqrt(spec.epochs)
        allocations = 1
    shifts = (shift, 0.0, 0.0)
    if setting.relation == "replace-one":
        shifts = (shift, -shift, 0.0)
    epoch = AllocatedSum(shifts, spec.steps, spec.times_chosen)
    return in_sequence([(epoch, allocations)])


def _attack_hidden_draw(
    spec: Subsampled, setting: AttackSetting, participation: SampledParticipation
) -> AttackedMechanism:
    """Return the attack on a mechanism that runs on a batch drawn in secret.

    The observer does not learn if the victim, the record or client in which the data sets differ, is in the batch. All
    other contributions are zero.

    Args:
        spec: the draw of a batch, and the mechanism on the batch.
        setting: neighbouring relation and observer that are attacked.
        participation: the draw that decides whether the changed record is in a batch.

    Returns:
        A sampler of outputs, with their log densities on each neighbouring data set.

    Raises:
        InvalidInput: the attack on the mechanism does not describe an absent record.
    """
    # The attack on the mechanism must know the outputs on a third data set, the one without the victim.
    inner = attack_spec(spec.mechanism, setting)
    if inner.worlds < 3:
        message = "the effect of replacing a record does not bound the effect of leaving it out"
        raise InvalidInput.at("/sampling", message, allowed="without-replacement, full, or another relation")
    return HiddenDraw(inner, participation, removal=setting.relation != "replace-one")


def _attack_with_replacement(spec: Subsampled, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on batches that are drawn with replacement, for noise on one number.

    Args:
        spec: the draw of a batch, and the mechanism on the batch.
        setting: neighbouring relation, observer and implementation that are attacked.

    Returns:
        A sampler of outputs, with their log densities on each neighbouring data set.

    Raises:
        InvalidInput: the relation adds or removes a record, or the mechanism is not noise on one number.
    """
    inner = attack_spec(spec.mechanism, setting)
    if setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")
    if not isinstance(inner, NoisyValue):
        message = "the effect of a record that is drawn twice is known only for noise on one number"
        raise InvalidInput.at("/mechanism/kind", message, allowed="gaussian, laplace, discrete_laplace")
    return RepeatedDraw(inner, spec.batch_size or 1, spec.population or 1)


def _reject_nested(spec: ProjectedSgd, setting: AttackSetting) -> AttackedMechanism:
    """Raise an error: projected SGD cannot be attacked as a part of another mechanism.

    Args:
        spec: the run of projected SGD; it is not used.
        setting: relation, unit and observer of the attack; not used.

    Returns:
        Nothing, because the function always raises. It has the signature of all functions that build an attack.

    Raises:
        InvalidInput: always.
    """
    del spec, setting
    raise InvalidInput.at("/kind", "a run of projected SGD is audited by itself, not inside another mechanism")


BUILDERS: Mapping[str, Callable[[Any, AttackSetting], AttackedMechanism]] = {
    "subsampled": _attack_subsampled,
    "shuffled": _attack_shuffled,
    "repeated": _attack_repeated,
    "select_best": _attack_selection,
    "composed": _attack_composed,
    "projected_sgd": _reject_nested,
    "random_allocation": _attack_random_allocation,
}
