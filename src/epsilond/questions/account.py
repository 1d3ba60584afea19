"""Guarantee of a given run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.guarantee import require_setting
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Spec
from epsilond.calibrators import accounts as accounting
from epsilond.calibrators.accounting.claims import Claim
from epsilond.calibrators.accounting.query import FIGURES
from epsilond.calibrators.accounts import AccountAnswer, Accounted, AccountProblem, AccountQuestion
from epsilond.reading import read, read_value


@overload
def account(
    spec: Spec | JsonObject,
    *,
    relation: Relation,
    unit: ProtectedUnit | JsonObject,
    observer: Observer,
    epsilon: None = None,
    delta: None = None,
    log10_delta: None = None,
    false_positive_rates: None = None,
    priors: None = None,
    orders: None = None,
    signed_epsilons: None = None,
    claim: Claim | JsonObject | None = None,
    effort: Effort = "default",
) -> Accounted: ...


@overload
def account(
    spec: Spec | JsonObject,
    *,
    relation: Relation,
    unit: ProtectedUnit | JsonObject,
    observer: Observer,
    epsilon: float | Sequence[float] | None = None,
    delta: float | Sequence[float] | None = None,
    log10_delta: float | Sequence[float] | None = None,
    false_positive_rates: Sequence[float] | None = None,
    priors: Sequence[float] | None = None,
    orders: Sequence[float] | None = None,
    signed_epsilons: Sequence[float] | None = None,
    claim: Claim | JsonObject | None = None,
    windows: int | None = None,
    effort: Effort = "default",
) -> AccountAnswer: ...


@require_setting
def account(
    spec: Spec | JsonObject,
    *,
    relation: Relation,
    unit: ProtectedUnit | JsonObject,
    observer: Observer,
    epsilon: float | Sequence[float] | None = None,
    delta: float | Sequence[float] | None = None,
    log10_delta: float | Sequence[float] | None = None,
    false_positive_rates: Sequence[float] | None = None,
    priors: Sequence[float] | None = None,
    orders: Sequence[float] | None = None,
    signed_epsilons: Sequence[float] | None = None,
    claim: Claim | JsonObject | None = None,
    windows: int | None = None,
    effort: Effort = "default",
) -> Accounted:
    """Return the certified guarantee of a run, for a stated neighbouring relation, unit and observer.

    With one of `epsilon`, `delta` and `log10_delta` the answer is the same as of `POST /v1/accounts`. It has the
    guarantee at these values, the points, and their meaning for an attacker. With only a list such as `priors`, the
    guarantee is given at ε = 0. Without any of them the answer has no points and no meaning and is much faster;
    `guarantee.curve` gives δ at any ε, and ε at any δ.

    Args:
        spec: a spec or its JSON form, a mapping with a `kind`.
        relation: the neighbouring relation.
        unit: the protected unit: `record`, `client`, or `{"of": "client", "window": "day"}`.
        observer: the adversary.
        epsilon: values of ε [nat] at which δ is computed, one or a sequence of up to 1000.
        delta: values of δ at which ε is computed, likewise.
        log10_delta: values of log10 δ at which ε is computed, likewise.
        false_positive_rates: false positive rates at which `trade_off` has the largest true positive rate, up to 100.
        priors: priors of an attacker at which `bayes_errors` has the least error and the largest accuracy, likewise.
        orders: orders above 1 for `renyi_divergences`, likewise.
        signed_epsilons: ε of any sign [nat] at which `directions` has δ of each direction, likewise.
        claim: an (ε, δ) to check: a mapping of `epsilon` and of `delta` or `log10_delta`.
        windows: windows in which one client contributes, with a windowed unit and one of ε, δ and log10 δ. Under
            replace-one, those in which the client or its replacement contributes. The answer's `over_windows` then
            bounds all of them together.
        effort: work that the composition may take.

    Guarantees: every enclosure contains the true value over all neighbours in the stated setting.

    Example:
        >>> import epsilond
        >>> step = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
        >>> run = epsilond.Repeated(times=1000, mechanism=step)
        >>> answer = epsilond.account(
        ...     run, relation="add-or-remove-one", unit="record", observer="released-models", delta=1e-5,
        ...     claim={"epsilon": 2.0, "delta": 1e-5},
        ... )
        >>> print(f"{answer.guarantee.epsilon.lower:.4f} {answer.guarantee.epsilon.upper:.4f} {answer.claim.holds}")
        1.8282 1.8282 yes
        >>> print(f"{answer.guarantee.curve.delta(epsilon=2.0).upper:.2e}")
        2.67e-06

    Raises:
        InvalidInput: the relation, the unit or the observer is missing; the spec has values out of range; several of
            ε, δ and log10 δ are given, or one of them is outside its domain.
        NoCertificate: no theorem covers a part of the run under this relation, or the work exceeds the fixed budget.
    """
    fields = {"spec": spec, "relation": relation, "unit": unit, "observer": observer, "claim": claim}
    # The HTTP body has a field for one value, such as `delta`, and one for several, such as `deltas`.
    query: dict[str, object] = {}
    points = {"epsilon": epsilon, "delta": delta, "log10_delta": log10_delta}
    for name, value in points.items():
        if value is not None:
            field_name = f"{name}s" if np.ndim(value) else name
            query[field_name] = _as_list(value)
    checked_effort: Effort = read_value(Effort, effort, at="/effort")
    attacker_queries = {
        "false_positive_rates": false_positive_rates,
        "priors": priors,
        "orders": orders,
        "signed_epsilons": signed_epsilons,
    }
    query |= {name: _as_list(values) for name, values in attacker_queries.items() if values is not None}

    # Without points, only the guarantee is returned.
    if not query:
        if windows is not None:
            raise InvalidInput.at("/windows", "needs an ε or a δ at which all windows are bounded")
        return accounting.account_spec(read(AccountQuestion, fields), effort=checked_effort)
    try:
        problem = read(AccountProblem, {**fields, "query": query, "windows": windows})
    except InvalidInput as error:
        raise InvalidInput(*map(_point_at_argument, error.faults)) from None
    return accounting.answer(problem, effort=checked_effort)


def _as_list(value: object) -> object:
    """Return a NumPy array as a list of Python numbers, and any other value unchanged.

    Args:
        value: an argument of `account`, such as a sequence of δ.
    """
    return value.tolist() if isinstance(value, np.ndarray) else value


def _point_at_argument(fault: Fault) -> Fault:
    """Convert the JSON pointer of a fault in the HTTP body to that of an argument of `account`.

    For example, /query/deltas/3 becomes /delta/3. A fault of the whole query gets the empty pointer, and its message
    names only fields that are arguments.

    Args:
        fault: an error in a field of the HTTP body.

    Returns:
        The fault with the pointer to the argument. A fault outside of the query is unchanged.
    """
    if not fault.pointer.startswith("/query"):
        return fault
    # The parts are "", "query", and perhaps the field and an index.
    _root, _query, *segments = fault.pointer.split("/", maxsplit=3)
    if segments and segments[0] not in FIGURES:
        segments[0] = segments[0].removesuffix("s")
    pointer = "".join(f"/{segment}" for segment in segments)
    return Fault(pointer, fault.message.replace(", epsilons, deltas, log10_deltas", ""), fault.allowed)
