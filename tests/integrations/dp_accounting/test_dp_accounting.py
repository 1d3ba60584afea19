"""EpsilondAccountant where dp-accounting takes an accountant: beside theirs, closed forms, and enumerated laws."""

import copy
import doctest
import itertools
import math

import dp_accounting
import pytest
from dp_accounting import dp_event
from scipy.stats import norm

import epsilond
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.dp_accounting import EpsilondAccountant
from epsilond.integrations.dp_accounting import accountant as accountant_module
from epsilond.integrations.dp_accounting.events import READERS
from epsilond.integrations.dp_accounting.placed import NotPrivate
from epsilond.integrations.dp_accounting.rejections import RELATIONS
from tests.integrations.shown import assert_goes_as_shown

Relation = dp_accounting.NeighboringRelation
ADD, ONE, ZERO = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE, Relation.REPLACE_SPECIAL
G, L = dp_accounting.GaussianDpEvent, dp_accounting.LaplaceDpEvent
Poisson, Times = dp_accounting.PoissonSampledDpEvent, dp_accounting.SelfComposedDpEvent
Together, Without = dp_accounting.ComposedDpEvent, dp_accounting.SampledWithoutReplacementDpEvent
Tree, Response = dp_accounting.SingleEpochTreeAggregationDpEvent, dp_accounting.RandomizedResponseDpEvent
DELTAS = (1e-3, 1e-6, 1e-9)

EVENTS = {
    "one Gaussian": G(2.0),
    "Gaussians": Times(G(5.0), 20),
    "DP-SGD": Times(Poisson(0.01, G(1.0)), 1000),
    "DP-SGD in large batches": Times(Poisson(0.2, G(4.0)), 50),
    "two phases": Together([Times(Poisson(0.02, G(1.2)), 200), Times(Poisson(0.05, G(2.0)), 100)]),
    "training and a count": Together([Times(Poisson(0.01, G(1.0)), 300), L(10.0)]),
    "Laplace": Times(L(8.0), 10),
    "Laplace on batches": Times(Poisson(0.05, L(2.0)), 30),
    "discrete Laplace": dp_event.DiscreteLaplaceDpEvent(0.3, 2),
    "responses": Together([Response(0.6, 4)] * 3),  # of a repeated one their PLD counts the first alone
    "batches of a fixed size": Times(Without(1000, 20, G(2.0)), 100),
    "a tree": Tree(6.0, 1000),
    "trees": Times(Tree(8.0, [255, 100]), 3),
}


if hasattr(dp_event, "EpsilonDeltaDpEvent"):  # after release 0.6.0
    EVENTS["a declared pair"] = Together([dp_event.EpsilonDeltaDpEvent(1.0, 1e-4), Times(G(5.0), 20)])
CASES = [(name, relation) for name, relation in itertools.product(EVENTS, Relation)]


def central(relation=ADD, **more):
    """Return our accountant of a central run, whose models are released."""
    return EpsilondAccountant(relation, unit="record", observer="released-models", **more)


def composed(accountant, event):
    """The accountant with the event; None where it takes none such."""
    return accountant.compose(event) if accountant.supports(event) else None


@pytest.mark.parametrize(("name", "relation"), CASES)
def test_epsilon_agrees_with_their_grid_and_is_no_larger_than_by_renyi(name, relation):
    """Their PLD rounds losses up to a grid, so that it is near the truth, and above it but for its own tails."""
    event = EVENTS[name]
    ours = composed(central(relation), event)
    theirs = composed(dp_accounting.pld.PLDAccountant(relation), event)
    renyi = composed(dp_accounting.rdp.RdpAccountant(neighboring_relation=relation), event)
    assert ours is not None or theirs is None
    uniform = (
        name == "responses" and relation is ZERO
    )  # a zeroed record's response is a uniform one there, any one here
    for delta in DELTAS:
        if ours is not None and theirs is not None and not uniform:
            assert theirs.get_epsilon(delta) - 1e-3 <= ours.get_epsilon(delta) <= theirs.get_epsilon(delta) * (1 + 1e-4)
        if ours is not None and renyi is not None and relation is not ONE and not uniform:
            assert ours.get_epsilon(delta) <= renyi.get_epsilon(delta) * (1 + 1e-9)


