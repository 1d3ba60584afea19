"""Charges of zero-concentrated and Rényi slots: closed forms, mechanisms that the words admit, and the replay."""

from __future__ import annotations

import json
import math
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

from epsilond.accountants import specs
from epsilond.accountants.errors import ConditionViolated, LedgerExhausted, NoCertificate
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.kinds import concentration_of
from epsilond.accountants.kinds.kind import Concentration
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.amounts import PLACES, QUANTUM, up
from epsilond.ledgers.mathematics.charges import charge
from epsilond.ledgers.mathematics.charges.concentrated import _sums
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.entries import charge_record
from epsilond.ledgers.mathematics.opening import RequestedSlot
from epsilond.ledgers.mathematics.replay import DoesNotReplay, apply_entry
from epsilond.ledgers.mathematics.state import LedgerState, LedgerTarget
from epsilond.reading import read_value
from tests.laws.test_hostile_instances import LEAVES, outputs
from tests.ledgers.mathematics.setups import SETTING, ledger, step

ORDERS = (1.0001, 1.1, 1.5, 2.0, 3.0, 8.0, 40.0, 300.0)
LARGE = LedgerTarget(epsilon=400.0, log_delta=math.log(1e-3))
EXPONENTIAL = specs.Exponential(epsilon=1.0)
SKELLAM = specs.Skellam(variance=9.0, l1_sensitivity=2.0, l2_sensitivity=2.0, dimension=1)
INTEGERS = specs.DiscreteGaussian(scale=3.0, l2_sensitivity=2.0, dimension=1)


def concentrated(rho: str = "40", delta: str = "1e-5", setting: Setting = SETTING) -> LedgerState:
    """A ledger with a zero-concentrated slot."""
    slot = RequestedSlot(kind="zcdp", capacity={"rho": rho, "delta": delta})
    return ledger(slot, target=LARGE, setting=setting)


def cost(spec: Any, delta: str | None = None, count: int = 1) -> dict[str, Decimal]:
    """What a job costs in a zero-concentrated slot."""
    state = moves.reserve(
        concentrated(), "x", spec=spec, slot="zcdp", count=count, delta=None if delta is None else Decimal(delta)
    )
    found = state.reservations["x"].charge
    assert found is not None
    return dict(found.parts)


def ceiling(rho: Fraction) -> Decimal:
    """The smallest amount that is at least ρ, by long division."""
    with mp.workdps(60):
        exact = mp.mpf(rho.numerator) / rho.denominator
        return Decimal(mp.nstr(exact, 50)).quantize(Decimal(1).scaleb(-PLACES), ROUND_CEILING)


@pytest.mark.parametrize(
    ("spec", "rho"),
    [
        (specs.Zcdp(rho=0.25), Fraction(1, 4)),
        (specs.Zcdp(rho=0.1), Fraction(0.1)),
        (specs.Zcdp(rho=1e-300), Fraction(1, 10**18)),
        (INTEGERS, Fraction(2, 9)),
        (specs.DiscreteGaussian(scale=3.0, l2_sensitivity=2.5, dimension=1), Fraction(2, 9)),
        (specs.DiscreteGaussian(scale=3.0, l2_sensitivity=2.5, dimension=7), Fraction(6, 18)),
        (specs.DiscreteGaussian(scale=3.0, l2_sensitivity=0.5, dimension=7), Fraction(0)),
        (EXPONENTIAL, Fraction(1, 8)),
        (specs.Exponential(epsilon=1e-12), Fraction(1, 10**18)),
        (specs.ReportNoisyMax(epsilon=0.5, noise="gumbel"), Fraction(1, 32)),
        (specs.Approximate(epsilon=0.5, delta=0.0), Fraction(1, 8)),
    ],
)
def test_the_charge_is_the_closed_form_rounded_up(spec: Any, rho: Fraction) -> None:
    assert cost(spec) == {"rho": ceiling(rho), "delta": 0}
    assert cost(spec, count=3) == {"rho": 3 * ceiling(rho), "delta": 0}


