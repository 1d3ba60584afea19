"""Ledgers whose target is a risk or has ε = 0: capacities against closed forms, and certificates that bind."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import erfinv, mp, mpf, ncdf, sqrt, tanh

from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.ledgers.mathematics.entries import opening_record, state_of
from epsilond.ledgers.mathematics.invariant import opening
from epsilond.ledgers.mathematics.opening import RequestedItem, RequestedSlot, open_ledger
from epsilond.ledgers.mathematics.state import Declared, LedgerState
from epsilond.ledgers.mathematics.targets.asked import TargetAsked

SETTING = Setting.of(relation="add-or-remove-one", unit="record", observer="released-models")
TARGETS: dict[str, dict[str, float]] = {
    "zero epsilon": {"epsilon": 0.0, "delta": 0.1},
    "advantage": {"advantage": 0.1},
    "large advantage": {"advantage": 0.99},
    "true positives": {"true_positive_rate": 0.2, "false_positive_rate": 0.01},
    "true positives above one half": {"true_positive_rate": 0.9, "false_positive_rate": 0.6},
    "mu": {"gaussian_dp_mu": 0.7},
    "rho": {"rho": 0.3},
    "rho at a small delta": {"rho": 0.3, "log10_delta": -40.0},
}
STRICT = ("gaussian_dp_mu", "rho")
"""Risks that hold with δ = 0 only."""
each_target = pytest.mark.parametrize("target", TARGETS)


def opened(
    target: dict[str, float], *slots: tuple[str, Any], plan: dict[str, Any] | None = None
) -> tuple[LedgerState, Any]:
    return open_ledger(
        setting=SETTING,
        target=TargetAsked(**target).of_ledger,
        declared=Declared(sealed=True),
        plan=[RequestedItem(name=name, spec=spec) for name, spec in (plan or {}).items()],
        slots=[RequestedSlot(kind=kind, capacity=capacity) for kind, capacity in slots],
    )


def quantile(probability: Any) -> Any:
    return sqrt(2) * erfinv(2 * probability - 1)


def exact_mu(fields: dict[str, float], added: float = 0.0) -> Any:
    """The μ of the Gaussian pair that just meets a target, if the slots add a δ."""
    if "gaussian_dp_mu" in fields:
        return mpf(fields["gaussian_dp_mu"])
    if "rho" in fields:
        return sqrt(2 * mpf(fields["rho"]))
    if "true_positive_rate" in fields:
        return quantile(mpf(fields["true_positive_rate"]) - added) - quantile(mpf(fields["false_positive_rate"]))
    advantage = mpf(fields.get("advantage", fields.get("delta"))) - mpf(added)
    return 2 * quantile((1 + advantage) / 2)


@each_target
@pytest.mark.parametrize("eta", ["0", "1e-3"])
def test_the_largest_gaussian_slot_is_a_closed_form(target: str, eta: str) -> None:
    fields = TARGETS[target]
    if eta != "0" and set(STRICT) & set(fields):
        with pytest.raises(InvalidInput, match="/slots/0/capacity/eta") as error:
            opened(fields, ("gdp", {"mu_squared": "largest", "eta": eta}))
        assert error.value.faults[0].allowed == "0"
        return
    state, _ = opened(fields, ("gdp", {"mu_squared": "largest", "eta": eta}))
    with mp.workdps(40):
        exact = exact_mu(fields, float(eta)) ** 2
        capacity = mpf(str(state.slots[0].capacity["mu_squared"]))
        assert exact * (1 - mpf(1e-7)) <= capacity <= exact


@each_target
def test_a_gaussian_slot_adds_a_delta_by_default_only_where_the_target_admits_one(target: str) -> None:
    state, _ = opened(TARGETS[target], ("gdp", "largest"))
    assert (state.slots[0].capacity["eta"] > 0) == (not set(STRICT) & set(TARGETS[target]))


@each_target
@pytest.mark.parametrize("kind", ["gdp", "pure"])
def test_the_stated_epsilon_and_delta_hold_of_the_full_slot(target: str, kind: str) -> None:
    """Both the target's (ε, δ), which a risk implies, and the certified one are true of the slot's mechanism."""
    state, certificate = opened(TARGETS[target], (kind, "largest"))
    capacity, added = state.slots[0].capacity, mpf(str(state.slots[0].capacity.get("eta", 0)))
    with mp.workdps(40):
        for epsilon, log_delta in (
            (state.target.epsilon, state.target.log_delta),
            (state.target.epsilon, certificate.log_delta),
            (certificate.epsilon, state.target.log_delta),
        ):
            if kind == "gdp":
                mu = sqrt(mpf(str(capacity["mu_squared"])))
                ratio = mpf(epsilon) / mu
                delta = ncdf(mu / 2 - ratio) - mp.e ** mpf(epsilon) * ncdf(-mu / 2 - ratio)
            else:
                own = mpf(str(capacity["epsilon"]))
                delta = max((mp.e**own - mp.e ** mpf(epsilon)) / (1 + mp.e**own), mpf(0))
            assert delta + added <= mp.e ** mpf(log_delta) * (1 + mpf(1e-12))


RATES = [
    (0.01, 0.2),
    (0.1, 0.3),
    (0.3, 0.4),
    (0.45, 0.5),
    (0.5, 0.500001),
    (0.6, 0.9),
    (0.9, 0.99),
    (1e-5, 0.99),
    (1e-300, 0.5),
]


@pytest.mark.parametrize(("rate", "limit"), RATES)
def test_a_true_positive_rate_implies_the_largest_advantage_of_any_convex_curve(rate: float, limit: float) -> None:
    """The largest 1 − f(x) − x over the trade-off curves of a line and of two lines with the rate, in both directions."""
    implied = math.exp(TargetAsked(true_positive_rate=limit, false_positive_rate=rate).of_ledger.log_delta)
    attained = 0.0
    for corner in [*np.linspace(0.0, 1.0, 2001), rate / (rate + limit), (1 - limit) / (2 - rate - limit)]:
        # The least f(corner) of a curve (0, 1), (corner, f), (1, 0) or (0, f), (1, 0) that has f(α) ≥ 1 − β, both ways.
        for value in np.linspace(0.0, 1.0 - corner, 801):
            knots = ([0.0, corner, 1.0], [1.0 if corner > 0.0 else value, value, 0.0])
            own = np.interp(rate, *knots)
            other = np.interp(1.0 - limit, *knots)
            if own >= 1.0 - limit - 1e-12 and other >= rate - 1e-12:
                attained = max(attained, 1.0 - value - corner)
                break
    assert attained <= implied * (1 + 1e-9)
    assert attained >= implied * (1 - 5e-3) - 2e-3


@each_target
def test_the_largest_pure_slot_is_a_closed_form(target: str) -> None:
    """Randomised response has the advantage tanh(ε/2), and at α the least of e^ε α and 1 − e^−ε (1 − α)."""
    fields = TARGETS[target]
    state, _ = opened(fields, ("pure", "largest"))
    with mp.workdps(40):
        epsilon = mpf(str(state.slots[0].capacity["epsilon"]))
        if "rho" in fields:
            figure, bound = epsilon**2 / 2, mpf(fields["rho"])
        elif "true_positive_rate" in fields:
            rate = mpf(fields["false_positive_rate"])
            response = mp.e**epsilon / (1 + mp.e**epsilon)  # the corner of the trade-off curve
            corner = 1 - response
            figure = mp.e**epsilon * rate if rate <= corner else 1 - (1 - rate) * mp.e**-epsilon
            bound = mpf(fields["true_positive_rate"])
        else:
            figure = tanh(epsilon / 2)
            mu = fields.get("gaussian_dp_mu")
            bound = mpf(fields.get("advantage", fields.get("delta", 0))) if mu is None else 2 * ncdf(mpf(mu) / 2) - 1
        assert bound * (1 - mpf(1e-6)) <= figure <= bound * (1 + mpf(1e-12))


@each_target
@pytest.mark.parametrize("kind", ["gdp", "zcdp", "pure"])
def test_a_larger_slot_is_rejected_and_the_nearest_target_is_accepted(target: str, kind: str) -> None:
    fields = TARGETS[target]
    state, certificate = opened(fields, (kind, "largest"))
    assert certificate.epsilon <= state.target.epsilon
    assert certificate.log_delta <= state.target.log_delta
    larger = {part: f"{float(amount) * 1.01:.17f}" for part, amount in state.slots[0].capacity.items()}
    with pytest.raises(Infeasible) as error:
        opened(fields, (kind, larger))
    nearest = error.value.nearest
    assert set(nearest) <= {"epsilon", *fields}
    assert nearest
    again, _ = opened({**fields, **{name: value * (1 + 1e-9) for name, value in nearest.items()}}, (kind, larger))
    assert again.slots[0].capacity == {
        part: type(amount)(larger[part]) for part, amount in again.slots[0].capacity.items()
    }


@each_target
def test_a_plan_and_a_slot_share_the_target(target: str) -> None:
    """Ten Gaussian steps take their μ² from what the slot would have without them."""
    fields = TARGETS[target]
    with mp.workdps(40):
        noise = float(10 / exact_mu(fields))  # together a tenth of the μ² of the target
    whole, _ = opened(fields, ("gdp", {"mu_squared": "largest", "eta": "0"}))
    plan = {"steps": Repeated(times=10, mechanism=Gaussian(noise_multiplier=noise))}
    shared, _ = opened(fields, ("gdp", {"mu_squared": "largest", "eta": "0"}), plan=plan)
    ratio = shared.slots[0].capacity["mu_squared"] / whole.slots[0].capacity["mu_squared"]
    assert float(ratio) == pytest.approx(0.9, rel=1e-6)
    with pytest.raises(Infeasible):
        opened(fields, plan={"steps": Repeated(times=101, mechanism=Gaussian(noise_multiplier=noise))})


@pytest.mark.parametrize("target", ["mu", "rho"])
def test_what_has_no_mu_or_rho_is_rejected(target: str) -> None:
    with pytest.raises(InvalidInput, match="/slots/0/kind"):
        opened(TARGETS[target], ("rdp", {"orders": [2, 8], "budget": "0.01"}))


def test_sampled_steps_of_a_plan_have_the_advantage_of_their_account() -> None:
    step = Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=1.0))
    with pytest.raises(Infeasible) as error:
        opened({"advantage": 1e-3}, plan={"steps": step})
    with mp.workdps(40):
        exact = float(mpf("0.01") * (2 * ncdf(mpf(1) / 2) - 1))
    assert error.value.nearest["advantage"] == pytest.approx(exact, rel=1e-6)


@each_target
def test_the_entry_of_the_opening_holds_the_target_and_its_certificate_binds(target: str) -> None:
    state, certificate = opened(TARGETS[target], ("gdp", "largest"))
    record = json.loads(json.dumps(opening_record(state, certificate, {})))
    read = state_of(record, {})
    assert read == state
    assert opening(read) == certificate
    if state.target.risk is None:
        return
    # A log that states a stronger (ε, δ) or a smaller risk than its charges allow does not replay.
    stronger = [
        replace(state.target, log_delta=state.target.log_delta - 1e-6),
        replace(state.target, risk=replace(state.target.risk, bound=state.target.risk.bound * (1 - 1e-6))),
    ]
    for changed in stronger:
        with pytest.raises(Infeasible):
            opening(replace(state, target=changed))


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({}, "/epsilon"),
        ({"epsilon": 0.0}, "/delta"),
        ({"epsilon": 1.0, "advantage": 0.1, "delta": 1e-5}, "/epsilon"),
        ({"advantage": 0.1, "rho": 0.1}, "/rho"),
        ({"advantage": 0.0}, "/advantage"),
        ({"advantage": 1.0}, "/advantage"),
        ({"advantage": math.nan}, "/advantage"),
        ({"advantage": 0.1, "delta": 1e-5}, "/delta"),
        ({"advantage": 0.1, "log10_delta": -5.0}, "/log10_delta"),
        ({"true_positive_rate": 0.1}, "/false_positive_rate"),
        ({"true_positive_rate": 0.1, "false_positive_rate": 0.1}, "/true_positive_rate"),
        ({"true_positive_rate": 0.1, "false_positive_rate": 0.2}, "/true_positive_rate"),
        ({"gaussian_dp_mu": 0.0}, "/gaussian_dp_mu"),
        ({"gaussian_dp_mu": 1e9}, "/gaussian_dp_mu"),
        ({"rho": 0.0}, "/rho"),
        ({"rho": 0.1, "delta": 1e-5, "log10_delta": -5.0}, "/delta"),
        ({"epsilon": 0.0, "delta": 0.0}, "/delta"),
        ({"epsilon": 0.0, "delta": 1.0}, "/delta"),
    ],
)
def test_a_target_that_is_none_is_rejected_by_name(fields: dict[str, float], pointer: str) -> None:
    with pytest.raises(InvalidInput) as error:
        TargetAsked(**fields)
    assert pointer in {fault.pointer for fault in error.value.faults}