def test_what_they_leave_to_renyi_accounting_is_covered():
    """Fixed-size batches, trees and what is composed with them."""
    for event, relation in ((EVENTS["batches of a fixed size"], ONE), (EVENTS["trees"], ZERO)):
        assert not dp_accounting.pld.PLDAccountant(relation).supports(event)
        assert central(relation).supports(Together([event, Times(Poisson(0.01, G(1.0)), 10)]))


def test_a_mixture_of_nothing_and_one_shift_is_a_poisson_batch():
    mixed = dp_event.MixtureOfGaussiansDpEvent(3.0, [0.0, 1.5], [0.9, 0.1])
    for relation in (ADD, ZERO):
        found = central(relation).compose(mixed, 10).get_epsilon(1e-6)
        assert found == pytest.approx(central(relation).compose(Poisson(0.1, G(2.0)), 10).get_epsilon(1e-6))
    assert central().compose(dp_event.MixtureOfGaussiansDpEvent(3.0, [1.5], [1.0])).get_epsilon(1e-6) == pytest.approx(
        central().compose(G(2.0)).get_epsilon(1e-6)
    )


def exact(mu, epsilon):
    """δ of the Gaussian mechanism at distance μ: Balle and Wang's closed form."""
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("relation", "distance"), [(ADD, 1.0), (ZERO, 1.0), (ONE, 2.0)])
@pytest.mark.parametrize(("noise", "times"), [(1.0, 1), (2.0, 9), (7.5, 40)])
def test_a_gaussian_is_at_the_distance_that_the_relation_gives(relation, distance, noise, times):
    ours = central(relation).compose(G(noise), times)
    mu = distance * math.sqrt(times) / noise
    for epsilon in (0.1, 1.0, 4.0):
        assert exact(mu, epsilon) * (1 - 1e-9) <= ours.get_delta(epsilon) <= exact(mu, epsilon) * (1 + 1e-6) + 1e-300


def test_replace_one_is_twice_the_contribution_as_for_their_pld_accountant_and_not_as_for_their_rdp_accountant():
    ours = central(ONE).compose(G(4.0)).get_epsilon(1e-6)
    assert ours == pytest.approx(central(ADD).compose(G(2.0)).get_epsilon(1e-6), rel=1e-9)
    assert ours == pytest.approx(dp_accounting.pld.PLDAccountant(ONE).compose(G(4.0)).get_epsilon(1e-6), abs=1e-3)
    theirs = dp_accounting.rdp.RdpAccountant(neighboring_relation=ONE)
    assert theirs.compose(G(4.0)).get_epsilon(1e-6) < ours  # it takes 4 times the distance, not the contribution
    alike = dp_accounting.rdp.RdpAccountant(neighboring_relation=ONE).compose(G(2.0)).get_epsilon(1e-6)
    assert ours <= alike <= 1.3 * ours


def test_batches_of_a_fixed_size_are_no_worse_than_renyi_at_the_same_distance():
    ours = central(ONE).compose(EVENTS["batches of a fixed size"])
    halved = Times(Without(1000, 20, G(1.0)), 100)  # their noise multiplier is over the distance 2C
    theirs = dp_accounting.rdp.RdpAccountant(neighboring_relation=ONE).compose(halved)
    for delta in (1e-4, 1e-6):
        assert ours.get_epsilon(delta) <= theirs.get_epsilon(delta)


def response_delta(p, buckets, times, epsilon):
    """Σ (P − e^ε Q)₊ over all outputs of as many responses, P of one bucket and Q of another."""
    own, other = 1 - p + p / buckets, p / buckets
    total = 0.0
    for outputs in itertools.product(range(buckets), repeat=times):
        one = math.prod(own if each == 0 else other for each in outputs)
        two = math.prod(own if each == 1 else other for each in outputs)
        total += max(one - math.exp(epsilon) * two, 0.0)
    return total


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_responses_have_the_delta_of_their_enumeration(times, epsilon):
    ours = central(ONE).compose(Times(Response(0.6, 4), times)).get_delta(epsilon)
    truth = response_delta(0.6, 4, times, epsilon)
    assert truth * (1 - 1e-9) <= ours <= truth * (1 + 1e-6) + 1e-12


def test_composed_responses_lose_as_much_as_each_of_them_where_theirs_forget_the_count():
    ten = central(ONE).compose(Times(Response(0.5, 2), 10))
    listed = central(ONE).compose(Together([Response(0.5, 2)] * 10))
    assert ten.get_epsilon(1e-6) == listed.get_epsilon(1e-6) > 5.0


