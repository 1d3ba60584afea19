"""The events that dpsynth's mechanisms emit, as its source composes them, accounted for by epsilond.

dpsynth is not needed: `test_dpsynth.py` has the mechanisms themselves. The classes of events and their nesting are those
of commit cf8075f, in `data_generation_v3.py`, `discrete_mechanisms` and `local_mode/initialization.py`.
"""

import math

import attrs
import dp_accounting
import pytest
from dp_accounting import dp_event as events

from epsilond.integrations.dp_accounting import EpsilondAccountant

ADD_OR_REMOVE = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
DELTA = 1e-6


def get_event_class(name, *fields):
    """Return dp-accounting's class of events `name`, or one with these fields where this release has none."""
    return getattr(events, name, None) or attrs.make_class(name, fields, bases=(events.DpEvent,), frozen=True)


Exponential = get_event_class("ExponentialMechanismDpEvent", "epsilon")
EpsilonDelta = get_event_class("EpsilonDeltaDpEvent", "epsilon", "delta")


def make_accountant():
    return EpsilondAccountant(ADD_OR_REMOVE, unit="record", observer="released-models")


def of_quantiles(rho, levels=4):
    """Return the event of a numerical column: one exponential mechanism a level."""
    return events.ComposedDpEvent([Exponential(math.sqrt(8.0 * rho / levels))] * levels)


def of_open_set(rho, delta):
    """Return the event of a column of unknown categories: noisy counts, and a threshold that fails with δ."""
    noise = events.GaussianDpEvent(math.sqrt(0.5 / rho))
    return events.ComposedDpEvent([noise, EpsilonDelta(0, delta)])


def of_table(rho, delta=0.0, discrete=events.ZCDpEvent):
    """Return the event of a table: its columns, the total count and the discrete mechanism share ρ."""
    share = rho / 4.0
    columns = [of_quantiles(share), of_open_set(share, delta) if delta else events.GaussianDpEvent(0.5 / share)]
    count = events.GaussianDpEvent(math.sqrt(0.5 / share))
    inner = discrete(share) if discrete is events.ZCDpEvent else discrete(math.sqrt(0.5 / share))
    return events.ComposedDpEvent([*columns, count, inner])


EVENTS = {
    "MST and AIM": events.ZCDpEvent(0.1),
    "AIM-GDP, SWIFT and Direct": events.GaussianDpEvent(math.sqrt(5.0)),
    "Independent": events.NoOpDpEvent(),
    "with one-way marginals": events.ComposedDpEvent([events.GaussianDpEvent(4.0), events.ZCDpEvent(0.1)]),
    "quantiles": of_quantiles(0.1),
    "open set": of_open_set(0.1, 1e-8),
    "table": of_table(0.1),
    "table with an open set": of_table(0.1, 1e-8),
    "table by Gaussians": of_table(0.1, discrete=events.GaussianDpEvent),
    "batch of a table": events.PoissonSampledDpEvent(0.1, of_table(0.1, 1e-8)),
}


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_an_account(name):
    ours = make_accountant()
    assert ours.supports(EVENTS[name])
    epsilon = ours.compose(EVENTS[name]).get_epsilon(DELTA)
    assert 0.0 <= epsilon < 10.0
    theirs = dp_accounting.rdp.RdpAccountant(neighboring_relation=ADD_OR_REMOVE)
    if theirs.supports(EVENTS[name]):
        assert epsilon <= theirs.compose(EVENTS[name]).get_epsilon(DELTA) * (1.0 + 1e-6)


def test_a_budget_is_searched_as_dpsynth_does():
    """`MechanismConfig.calibrate` searches ρ by dp-accounting's calibration; the accountant may be ours."""

    def find_rho(make):
        bracket = dp_accounting.LowerEndpointAndGuess(1e-6, 1e-2)
        return dp_accounting.calibrate_dp_mechanism(make, lambda rho: of_table(rho, 1e-8), 1.0, DELTA, bracket)

    def make_theirs():
        return dp_accounting.rdp.RdpAccountant(neighboring_relation=ADD_OR_REMOVE)

    ours = find_rho(make_accountant)
    assert 0.99 <= make_accountant().compose(of_table(ours, 1e-8)).get_epsilon(DELTA) <= 1.0
    if make_theirs().supports(of_table(ours, 1e-8)):
        assert ours >= find_rho(make_theirs) * (1.0 - 1e-4)
