"""Law: the sentence of a guarantee contradicts neither itself nor what was counted."""

from __future__ import annotations

import itertools
from dataclasses import fields
from typing import Any, get_args

import pytest

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.quantities import Observer, Relation, Sampling, Unit
from epsilond.accountants.specs import (
    Approximate,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Repeated,
    Shuffled,
    Spec,
    Subsampled,
    TruncatedDiscreteLaplace,
)
from epsilond.accountants.structure import (
    NOT_COUNTED,
    OBSERVERS,
    POSSIBLE,
    Definition,
    Draw,
    definition_against,
    draws_of,
    in_words,
    loses_amplification,
)
from epsilond.calibrators import CALIBRATORS
from epsilond.reading import read

DEFINITIONS, ALL_OBSERVERS = get_args(Definition), get_args(Observer)
UNITS, SAMPLINGS, RELATIONS = get_args(Unit), get_args(Sampling), get_args(Relation)
COMBINATIONS = list(itertools.product(DEFINITIONS, ALL_OBSERVERS, UNITS, SAMPLINGS, ("records", "clients")))
NOISE = Gaussian(noise_multiplier=4.0)
EVERY_KIND: list[Spec] = [
    NOISE,
    Laplace(scale_multiplier=4.0),
    DiscreteLaplace(decay_rate=0.5, sensitivity=1),
    TruncatedDiscreteLaplace(noise_levels=9, decay_rate=0.5, dimension=1, l1_sensitivity=1.0, linf_sensitivity=1.0),
    RandomizedResponse(epsilon=1.0, categories=3),
    Approximate(epsilon=1.0, delta=1e-6),
]
AMPLIFYING = {"balle-barthe-gaboardi-2018.8", "balle-barthe-gaboardi-2018.9", "epsilond.poisson-replace-one"}


@pytest.mark.parametrize(("definition", "observer", "unit", "sampling", "level"), COMBINATIONS)
def test_no_part_of_the_sentence_denies_another(
    definition: Definition, observer: Observer, unit: Unit, sampling: Sampling, level: Any
) -> None:
    for relation in RELATIONS:
        question: dict[str, Any] = {"observer": observer, "unit": unit, "relation": relation}
        draws = (Draw(sampling, level),)
        if observer not in POSSIBLE[definition]:
            with pytest.raises(InvalidInput, match=definition):
                in_words(definition=definition, draws=draws, **question)
            continue
        said = in_words(definition=definition, draws=draws, **question)
        assert said.count(". ") == 0
        assert said.endswith(".")
        # Whoever is trusted is not the one who looks, and nobody else is named as looking.
        trusts_server = "the server is trusted" in said
        assert trusts_server == (definition in ("central", "joint"))
        assert not (trusts_server and ("against the server" in said or "against a server" in said))
        assert [other for other in OBSERVERS.values() if other in said] == [OBSERVERS[observer]]
        assert said.count("trusted") == 1
        assert ("nobody but the client itself is trusted" in said) == (definition == "local")
        assert ("shuffler" in said) == (definition == "shuffle")
        # Of whom it speaks.
        assert said.startswith("Any one record" if unit == "record" else "Everything that any one client holds")
        # What is seen is not asked to be hidden, and what hides nothing is not counted.
        hidden, seen = "must stay hidden" in said, "in sight of" in said
        assert not (hidden and seen)
        if sampling == "full":
            assert NOT_COUNTED in said
            assert not hidden
            assert "drawn" not in said.replace(NOT_COUNTED, "")
        else:
            assert level in said
            assert NOT_COUNTED not in said
            assert hidden <= (level == f"{unit}s")
            assert seen <= (level == "clients")


def test_no_two_combinations_are_told_alike() -> None:
    told: dict[str, tuple[Any, ...]] = {}
    for definition, observer, unit, sampling, level in COMBINATIONS:
        if observer not in POSSIBLE[definition] or (sampling == "full" and level == "records"):
            continue
        for relation in RELATIONS:
            said = in_words(
                definition=definition,
                observer=observer,
                unit=unit,
                relation=relation,
                draws=(Draw(sampling, level),),
            )
            key = (definition.replace("joint", "central"), observer, unit, sampling, level, relation)
            assert told.setdefault(said, key) == key


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
    said = in_words(
        definition=definition_against(observer), observer=observer, unit=unit, relation="replace-one", draws=draws
    )
    amplified = bool(used & AMPLIFYING)
    assert amplified == ("must stay hidden" in said)
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
        assert observer != calibrator.example.get("observer", "?")
        return
    assert guarantee.observer in POSSIBLE[guarantee.definition]
    assert guarantee.in_words.count("trusted") == 1
    assert OBSERVERS[guarantee.observer] in guarantee.in_words


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
        answer = epsilond.account(spec, relation=relation)
    except NoCertificate:
        return
    declared = {condition.id for condition in answer.declared_conditions}
    assert ("must stay hidden" in answer.guarantee.in_words) == ("secret-draw" in declared)
    assert ("may be seen" in answer.guarantee.in_words) == ("fresh-draw" in declared)
