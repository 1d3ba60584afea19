"""Every theorem's formula and every closed form at the extremes of what it accepts: it answers, or refuses in words.

Never a NaN, an overflow, a division by zero, a want of memory, a lower end above its upper one, or an error of ours.
Warnings are errors here. How much work an answer may take is counted where it is done, not timed.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.calibrators.risk.parts import RiskFields
from epsilond.reading import read
from tests.laws import domains
from tests.laws.outputs import list_faults
from tests.laws.test_domains import examples_of, outcome

FORMULAS = [theorem for theorem in THEOREMS if theorem.formula is not None]
HEAVY = {
    "epsilond.gaussian-blanket",
    "epsilond.ledger-residue",
    "epsilond.shuffled-randomized-response",
    "feldman-mcmillan-talwar-2021.3.1",
    "feldman-mcmillan-talwar-2023.3.2",
    "mironov-talwar-zhang-2019.sampled-gaussian",
}
"""Formulas that compute a curve: seconds, not microseconds, for each question."""
QUICK = [theorem for theorem in FORMULAS if theorem.id not in HEAVY]


def each(theorems: list[Theorem]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("theorem", [pytest.param(theorem, id=theorem.id) for theorem in theorems])


def evaluated(theorem: Theorem, body: Mapping[str, Any], reading: Any) -> str:
    """What became of a body. Anything but an answer that can be or a refusal is an error of the test."""
    try:
        found = theorem.evaluate(read(theorem.inputs, body), reading)
    except InvalidInput as error:
        return "refused" if all(fault.message for fault in error.faults) else "refused without words"
    except NoCertificate as refusal:
        return refusal.slug
    served = as_json(found)
    json.dumps(served, allow_nan=False)
    wrong = list(list_faults(theorem, body, found))
    assert not wrong, (theorem.id, reading, dict(body), wrong)
    return "answered"


def alone(theorem: Theorem, of: Any) -> Iterator[dict[str, Any]]:
    """Each example with one field at each of its extremes."""
    for example in theorem.examples:
        for changes in domains.extremes(theorem.inputs, example, of).values():
            yield from ({**example, **change} for change in changes)


@each(QUICK)
def test_a_formula_at_the_ends_of_its_domain(theorem: Theorem) -> None:
    for reading in theorem.readings:
        for body in alone(theorem, domains.ends):
            assert evaluated(theorem, body, reading) != "refused without words"


@each(QUICK)
@settings(examples_of, max_examples=4, derandomize=True)
@given(data=st.data())
def test_a_formula_wherever_it_is_asked(theorem: Theorem, data: st.DataObject) -> None:
    event(evaluated(theorem, data.draw(domains.requests(theorem.inputs, theorem.examples[0])), theorem.readings[-1]))


@pytest.mark.slow
@each(FORMULAS)
def test_a_formula_at_every_corner_and_pair_of_ends(theorem: Theorem) -> None:
    for reading in theorem.readings:
        for body in alone(theorem, domains.corners):
            evaluated(theorem, body, reading)
        if theorem.id in HEAVY:
            continue
        example = theorem.examples[0]
        fields = domains.extremes(theorem.inputs, example, domains.ends)
        for one, other in itertools.combinations(fields.values(), 2):
            for first, second in itertools.product(one, other):
                evaluated(theorem, {**example, **first, **second}, reading)


@pytest.mark.slow
@each(FORMULAS)
@settings(examples_of, max_examples=100)
@given(data=st.data())
def test_a_formula_over_its_whole_domain(theorem: Theorem, data: st.DataObject) -> None:
    for reading in theorem.readings:
        event(evaluated(theorem, data.draw(domains.requests(theorem.inputs, theorem.examples[0])), reading))


# Calibrators and risk bounds, where no search is needed --------------------------------------------------------------
CLOSED = [
    pytest.param(entry, id=f"{kind} {entry.name}")
    for kind, entries in (("calibration", CALIBRATORS), ("risk bounds", RISK_BOUNDS))
    for entry in entries
]


def closed(entry: Any, body: Mapping[str, Any]) -> bool:
    """Whether a body is answered by closed forms alone; what is refused takes no work at all."""
    try:
        return bool(entry.cost(read(entry.problem, body)) == "closed-form")
    except InvalidInput:
        return True


def closed_example(entry: Any) -> dict[str, Any]:
    """The example, as a risk bound of a run that is given."""
    given = {"noise_std": 0.1, "batch_size": 10, "rounds": 100} if issubclass(entry.problem, RiskFields) else {}
    return dict(entry.example) | given


@pytest.mark.parametrize("entry", CLOSED)
def test_a_closed_form_at_the_ends_of_its_domain(entry: Any) -> None:
    example = closed_example(entry)
    if not closed(entry, example):
        return
    for name, changes in domains.extremes(entry.problem, example, domains.ends).items():
        for change in changes[:2]:
            body = {**example, **change}
            if closed(entry, body):
                assert outcome(entry, body), name


@pytest.mark.parametrize("epsilon", [3e8, 1e9])
@pytest.mark.parametrize(
    "calibrator", [one for one in CALIBRATORS if "epsilon" in one.example], ids=lambda one: one.name
)
def test_a_calibrator_at_its_largest_epsilon(calibrator: Any, epsilon: float) -> None:
    """Its example: what is certified is within the target, or the request is rejected in words."""
    problem = read(calibrator.problem, {**calibrator.example, "epsilon": epsilon})
    try:
        answer = calibrator.solve(problem)
    except (InvalidInput, NoCertificate) as rejection:
        assert str(rejection)
        return
    assert answer.guarantee.epsilon.upper <= answer.guarantee.target.epsilon == epsilon
    assert answer.guarantee.log10_delta.upper <= answer.guarantee.target.log10_delta


@pytest.mark.slow
@pytest.mark.parametrize("entry", CLOSED)
def test_a_closed_form_at_every_corner_and_pair_of_ends(entry: Any) -> None:
    example = closed_example(entry)
    if not closed(entry, example):
        return
    fields = domains.extremes(entry.problem, example, domains.ends)
    bodies = [
        {**example, **change}
        for changes in domains.extremes(entry.problem, example, domains.corners).values()
        for change in changes
    ]
    pairs = itertools.combinations(fields.values(), 2)
    bodies += [{**example, **one, **two} for ours, theirs in pairs for one, two in itertools.product(ours, theirs)]
    for body in bodies:
        if closed(entry, body):
            outcome(entry, body)


# What was found -------------------------------------------------------------------------------------------------------
FOUND: list[tuple[str, dict[str, Any]]] = [
    ("asoodeh.lemma-1", {"epsilon": 0.1, "distance": 1e-100, "noise_std": 1e-300}),
    ("asoodeh.lemma-2", {"epsilon": 1e-300, "diameter": 2.0, "noise_std": 1e-300}),
    ("asoodeh.2", {"lipschitz": 1e-300}),
    ("asoodeh.2", {"lipschitz": 1.7e308}),
    ("asoodeh.corollary-1", {"lipschitz": 2.3e-308}),
    ("asoodeh.corollary-2", {"clients": 4 * 10**8}),
    ("asoodeh.corollary-2", {"clients": 10**15}),
    ("bok-su-altschuler-2024.noisy-cgd-projected", {"noise_std": 2.3e-308}),
    ("bok-su-altschuler-2024.noisy-cgd-projected", {"diameter": 1e307}),
    ("canonne-kamath-steinke-2020.corollary-13", {"rho": 2.3e-308}),
    ("das.2-utility", {"smoothness": 1e307}),
    ("das.equation-39", {"smoothness": 1e307}),
    ("dwork-roth-2014.a.1", {"sensitivity": 1.7e308}),
    (
        "epsilond.shifted-interpolation",
        {"contractions": [1.7e308, 0.9, 1e100], "shifts": [1e-6, 700.0, 0.0], "noises": [1.0, 1.0, 0.99]},
    ),
    (
        "lowy.f.1.compositional",
        {
            "local_epsilon": 409.77155967523817,
            "local_delta": 0.4883367544976807,
            "clients": 379,
            "rounds": 225,
            "samples_per_client": 274,
        },
    ),
    ("lowy.f.1.compositional", {"samples_per_client": 10**15}),
]


@pytest.mark.parametrize(("name", "changes"), FOUND)
def test_what_was_answered_with_an_error_of_ours(name: str, changes: dict[str, Any]) -> None:
    theorem = next(each for each in FORMULAS if each.id == name)
    for reading in theorem.readings:
        assert evaluated(theorem, {**theorem.examples[0], **changes}, reading) in ("answered", "refused")


def test_a_loss_that_no_double_holds_is_bounded_and_not_zero() -> None:
    theorem = next(each for each in FORMULAS if each.id == "asoodeh.2")
    outputs = theorem.evaluate(read(theorem.inputs, {**theorem.examples[0], "lipschitz": 1e-300})).outputs
    assert -math.inf < outputs["log10_delta"] < -1e280


def test_the_mean_risk_of_a_huge_pass_is_a_closed_form() -> None:
    theorem = next(each for each in FORMULAS if each.id == "asoodeh.corollary-2")
    at = {clients: {**theorem.examples[0], "clients": clients} for clients in (1000, 10**15)}
    found = {
        clients: theorem.evaluate(read(theorem.inputs, body)).outputs["noise_term"] for clients, body in at.items()
    }
    assert found[10**15] == pytest.approx(found[1000], rel=1e-12)
    listed = {**at[1000], "step_sizes": at[1000]["step_sizes"] * 1000}
    assert theorem.evaluate(read(theorem.inputs, listed)).outputs["noise_term"] == pytest.approx(found[1000], rel=1e-12)


def test_a_noise_whose_square_is_no_double_is_refused_by_its_name() -> None:
    entry = next(each for each in RISK_BOUNDS if each.name == "mb-sgd")
    body = {**closed_example(entry), "smoothness": 1e-20, "noise_std": 1.7e308}
    with pytest.raises(InvalidInput, match="/noise_std"):
        entry.solve(read(entry.problem, body))
