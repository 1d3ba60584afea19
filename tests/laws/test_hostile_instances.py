"""No certified number is below what some mechanism does that the words of its spec admit.

For every kind a few hostile mechanisms (tests/oracles/hostile_kinds.py) are run on small data by every way of drawing
(tests/oracles/hostile_runs.py), for every reading of a level that is absent, every relation, unit and observer, and
their exact divergence in both orders is compared with the certified upper end. A refusal is not a fault. So that the law
says something, a fair share must be answered and some instance must come near the bound of every kind.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Observer, Relation, Unit
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DeclaredProfile,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianMixture,
    Laplace,
    PermuteAndFlip,
    PoissonBinomial,
    ProjectedSgd,
    RandomizedResponse,
    Rdp,
    Repeated,
    ReportNoisyMax,
    Shuffled,
    Skellam,
    Subsampled,
    TruncatedDiscreteLaplace,
    Zcdp,
)
from tests.oracles.hostile_kinds import KINDS, LOG_ODDS
from tests.oracles.hostile_runs import (
    Batch,
    ImpossibleError,
    Law,
    Levels,
    Run,
    draws_again,
    everything,
    leaves,
    of_clients,
    readings,
)

GAMMAS = tuple(map(Fraction, ("1", "9/8", "4/3", "2", "5/2", "3", "4", "9")))
ROUNDING, FLOOR = 1e-9, 1e-13
"""Relative and absolute room for the doubles that log 3 and the certified end are."""
NEAR, LEAST_ANSWERED = 0.9, 0.2
NEAR_DIVERGENCES = 0.6
"""What a pure mechanism reaches of bounds that its divergences imply."""
ONLY_REPLACED = {"poisson binomial", "one poisson binomial"}
"""Kinds for which only the replacement of a record has a bound."""
NEVER_ADDED = {"randomized response", "projected sgd"} | ONLY_REPLACED
"""Kinds for which nothing bounds adding or removing a record."""
SETTINGS = tuple(itertools.product(get_args(Relation), get_args(Unit), get_args(Observer)))
Setting = tuple[Relation, Unit, Observer]

LEAVES: dict[str, Any] = {
    "gaussian": Gaussian(noise_multiplier=1.0),
    "gaussian mixture": GaussianMixture(
        sensitivities=(0.5, 1.0, 2.0), probabilities=(0.5, 0.25, 0.25), noise_multiplier=1.0
    ),
    "laplace": Laplace(scale_multiplier=1.0),
    "discrete laplace": DiscreteLaplace(decay_rate=LOG_ODDS, sensitivity=1),
    "truncated discrete laplace": TruncatedDiscreteLaplace(
        noise_levels=2, decay_rate=LOG_ODDS, dimension=1, l1_sensitivity=1.0, linf_sensitivity=1.0
    ),
    "randomized response": RandomizedResponse(epsilon=LOG_ODDS, categories=2),
    "pure": Approximate(epsilon=LOG_ODDS, delta=0.0),
    "approximate": Approximate(epsilon=LOG_ODDS, delta=0.125),
    "profile": DeclaredProfile(points=((LOG_ODDS, math.log10(0.125)),)),
    "zcdp": Zcdp(rho=0.5 * LOG_ODDS**2 * (1.0 + 1e-15)),
    "rdp": Rdp(orders=(1.5, 2.0, 4.0, 1e6), epsilons=(0.9, LOG_ODDS, LOG_ODDS, LOG_ODDS)),
    "discrete gaussian": DiscreteGaussian(scale=1.0, l2_sensitivity=1.0, dimension=1),
    "skellam": Skellam(variance=1.0, l1_sensitivity=1.0, l2_sensitivity=1.0, dimension=1),
    "poisson binomial": PoissonBinomial(trials=2, theta=0.25, dimension=1, clients=2),
    "one poisson binomial": PoissonBinomial(trials=2, theta=0.25, dimension=1),
    "exponential": Exponential(epsilon=LOG_ODDS),
    "permute and flip": PermuteAndFlip(epsilon=LOG_ODDS),
    "noisy max": ReportNoisyMax(epsilon=LOG_ODDS, noise="gumbel"),
    "projected sgd": ProjectedSgd(
        clients=2,
        participants=2,
        rounds=1,
        batches="cyclic",
        lipschitz=1.0,
        radius=1e6,
        step_schedule=Constant(value=1.0),
        noise_schedule=Constant(value=1.0),
    ),
}


def poisson(mechanism: Any, rate: float = 0.5, level: Any = None) -> Any:
    """Each record by a coin."""
    return Subsampled(sampling="poisson", rate=rate, level=level, mechanism=mechanism)


def fixed(taken: int, of: int, mechanism: Any, level: Any = None) -> Any:
    """A batch of fixed size."""
    return Subsampled(sampling="without-replacement", batch_size=taken, population=of, level=level, mechanism=mechanism)


def often(taken: int, of: int, mechanism: Any, level: Any = None) -> Any:
    """A batch drawn with replacement."""
    return Subsampled(sampling="with-replacement", batch_size=taken, population=of, level=level, mechanism=mechanism)


def truncated(most: int, of: int, mechanism: Any, rate: float = 0.5, level: Any = None) -> Any:
    """Each record by a coin, and no more than a number of them."""
    return Subsampled(
        sampling="poisson", rate=rate, largest_batch=most, population=of, level=level, mechanism=mechanism
    )


def full(mechanism: Any) -> Any:
    """Everyone."""
    return Subsampled(sampling="full", mechanism=mechanism)


Forms = dict[str, Callable[[], Any]]
"""Specs by name; some that no run can have."""


def single_draws(leaf: Any) -> Forms:
    """A mechanism bare, and drawn for once."""
    return {
        "bare": lambda: leaf,
        "full": lambda: full(leaf),
        "poisson": lambda: poisson(leaf),
        "nearly all": lambda: poisson(leaf, 0.9375),
        "one of two": lambda: fixed(1, 2, leaf),
        "two of two": lambda: fixed(2, 2, leaf),
        "two of three": lambda: fixed(2, 3, leaf),
        "two draws of two": lambda: often(2, 2, leaf),
        "one at most of two": lambda: truncated(1, 2, leaf),
        "one at most of three": lambda: truncated(1, 3, leaf, 0.75),
        "two at most of three": lambda: truncated(2, 3, leaf, 0.25),
        "two at most of two": lambda: truncated(2, 2, leaf),
        "one at most of two, all drawn": lambda: truncated(1, 2, leaf, 1.0),
        "one client at most of two": lambda: truncated(1, 2, leaf, level="clients"),
        "poisson clients": lambda: poisson(leaf, level="clients"),
        "one of two clients": lambda: fixed(1, 2, leaf, "clients"),
        "poisson records": lambda: poisson(leaf, level="records"),
        "one of two records": lambda: fixed(1, 2, leaf, "records"),
    }


def nested_draws(leaf: Any) -> Forms:
    """Draws of draws, in every level that may be said or left open."""
    found: Forms = {}
    for level in (None, "records", "clients"):
        found |= {
            f"poisson of poisson, {level}": lambda level=level: poisson(poisson(leaf), level=level),
            f"poisson of one of two, {level}": lambda level=level: poisson(fixed(1, 2, leaf), level=level),
            f"one of two of poisson, {level}": lambda level=level: fixed(1, 2, poisson(leaf, 0.9375), level),
            f"two of three of one of two, {level}": lambda level=level: fixed(2, 3, fixed(1, 2, leaf), level),
            f"two of three of two draws of two, {level}": lambda level=level: fixed(2, 3, often(2, 2, leaf), level),
        }
    return found | {
        "full of one of two": lambda: full(fixed(1, 2, leaf)),
        "one of two of full": lambda: fixed(1, 2, full(leaf)),
        "clients, then open": lambda: fixed(1, 2, poisson(poisson(leaf)), "clients"),
        "clients, then two draws of two": lambda: poisson(often(2, 2, leaf), 0.75, "clients"),
    }


def several(leaf: Any) -> Forms:
    """Repeated and listed, inside a batch and outside."""
    beside = LEAVES["gaussian"]
    return {
        "poisson twice": lambda: Repeated(times=2, mechanism=poisson(leaf)),
        "poisson of two": lambda: poisson(Repeated(times=2, mechanism=leaf)),
        "poisson beside a sum": lambda: poisson(Composed(mechanisms=(beside, leaf))),
        "one of two beside a sum": lambda: fixed(1, 2, Composed(mechanisms=(beside, leaf))),
        "poisson of a list of draws": lambda: poisson(Composed(mechanisms=(fixed(1, 2, leaf), beside))),
        "one of two of a list of draws": lambda: fixed(1, 2, Composed(mechanisms=(poisson(leaf), beside))),
    }


def shuffled(leaf: Any) -> Forms:
    """Reports whose order is mixed, of clients who are drawn and who draw."""
    return {
        "shuffled": lambda: Shuffled(clients=2, mechanism=leaf),
        "shuffled batches": lambda: Shuffled(clients=2, mechanism=poisson(leaf)),
        "one of two, shuffled": lambda: fixed(2, 3, Shuffled(clients=2, mechanism=leaf), "clients"),
    }


FEW = {
    "laplace",
    "truncated discrete laplace",
    "pure",
    "profile",
    "zcdp",
    "rdp",
    "discrete gaussian",
    "skellam",
    "permute and flip",
    "noisy max",
}
"""Kinds whose nested forms are as those of another."""


def specs(kind: str, *, whole: bool) -> Iterator[tuple[str, Any]]:
    """Form and spec of a kind; those that no run can have are left out."""
    forms = single_draws(LEAVES[kind])
    if whole or kind not in FEW:
        forms |= nested_draws(LEAVES[kind])
    if whole:
        forms |= several(LEAVES[kind])
    if whole or kind == "randomized response":
        forms |= shuffled(LEAVES[kind])
    for form, made in forms.items():
        try:
            yield form, made()
        except InvalidInput:
            continue


# Neighbours -----------------------------------------------------------------------------------------------------------
def worlds(relation: Relation, counts: tuple[int, ...]) -> Iterator[tuple[Batch, Batch]]:
    """Data that differ in one unit, at either end, among others that are all alike. With two counts, of two clients."""
    clients, records = (counts[0], counts[1]) if len(counts) == 2 else (1, counts[0])
    for others in ("-", "0", "+"):
        for client, place in {(0, 0), (clients - 1, records - 1)}:
            here = [[(f"{c}.{r}", others) for r in range(records)] for c in range(clients)]
            there = [list(one) for one in here]
            name = f"{client}.{place}"
            here[client][place] = (name, "+")
            if relation == "add-or-remove-one":
                del there[client][place]
            else:
                there[client][place] = (name, "z" if relation == "zero-out-one" else "-")
            yield _as_data(here, counts), _as_data(there, counts)


def _as_data(clients: list[list[Any]], counts: tuple[int, ...]) -> Batch:
    return tuple(clients[0]) if len(counts) == 1 else tuple((f"c{c}", tuple(held)) for c, held in enumerate(clients))


def shapes(spec: Any, levels: Levels, unit: Unit) -> tuple[tuple[int, ...], ...]:
    """How many units, or clients and records of each."""
    inside = any(part.kind == "shuffled" and draws_again(part) for part in everything(spec))
    if unit == "record" and (of_clients(levels) or inside):
        return ((1, 1), (2, 1), (2, 2), (3, 1))
    return ((1,), (2,), (3,))


def outputs(
    spec: Any, setting: Setting, declared: frozenset[str], number: Callable[[Any], Any]
) -> Iterator[tuple[str, Law, Law]]:
    """Instance and its laws on two neighbours, for every reading, in fractions or in doubles."""
    relation, unit, observer = setting
    choices = [tuple(KINDS[leaf.kind](leaf, relation)) for leaf in leaves(spec)]
    for turn in range(max(map(len, choices))):
        chosen = [instances[turn % len(instances)] for instances in choices]
        if any(instance.against & declared for instance in chosen):
            continue
        run = Run(dict(zip(leaves(spec), (one.law for one in chosen), strict=True)), unit, observer, number)
        for here, there, reading in _outputs(run, spec, setting):
            yield f"{' and '.join(one.name for one in chosen)}, {reading}", here, there


def divergences(here: Law, there: Law) -> FloatArray:
    """The larger of both orders at every γ, summed in doubles."""
    outcomes = here.keys() | there.keys()
    p, q = (np.asarray([float(law.get(outcome, 0)) for outcome in outcomes]) for law in (here, there))
    gamma = np.asarray([[float(one)] for one in GAMMAS])
    return np.maximum(np.maximum(p - gamma * q, 0.0).sum(axis=1), np.maximum(q - gamma * p, 0.0).sum(axis=1))


def _outputs(run: Run, spec: Any, setting: Setting) -> Iterator[tuple[Law, Law, Levels]]:
    relation, unit, _ = setting
    slack = int(relation == "add-or-remove-one")
    for levels in readings(spec, unit):
        for counts in shapes(spec, levels, unit):
            for here, there in worlds(relation, counts):
                try:
                    pair = [run.law(spec, levels, data, len(counts) == 2, slack) for data in (here, there)]
                except ImpossibleError:
                    continue
                yield pair[0], pair[1], levels


# The law --------------------------------------------------------------------------------------------------------------
@dataclass
class Found:
    """What was asked and answered, how near an instance came, and what exceeded its bound."""

    number: Callable[[Any], Any] = float
    asked: int = 0
    answered: int = 0
    nearest: dict[tuple[str, Relation], float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def check(self, kind: str, form: str, spec: Any, setting: Setting) -> None:
        """Compare every instance with the certified upper end, if there is one."""
        self.asked += 1
        guarantee = certified(spec, setting)
        if guarantee is None:
            return
        self.answered += 1
        upper = np.asarray([math.exp(guarantee.curve.log_delta(math.log(gamma)).upper) for gamma in GAMMAS])
        declared = frozenset(condition.id for condition in guarantee.declared)
        key = kind, setting[0]
        for name, here, there in outputs(spec, setting, declared, self.number):
            truth = divergences(here, there)
            over = np.flatnonzero(truth > upper * (1 + ROUNDING) + FLOOR)
            if over.size:
                at = over[0]
                where = f"{kind}, {form}, {setting}, {name}, γ = {GAMMAS[at]}"
                self.faults.append(f"{where}: {truth[at]} > {upper[at]}")
                return
            near = float(np.max(truth / np.maximum(upper, FLOOR), where=upper > FLOOR, initial=0.0))
            self.nearest[key] = max(self.nearest.get(key, 0.0), near)


def certified(spec: Any, setting: Setting) -> Guarantee | None:
    """What is answered; None where it is refused."""
    relation, unit, observer = setting
    try:
        return account(spec, relation=relation, unit=unit, observer=observer, effort="coarse").guarantee
    except NoCertificate:
        return None


def settings_of(kind: str, spec: Any, *, whole: bool) -> Iterator[Setting]:
    """All settings, or those that differ in what is seen of these draws."""
    mixed = any(part.kind == "shuffled" for part in everything(spec))
    for relation, unit, observer in SETTINGS:
        if kind == "projected sgd":
            told: tuple[str, ...] = ("final-model",)
        elif kind == "poisson binomial" and not whole:
            told = ("released-models", "other-clients")  # servers see messages, and not sums alone
        elif whole or mixed:
            told = get_args(Observer)
        else:
            told = ("server",) if unit == "record" else ("server", "released-models", "other-clients")
        if observer in told:
            yield relation, unit, observer


def hold(kind: str, *, whole: bool, number: Callable[[Any], Any]) -> None:
    """The law over a kind's forms and settings, and that it is not empty."""
    found = Found(number)
    for form, spec in specs(kind, whole=whole):
        for setting in settings_of(kind, spec, whole=whole):
            found.check(kind, form, spec, setting)
    assert not found.faults, "\n".join(found.faults)
    bounded = set(get_args(Relation)) - ({"add-or-remove-one"} if kind in NEVER_ADDED else set())
    bounded -= {"zero-out-one"} if kind in ONLY_REPLACED else set()
    assert {relation for _, relation in found.nearest} == bounded
    near = NEAR_DIVERGENCES if kind in ("zcdp", "rdp") else NEAR
    assert all(share > near for share in found.nearest.values()), found.nearest
    assert found.answered > LEAST_ANSWERED * found.asked


