"""Every event of dp-accounting and every sampler of jax_privacy, by epsilond and by the libraries themselves.

    EPSILOND_PEERS=FOLDER python -m benchmarks.hosts [--relations] [WORD …]

With words, only the rows with a name that contains one of them are measured again, and replace those stored.
With --relations, only our bounds under each neighbouring relation are computed again, without times.
Their packages are imported from the source trees in the folder, at the commits that the table states. The figures are
stored in benchmarks/hosts.json, from which the page docs/peers.md is written.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

STORED = Path(__file__).with_name("hosts.json")
TREES = {
    "dp_accounting/python/dp_accounting": "google/differential-privacy b5b0286",
    "jax_privacy": "google-deepmind/jax_privacy 8967688",
    "optax": "google-deepmind/optax 2edbcbe",
}
"""Folder of each source tree, and its commit."""
DELTA = 1e-6
RUNS = 7
"""Number of runs. The median of all but the first is stored, because the first one also pays for imports."""
RELATIONS = {
    "ADD_OR_REMOVE_ONE": "add-or-remove-one",
    "REPLACE_ONE": "replace-one",
    "REPLACE_SPECIAL": "zero-out-one",
}
"""Our names of the neighbouring relations, by those of dp-accounting."""
WIDER = {"BMinSepSampling"}
"""Samplers whose spec admits more than they do, so that the spec's lower bound is not theirs."""
LONG = 5.0
"""Seconds after which a question is not asked again; the table takes minutes."""


def main() -> None:
    """Measure the selected events and samplers, and store the figures in benchmarks/hosts.json.

    Words on the command line select rows by their names. The option `--relations` leaves out times.
    """
    # The other libraries are imported from their source trees.
    for folder in TREES:
        sys.path.insert(0, str(Path(os.environ["EPSILOND_PEERS"], folder)))
    options, words = (
        [word for word in sys.argv[1:] if word.startswith("--") is is_option] for is_option in (True, False)
    )
    measured = [*event_rows(words, timed=not options), *sampler_rows(words, timed=not options)]
    rows = measured
    # A partial run replaces only its own rows in the stored file.
    if words or options:
        again = {(row["name"], row["relation"]): row for row in measured}
        stored = json.loads(STORED.read_text(encoding="utf-8"))["rows"]
        rows = [row | again.get((row["name"], row["relation"]), {}) for row in stored]
    STORED.write_text(
        json.dumps({"delta": DELTA, "commits": TREES, "rows": rows}, indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )
    print(f"{len(measured)} of {len(rows)} rows measured in {STORED}")


def is_selected(name: str, words: list[str]) -> bool:
    """Return whether a row is measured: all are, or those with a name that contains one of the words."""
    return not words or any(word in name for word in words)


def event_rows(words: list[str], *, timed: bool) -> list[dict[str, Any]]:
    """Measure one example of each selected class of event, by dp-accounting and by our accountant.

    Args:
        words: parts of names of events; all events if empty.
        timed: whether to measure times and dp-accounting's figures, and not only our bounds.

    Returns:
        One row for each event, as a JSON object.
    """
    events = import_module("dp_accounting.dp_event")
    relations = import_module("dp_accounting").NeighboringRelation
    gaussian, laplace = events.GaussianDpEvent(1.0), events.LaplaceDpEvent(5.0)
    add, replace, zero = relations.ADD_OR_REMOVE_ONE, relations.REPLACE_ONE, relations.REPLACE_SPECIAL
    examples = [
        (events.NoOpDpEvent(), add),
        (events.NonPrivateDpEvent(), add),
        (events.UnsupportedDpEvent(), add),
        (events.GaussianDpEvent(2.0), add),
        (laplace, add),
        (events.DiscreteLaplaceDpEvent(0.3, 2), add),
        (events.DiscreteGaussianDpEvent(4.0, 1.0, 1), add),
        (events.DiscreteGaussianDpEvent(4.0), add),
        (events.RandomizedResponseDpEvent(0.3, 4), replace),
        (events.EpsilonDeltaDpEvent(1.0, 1e-7), add),
        (events.EpsilonDeltaDpEvent(0.0, 1e-7), add),
        (events.ZCDpEvent(0.1), add),
        (events.ZCDpEvent(0.1, 0.05), add),
        (events.ExponentialMechanismDpEvent(1.0), add),
        (events.PermuteAndFlipDpEvent(1.0), add),
        (events.SelfComposedDpEvent(laplace, 20), add),
        (events.ComposedDpEvent([gaussian, laplace]), add),
        (events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.01, gaussian), 1000), add),
        (events.SelfComposedDpEvent(events.SampledWithoutReplacementDpEvent(10_000, 100, gaussian), 1000), replace),
        (events.SelfComposedDpEvent(events.SampledWithReplacementDpEvent(10_000, 100, gaussian), 1000), replace),
        (events.SingleEpochTreeAggregationDpEvent(4.0, 1000), zero),
        (events.RepeatAndSelectDpEvent(events.GaussianDpEvent(4.0), 10.0, 1.0), add),
        (events.RepeatAndSelectDpEvent(events.GaussianDpEvent(4.0), 10.0, float("inf")), add),
        (events.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 2.0], [0.9, 0.08, 0.02]), add),
        (events.SelfComposedDpEvent(events.TruncatedSubsampledGaussianDpEvent(100_000, 0.01, 1300, 1.0), 1000), zero),
    ]
    return [_event_row(event, relation, timed=timed) for event, relation in examples if is_selected(str(event), words)]