def test_a_tree_is_as_many_gaussians_as_a_leaf_has_ancestors():
    for steps, levels in ((1, 1), (3, 2), (4, 3), (1000, 10), (1023, 10), (1024, 11)):
        tree = central(ZERO).compose(Tree(6.0, steps))
        assert tree.get_epsilon(1e-6) == central(ZERO).compose(G(6.0), levels).get_epsilon(1e-6)
        renyi = dp_accounting.rdp.RdpAccountant(neighboring_relation=ZERO).compose(Tree(6.0, steps))
        assert tree.get_epsilon(1e-6) <= renyi.get_epsilon(1e-6)


class AnEventOfSomebodyElse(dp_accounting.DpEvent):
    """A class that dp-accounting does not have."""


def test_every_event_of_the_package_is_read_except_for_the_one_that_describes_nothing():
    known = {
        name
        for name, each in vars(dp_event).items()
        if isinstance(each, type) and issubclass(each, dp_accounting.DpEvent) and each is not dp_accounting.DpEvent
    }
    assert known - set(READERS) == {"UnsupportedDpEvent"}


@pytest.mark.parametrize("event", [dp_accounting.UnsupportedDpEvent(), AnEventOfSomebodyElse()])
def test_an_unknown_event_is_refused_by_its_name(event):
    for whole in (event, Times(Together([G(1.0), event]), 3), Poisson(0.1, event)):
        accountant = central()
        assert not accountant.supports(whole)
        with pytest.raises(dp_accounting.UnsupportedEventError, match=type(event).__name__) as refused:
            accountant.compose(whole)
        assert "[:" not in str(refused.value)
        assert accountant.get_epsilon(1e-6) == 0.0
        assert accountant.ledger == dp_accounting.NoOpDpEvent()


@pytest.mark.parametrize(
    ("event", "relation", "said"),
    [
        (Response(0.5, 4), ADD, "must be `REPLACE_ONE` or `REPLACE_SPECIAL` for `RandomizedResponseDpEvent`"),
        (Without(100, 10, G(1.0)), ADD, "must be `REPLACE_ONE` or `REPLACE_SPECIAL`"),
        (Tree(1.0, 7), ADD, "must be `REPLACE_SPECIAL` for `SingleEpochTreeAggregationDpEvent`"),
        (Poisson(0.1, Tree(1.0, 7)), ZERO, "trees"),
        (dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.5]), ONE, "`ADD_OR_REMOVE_ONE`"),
    ],
)
def test_what_has_no_guarantee_in_a_relation_is_refused_with_the_reason(event, relation, said):
    whole = Together([G(3.0), Times(event, 2)])
    with pytest.raises(dp_accounting.UnsupportedEventError, match=said) as refused:
        central(relation).compose(whole)
    assert f"caused by subevent {event}" in str(refused.value) or "Poisson" in str(event)


def test_a_relation_is_proposed_only_where_it_helps():
    if not hasattr(dp_event, "RepeatAndSelectDpEvent"):
        pytest.skip("this release of dp-accounting has no RepeatAndSelectDpEvent")
    with pytest.raises(dp_accounting.UnsupportedEventError) as refused:
        central().compose(Poisson(0.1, dp_event.RepeatAndSelectDpEvent(G(2.0), 10.0, 1.0)))
    assert "neighboring_relation must be" not in str(refused.value)


