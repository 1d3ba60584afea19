"""The rounds of TensorFlow Federated. It cannot be installed beside a current setuptools (google-vizier 0.1.11, which
it demands, is built with pkg_resources), so that states have the form that its source gives them: an event as a named
tuple whose strings are bytes and whose numbers are numpy's, in a state that says whether it is of initialize()."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import dp_accounting
import numpy as np
import pytest

import epsilond
from epsilond import Composed, Gaussian, InvalidInput, Repeated, Subsampled
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.dp_accounting import EpsilondAccountant
from epsilond.integrations.tff import paid_round, spec_from_tff_state


class DPAggregatorState(NamedTuple):
    query_state: Any
    agg_state: Any
    dp_event: Any
    is_init_state: Any


class LearningState(NamedTuple):
    aggregator: Any
    finalizer: Any = ()


G = dp_accounting.GaussianDpEvent


def as_tensors(named):
    """Strings as bytes and numbers as numpy's, as they come out of a federated computation."""
    if isinstance(named, tuple) and hasattr(named, "_fields"):
        return type(named)(*map(as_tensors, named))
    if isinstance(named, list):
        return [as_tensors(each) for each in named]
    if isinstance(named, str):
        return named.encode()
    return np.float32(named) if isinstance(named, float) else np.int32(named)


def state(event, *, first=False, wrapped=False):
    found = DPAggregatorState((), (), as_tensors(event.to_named_tuple()), np.bool_(first))
    return LearningState(found) if wrapped else found


ADAPTIVE = dp_accounting.ComposedDpEvent([G(1.25), G(5.0)])  # of the sum, and of the count of clipped clients


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_round_is_what_its_event_says_and_what_is_told_of_its_clients(wrapped):
    fixed, adaptive = state(G(1.25), wrapped=wrapped), state(ADAPTIVE, wrapped=wrapped)
    both = Composed(mechanisms=(Gaussian(noise_multiplier=1.25), Gaussian(noise_multiplier=5.0)))
    assert spec_from_tff_state(fixed) == spec_from_tff_state(fixed, rate=1.0) == Gaussian(noise_multiplier=1.25)
    assert spec_from_tff_state(adaptive) == both
    assert spec_from_tff_state(adaptive, rate=0.01) == Subsampled(sampling="poisson", rate=0.01, mechanism=both)
    assert spec_from_tff_state(fixed, batch_size=10, population=1000) == Subsampled(
        sampling="without-replacement", batch_size=10, population=1000, mechanism=Gaussian(noise_multiplier=1.25)
    )


def test_rounds_are_accounted_for_as_their_events_are_elsewhere():
    poisson = dp_accounting.PoissonSampledDpEvent(0.02, ADAPTIVE)
    spec = spec_from_tff_state(state(ADAPTIVE), rate=0.02)
    relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    ours = EpsilondAccountant(relation, unit="client", observer="released-models").compose(poisson, 200)
    assert ours.spec == Repeated(times=200, mechanism=spec)
    theirs = dp_accounting.rdp.RdpAccountant().compose(poisson, 200)
    assert ours.get_epsilon(1e-6) <= theirs.get_epsilon(1e-6)


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        (state(G(1.0), first=True), "/is_init_state"),
        (state(dp_accounting.NoOpDpEvent()), "/dp_event"),
        (state(dp_accounting.UnsupportedDpEvent()), ""),  # what its tree aggregations leave
        (("no", "state"), "/dp_event"),
    ],
)
def test_what_is_no_round_is_refused(wrong, pointer):
    with pytest.raises(InvalidInput) as refused:
        spec_from_tff_state(wrong)
    assert refused.value.faults[0].pointer == pointer


def test_a_planned_round_is_read_from_the_state_of_initialize():
    first = state(G(1.1), first=True)
    assert spec_from_tff_state(first, planned=True) == spec_from_tff_state(state(G(1.1)))
    assert spec_from_tff_state(first, planned=True).noise_multiplier == float(np.float32(1.1)) != 1.1


def test_each_round_is_committed_before_it_is_run_until_the_ledger_refuses(tmp_path):
    spec = spec_from_tff_state(state(ADAPTIVE, first=True), rate=0.02, planned=True)
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        ledger = books.open(
            name="keyboards",
            dataset="keyboards",
            unit="client",
            relation="add-or-remove-one",
            observer="released-models",
            epsilon=2.0,
            delta=1e-6,
            plan={"train": Repeated(times=4, mechanism=spec)},
            sealed=True,
        )
        with LedgerBudget(ledger, "train") as budget:
            paid = []

            def next_round(event=ADAPTIVE):
                paid.append(len(budget.receipts))
                return SimpleNamespace(state=state(event, wrapped=True))

            for _ in range(4):
                paid_round(budget, spec, next_round, rate=0.02)
            with pytest.raises(epsilond.LedgerExhausted):
                paid_round(budget, spec, next_round, rate=0.02)
            with pytest.raises(epsilond.NoCertificate):
                paid_round(budget, Gaussian(noise_multiplier=0.5), next_round)
        assert paid == [1, 2, 3, 4]
        assert len(budget.receipts) == ledger.show().plan[0]["committed"] == 4


def test_a_round_of_another_event_closes_the_ledger_to_this_run(tmp_path):
    spec = spec_from_tff_state(state(G(1.25), first=True), planned=True)
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        ledger = books.open(
            name="keyboards",
            dataset="keyboards",
            unit="client",
            relation="add-or-remove-one",
            observer="released-models",
            epsilon=20.0,
            delta=1e-6,
            plan={"train": Repeated(times=4, mechanism=spec)},
            sealed=True,
        )
        with LedgerBudget(ledger, "train") as budget:
            paid_round(budget, spec, lambda: SimpleNamespace(state=state(G(1.25))))
            for event in (G(0.5), G(1.25)):
                with pytest.raises(epsilond.RunDiffers, match="the event of a round"):
                    paid_round(budget, spec, lambda event=event: SimpleNamespace(state=state(event)))
            assert len(budget.receipts) == 2