def _event_row(event: Any, relation: Any, *, timed: bool) -> dict[str, Any]:
    """Measure an event by our accountant, and by each of dp-accounting's accountants that supports it.

    Args:
        event: the event.
        relation: the neighbouring relation of the figures.
        timed: whether these figures are measured; if not, only our bounds under each relation.

    Returns:
        The row as a JSON object: names, our bounds under each relation, and if timed the figures and times of all
        accountants.
    """
    theirs = import_module("dp_accounting")
    ours = import_module("epsilond.integrations.dp_accounting")
    accountants = {"PLD": theirs.pld.PLDAccountant, "RDP": lambda r: theirs.rdp.RdpAccountant(neighboring_relation=r)}

    def answer(relation: Any) -> tuple[float, float]:
        """Return both bounds on ε under a relation."""
        accountant = ours.EpsilondAccountant(relation, unit="record", observer="released-models").compose(event)
        upper = accountant.get_epsilon(DELTA)
        curve = None if math.isinf(upper) else accountant._find_curve()  # noqa: SLF001  it has no other lower bound
        return (upper if curve is None else curve.epsilon(delta=DELTA).lower), upper

    row = {"library": "dp-accounting", "name": str(event), "relation": relation.name}
    row["relations"] = {name: _ask(lambda name=name: answer(theirs.NeighboringRelation[name])) for name in RELATIONS}
    if not timed:
        return row
    figures = {
        name: _measure(lambda make=make: make(relation).compose(event).get_epsilon(DELTA))
        for name, make in accountants.items()
    }
    return row | {"ours": _measure(lambda: answer(relation)), "theirs": figures}


def sampler_rows(words: list[str], *, timed: bool) -> list[dict[str, Any]]:
    """Measure one example of each selected sampler of jax_privacy by our accountant.

    jax_privacy has no accountant of its own. If it describes a sampler as an event, dp-accounting's accountants measure
    this event.

    Args:
        words: parts of names of samplers; all samplers if empty.
        timed: whether to measure times and the other figures, and not only our bounds.

    Returns:
        One row for each sampler, as a JSON object.
    """
    selection, accounting = import_module("jax_privacy.batch_selection"), import_module("jax_privacy.accounting")
    cyclic, fixed = selection.CyclicPoissonSampling, selection.FixedBatchSampling
    truncated = {"sampling_prob": 0.01, "num_examples": 100_000, "truncated_batch_size": 1300}
    examples = [
        (cyclic(0.01, 1000), accounting.dpsgd_event(1.0, 1000, sampling_prob=0.01)),
        (
            cyclic(0.04, 1000, cycle_length=4),
            accounting.amplified_bandmf_event(1.0, 1000, num_bands=4, sampling_prob=0.04),
        ),
        (cyclic(0.01, 1000, truncated_batch_size=1300), accounting.truncated_dpsgd_event(1.0, 1000, **truncated)),
        (fixed(100, 1000), accounting.fixed_dpsgd_event(1.0, 1000, dataset_size=100_000, batch_size=100)),
        (
            fixed(100, 1000, replace=True),
            accounting.fixed_dpsgd_event(1.0, 1000, dataset_size=100_000, batch_size=100, replace=True),
        ),
        (selection.BallsInBinsSampling(iterations=100, cycle_length=100), None),
        (selection.BallsInBinsSampling(iterations=1000, cycle_length=100), None),
        (selection.RandomAllocationSampling(total_participations=1, iterations=100), None),
        (selection.RandomAllocationSampling(total_participations=10, iterations=1000), None),
        (selection.BMinSepSampling(0.1, 100, 10), None),
        (selection.UserSelectionStrategy(cyclic(0.01, 1000), 2), accounting.dpsgd_event(1.0, 1000, sampling_prob=0.01)),
        (_several_owners(selection), None),
    ]
    return [
        _sampler_row(sampler, event, timed=timed) for sampler, event in examples if is_selected(_name(sampler), words)
    ]


