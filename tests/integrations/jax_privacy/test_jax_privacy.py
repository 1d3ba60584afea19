"""jax_privacy: its plans read as specs, calibrated by our accountant, and their steps paid for in a ledger."""

import dataclasses
import inspect
import re
import runpy
from pathlib import Path

import dp_accounting
import numpy as np
import pytest
from jax_privacy import batch_selection
from jax_privacy.experimental import accounting
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig

import epsilond
from epsilond import Gaussian, InvalidInput, Repeated, Subsampled
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.dp_accounting import EpsilondAccountant
from epsilond.integrations.jax_privacy import (
    paid_steps,
    spec_from_execution_plan,
    steps_from_execution_plan,
)
from epsilond.ledgers.client.auditing import audited
from tests.integrations.shown import assert_goes_as_shown

pytestmark = pytest.mark.filterwarnings("ignore:optax.global_norm is deprecated")
EXAMPLES = Path(__file__).parents[3] / "examples"
Relation = dp_accounting.NeighboringRelation
CENTRAL = {"unit": "record", "observer": "released-models"}
EVENTS = {
    "dpsgd_event": (accounting.dpsgd_event(3.0, 512, sampling_prob=0.1), Relation.ADD_OR_REMOVE_ONE),
    "fixed_dpsgd_event": (
        accounting.fixed_dpsgd_event(3.0, 100, dataset_size=1000, batch_size=20),
        Relation.REPLACE_ONE,
    ),
    "amplified_bandmf_event": (
        accounting.amplified_bandmf_event(3.0, 100, num_bands=8, sampling_prob=0.4),
        Relation.REPLACE_SPECIAL,
    ),
}


def batch(rate, noise):
    return Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))


def plan(*, bands=1, iterations=20, noise=2.0, **words):
    config = {"epsilon": None, "delta": None, "noise_multiplier": noise, "sampling_prob": 0.1, "noise_seed": 0} | words
    return BandMFExecutionPlanConfig(strategy=np.linspace(1.0, 0.5, bands), iterations=iterations, **config).plan


@pytest.mark.parametrize("name", EVENTS)
def test_its_events_have_an_epsilon_no_larger_than_by_its_accountants(name):
    event, relation = EVENTS[name]
    ours = EpsilondAccountant(relation, **CENTRAL).compose(event).get_epsilon(1e-6)
    if relation is Relation.REPLACE_ONE:  # there its Rényi accountant takes the noise over the distance of neighbours
        event = accounting.fixed_dpsgd_event(1.5, 100, dataset_size=1000, batch_size=20)
    renyi = dp_accounting.rdp.RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-6)
    assert ours <= renyi
    losses = dp_accounting.pld.PLDAccountant(relation)
    if losses.supports(event):
        assert ours == pytest.approx(losses.compose(event).get_epsilon(1e-6), abs=1e-3)


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (dp_accounting.UnsupportedDpEvent(), None),
        (accounting.fixed_dpsgd_event(3.0, 9, dataset_size=99, batch_size=20), Relation.ADD_OR_REMOVE_ONE),
    ],
)
def test_events_that_no_spec_says_are_refused(event, relation):
    accountant = EpsilondAccountant(relation or Relation.REPLACE_SPECIAL, **CENTRAL)
    assert not accountant.supports(event)
    with pytest.raises(dp_accounting.UnsupportedEventError):
        accountant.compose(event)


def test_a_configuration_calibrates_with_our_accountant():
    relation = Relation.REPLACE_SPECIAL
    words = {"bands": 4, "iterations": 100, "noise": None, "epsilon": 1.0, "delta": 1e-5, "sampling_prob": 0.4}
    ours = plan(**words, accountant=EpsilondAccountant(relation, **CENTRAL))
    theirs = plan(**words, accountant=dp_accounting.pld.PLDAccountant(relation))
    assert 0.9999 < EpsilondAccountant(relation, **CENTRAL).compose(ours.dp_event).get_epsilon(1e-5) <= 1.0
    noise = [each.dp_event.event.event.noise_multiplier for each in (ours, theirs)]
    assert noise[0] == pytest.approx(noise[1], rel=1e-4)


def test_an_event_with_use_zcdp_is_read_where_the_kind_exists():
    """Of discrete noise only ρ is known, so that its plan's noise is compared by ρ = 1/2z²."""
    if "use_zcdp" not in inspect.signature(accounting.dpsgd_event).parameters:
        pytest.skip("release 2.0.0 of jax_privacy has no use_zcdp")
    event = accounting.dpsgd_event(2.0, 20, sampling_prob=0.1, use_zcdp=True)
    if not EpsilondAccountant(Relation.REPLACE_SPECIAL, **CENTRAL).supports(event):
        pytest.skip("this version has no account of sampled zcdp")
    found = spec_from_execution_plan(changed(dp_event=event))
    assert found.mechanism.mechanism.rho == pytest.approx(0.125)
    weak = accounting.dpsgd_event(3.0, 20, sampling_prob=0.1, use_zcdp=True)
    with pytest.raises(epsilond.RunDiffers, match="event says 3"):
        spec_from_execution_plan(changed(dp_event=weak))


def test_a_plan_is_its_event_and_its_bands_are_steps_of_one_release():
    assert spec_from_execution_plan(plan()) == Repeated(times=20, mechanism=batch(0.1, 2.0))
    banded = steps_from_execution_plan(plan(bands=4, iterations=21))
    assert banded.spec == Repeated(times=6, mechanism=batch(0.1, 2.0))
    assert (banded.steps_each, banded.iterations) == (4, 21)
    assert spec_from_execution_plan(plan(iterations=1)) == batch(0.1, 2.0)
    assert spec_from_execution_plan(plan(sampling_prob=1.0)) == Repeated(
        times=20, mechanism=Gaussian(noise_multiplier=2.0)
    )


