"""Checks of a subsampled mechanism: whether an amplification theorem covers its draw, and the batch mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.rule import Case, Refusal
from epsilond.accountants.specs import Subsampled
from epsilond.accountants.structure import (
    drawn_level,
    left_out_is_the_same,
    of_records,
    parts,
    sees_clients_drawn,
    tells_places,
    zeroing_is_replacing,
)
from epsilond.accountants.structure.batch_mechanisms import misfit
from epsilond.accountants.structure.random_draws import draw_scheme

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Setting
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Theorem


def reject_other_draw(sampling: str, theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Check whether a batch satisfies the assumptions of an amplification theorem.

    Four cases are rejected: another kind of sampling, a draw of clients where records are protected or the reverse, a
    truncated batch, and a draw that the observer sees. `reject_uncovered_spec` rejects further ones.

    Args:
        sampling: the kind of sampling that the theorem is about.
        theorem: the theorem, which the refusal names.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, an object with the first reason why the theorem does not apply; None if it applies to the batch.
    """
    if spec.sampling != sampling:
        return Refusal(theorem, f"the batch is drawn by {spec.sampling} sampling")
    unit = case.setting.unit
    drawn_units = drawn_level(spec, unit)
    if drawn_units != f"{unit}s":
        return Refusal(theorem, f"{drawn_units} are drawn where a {unit} is protected")
    if spec.largest_batch is not None:
        return Refusal(theorem, "a batch that is truncated leaves records out because of others")
    if observes_draw(spec, case.setting):
        return Refusal(theorem, f"the observer {case.setting.observer} sees which clients are drawn")
    return reject_uncovered_spec(theorem, spec, case)


def reject_uncovered_spec(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Check whether a mechanism can run on a batch, and whether its own sampling, if any, is unambiguous.

    Its own sampling is ambiguous if the spec does not say whether it draws clients or records, and no bound covers both
    cases (`reject_open_level`).

    Args:
        theorem: the theorem that the refusal names.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, which says why the theorem does not apply; None if the mechanism is covered.
    """
    if reason := misfit(spec, drawn_level(spec, case.setting.unit)):
        return Refusal(theorem, reason)
    return reject_open_level(theorem, spec, case)


def reject_open_level(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Reject a nested sampling step whose spec omits whether it draws clients or records, if this matters.

    A guarantee for clients always holds if the nested step draws records. If it draws clients, a removed client must
    not be replaced by another one in the batch, and no client may be drawn several times.

    Args:
        theorem: the theorem that the refusal names.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, which says why the theorem does not apply; None if the nested step is covered, or if the guarantee
        is for records.
    """
    if case.setting.unit != "client" or spec.level == "records":
        return None
    inner_samplings = [part for part in parts(spec.mechanism) if isinstance(part, Subsampled)]
    for inner in inner_samplings:
        is_open = inner.level is None and inner.may_be_of_records
        # On neighbouring data sets, batches without the protected client must have the same distribution.
        if is_open and not left_out_is_the_same(inner.sampling, case.setting.relation):
            message = f"the level of {inner.sampling} sampling inside is left open: give the level records or clients"
            return Refusal(theorem, message)
    return None


def observes_draw(spec: Subsampled, setting: Setting) -> bool:
    """Return whether the observer sees which units are drawn: only clients, because a draw of records is never seen.

    Args:
        spec: the subsampled mechanism.
        setting: the requested neighbouring relation, protected unit and observer.
    """
    draws_clients = drawn_level(spec, setting.unit) == "clients"
    return draws_clients and sees_clients_drawn(setting.observer, draw_scheme(spec))


def drawn_mechanism(spec: Subsampled, setting: Setting) -> Spec:
    """Return the mechanism that runs on the batch, after deciding whether its own sampling is of records.

    It is of records if the batch consists of records, or if clients are protected. If a record is protected and the
    batch consists of clients, the mechanism may sample either, and is returned unchanged.

    Args:
        spec: the subsampled mechanism.
        setting: the requested neighbouring relation, protected unit and observer.

    Returns:
        The spec of the mechanism. Samplings that state whether they draw clients or records are not changed.
    """
    draws_clients_of_records = setting.unit == "record" and drawn_level(spec, "record") == "clients"
    if draws_clients_of_records:
        return spec.mechanism
    return of_records(spec.mechanism)


def reject_unknown_replacement(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Reject a batch of fixed size unless a guarantee for replacing one record or client covers it.

    Three cases are rejected: the relation add-or-remove-one, the relation zero-out-one if the privacy parameters of the
    mechanism hold only for zeroing a record, and mechanisms whose output shows who is in the batch or in which order.

    Args:
        theorem: the theorem that the refusal names.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, which says why the theorem does not apply; None if such a guarantee covers the batch.
    """
    if case.setting.relation == "add-or-remove-one":
        return Refusal(
            theorem,
            "a batch of fixed size from n or n − 1 records: no valid pair is known for mechanisms in general. Gaussian "
            "noise has one for clients of one record: unit client, level records and records_of_one_client 1",
        )
    if case.setting.relation == "zero-out-one" and not zeroing_is_replacing(spec.mechanism):
        return Refusal(theorem, "needs a guarantee for replacing a record, and the numbers given are for zeroing one")
    if tells_places(spec.mechanism):
        return Refusal(theorem, "the output shows the members of the batch, or their places in it")
    return None