OUT_OF_RANGE = [
    ("GaussianDpEvent", (-1.0,), "Noise multiplier must be non-negative", "≥ 0"),
    ("GaussianDpEvent", (math.nan,), "Noise multiplier", "≥ 0"),
    ("GaussianDpEvent", (1e300,), "Noise multiplier", "≤ 1e"),
    ("LaplaceDpEvent", (-1.0,), "Noise multiplier must be non-negative", "≥ 0"),
    ("PoissonSampledDpEvent", (1.5, G(1.0)), "Sampling rate", "≥ 0 and ≤ 1"),
    ("PoissonSampledDpEvent", (-0.1, G(1.0)), "Sampling rate", "≥ 0 and ≤ 1"),
    ("SelfComposedDpEvent", (G(1.0), -1), "Count must be non-negative", "≥ 0"),
    ("SingleEpochTreeAggregationDpEvent", (1.0, [-3]), "Step counts must be non-negative", "≥ 0"),
    ("EpsilonDeltaDpEvent", (-1.0, 0.0), "Epsilon must be non-negative", "≥ 0"),
    ("EpsilonDeltaDpEvent", (1.0, 1.5), "Delta", "≥ 0 and ≤ 1"),
    ("ZCDpEvent", (-1.0,), "Rho must be non-negative", "≥ 0"),
    ("ZCDpEvent", (1.0, -1.0), "Xi must be non-negative", "≥ 0"),
    ("ExponentialMechanismDpEvent", (-1.0,), "Epsilon must be non-negative", "≥ 0"),
    ("PermuteAndFlipDpEvent", (-1.0,), "Epsilon must be non-negative", "≥ 0"),
    ("DiscreteGaussianDpEvent", (-1.0,), "Sigma must be non-negative", "≥ 0"),
    ("RepeatAndSelectDpEvent", (G(1.0), 0.5, 1.0), "Mean", "≥ 1"),
    ("RepeatAndSelectDpEvent", (G(1.0), 2.0, -1.0), "Shape must be non-negative", "≥ 0"),
    ("MixtureOfGaussiansDpEvent", (1.0, [1.0, -2.0], [0.5, 0.5]), "Sensitivities must be non-neg", "≥ 0"),
    ("TruncatedSubsampledGaussianDpEvent", (10, 2.0, 5, 1.0), "Sampling rate", "≥ 0 and ≤ 1"),
]
"""Class, fields, part of the message, and the allowed range in the message."""


@pytest.mark.parametrize(("name", "fields", "said", "allowed"), OUT_OF_RANGE)
def test_a_number_out_of_range_is_a_value_error_with_the_range_and_nothing_is_counted(name, fields, said, allowed):
    if not hasattr(dp_event, name):
        pytest.skip(f"this release of dp-accounting has no {name}")
    event = getattr(dp_event, name)(*fields)
    relation = ZERO if isinstance(event, Tree) else ADD
    accountant = central(relation)
    for whole in (event, Together([G(3.0), Times(event, 2)])):
        with pytest.raises(ValueError, match=said) as wrong:
            accountant.compose(whole)
        assert allowed in str(wrong.value)
        assert not accountant.supports(whole)
    assert accountant.ledger == dp_accounting.NoOpDpEvent()


def test_a_batch_that_no_draw_exceeds_is_a_poisson_batch():
    whole = dp_accounting.TruncatedSubsampledGaussianDpEvent(50, 0.1, 50, 1.0)
    found = central().compose(whole, 10).get_epsilon(1e-6)
    assert found == central().compose(Poisson(0.1, G(1.0)), 10).get_epsilon(1e-6)


@pytest.mark.parametrize(
    "event", [dp_accounting.NonPrivateDpEvent(), G(0.0), L(0.0), Poisson(0.5, G(0.0)), Times(Together([G(0.0)]), 2)]
)
def test_without_noise_epsilon_is_infinite_and_delta_one(event):
    accountant = central()
    assert accountant.supports(event)
    accountant.compose(event)
    assert all(accountant.get_epsilon(delta) == math.inf for delta in (0.0, 1e-6, 1.0))
    assert all(accountant.get_delta(epsilon) == 1.0 for epsilon in (0.0, 3.0, math.inf))
    with pytest.raises(NotPrivate):
        _ = accountant.spec


@pytest.mark.parametrize("event", [dp_accounting.NoOpDpEvent(), Poisson(0.0, G(0.0)), Together([])])
def test_nothing_is_lost_where_nothing_is_released(event):
    accountant = central().compose(event)
    assert accountant.spec is None
    assert accountant.get_epsilon(1e-9) == accountant.get_epsilon(0.0) == accountant.get_delta(0.0) == 0.0


def test_at_delta_zero_pure_mechanisms_add_up_and_a_gaussian_has_no_epsilon():
    accountant = central().compose(L(2.0), 10).compose(L(4.0))
    assert 5.25 <= accountant.get_epsilon(0.0) <= 5.25 + 1e-9
    assert accountant.compose(G(100.0)).get_epsilon(0.0) == math.inf


def test_composing_in_turn_is_composing_at_once_and_copies_go_their_own_ways():
    first = central().compose(Poisson(0.01, G(1.0)), 100)
    other = copy.deepcopy(first)
    assert first.get_epsilon(1e-6) == other.get_epsilon(1e-6)
    first.compose(L(10.0)).compose(Poisson(0.01, G(1.0)), 200)
    whole = central().compose(Together([Times(Poisson(0.01, G(1.0)), 300), L(10.0)]))
    assert first.get_epsilon(1e-6) == whole.get_epsilon(1e-6) > other.get_epsilon(1e-6)
    assert first.spec == epsilond.spec_from_dp_event(first.ledger)