def _name(sampler: Any) -> str:
    """Return the name of a sampler's row: its class if the sampler has no graph of owners."""
    return type(sampler).__name__ if "Owner" in type(sampler).__name__ else str(sampler)


def _several_owners(selection: Any) -> Any:
    """Return a sampler of records with several owners, without its graph of owners."""
    return selection.MultiOwnerMinSepSampling.__new__(selection.MultiOwnerMinSepSampling)


def _sampler_row(sampler: Any, event: Any, *, timed: bool) -> dict[str, Any]:
    """Measure a sampler by our accountant, and its event by dp-accounting's accountants.

    Args:
        sampler: the sampler.
        event: the event that describes it; None if there is none.
        timed: whether the figures of one relation are measured; if not, only our bounds under each relation.

    Returns:
        The row as a JSON object: names, our bounds under each relation, and if timed the figures and times of all
        accountants.
    """
    theirs, epsilond = import_module("dp_accounting"), import_module("epsilond")
    plans = import_module("epsilond.integrations.jax_privacy")
    is_fixed = "FixedBatch" in type(sampler).__name__
    named = theirs.NeighboringRelation.REPLACE_ONE if is_fixed else theirs.NeighboringRelation.REPLACE_SPECIAL

    def answer(relation: str) -> tuple[float, float]:
        """Return both bounds on ε under a relation."""
        spec = plans.spec_from_sampler(sampler, noise_multiplier=1.0, num_examples=100_000, relation=relation)
        unit = "client" if "User" in type(sampler).__name__ else "record"
        curve = epsilond.account(spec, relation=relation, unit=unit, observer="released-models").guarantee.curve
        bounds = curve.epsilon(delta=DELTA)
        return (0.0 if type(sampler).__name__ in WIDER else bounds.lower), bounds.upper

    row = {"library": "jax_privacy", "name": _name(sampler), "relation": named.name}
    row["relations"] = {name: _ask(lambda relation=relation: answer(relation)) for name, relation in RELATIONS.items()}
    if not timed:
        return row
    figures = {}
    if event is not None:
        figures = {
            "PLD": _measure(lambda: theirs.pld.PLDAccountant(named).compose(event).get_epsilon(DELTA)),
            "RDP": _measure(
                lambda: theirs.rdp.RdpAccountant(neighboring_relation=named).compose(event).get_epsilon(DELTA)
            ),
        }
    return row | {"ours": _measure(lambda: answer(RELATIONS[named.name])), "theirs": figures}


def _measure(question: Callable[[], Any]) -> dict[str, Any]:
    """Ask a question several times, and return its figure with the median time.

    The time of the first call is left out, because it includes imports. Calls end early after `LONG` seconds.

    Args:
        question: function that computes the figure.

    Returns:
        The answer with its time in `milliseconds`, or the reason of a rejection.
    """
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        answer = _ask(question)
        if "rejected" in answer:
            return answer
        times.append(time.perf_counter() - started)
        # A long question is not repeated as often.
        if sum(times[1:]) > LONG:
            break
    return {**answer, "milliseconds": round(1000.0 * median(times[1:]), 2)}


def _ask(question: Callable[[], Any]) -> dict[str, Any]:
    """Ask a question once; return its figures, or the reason of a rejection."""
    try:
        figure = question()
    except Exception as error:  # noqa: BLE001  each library has exceptions of its own
        return {"rejected": str(error).strip().splitlines()[0][:1000], "kind": type(error).__name__}
    values = figure if isinstance(figure, tuple) else (figure,)
    return {"values": [repr(float(value)) for value in values]}


if __name__ == "__main__":
    main()
