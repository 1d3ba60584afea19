"""Law: every statement of a guarantee is supported by the setting, the spec and the declared conditions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, get_args

import pytest

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.kinds import NAMES, kind_named
from epsilond.accountants.quantities import Observer, Relation, Sampling, Unit
from epsilond.accountants.specs import (
    Gaussian,
    GeometricRepetitions,
    Repeated,
    SelectBest,
    Shuffled,
    Spec,
    Subsampled,
)
from epsilond.accountants.statements.settings import (
    HIDDEN_MEMBERS,
    NO_DRAW,
    NOISE_ADDED_BEFORE,
    OBSERVERS,
    PUBLIC_MEMBERS,
    SECRETS,
    SEEN_MEMBERS,
    join_statements,
    noise_condition,
    state_guarantee,
)
from epsilond.accountants.statements.statement import About, Statement
from epsilond.accountants.structure import POSSIBLE, Definition, definition_against
from epsilond.accountants.structure.random_draws import Draw, draws_of, loses_amplification
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.planning.drafts import draft
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.reading import read
from tests.laws.samples import SHAPES

DEFINITIONS, ALL_OBSERVERS = (*get_args(Definition), None), get_args(Observer)
UNITS, SAMPLINGS, RELATIONS = get_args(Unit), get_args(Sampling), get_args(Relation)
COMBINATIONS = list(itertools.product(DEFINITIONS, ALL_OBSERVERS, UNITS, SAMPLINGS, ("records", "clients")))
NOISE = Gaussian(noise_multiplier=4.0)
EVERY_KIND: list[Spec] = [kind_named(name).at_noise(2.0) for name in NAMES]
AMPLIFYING = {"balle-barthe-gaboardi-2018.8", "balle-barthe-gaboardi-2018.9", "epsilond.poisson-replace-one"}


PROTECTED = {"record": "Protects: one record.", "client": "Protects: all data of one client."}
SECRET_CONDITIONS = {"secret-draw", "secret-order", "secret-allocation"}
"""Ids of the conditions by which a bound relies on batches that the adversary does not see."""


def text_about(statements: Iterable[Statement], about: About) -> str:
    return " ".join(statement.text for statement in statements if statement.about == about)


@pytest.mark.parametrize(("definition", "observer", "unit", "sampling", "level"), COMBINATIONS)
def test_each_statement_follows_from_the_setting(
    definition: Definition | None, observer: Observer, unit: Unit, sampling: Sampling, level: Any
) -> None:
    for relation in RELATIONS:
        question: dict[str, Any] = {"observer": observer, "unit": unit, "relation": relation}
        draws = (Draw(sampling, level),)
        if definition is not None and observer not in POSSIBLE[definition]:
            with pytest.raises(InvalidInput, match=definition):
                state_guarantee(definition=definition, draws=draws, **question)
            continue
        statements = state_guarantee(definition=definition, draws=draws, **question)
        assert text_about(statements, "protects") == PROTECTED[unit]
        assert text_about(statements, "neighbours").startswith(f"Neighbours: {relation} (")
        assert unit in text_about(statements, "neighbours")
        against, trusted = text_about(statements, "against"), text_about(statements, "trusted")
        assert [word for word, phrase in OBSERVERS.items() if phrase in against] == [observer]
        # Only an algorithm that says who adds the noise supports a claim about trust.
        assert ("only the client itself" in trusted) == (definition == "local")
        assert ("the server" in trusted) == (definition in ("central", "joint"))
        assert ("shuffler" in trusted) == (definition == "shuffle")
        assert not ("the server" in trusted and "the server" in against)
        condition = text_about(statements, "condition")
        assert bool(condition) == (definition is None)
        assert ("before it sends" in condition) == (definition is None and observer in ("server", "shuffled-server"))
        batches = text_about(statements, "sampling")
        if sampling == "full":
            assert batches == NO_DRAW
        else:
            assert level.removesuffix("s") in batches
            assert (HIDDEN_MEMBERS in batches) <= (level == f"{unit}s")
            assert (SEEN_MEMBERS in batches) <= (level == "clients")
        joined = join_statements(statements)
        assert all(len(sentence.split()) <= 25 for sentence in joined.split(". "))


def test_different_combinations_have_different_statements() -> None:
    owners: dict[str, tuple[Any, ...]] = {}
    for definition, observer, unit, sampling, level in COMBINATIONS:
        if definition is not None and observer not in POSSIBLE[definition]:
            continue
        if sampling == "full" and level == "records":
            continue
        for relation in RELATIONS:
            statements = state_guarantee(
                definition=definition, observer=observer, unit=unit, relation=relation, draws=(Draw(sampling, level),)
            )
            key = (str(definition).replace("joint", "central"), observer, unit, sampling, level, relation)
            assert owners.setdefault(join_statements(statements), key) == key


EVERY_SETTING = tuple(itertools.product(ALL_OBSERVERS, UNITS))
EACH_ONCE = tuple(zip(ALL_OBSERVERS, itertools.cycle(UNITS), strict=False))
"""Every observer, and every unit: the settings of a shape whose accounts take some tenths of a second."""


def settings_of(shape: str, relation: Relation) -> Iterator[Any]:
    """Yield the settings that always run, and all of them for slow tests where accounts take long."""
    long = shape.startswith(("random allocation of pure noise", "shuffled epochs of laplace"))
    longer = shape.startswith("random allocation") and relation == "replace-one"  # seconds each
    name = f"{shape}-{relation}"
    if long and not longer:
        yield pytest.param(shape, relation, EACH_ONCE, id=name)
    slow = long or longer
    yield pytest.param(shape, relation, EVERY_SETTING, id=name + " everywhere" * slow, marks=[pytest.mark.slow] * slow)


@pytest.mark.parametrize(
    ("shape", "relation", "settings"),
    [case for shape in SHAPES for relation in RELATIONS for case in settings_of(shape, relation)],
)
def test_an_account_states_only_what_its_spec_and_its_conditions_support(
    shape: str, relation: Relation, settings: tuple[tuple[Observer, Unit], ...]
) -> None:
    noise, build = SHAPES[shape]
    spec = build(noise)
    for observer, unit in settings:
        try:
            guarantee = account(spec, relation=relation, unit=unit, observer=observer, effort="coarse").guarantee
        except NoCertificate:
            continue
        declared = {condition.id for condition in guarantee.declared}
        statements = state_guarantee(
            definition=None,
            observer=observer,
            unit=unit,
            relation=relation,
            draws=draws_of(spec, unit),
            declared=guarantee.declared,
        )
        assert text_about(statements, "protects") == PROTECTED[unit]
        assert text_about(statements, "neighbours").startswith(f"Neighbours: {relation} (")
        assert text_about(statements, "against") == f"Against: {OBSERVERS[observer]}."
        assert text_about(statements, "condition") == f"Condition: {NOISE_ADDED_BEFORE[observer]}."
        assert ("shuffler" in text_about(statements, "trusted")) == ("trusted-shuffler" in declared)
        assert "client" not in text_about(statements, "trusted").replace("clients", "")
        # Batches must stay secret if and only if the bound relies on that.
        batches = text_about(statements, "sampling")
        assert (HIDDEN_MEMBERS in batches) == bool(SECRET_CONDITIONS & declared)
        assert [text in batches for text in SECRETS.values()] == [name in declared for name in SECRETS]
        assert (batches == NO_DRAW) == (not draws_of(spec, unit) and declared.isdisjoint(SECRETS))


def test_an_account_says_which_other_draws_must_stay_secret() -> None:
    contribution = epsilond.GaussianMixture(sensitivities=(0.0, 1.0), probabilities=(0.9, 0.1), noise_multiplier=1.0)
    best = SelectBest(mechanism=contribution, repetitions=GeometricRepetitions(mean=3.0))
    for spec, expected in (
        (contribution, {"random-contributions"}),
        (best, set(SECRETS)),
        (Repeated(times=3, mechanism=best), set(SECRETS)),
    ):
        answer = epsilond.account(spec, relation="add-or-remove-one", unit="record", observer="released-models")
        assert {name for name, text in SECRETS.items() if text in answer.guarantee.in_words} == expected
        assert NO_DRAW not in answer.guarantee.in_words


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_account_of_a_central_run_does_not_claim_that_the_server_is_untrusted(relation: Relation) -> None:
    answer = epsilond.account(NOISE, relation=relation, unit="record", observer="server")
    assert "Trusted" not in answer.guarantee.in_words
    assert "Condition: each client adds this noise before it sends." in answer.guarantee.in_words
    assert noise_condition("server").id in {condition.id for condition in answer.declared_conditions}


@pytest.mark.parametrize("observer", ALL_OBSERVERS)
def test_nobody_who_looks_is_trusted(observer: Observer) -> None:
    assert observer in POSSIBLE[definition_against(observer)]


def sampled(sampling: Sampling, level: Any) -> Spec:
    if sampling == "poisson":
        return Subsampled(sampling=sampling, rate=0.1, level=level, mechanism=NOISE)
    return Subsampled(sampling=sampling, batch_size=10, population=100, level=level, mechanism=NOISE)


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
@pytest.mark.parametrize("level", ["records", "clients"])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("observer", ALL_OBSERVERS)
def test_the_sentence_says_of_the_draw_what_the_proof_does_with_it(
    observer: Observer, unit: Unit, level: Any, sampling: Sampling
) -> None:
    spec = Repeated(times=3, mechanism=sampled(sampling, level))
    used = set(account(spec, relation="replace-one", unit=unit, observer=observer).guarantee.theorems())
    draws = draws_of(spec, unit)
    statements = state_guarantee(
        definition=definition_against(observer), observer=observer, unit=unit, relation="replace-one", draws=draws
    )
    amplified = bool(used & AMPLIFYING)
    assert amplified == (HIDDEN_MEMBERS in join_statements(statements))
    # It is lost to this observer's sight alone exactly where another one would have it counted.
    unseen = account(spec, relation="replace-one", unit=unit, observer="released-models").guarantee.theorems()
    assert loses_amplification(draws, observer, unit) == (not amplified and bool(set(unseen) & AMPLIFYING))


def test_a_draw_of_clients_before_shuffling_hides_whose_report_is_missing() -> None:
    report = Subsampled(sampling="without-replacement", batch_size=1, population=9, level="records", mechanism=NOISE)
    shuffled = Shuffled(clients=10, mechanism=report)
    spec = Subsampled(
        sampling="without-replacement", batch_size=10, population=100, level="clients", mechanism=shuffled
    )
    for unit in UNITS:
        outer = draws_of(spec, unit)[0]
        assert outer == Draw("without-replacement", "clients", shuffled=True)
        assert loses_amplification((outer,), "server", unit)
        assert not loses_amplification((outer,), "shuffled-server", unit)


def test_a_batch_that_leaves_nobody_out_is_no_draw() -> None:
    everyone = Subsampled(sampling="poisson", rate=1.0, mechanism=NOISE)
    fixed = Subsampled(sampling="without-replacement", batch_size=7, population=7, mechanism=NOISE)
    twice = Subsampled(sampling="with-replacement", batch_size=7, population=7, mechanism=NOISE)
    assert draws_of(everyone, "record") == draws_of(fixed, "client") == ()
    assert draws_of(twice, "record") == (Draw("with-replacement", "records"),)


QUICK = ("gaussian", "mb-sgd", "mu2-sgd", "ppsgd", "one-pass-accelerated-mb-sgd")
ASKED = [
    pytest.param(
        calibrator,
        observer,
        unit,
        marks=() if calibrator.name in QUICK else pytest.mark.slow,
        id=f"{calibrator.name}-{observer}-{unit}",
    )
    for calibrator in CALIBRATORS
    for observer in ALL_OBSERVERS
    for unit in UNITS
    if {"observer", "unit"} <= {field.name for field in fields(calibrator.problem)}
]


@pytest.mark.parametrize(("calibrator", "observer", "unit"), ASKED)
def test_every_answer_says_so_and_never_against_whom_it_trusts(calibrator: Any, observer: Observer, unit: Unit) -> None:
    given = {**calibrator.example, "observer": observer, "unit": unit}
    try:
        guarantee = calibrator.solve(read(calibrator.problem, given)).guarantee
    except (InvalidInput, NoCertificate):
        assert (observer, unit) != (calibrator.example["observer"], calibrator.example["unit"])
        return
    assert guarantee.observer in POSSIBLE[guarantee.definition]
    assert guarantee.in_words.count("Trusted:") == int(calibrator.noise_party_known)
    assert guarantee.in_words.count("Condition:") == 1 - int(calibrator.noise_party_known)
    assert OBSERVERS[guarantee.observer] in guarantee.in_words


MEANS_OF_BATCHES = ("mb-sgd", "accelerated-mb-sgd", "one-pass-accelerated-mb-sgd", "shuffled-mb-sgd")
"""Algorithms whose clients send means of batches: an absent record changes the divisor of a usual mean."""
FULL_BATCHES: dict[str, Any] = {"sampling": "full", "batch_size": None}
NOISE_OF_CLIENTS = ("local", "shuffle")
"""Definitions under which each client adds its own noise."""


@pytest.mark.parametrize("observer", ALL_OBSERVERS)
@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda one: one.name)
def test_no_client_that_adds_its_own_noise_may_be_absent(calibrator: Any, observer: Observer) -> None:
    absent = {"unit": "client", "relation": "add-or-remove-one", "observer": observer}
    try:
        problem = read(calibrator.problem, {**calibrator.example, **absent})
    except InvalidInput:
        return
    if calibrator.definition(problem) not in NOISE_OF_CLIENTS:
        if observer in ("server", "shuffled-server"):
            with pytest.raises((InvalidInput, NoCertificate)):
                calibrator.solve(problem)
        return
    for solve in (calibrator.solve, calibrator.certify):
        with pytest.raises(InvalidInput, match="absent client sends nothing") as rejected:
            solve(problem)
        (fault,) = rejected.value.faults
        assert (fault.pointer, fault.allowed) == ("/relation", "replace-one, zero-out-one")


@pytest.mark.parametrize("name", ["mb-sgd", "one-pass-accelerated-mb-sgd", "gaussian"])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_answers_declare_what_they_assume_of_the_absent(name: str, unit: Unit, relation: Relation) -> None:
    calibrator = next(one for one in CALIBRATORS if one.name == name)
    batches = FULL_BATCHES if name == "mb-sgd" else {"sampling": "full", "rate": None} if name == "gaussian" else {}
    given = {**calibrator.example, **batches, "unit": unit, "relation": relation, "observer": "server"}
    problem = read(calibrator.problem, {key: value for key, value in given.items() if value is not None})
    if (unit, relation) == ("client", "add-or-remove-one"):
        with pytest.raises(InvalidInput, match="absent client sends nothing"):
            calibrator.solve(problem)
        return
    declared = {condition.id for condition in calibrator.solve(problem).all_declared}
    assert ("zeroed-client-sends-noise" in declared) == ((unit, relation) == ("client", "zero-out-one"))
    changes_divisor = name in MEANS_OF_BATCHES and unit == "record" and relation != "replace-one"
    assert ("fixed-divisor" in declared) == changes_divisor


def test_a_plan_gives_the_reason_why_no_client_may_be_absent() -> None:
    mb_sgd = next(one for one in CALIBRATORS if one.name == "mb-sgd")
    fields = {key: value for key, value in mb_sgd.example.items() if key != "observer"}
    plan = read(PlanProblem, {**fields, "unit": "client", "relation": "add-or-remove-one", "observers": ["server"]})
    entry = draft(mb_sgd, mb_sgd.plans[0], plan)
    assert entry.request is None
    assert [reason.pointer for reason in entry.why] == ["/relation"]
    assert "absent client sends nothing" in entry.why[0].message


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
@pytest.mark.parametrize("mechanism", EVERY_KIND, ids=lambda spec: spec.kind)
def test_the_sentence_agrees_with_what_is_declared_of_the_draw(
    mechanism: Spec, sampling: Sampling, relation: Relation
) -> None:
    """What the conditions let be seen, the sentence never demands to be hidden, and the other way round."""
    batch = {"rate": 0.1} if sampling == "poisson" else {"batch_size": 10, "population": 100}
    spec = Subsampled(sampling=sampling, mechanism=mechanism, **batch)
    try:
        answer = epsilond.account(spec, relation=relation, unit="record", observer="server")
    except NoCertificate:
        return
    declared = {condition.id for condition in answer.declared_conditions}
    assert (HIDDEN_MEMBERS in answer.guarantee.in_words) == ("secret-draw" in declared)
    assert (PUBLIC_MEMBERS in answer.guarantee.in_words) == ("fresh-draw" in declared)