def test_the_parts_of_a_run_add_up() -> None:
    spec = specs.Composed(
        mechanisms=(
            specs.Repeated(times=3, mechanism=EXPONENTIAL),
            specs.Zcdp(rho=0.25, delta=2.0**-30),
            INTEGERS,
            specs.Gaussian(noise_multiplier=2.0),
        )
    )
    whole = 3 * Fraction(1, 8) + Fraction(1, 4) + Fraction(2, 9) + Fraction(1, 8)
    with pytest.raises(ConditionViolated):
        cost(spec)
    found = cost(spec, "1e-9")
    assert found["delta"] == up(Fraction(1, 2**30))
    assert whole <= Fraction(found["rho"]) <= whole * (1 + Fraction(1, 10**12))


def test_noise_on_a_sample_costs_at_most_the_noise_without_sampling() -> None:
    found = Fraction(cost(step(noise=2.0))["rho"])
    assert Fraction(1, 8) <= found <= Fraction(1, 8) * (1 + Fraction(1, 10**12))


def test_a_delta_is_charged_only_where_the_job_states_it() -> None:
    declared = specs.Zcdp(rho=0.25, delta=1e-8)
    with pytest.raises(ConditionViolated, match="must state a delta of at least that"):
        cost(declared)
    with pytest.raises(ConditionViolated, match=r"allows 0\.000000009$"):
        cost(declared, "9e-9")
    assert cost(declared, "1e-8", count=2) == {"rho": Decimal("0.5"), "delta": 2 * up(1e-8)}
    assert up(1e-8) - Decimal("1e-8") == QUANTUM
    with pytest.raises(LedgerExhausted):
        moves.reserve(concentrated(delta="1e-9"), "x", spec=declared, slot="zcdp", delta=Decimal("1e-8"))
    with pytest.raises(ConditionViolated, match="is proved of the mechanism"):
        cost(specs.Rdp(orders=(2.0, 8.0), epsilons=(0.1, 0.3)))
    found = cost(specs.Approximate(epsilon=0.5, delta=2.0**-20), "1e-6")
    assert found["delta"] == Decimal("1e-6")
    assert Decimal("0.1249") < found["rho"] <= Decimal("0.125")


def test_an_amount_that_no_slot_holds_is_refused_by_name() -> None:
    with pytest.raises(ConditionViolated, match="larger than the largest amount"):
        cost(specs.Repeated(times=1, mechanism=specs.DiscreteGaussian(scale=1e-6, l2_sensitivity=1e6, dimension=1)))


@pytest.mark.parametrize(("variance", "shift"), [(0.5, 1), (9.0, 1), (0.1, 1), (1e-5, 1)])
def test_skellam_noise_is_as_concentrated_as_it_costs(variance: float, shift: int) -> None:
    """Every divergence of the noise and its shift is below the charge, and one of a small order is close to it."""
    spec = specs.Skellam(variance=variance, l1_sensitivity=shift, l2_sensitivity=shift, dimension=1)
    found = cost(spec, "1e-12")
    assert found["delta"] <= QUANTUM
    rho = float(found["rho"])
    with mp.workdps(40):
        law = [mp.exp(-variance) * mp.besseli(n, variance) for n in range(int(variance) + 200)]
        quotients = []
        for order in ORDERS[:6]:
            total = mp.fsum(
                law[abs(y)] ** order * law[abs(y - shift)] ** (1 - order) for y in range(shift - len(law) + 1, len(law))
            )
            quotients.append(float(mp.log(total) / (order - 1) / order))
    assert max(quotients) <= rho
    assert max(quotients) >= 0.99 * rho


