"""Flower, as it is installed: our accountant in its wrappers, beside its own; the simulation and the documents."""

import contextlib
import io
import math
import re
import runpy
import sys
from pathlib import Path

import pytest
from flwr.serverapp import PrivacyAccountant, RdpAccountant
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping

import epsilond
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.flower import EpsilondAccountant, spec_from_flower_state
from epsilond.integrations.target import TargetBudget
from tests.integrations.flower.flower_rounds import (
    DELTA,
    aggregate,
    config,
    event,
    fedavg,
    gaussian_delta,
    opened,
    target,
)
from tests.integrations.shown import assert_goes_as_shown

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def books(tmp_path):
    with epsilond.ledger(tmp_path / "ledger.db") as opened:
        yield opened


def test_the_accountant_has_every_member_of_the_protocol():
    wanted = {name for name in vars(PrivacyAccountant) if not name.startswith("_")}
    assert wanted >= {"config", "num_releases", "compose", "get_epsilon", "would_exceed", "state_dict"}
    assert all(hasattr(EpsilondAccountant, name) for name in wanted)


def test_the_certified_epsilon_is_the_gaussian_mechanisms_own_and_below_flowers():
    ours, theirs = EpsilondAccountant(config()), RdpAccountant(config())
    for accountant in (ours, theirs):
        accountant.compose(event(), 10)
    mu = math.sqrt(10) / 4.0
    assert gaussian_delta(ours.get_epsilon(DELTA), mu) == pytest.approx(DELTA, rel=1e-9)
    assert ours.get_delta(1.0) == pytest.approx(gaussian_delta(1.0, mu), rel=1e-9)
    assert ours.get_epsilon(DELTA) < 0.98 * theirs.get_epsilon(DELTA)
    spent = ours.get_privacy_spent()
    assert (spent.epsilon, spent.delta, spent.num_releases) == (ours.get_epsilon(DELTA), DELTA, 10)


