"""What a random draw selects, whether the observer of an attack sees it, and how the attack draws it."""

from __future__ import annotations

from epsilond.accountants.specs import Composed, Repeated, Subsampled
from epsilond.accountants.specs import Shuffled as ShuffledSpec
from epsilond.simulators.audits.draws.participation import SampledParticipation, truncated_participation
from epsilond.simulators.audits.worlds import PARTICIPANT_SEEN, AttackSetting


def level_of_draw(spec: Subsampled, setting: AttackSetting) -> str:
    """Return whether a random draw selects "clients" or "records".

    The spec may say it. Otherwise a draw within clients that were drawn before selects records. Any other draw selects
    clients if the protected unit is a client, or if the mechanism on the batch contains a further draw.

    Args:
        spec: the draw.
        setting: protected unit, and whether clients have been drawn already.

    Returns:
        "clients" or "records".
    """
    if spec.level is not None:
        return spec.level
    if setting.within_clients:
        return "records"
    draws_clients = setting.unit == "client" or contains_draw(spec.mechanism)
    return "clients" if draws_clients else "records"


def contains_draw(spec: object) -> bool:
    """Return whether a mechanism draws a batch at random, itself or in a part of it.

    Args:
        spec: specification of the mechanism; composed, repeated and shuffled mechanisms are searched recursively.

    Returns:
        True if some part subsamples its input by a sampling other than `full`.
    """
    if isinstance(spec, Subsampled) and spec.sampling != "full":
        return True
    if isinstance(spec, Composed):
        return any(contains_draw(part) for part in spec.mechanisms)
    return isinstance(spec, Subsampled | Repeated | ShuffledSpec) and contains_draw(spec.mechanism)


def sees_participation(spec: Subsampled, setting: AttackSetting) -> bool:
    """Return whether the observer of an attack learns if the victim participates.

    The victim is the record or client in which the two data sets differ. A server receives the messages and sees their
    senders. All other clients together know it if the number of participants is fixed.

    Args:
        spec: mechanism with a draw of participants.
        setting: observer, relation and unit of the attack.

    Returns:
        True if the observer knows whether the victim participates.
    """
    if setting.observer == "other-clients":
        return spec.sampling != "poisson"
    return setting.observer in PARTICIPANT_SEEN


def participation_of(spec: Subsampled, setting: AttackSetting) -> SampledParticipation:
    """Return the draw that decides whether the changed client or record is in a batch.

    The draw uses a single random number. If the program of a training is attacked, it draws the whole batch instead,
    unless records are drawn with replacement or their number is unknown.

    Args:
        spec: the draw of a batch.
        setting: its `attack` is "implemented" if the program of a training is attacked.

    Returns:
        The draw, with its inclusion probability.
    """
    rate = spec.inclusion_probability
    if spec.largest_batch is not None:
        return truncated_participation(spec, implemented=setting.attack == "implemented")
    is_whole_batch_drawn = setting.attack == "implemented" and spec.sampling != "with-replacement"
    if not is_whole_batch_drawn or spec.population is None:
        return SampledParticipation(rate)
    batch_size = None
    if spec.sampling == "without-replacement":
        batch_size = spec.batch_size
    return SampledParticipation(rate, batch_size, spec.population)