def test_a_part_is_charged_by_the_bound_that_the_delta_admits() -> None:
    """Without a δ the ρ of all outcomes is charged, and with one the ρ of the listed outcomes, also in compositions."""
    large = specs.Skellam(variance=2.0**22, l1_sensitivity=1.0, l2_sensitivity=1.0, dimension=1)
    by_kind = concentration_of(large)
    assert by_kind is not None
    assert 0 < by_kind.delta < Fraction(1, 10**18)
    without, with_delta = cost(large), cost(large, "1e-9")
    assert without["delta"] == 0
    assert with_delta == {"rho": ceiling(by_kind.rho), "delta": QUANTUM}
    assert with_delta["rho"] < without["rho"] <= with_delta["rho"] * Decimal("1.01")
    parts = specs.Composed(mechanisms=(large, specs.Zcdp(rho=0.25, delta=2.0**-30), INTEGERS))
    both = cost(parts, "1e-9")
    assert both == {
        "rho": ceiling(by_kind.rho + Fraction(1, 4) + Fraction(2, 9)),
        "delta": up(Fraction(1, 2**30) + by_kind.delta),
    }


def test_many_parts_keep_the_sum_with_the_least_delta() -> None:
    parts = [
        (
            [
                Concentration(rho=Fraction(3**i), delta=Fraction(0)),
                Concentration(rho=Fraction(0), delta=Fraction(2**i)),
            ],
            1,
        )
        for i in range(12)
    ]
    totals = _sums(parts)
    assert len(totals) <= 64
    assert totals[0] == Concentration(rho=Fraction(sum(3**i for i in range(12))), delta=Fraction(0))
    assert _sums([([], 1), *parts]) == []
    few = _sums([([Concentration(rho=Fraction(5)), Concentration(rho=Fraction(1), delta=Fraction(1, 9))], 2)])
    assert few == [Concentration(rho=Fraction(10)), Concentration(rho=Fraction(2), delta=Fraction(2, 9))]


def divergence(here: Any, there: Any, order: float) -> float:
    """D_a of two finite laws, by its definition, without outcomes whose mass is lost in the digits of the oracle."""
    here = {outcome: weight for outcome, weight in here.items() if weight > 1e-15}
    if any(there.get(outcome, 0) == 0 < weight for outcome, weight in here.items()):
        return math.inf
    terms = [
        order * math.log(weight) + (1.0 - order) * math.log(there[outcome])
        for outcome, weight in here.items()
        if weight
    ]
    largest = max(terms)
    return (largest + math.log(math.fsum(math.exp(term - largest) for term in terms))) / (order - 1.0)


@pytest.mark.parametrize("kind", LEAVES)
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one", "zero-out-one"])
def test_no_mechanism_that_the_words_admit_diverges_by_more_than_its_charge(kind: str, relation: Any) -> None:
    spec = LEAVES[kind]
    observer: Any = "final-model" if kind == "projected sgd" else "server"
    setting = Setting(relation=relation, unit="record", observer=observer)
    slots = [concentrated(setting=setting), renyi_ledger(setting)]
    for state in slots:
        slot = state.slots[0]
        delta = Decimal("1e-9") if slot.kind == "zcdp" else None
        request = ChargeRequest(setting=setting, spec=spec, count=1, delta=delta)
        try:
            price = charge(request, slot).each
            declared = frozenset(condition.id for condition in request.guarantee(spec).declared)
        except NoCertificate:
            continue
        for name, here, there in outputs(spec, (relation, "record", observer), declared, float):
            for order in (4.0, 16.0) if slot.kind == "rdp" else ORDERS:
                paid = float(price[f"order:{order:g}"]) if slot.kind == "rdp" else float(price["rho"]) * order
                truth = max(divergence(here, there, order), divergence(there, here, order))
                assert truth <= paid * (1.0 + 1e-9) + 1e-10, (name, order)


def test_every_kind_with_a_known_rho_is_charged() -> None:
    """The law above is not empty."""
    charged = {kind for kind, spec in LEAVES.items() if kind != "projected sgd" and _is_charged(spec)}
    assert {
        "zcdp",
        "discrete gaussian",
        "skellam",
        "exponential",
        "noisy max",
        "pure",
        "laplace",
        "gaussian",
    } <= charged


def _is_charged(spec: Any) -> bool:
    try:
        return bool(cost(spec, "1e-9"))
    except NoCertificate:
        return False


