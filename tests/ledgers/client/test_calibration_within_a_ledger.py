"""Test calibration within a ledger: the run fits, less noise does not, and a refusal names its reason."""

import math
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal

import pytest

import epsilond
from epsilond.accountants.errors import NotInPlan
from epsilond.calibrators import CALIBRATORS
from epsilond.ledgers.mathematics.moves import reserve
from epsilond.reading import read_value
from tests.ledgers.client.places import STEP, TRAINING, book_of, opened

SAMPLED = {"sampling": "poisson", "rate": 0.01, "rounds": 500, "unit": "record", "observer": "server"}
LEARNING = {
    "samples_per_client": 1000,
    "clients": 50,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
}
MESSAGES = {
    "dimension": 100,
    "quantization_levels": 64,
    "l1_sensitivity": 64.0,
    "linf_sensitivity": 64.0,
    "l2_sensitivity": 64.0,
}
RUNS = {
    "gaussian": SAMPLED,
    "mb-sgd": LEARNING | {"rounds": 50, "batch_size": 100},
    "accelerated-mb-sgd": LEARNING | {"rounds": 20, "batch_size": 100},
    "one-pass-accelerated-mb-sgd": LEARNING | {"rounds": 10, "batch_size": 100},
    "mu2-sgd": {"clients": 20, "rounds": 30, "dimension": 10, "lipschitz": 1.0, "smoothness": 1.0, "diameter": 1.0},
    "ppsgd": {"clients": 200, "rounds": 100, "sampling": "poisson", "participation_rate": 0.05, "clipping_norm": 1.0}
    | {"shared_dimension": 10},
    "projected-sgd": {"clients": 50, "participants": 10, "dimension": 5, "lipschitz": 1.0, "radius": 1.0}
    | {"smoothness": 2.0, "step_schedule": {"kind": "constant", "value": 0.5}},
    "qtdl": MESSAGES,
    "dp-fedavg": {"clients": 1000, "participants": 100, "rounds": 200, "dimension": 10, "clipping_norm": 1.0},
}
SETTINGS = {
    "gaussian": {"relation": "add-or-remove-one"},
    "ppsgd": {"unit": "client", "observer": "other-clients"},
    "dp-fedavg": {"unit": "client", "observer": "released-models", "relation": "add-or-remove-one"},
    "projected-sgd": {"observer": "final-model"},
    "mu2-sgd": {"relation": "zero-out-one"},
}
SLOT = {"plan": {}, "epsilon": 2.0, "relation": "replace-one"}


@pytest.fixture
def ledger(tmp_path):
    books, found = opened(tmp_path, plan={}, epsilon=2.0)
    with books:
        yield found


def left(ledger):
    return Decimal(ledger.show().slots[0]["remaining"]["mu_squared"])


def quieter(spec, by):
    """The same with less noise: every noise multiplier, standard deviation and schedule of noise times `by`."""
    changed = {}
    for part in fields(spec):
        value = getattr(spec, part.name)
        if part.name == "noise_multiplier":
            changed[part.name] = by * value
        elif part.name == "noise_schedule":
            changed[part.name] = replace(value, value=by * value.value)
        elif part.name == "mechanism" and is_dataclass(value):
            changed[part.name] = quieter(value, by)
    return replace(spec, **changed)


SLOW = ("qtdl", "accelerated-mb-sgd", "projected-sgd", "mb-sgd")


@pytest.mark.parametrize("algorithm", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in RUNS])
def test_a_calibrated_run_is_reserved_and_committed_and_less_noise_is_refused(tmp_path, algorithm):
    books, ledger = opened(tmp_path, **SLOT | SETTINGS.get(algorithm, {}))
    with books:
        found = ledger.calibrate(algorithm, RUNS[algorithm])
        assert found.request["epsilon"] <= 2.0
        spec = read_value(epsilond.accountants.specs.Spec, dict(found.spec), at="")
        if algorithm != "qtdl":  # whose noise is whole levels
            with pytest.raises(epsilond.LedgerExhausted):
                reserve(book_of(books).state("local", ledger.id), "quieter", spec=quieter(spec, 0.999), slot="gdp")
        with ledger.reserve("train", spec=spec, slot="gdp") as run:
            assert run.charge.parts == found.charge["parts"]
            run.commit()
        with pytest.raises(epsilond.LedgerExhausted):
            reserve(book_of(books).state("local", ledger.id), "again", spec=spec, slot="gdp")