@pytest.mark.parametrize("kind", LEAVES)
def test_no_mechanism_that_the_words_admit_exceeds_its_certified_end(kind: str) -> None:
    hold(kind, whole=False, number=float)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEAVES)
def test_no_mechanism_exceeds_it_in_any_form_before_any_observer(kind: str) -> None:
    hold(kind, whole=True, number=float)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEAVES)
def test_none_exceeds_it_in_exact_fractions_either(kind: str) -> None:
    hold(kind, whole=False, number=Fraction)


RUN_AS_A_SUM = (
    # V1 and V2: what is not drawn is not counted, what is zeroed is.
    *[(poisson(LEAVES[kind], 0.125), "zero-out-one", "record") for kind in ("pure", "discrete laplace")],
    (poisson(LEAVES["truncated discrete laplace"], 0.125), "zero-out-one", "record"),
    (poisson(LEAVES["pure"], 0.125), "zero-out-one", "client"),
    # V4: reports in the order of the records.
    (fixed(2, 3, LEAVES["randomized response"]), "replace-one", "record"),
)


@pytest.mark.parametrize(("spec", "relation", "unit"), RUN_AS_A_SUM)
def test_instances_exceed_the_amplified_loss_and_not_the_thinned_one(spec: Any, relation: Relation, unit: Unit) -> None:
    """What amplification would claim, δ' = q δ(log(1 + (γ − 1)/q)), is below what some instance does."""
    setting: Setting = (relation, unit, "released-models")
    guarantee = certified(spec, setting)
    assert guarantee is not None
    whole = certified(spec.mechanism, setting)
    assert whole is not None
    rate, gamma = spec.inclusion_probability, 2.5
    found = [divergences(here, there) for _, here, there in outputs(spec, setting, frozenset(), float)]
    most = max(truth[GAMMAS.index(Fraction(5, 2))] for truth in found)
    claimed = rate * math.exp(whole.curve.log_delta(math.log1p((gamma - 1) / rate)).upper)
    assert claimed * 1.1 < most <= math.exp(guarantee.curve.log_delta(math.log(gamma)).upper) * (1 + ROUNDING)