def renyi_ledger(setting: Setting = SETTING) -> LedgerState:
    """A ledger with a slot of two orders."""
    capacity = {"orders": [4, 16], "weights": [0.5, 0.5], "budget": "largest"}
    target = LedgerTarget(epsilon=20.0, log_delta=math.log(1e-6))
    return ledger(RequestedSlot(kind="rdp", capacity=capacity), target=target, setting=setting)


@pytest.mark.parametrize(
    ("spec", "at_4", "at_16"),
    [
        (specs.Rdp(orders=(2.0, 8.0, 32.0), epsilons=(0.125, 0.5, 0.25)), "0.25", "0.25"),
        (specs.Rdp(orders=(4.0, 16.0), epsilons=(0.125, 0.5)), "0.125", "0.5"),
        (specs.Zcdp(rho=0.0625), "0.25", "1"),
        (specs.DiscreteGaussian(scale=4.0, l2_sensitivity=1.0, dimension=3), "0.125", "0.5"),
    ],
)
def test_a_renyi_slot_charges_known_divergences(spec: Any, at_4: str, at_16: str) -> None:
    twice = specs.Composed(mechanisms=(spec, specs.Repeated(times=1, mechanism=spec)))
    for job, runs in ((spec, 1), (twice, 2)):
        found = moves.reserve(renyi_ledger(), "x", spec=job, slot="rdp").reservations["x"].charge
        assert found is not None
        for order, paid in (("4", at_4), ("16", at_16)):
            least = runs * Fraction(paid)
            assert least <= Fraction(found.parts[f"order:{order}"]) <= least * (1 + Fraction(1, 10**14))


def test_orders_beyond_the_declared_ones_are_refused() -> None:
    with pytest.raises(ConditionViolated, match="order 16"):
        moves.reserve(renyi_ledger(), "x", spec=specs.Rdp(orders=(2.0, 8.0), epsilons=(0.1, 0.3)), slot="rdp")


@pytest.mark.parametrize(
    ("kind", "body", "delta"),
    [
        ("zcdp", {"kind": "zcdp", "rho": 0.1, "delta": 1e-8}, "1e-8"),
        ("zcdp", {"kind": "exponential", "epsilon": 0.3}, None),
        (
            "zcdp",
            {"kind": "skellam", "variance": 9.0, "l1_sensitivity": 2, "l2_sensitivity": 2, "dimension": 1},
            "1e-9",
        ),
        ("zcdp", {"kind": "discrete_gaussian", "scale": 3.0, "l2_sensitivity": 2, "dimension": 1}, None),
        ("rdp", {"kind": "rdp", "orders": [2.0, 32.0], "epsilons": [0.1, 0.3]}, None),
    ],
)
def test_an_audit_computes_the_same_charge(kind: Any, body: Any, delta: str | None) -> None:
    """A replay accepts the recorded charge and a larger one, and rejects one that is smaller in any part."""
    state = concentrated() if kind == "zcdp" else renyi_ledger()

    def read(text: str) -> Any:
        return read_value(specs.Spec, json.loads(text), at="")

    text = json.dumps(body)
    paid = None if delta is None else Decimal(delta)
    held = moves.reserve(state, "x", spec=read(text), slot=kind, count=2, delta=paid)
    price = held.reservations["x"].charge
    assert price is not None
    entry = {
        "kind": "reserved",
        "reservation": "x",
        "spec": text,
        "count": 2,
        "slot": kind,
        "charge": charge_record(price),
    }
    assert apply_entry(state, entry, read) == held
    for part, amount in price.each.items():
        for change in (-QUANTUM, QUANTUM):
            each = {**price.each, part: amount + change}
            if each[part] < 0:
                continue
            forged = json.loads(json.dumps(entry["charge"]))
            forged["each"][part], forged["parts"][part] = (f"{runs * each[part]:f}" for runs in (1, 2))
            if change > 0:
                apply_entry(state, {**entry, "charge": forged}, read)
            else:
                with pytest.raises((DoesNotReplay, ConditionViolated)):
                    apply_entry(state, {**entry, "charge": forged}, read)