def test_steps_that_are_dearer_one_after_another_still_take_all_of_a_large_slot(tmp_path):
    books, ledger = opened(tmp_path, **SLOT | {"epsilon": 8.0})
    with books:
        halves = LEARNING | {"samples_per_client": 56, "clients": 10, "rounds": 60, "batch_size": 28}
        found = ledger.calibrate("mb-sgd", halves)
        assert 7.0 <= found.request["epsilon"] <= 8.0
        spec = read_value(epsilond.accountants.specs.Spec, dict(found.spec), at="")
        with ledger.reserve("train", spec=spec, slot="gdp") as run:
            assert Decimal(run.charge.parts["mu_squared"]) >= Decimal("0.998") * left(ledger)


@pytest.mark.parametrize("samples", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_search_passes_where_a_step_has_no_price(tmp_path, samples):
    """Of every record but one in a batch: with the noise that is likely, no part of the slot pays for the step."""
    books, ledger = opened(tmp_path, **SLOT | {"epsilon": 0.5})
    with books:
        nearly_all = {"samples_per_client": samples, "rounds": 1, "batch_size": samples - 1}
        found = ledger.calibrate("mb-sgd", LEARNING | nearly_all)
        assert 0.4 <= found.request["epsilon"] <= 0.5
        with ledger.reserve("train", spec=found.spec, slot="gdp") as run:
            run.commit()


@pytest.mark.parametrize("rounds", [1, 300])
def test_gaussian_rounds_take_all_that_is_left(ledger, rounds):
    answer = epsilond.calibrate("gaussian", given=ledger, sampling="full", rounds=rounds)
    least = math.sqrt(rounds / left(ledger))
    assert least <= answer.parameters.noise_multiplier <= 1.0002 * least
    assert answer.guarantee.epsilon.upper <= 2.0


def test_what_others_hold_is_not_left(ledger):
    before = left(ledger)
    with ledger.reserve("held", spec=epsilond.Gaussian(noise_multiplier=5.0), slot="gdp"):
        answer = epsilond.calibrate("gaussian", given=ledger, sampling="full", rounds=1)
    assert answer.parameters.noise_multiplier >= 1.0 / math.sqrt(before - Decimal("0.04"))


def test_an_item_of_the_plan_takes_its_own_noise_and_no_more_runs(tmp_path):
    books, ledger = opened(tmp_path, plan={"train": TRAINING}, slots=[])
    with books:
        answer = epsilond.calibrate("gaussian", given=ledger, item="train", **SAMPLED)
        assert 1.0 <= answer.parameters.noise_multiplier <= 1.0002
        spec = quieter(epsilond.Repeated(times=500, mechanism=STEP), answer.parameters.noise_multiplier)
        with ledger.reserve("train", spec=spec) as run:
            run.commit()
        with pytest.raises(epsilond.LedgerExhausted) as refused:
            epsilond.calibrate("gaussian", given=ledger, item="train", **SAMPLED | {"rounds": 501})
        assert refused.value.nearest["largest_count"] == 500
        with pytest.raises(NotInPlan):
            epsilond.calibrate("gaussian", given=ledger, item="train", **SAMPLED | {"rate": 0.02})
        with pytest.raises(epsilond.InvalidInput, match="no Gaussian slot"):
            epsilond.calibrate("gaussian", given=ledger, **SAMPLED)


def test_an_item_with_any_draw_takes_as_much_noise_or_more(tmp_path):
    batch = epsilond.Subsampled(
        sampling="without-replacement",
        batch_size=10,
        population=1000,
        mechanism=epsilond.Gaussian(noise_multiplier=2.0),
    )
    item = epsilond.Repeated(times=30, mechanism=batch)
    books, ledger = opened(tmp_path, plan={"train": item}, slots=[], relation="replace-one", epsilon=8.0)
    with books:
        found = ledger.calibrate("mb-sgd", LEARNING | {"rounds": 30, "batch_size": 10}, item="train")
        assert 2.0 <= found.spec["mechanism"]["mechanism"]["noise_multiplier"] <= 2.0004
        with ledger.reserve("train", spec=found.spec) as run:
            run.commit()


def test_a_concentrated_slot_is_charged_in_its_own_currency(tmp_path):
    books, ledger = opened(tmp_path, plan={}, slots={"zcdp": {"rho": "0.02", "delta": "0"}})
    with books:
        answer = epsilond.calibrate("gaussian", given=ledger, slot="zcdp", sampling="full", rounds=4)
    assert 10.0 <= answer.parameters.noise_multiplier <= 10.002  # 4 · 1/(2σ²) = 0.02


@pytest.mark.parametrize(
    ("algorithm", "fields", "pointer"),
    [
        ("gaussian", SAMPLED | {"epsilon": 1.0}, "/epsilon"),
        ("gaussian", SAMPLED | {"delta": 1e-6}, "/delta"),
        ("gaussian", SAMPLED | {"relation": "replace-one"}, "/relation"),
        ("gaussian", SAMPLED | {"solve_for": "rounds"}, "/solve_for"),
        ("gaussian", SAMPLED | {"noise_multiplier": 1.0}, "/noise_multiplier"),
        ("projected-sgd", RUNS["projected-sgd"] | {"solve_for": "step_size"}, "/solve_for"),
        ("mu2-sgd", RUNS["mu2-sgd"] | {"gaussian_dp_mu": 0.1}, "/gaussian_dp_mu"),
        ("nothing", {}, "/algorithm"),
        (object(), {}, "/algorithm"),
    ],
)
def test_what_the_ledger_says_is_not_asked_for_otherwise(ledger, algorithm, fields, pointer):
    with pytest.raises(epsilond.InvalidInput) as refused:
        epsilond.calibrate(algorithm, given=ledger, **fields)
    assert pointer in [fault.pointer for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("algorithm", "changed", "condition", "sides"),
    [
        ("ppsgd", {}, "epsilond.ledger-unit", ("client", "record")),
        ("ppsgd", {"unit": "client"}, "epsilond.ledger-observer", ("other-clients", "server")),
        ("mu2-sgd", {"unit": "client"}, "epsilond.ledger-unit", ("record", "client")),
        ("projected-sgd", {}, "epsilond.ledger-observer", ("final-model", "server")),
    ],
)
def test_a_guarantee_that_the_ledger_cannot_hold_is_refused_with_both_sides(
    tmp_path, algorithm, changed, condition, sides
):
    books, ledger = opened(tmp_path, **SLOT | changed)
    with books, pytest.raises(epsilond.ConditionViolated) as refused:
        epsilond.calibrate(algorithm, given=ledger, **RUNS[algorithm])
    assert refused.value.condition.id == condition
    assert all(side in refused.value.condition.statement for side in sides)


def test_groups_of_clients_that_release_differently_are_refused(tmp_path):
    books, ledger = opened(tmp_path, **SLOT)
    groups = [{"clients": 25, "samples_per_client": 1000}, {"clients": 25, "samples_per_client": 10}]
    with books, pytest.raises(epsilond.ConditionViolated, match="release differently") as refused:
        epsilond.calibrate("mb-sgd", given=ledger, **RUNS["mb-sgd"] | {"client_groups": groups})
    assert (refused.value.condition.left, refused.value.condition.right) == (2.0, 1.0)


def test_a_rounding_that_may_go_too_far_is_in_no_charge(tmp_path):
    books, ledger = opened(tmp_path, **SLOT)
    asked = {"dimension": 100, "quantization_levels": 64, "sensitivity_rule": {"kind": "relative"}}
    asked["sensitivity_rule"] |= {"relative_movement": 0.1}
    with books, pytest.raises(epsilond.ConditionViolated) as refused:
        epsilond.calibrate("qtdl", given=ledger, **asked)
    assert refused.value.condition.id == "rounding-bounded"


def test_slot_and_item_are_words_of_a_ledger_alone():
    with pytest.raises(epsilond.InvalidInput, match="/slot"):
        epsilond.calibrate("gaussian", slot="gdp", relation="replace-one", epsilon=1.0, delta=1e-6, **SAMPLED)


def test_every_calibrator_says_what_it_releases():
    slow = {"shuffled-mb-sgd", "norm-fedavg"}
    assert set(RUNS) | slow == {each.name for each in CALIBRATORS}
