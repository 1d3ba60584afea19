"""The random draws of records or clients in a spec, and whether an observer of a guarantee sees their outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.quantities import DrawScheme, Level, Observer, ProtectedUnit, Unit, base_unit
from epsilond.accountants.specs import ProjectedSgd, RandomAllocation, Shuffled, Subsampled
from epsilond.accountants.structure import drawn_level, inner, own_level, sees_clients_drawn

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec


class Draw(NamedTuple):
    """A random draw of records or clients in a mechanism.

    Attributes:
        sampling: the sampling scheme.
        level: the level of the units that are drawn, records or clients.
        shuffled: whether a shuffler mixes the reports of the batch, and so hides from which client a report is missing.
        protects_client: whether the number of records of one client is bounded, so that a draw of records amplifies for
            a client.
    """

    sampling: DrawScheme
    level: Level
    shuffled: bool = False
    protects_client: bool = False


def draws_of(spec: Spec, unit: ProtectedUnit) -> tuple[Draw, ...]:
    """Return the random draws of records or clients in a run, outermost first, without repetition.

    Args:
        spec: the description of a run.
        unit: the protected unit, which determines whether a draw is of records or of clients if it states neither.

    Returns:
        One entry for each different draw; empty if nothing is drawn at random.
    """
    return tuple(dict.fromkeys(_draws(spec, base_unit(unit), outermost=True)))


def _draws(spec: Spec, unit: Unit, *, outermost: bool) -> Iterator[Draw]:
    """Yield the random draws of records or clients in a run, outermost first.

    Args:
        spec: the description of a run.
        unit: the protected unit, a record or a client.
        outermost: whether no random batch encloses the spec. Inside a batch, a draw that does not state its level is of
            records if its other fields allow it.

    Yields:
        The sampling scheme and the level of each draw. Equal draws are repeated.
    """
    is_outermost = outermost
    if isinstance(spec, Subsampled) and _is_random(spec):
        yield _draw_of_batch(spec, unit, outermost=outermost)
        is_outermost = False
    elif isinstance(spec, RandomAllocation):
        yield Draw("random-allocation", own_level(unit))
    elif isinstance(spec, ProjectedSgd) and spec.batches != "cyclic" and spec.participants < spec.clients:
        yield Draw("without-replacement", own_level(unit))
    for child in inner(spec):
        yield from _draws(child, unit, outermost=is_outermost)


def _draw_of_batch(spec: Subsampled, unit: Unit, *, outermost: bool) -> Draw:
    """Describe the draw of a random batch, which can make ε smaller if the observer does not see who is in the batch.

    Args:
        spec: a mechanism that is run on random batches.
        unit: the protected unit, a record or a client.
        outermost: whether no other draw encloses this one.

    Returns:
        The sampling scheme, whether records or clients are drawn, whether the reports of the batch are shuffled, and
        whether the draw protects a client through a bound on its number of records.
    """
    is_of_records = not outermost and spec.level is None and spec.may_be_of_records
    level = "records" if is_of_records else drawn_level(spec, unit)
    is_shuffled = any(isinstance(child, Shuffled) for child in inner(spec))
    protects_client = unit == "client" and spec.records_of_one_client is not None
    return Draw(draw_scheme(spec), level, is_shuffled, protects_client)


def _is_random(spec: Subsampled) -> bool:
    """Return whether a draw is random. Batches of all units may still be random by order, repeats or truncation.

    Args:
        spec: a mechanism that is run on batches.
    """
    is_random_in_full = draw_scheme(spec) in ("with-replacement", "shuffled-epochs", "truncated-poisson")
    return is_random_in_full or spec.inclusion_probability < 1.0


def draw_scheme(spec: Subsampled) -> DrawScheme:
    """Return how units are drawn, which differs from `sampling` if some are left out because too many are drawn.

    Args:
        spec: a mechanism that is run on batches. Its `largest_batch` limits the number of units in a batch.
    """
    if spec.largest_batch is not None and spec.largest_batch < (spec.population or 1):
        return "truncated-poisson"
    return spec.sampling


def loses_amplification(draws: Sequence[Draw], observer: Observer, unit: ProtectedUnit) -> bool:
    """Return whether random sampling of clients does not reduce ε, only because the observer sees the sampled clients.

    Sampling reduces ε (amplification) because a batch may not include the protected unit. It does so only if the sample
    is secret.

    Args:
        draws: the random draws of a run.
        observer: the adversary, named after the messages or models that it sees.
        unit: the protected unit: a record or a client, or a part of one within a window of time.
    """
    # A secret sample of clients reduces ε of a client, or of the single report of a client to a shuffler. A batch of
    # all clients and a fixed partition into batches reduce neither.
    protects_clients = base_unit(unit) == "client"
    for draw in draws:
        is_of_clients = draw.level == "clients"
        may_amplify = (protects_clients or draw.shuffled) and draw.sampling not in ("full", "shuffled-epochs")
        if is_of_clients and may_amplify and sees_clients_drawn(observer, draw.sampling):
            return True
    return False