@pytest.mark.parametrize("relation", list(Relation))
def test_calibration_finds_noise_that_keeps_the_target(relation):
    def event(noise):
        return Times(Poisson(0.01, G(noise)), 500)

    noise = dp_accounting.calibrate_dp_mechanism(lambda: central(relation), event, 1.0, 1e-6, tol=1e-4)
    assert central(relation).compose(event(noise)).get_epsilon(1e-6) <= 1.0
    assert central(relation).compose(event(noise - 3e-4)).get_epsilon(1e-6) > 1.0
    run = epsilond.calibrate(
        "gaussian",
        solve_for="noise_multiplier",
        epsilon=1.0,
        delta=1e-6,
        sampling="poisson",
        rate=0.01,
        rounds=500,
        relation=RELATIONS[relation],
        unit="record",
        observer="server",
    )
    assert noise == pytest.approx(run.parameters.noise_multiplier, abs=3e-4)


def test_steps_are_calibrated_as_a_whole_number():
    steps = dp_accounting.calibrate_dp_mechanism(
        central,
        lambda count: Times(Poisson(0.01, G(1.0)), count),
        2.0,
        1e-6,
        bracket_interval=dp_accounting.LowerEndpointAndGuess(1, 128),
        discrete=True,
    )
    ours = [central().compose(Poisson(0.01, G(1.0)), steps + more).get_epsilon(1e-6) for more in (0, 2)]
    assert ours[0] <= 2.0 < ours[1]


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_a_delta_outside_its_range_is_refused(wrong):
    with pytest.raises(ValueError, match="target_delta"):
        central().compose(G(1.0)).get_epsilon(wrong)


def test_with_a_budget_events_are_committed_before_they_are_counted(tmp_path):
    step = Poisson(0.01, G(1.0))
    train, mean = (epsilond.spec_from_dp_event(each) for each in (step, G(20.0)))
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        ledger = books.open(
            name="survey",
            dataset="survey",
            unit="client",
            relation="add-or-remove-one",
            observer="released-models",
            epsilon=2.0,
            delta=1e-6,
            plan={"train": epsilond.Repeated(times=50, mechanism=train)},
            slots=["gdp"],
            sealed=True,
        )
        with LedgerBudget(ledger, "train", chunk=20) as budget:
            accountant = central(budget=budget)
            accountant.compose(Times(step, 30)).compose(step, 10)
            assert not accountant.would_exceed(Times(step, 5), 2)
            assert accountant.would_exceed(Times(step, 11))
            for refused in (Times(step, 11), Together([Times(step, 6), L(10.0), Times(step, 6)])):
                with pytest.raises(epsilond.LedgerExhausted):
                    accountant.compose(refused)
            with pytest.raises(dp_accounting.UnsupportedEventError):
                accountant.compose(dp_accounting.UnsupportedDpEvent())
            with pytest.raises(NotPrivate):
                accountant.compose(G(0.0))
            assert accountant.ledger == Times(step, 40)
            assert budget.taken == 40
            with pytest.raises(epsilond.InvalidInput, match="neighboring_relation"):
                central(ONE, budget=budget)
        with LedgerBudget(ledger, slot="gdp") as budget:
            accountant = central(budget=budget)
            while not accountant.would_exceed(G(20.0)):
                accountant.compose(G(20.0))
            assert accountant.spec == epsilond.Repeated(times=budget.taken, mechanism=mean)
            assert accountant.get_epsilon(1e-6) < 2.0
    assert central().would_exceed(G(0.1)) is False


def test_twenty_thousand_equal_events_are_one_power():
    step = Poisson(0.01, G(2.0))
    listed = central().compose(Together([step] * 20_000))
    assert listed.spec == epsilond.spec_from_dp_event(Times(step, 20_000))


def test_the_session_of_the_documents():
    assert_goes_as_shown("dp_accounting/test_dp_accounting.py")


def test_the_example_of_the_docstring():
    for example in doctest.DocTestFinder(exclude_empty=True).find(accountant_module):
        assert doctest.DocTestRunner().run(example).failed == 0