UNDECIDED = (
    # V3: a fixed number of n or of n − 1 records, if records are what is drawn.
    (fixed(1, 2, poisson(LEAVES["gaussian"], 0.9375)), "add-or-remove-one", "record", "server"),
    (full(fixed(1, 2, LEAVES["gaussian"])), "add-or-remove-one", "client", "released-models"),
    (fixed(2, 2, LEAVES["gaussian"]), "add-or-remove-one", "record", "server"),
    (poisson(often(2, 2, LEAVES["gaussian"]), level="clients"), "zero-out-one", "client", "released-models"),
    # A fixed number of everyone's records, for a client that may be absent.
    (fixed(1, 2, LEAVES["gaussian"], level="records"), "add-or-remove-one", "client", "released-models"),
    # What needs a fixed number cannot be run on a batch of random size.
    (poisson(LEAVES["projected sgd"]), "zero-out-one", "record", "final-model"),
    (poisson(fixed(1, 2, LEAVES["gaussian"]), level="records"), "zero-out-one", "record", "server"),
)


@pytest.mark.parametrize(("spec", "relation", "unit", "observer"), UNDECIDED)
def test_what_no_valid_pair_covers_is_refused(spec: Any, relation: Relation, unit: Unit, observer: Observer) -> None:
    assert certified(spec, (relation, unit, observer)) is None