def changed(**fields):
    return dataclasses.replace(plan(), **fields)


def fixed(size, *, replace=False, said=10):
    event = accounting.fixed_dpsgd_event(2.0, 20, dataset_size=100, batch_size=said, replace=replace)
    sampler = batch_selection.FixedBatchSampling(batch_size=size, iterations=20, replace=replace)
    return changed(dp_event=event, batch_selection_strategy=sampler)


def test_fixed_batches_and_users_are_read():
    found = spec_from_execution_plan(fixed(10), relation="replace-one")
    assert found.mechanism.sampling == "without-replacement"
    assert spec_from_execution_plan(fixed(10, replace=True)).mechanism.sampling == "with-replacement"
    users = changed(batch_selection_strategy=batch_selection.UserSelectionStrategy(plan().batch_selection_strategy, 2))
    assert spec_from_execution_plan(users) == spec_from_execution_plan(plan())


Cyclic = batch_selection.CyclicPoissonSampling


@pytest.mark.parametrize(
    ("wrong", "relation", "pointer", "said"),
    [
        (
            changed(batch_selection_strategy=batch_selection.BallsInBinsSampling(20, 4)),
            "zero-out-one",
            "/batch_selection_strategy",
            "BallsInBinsSampling",
        ),
        (
            changed(batch_selection_strategy=batch_selection.BMinSepSampling(0.1, 20, 4)),
            "zero-out-one",
            "/batch_selection_strategy",
            "BMinSepSampling",
        ),
        (
            changed(
                batch_selection_strategy=batch_selection.UserSelectionStrategy(
                    batch_selection.BallsInBinsSampling(20, 4)
                )
            ),
            "zero-out-one",
            "/batch_selection_strategy/base_strategy",
            "BallsInBinsSampling",
        ),
        (plan(bands=4), "add-or-remove-one", "/batch_selection_strategy/partition_type", "groups"),
        (changed(dp_event=dp_accounting.UnsupportedDpEvent()), "zero-out-one", "", "UnsupportedDpEvent"),
        (
            changed(dp_event=dp_accounting.ComposedDpEvent([dp_accounting.GaussianDpEvent(s) for s in (1.0, 2.0)])),
            "zero-out-one",
            "/dp_event",
            "one mechanism",
        ),
        (object(), "zero-out-one", "/dp_event", "no DPExecutionPlan"),
    ],
)
def test_a_plan_that_no_spec_says_is_refused(wrong, relation, pointer, said):
    with pytest.raises(InvalidInput, match=said) as refused:
        spec_from_execution_plan(wrong, relation=relation)
    assert refused.value.faults[0].pointer == pointer


@pytest.mark.parametrize(
    ("wrong", "relation", "text"),
    [
        (changed(batch_selection_strategy=Cyclic(0.2, 20)), "zero-out-one", "the event says 0.1"),
        (changed(batch_selection_strategy=Cyclic(0.1, 21)), "zero-out-one", "21 iterations"),
        (fixed(20), "replace-one", "20 records"),
    ],
)
def test_a_plan_that_contradicts_itself_differs(wrong, relation, text):
    with pytest.raises(epsilond.RunDiffers, match=text) as differs:
        spec_from_execution_plan(wrong, relation=relation)
    assert [each.premise for each in differs.value.observations] == ["event"]


def test_groups_that_are_drawn_independently_go_with_add_or_remove():
    made = plan(
        bands=4,
        partition_type=batch_selection.PartitionType.INDEPENDENT,
        accountant=EpsilondAccountant(Relation.ADD_OR_REMOVE_ONE, **CENTRAL),
    )
    assert spec_from_execution_plan(made, relation="add-or-remove-one") == Repeated(times=5, mechanism=batch(0.1, 2.0))


def test_steps_are_committed_before_they_are_given_a_cycle_at_a_time(tmp_path):
    made = plan(bands=4, iterations=20)
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        ledger = books.open(
            name="survey",
            dataset="survey",
            unit="record",
            relation="zero-out-one",
            observer="server",
            epsilon=2.0,
            delta=1e-6,
            plan={"train": Repeated(times=3, mechanism=batch(0.1, 2.0))},
            sealed=True,
        )
        with LedgerBudget(ledger, "train") as budget:
            given = [(step, budget.taken) for step in paid_steps(made, budget)]
            assert given == [(step, step // 4 + 1) for step in range(12)]
            assert isinstance(budget.refused, epsilond.LedgerExhausted)
        assert ledger.show().plan[0]["committed"] == 3


def test_the_example_trains_on_digits_until_the_ledger_refuses(tmp_path, capsys):
    runpy.run_path(str(EXAMPLES / "jax_loop.py"))["main"](tmp_path)
    told = capsys.readouterr().out
    steps = int(re.search(r"for (\d+) steps", told)[1])
    assert f"stopped after {2 * steps // 3} steps: the plan's item train" in told
    assert "certified: ε in [" in told
    ours, pld, rdp = (float(found) for found in re.findall(r"ε = (\d+\.\d{6})$", told, re.MULTILINE))
    assert ours == pytest.approx(pld, abs=1e-4)
    assert ours < min(rdp, 3.0)
    assert float(re.search(r"accuracy on held-out images ([\d.]+)", told)[1]) > 0.8
    assert sum(map(int, re.findall(r"receipt for (\d+) steps", told))) == 2 * steps // 3
    assert audited(tmp_path / "ledger.db", tmp_path / "ledger.db.keys").holds


def test_the_session_of_the_documents():
    assert_goes_as_shown("jax_privacy/test_jax_privacy.py")