def test_poisson_samples_are_certified_below_flowers_bound():
    ours, theirs = (kind(config(sampling="poisson")) for kind in (EpsilondAccountant, RdpAccountant))
    for accountant in (ours, theirs):
        accountant.compose(event(1.0, 10), 50)
    step = epsilond.Subsampled(sampling="poisson", rate=0.1, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
    run = epsilond.account(
        epsilond.Repeated(times=50, mechanism=step),
        relation="add-or-remove-one",
        unit="client",
        observer="released-models",
    ).guarantee.curve
    assert ours.get_epsilon(DELTA) == run.epsilon(delta=DELTA).upper
    assert run.epsilon(delta=DELTA).lower < ours.get_epsilon(DELTA) < theirs.get_epsilon(DELTA)


def test_flowers_bound_for_replaced_clients_forgets_that_both_updates_move_the_sum():
    """With everybody in the sample it is the ε of a client that is gone; a replaced one moves the sum twice as far."""
    replaced, gone = config("replace-one", "without-replacement"), config()
    theirs = [RdpAccountant(replaced), RdpAccountant(gone)]
    ours = EpsilondAccountant(replaced)
    for accountant in (*theirs, ours):
        accountant.compose(event(), 10)
    assert theirs[0].get_epsilon(DELTA) == pytest.approx(theirs[1].get_epsilon(DELTA), rel=1e-12)
    assert gaussian_delta(ours.get_epsilon(DELTA), 2.0 * math.sqrt(10) / 4.0) == pytest.approx(DELTA, rel=1e-9)
    assert (round(theirs[0].get_epsilon(DELTA), 4), round(ours.get_epsilon(DELTA), 4)) == (3.6171, 7.5113)


def test_nothing_released_is_nothing_lost():
    ours = EpsilondAccountant(config())
    assert (ours.get_epsilon(DELTA), ours.get_delta(1.0), ours.num_releases, ours.spec) == (0.0, 0.0, 0, None)


def test_would_exceed_is_asked_on_the_certified_end_and_changes_nothing():
    ours = EpsilondAccountant(config(limit=4.0))
    most = next(count for count in range(1, 100) if ours.would_exceed(event(), count=count)) - 1
    assert ours.num_releases == 0
    ours.compose(event(), most)
    assert ours.get_epsilon(DELTA) <= 4.0
    assert ours.would_exceed(event())
    assert not ours.would_exceed(event(), max_epsilon=10.0)
    flowers = RdpAccountant(config(limit=4.0))
    assert flowers.would_exceed(event(), count=most)  # room for more rounds than Flower's bound has
    with pytest.raises(ValueError, match="max_epsilon"):
        EpsilondAccountant(config()).would_exceed(event())


def test_states_are_kept_and_flowers_own_are_read():
    ours, theirs = EpsilondAccountant(config()), RdpAccountant(config())
    for accountant in (ours, theirs):
        accountant.compose(event(), 3)
        accountant.compose(event(2.0), 1)
    for state in (ours.state_dict(), theirs.state_dict()):
        again = EpsilondAccountant(config())
        again.load_state_dict(state)
        assert again.state_dict() == ours.state_dict()
        assert again.get_epsilon(DELTA) == ours.get_epsilon(DELTA)
        assert spec_from_flower_state(state) == ours.spec
    with pytest.raises(ValueError, match="another one"):
        EpsilondAccountant(config(population=99)).load_state_dict(ours.state_dict())
    with pytest.raises(ValueError, match="not a state"):
        EpsilondAccountant(config()).load_state_dict({**ours.state_dict(), "backend": "pld"})


@pytest.mark.parametrize(("count", "population"), [(0, 100), (1, 99)])
def test_what_cannot_be_composed_is_refused(count, population):
    with pytest.raises(ValueError, match=r"count|population"):
        EpsilondAccountant(config()).compose(event(4.0, 50, population), count)


def test_a_fixed_number_drawn_from_more_is_a_declared_item():
    ours = EpsilondAccountant(config())
    ours.compose(event(4.0, 10), 2)
    found = [item for item in ours.statement().declared if "zero-out-one" in item]
    assert len(found) == 1
    assert found[0].endswith("(zero-out-one) (2 times).")


def test_flowers_wrapper_with_our_accountant_stops_before_the_limit_is_passed():
    ours = EpsilondAccountant(config(population=4, limit=4.0))
    strategy = DifferentialPrivacyServerSideFixedClipping(fedavg(), 4.0, 1.0, 4, accountant=ours)
    with pytest.raises(PrivacyBudgetExhausted):
        aggregate(strategy, [[1.0, 0.0]] * 4, rounds=100)
    assert ours.num_releases > 10
    assert strategy.privacy_spent().epsilon == ours.get_epsilon(DELTA) <= 4.0
    assert ours.would_exceed(event(4.0, 4, 4))


def test_with_a_ledger_every_release_of_flowers_wrapper_has_a_receipt(books):
    ledger = opened(
        books, plan={"train": epsilond.Repeated(times=3, mechanism=epsilond.Gaussian(noise_multiplier=4.0))}
    )
    ours = EpsilondAccountant(config(population=4, limit=4.0), budget=LedgerBudget(ledger, "train"))
    strategy = DifferentialPrivacyServerSideFixedClipping(fedavg(), 4.0, 1.0, 4, accountant=ours)
    with pytest.raises(PrivacyBudgetExhausted):
        aggregate(strategy, [[1.0, 0.0]] * 4, rounds=4)
    assert (len(ours.receipts), ours.num_releases) == (3, 3)
    assert ledger.show().plan[0]["committed"] == 3
    with pytest.raises(epsilond.LedgerExhausted):
        ours.compose(event(4.0, 4, 4))
    assert ours.num_releases == 3


def test_without_a_limit_flowers_wrapper_asks_nobody_and_the_budget_stops_the_release():
    """Clients have trained by then, and nothing of it is handed out."""
    ours = EpsilondAccountant(config(population=4), budget=target(epsilon=1.0))
    strategy = DifferentialPrivacyServerSideFixedClipping(fedavg(), 4.0, 1.0, 4, accountant=ours)
    with pytest.raises(epsilond.LedgerExhausted):
        aggregate(strategy, [[1.0]] * 4, rounds=100)
    assert ours.num_releases == ours._budget.taken > 0
    assert ours.get_epsilon(DELTA) <= 1.0


@pytest.mark.parametrize("told", [{"relation": "replace-one"}, {"unit": "record"}, {"observer": "server"}])
def test_a_budget_of_other_neighbours_is_refused(told):
    fields = {"relation": "add-or-remove-one", "unit": "client", "observer": "released-models"}
    budget = TargetBudget(epsilon=1.0, delta=DELTA, **fields | told)
    with pytest.raises(epsilond.InvalidInput, match="unit, relation or observer"):
        EpsilondAccountant(config(), budget=budget)


def test_the_simulation_is_stopped_by_its_ledger(tmp_path):
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setattr(sys, "argv", ["flower_ledger.py", str(tmp_path)])
        runpy.run_path(str(EXAMPLES / "flower_ledger.py"), run_name="__main__")
    told = said.getvalue()
    rounds, accuracy = re.search(r"room for (\d+) of 200 rounds, accuracy ([\d.]+)", told).groups()
    lower, upper = map(float, re.search(r"certified: ε in \[([\d.]+), ([\d.]+)\]", told).groups())
    theirs = float(re.search(r"own accountant: ε = ([\d.]+)", told)[1])
    assert 50 < int(rounds) < 100
    assert float(accuracy) > 0.85
    assert 7.0 < lower <= upper <= 8.0 < theirs
    assert f"receipts: {rounds}, " in told
    assert "the log verifies: True" in told


def test_the_sessions_of_the_documents():
    assert_goes_as_shown("flower/test_flower.py", "docs/integrations-federated.md")
