"""Random bodies of /v1/accounts: every kind of spec, nested, over all magnitudes, with corners drawn on purpose."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from epsilond.accountants.quantities import Quantity, quantity_of
from epsilond.accountants.specs.mechanisms import Mechanism

Body = dict[str, Any]
Bodies = st.SearchStrategy[Body]


def magnitudes(low: float, high: float, *corners: float) -> st.SearchStrategy[float]:
    """Log-uniform on [low, high]; one in a few is a corner, the ends among them."""
    spread = st.floats(math.log(low), math.log(high)).map(lambda exponent: min(max(math.exp(exponent), low), high))
    return st.one_of(spread, spread, spread, st.sampled_from((low, high, *corners)))


def counts(low: int, high: int, *corners: int) -> st.SearchStrategy[int]:
    """Whole numbers, as `magnitudes`."""
    return magnitudes(low, high, *corners).map(round)


def bodies(**members: Any) -> Bodies:
    """An object; a member whose value is None is left out."""
    parts = {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in members.items()}
    return st.fixed_dictionaries(parts).map(lambda body: {name: it for name, it in body.items() if it is not None})


NOISES = magnitudes(0.05, 1e6, 1.0)
RATES = magnitudes(1e-9, 1.0, 1.0 - 1e-12)
EPSILONS = magnitudes(1e-9, 1e4, 1.0)
DELTAS = magnitudes(1e-300, 0.5, 1e-9)
TIMES = counts(1, 10**9, 2)
RELATIONS = st.sampled_from(("replace-one", "add-or-remove-one", "zero-out-one"))
UNITS = st.sampled_from(("record", "record", "client"))
LEVELS = st.sampled_from((None, None, "records", "clients"))


def any_body(spec: Any) -> Bodies:
    """Bodies of a kind of mechanism whose fields are numbers, within their ranges and near 1."""
    hints = get_type_hints(spec, include_extras=True)
    members = {field.name: quantity_of(hints[field.name]) for field in fields(spec) if field.name != "kind"}
    return bodies(kind=spec.kind, **{name: _any_number(*member) for name, member in members.items()})


def _any_number(bare: Any, quantity: Quantity) -> st.SearchStrategy[Any]:
    """Numbers of a quantity, between 0.01 and 100 where its range allows; or one of its words."""
    if bare is bool:
        return st.booleans()
    if get_origin(bare) is Literal:
        return st.sampled_from(get_args(bare))
    least, most = quantity.ge or quantity.gt or 0.0, quantity.le or quantity.lt or math.inf
    low, high = max(least, 0.01), min(most, 100.0)
    return counts(math.ceil(low), math.floor(high)) if bare is int else magnitudes(low, high)


GAUSSIAN = bodies(kind="gaussian", noise_multiplier=NOISES)
LAPLACE = bodies(kind="laplace", scale_multiplier=NOISES)
RESPONSE = bodies(kind="randomized_response", epsilon=magnitudes(1e-6, 50.0), categories=counts(2, 10**6, 3))
APPROXIMATE = bodies(kind="approximate", epsilon=EPSILONS, delta=st.one_of(st.just(0.0), DELTAS))
DISCRETE = bodies(kind="discrete_laplace", decay_rate=magnitudes(1e-6, 20.0), sensitivity=counts(1, 10**4))
TRUNCATED = bodies(
    kind="truncated_discrete_laplace",
    noise_levels=counts(1, 10**6),
    decay_rate=magnitudes(1e-4, 5.0),
    dimension=counts(1, 10**6),
    l1_sensitivity=magnitudes(0.5, 1e3, 1.0),
    linf_sensitivity=magnitudes(0.5, 1e2, 1.0),
    l2_sensitivity=st.none() | magnitudes(0.5, 1e3),
)


@st.composite
def mixtures(draw: st.DrawFn) -> Body:
    """Contributions of random size, zero among them, with probabilities that may be tiny."""
    sensitivities = draw(st.lists(st.just(0.0) | magnitudes(1e-3, 4.0, 1.0), min_size=1, max_size=4))
    weights = [draw(magnitudes(1e-9, 1.0)) for _ in sensitivities]
    probabilities = [weight / math.fsum(weights) for weight in weights]
    return {
        "kind": "gaussian_mixture",
        "sensitivities": sensitivities,
        "probabilities": probabilities,
        "noise_multiplier": draw(NOISES),
    }


GAUSSIAN_MIXTURE = mixtures()


@st.composite
def divergences(draw: st.DrawFn) -> Body:
    """Bounds on Rényi divergences: increasing orders, and any numbers."""
    orders = sorted(draw(st.sets(magnitudes(1.0001, 1e6), min_size=1, max_size=6)))
    return {"kind": "rdp", "orders": orders, "epsilons": [draw(magnitudes(1e-9, 1e4)) for _ in orders]}


def profile_points() -> st.SearchStrategy[list[list[float]]]:
    """Points of a privacy profile in the order of ε, with any δ."""
    places = st.sets(magnitudes(1e-6, 1e3, 0.0), min_size=1, max_size=6).map(sorted)
    logs = st.floats(-300.0, 0.0)
    return places.flatmap(lambda found: st.tuples(*(st.tuples(st.just(one), logs) for one in found))).map(
        lambda points: [list(point) for point in points]
    )


PROFILE = bodies(kind="profile", points=profile_points(), reverse=st.none() | profile_points())
DISCRETE_GAUSSIAN = bodies(
    kind="discrete_gaussian",
    scale=magnitudes(1e-3, 1e6, 1.0, 2.0**-20, 2.0**40),
    l2_sensitivity=magnitudes(0.5, 1e4, 1.0),
    dimension=counts(1, 10**6, 2),
)
SKELLAM = bodies(
    kind="skellam",
    variance=magnitudes(1e-3, 1e5, 1.0, 2.0**-20, 2.0**22),
    l1_sensitivity=magnitudes(0.5, 1e4, 1.0),
    l2_sensitivity=magnitudes(0.5, 1e3, 1.0),
    dimension=counts(1, 10**6, 2),
)
SPARSE_VECTOR = bodies(
    kind="sparse_vector",
    epsilon=magnitudes(1e-9, 1e3, 1.0),
    threshold_share=magnitudes(1e-3, 0.999),
    largest_answers=counts(1, 10**4),
    monotonic=st.booleans(),
)
POISSON_BINOMIAL = bodies(
    kind="poisson_binomial",
    trials=counts(1, 32, 1),
    theta=magnitudes(1e-4, 0.49, 0.25, 2.0**-20, 0.5 - 2.0**-20),
    dimension=counts(1, 10**6, 2),
    clients=counts(1, 100, 1),
)
NOISE_ON_SUMS = st.one_of(GAUSSIAN, GAUSSIAN, LAPLACE)
DRAWN = {
    "gaussian": GAUSSIAN,
    "laplace": LAPLACE,
    "discrete_laplace": DISCRETE,
    "truncated_discrete_laplace": TRUNCATED,
    "randomized_response": RESPONSE,
    "approximate": APPROXIMATE,
    "gaussian_mixture": GAUSSIAN_MIXTURE,
    "rdp": divergences(),
    "profile": PROFILE,
    "discrete_gaussian": DISCRETE_GAUSSIAN,
    "skellam": SKELLAM,
    "poisson_binomial": POISSON_BINOMIAL,
    "sparse_vector": SPARSE_VECTOR,
}
"""Bodies of the kinds whose fields go together, or reach far."""
MECHANISMS = {spec.kind: DRAWN[spec.kind] if spec.kind in DRAWN else any_body(spec) for spec in get_args(Mechanism)}
"""Bodies of every kind of mechanism."""
RELEASES = st.one_of(GAUSSIAN, *MECHANISMS.values())


@st.composite
def batches(draw: st.DrawFn) -> Body:
    """How a batch is drawn: a rate, or counts, of which one in a few is the whole population."""
    sampling = draw(st.sampled_from(("poisson", "poisson", "without-replacement", "with-replacement", "full")))
    level = draw(LEVELS)
    chosen = {"kind": "subsampled", "sampling": sampling} | ({"level": level} if level else {})
    if sampling == "full":
        return chosen
    if sampling != "with-replacement" and draw(st.booleans()):
        return chosen | {"rate": draw(RATES)}
    population = draw(counts(1, 10**9))
    most = population if sampling != "with-replacement" else 10**4
    batch_size = draw(st.one_of(counts(1, most), st.sampled_from((most, max(most - 1, 1)))))
    return chosen | {"batch_size": batch_size, "population": population}


@st.composite
def random_allocation(draw: st.DrawFn) -> Body:
    """A random allocation of a few or of many batches, with any mechanism or several of them."""
    one = st.one_of(GAUSSIAN, NOISE_ON_SUMS, RESPONSE, APPROXIMATE, DISCRETE, TRUNCATED, GAUSSIAN_MIXTURE, SKELLAM)
    several = st.one_of(composed(one), bodies(kind="repeated", times=counts(1, 20), mechanism=one))
    mechanism = draw(st.one_of(one, one, several))
    steps = draw(counts(1, 10**5 if mechanism["kind"] == "gaussian" else 100, 2))
    return {
        "kind": "random_allocation",
        "steps": steps,
        "times_chosen": draw(st.one_of(st.just(1), counts(1, min(steps, 1000)))),
        "kept": draw(st.booleans()),
        "epochs": draw(counts(1, 100)),
        "mechanism": mechanism,
    }


@st.composite
def shuffled_epochs(draw: st.DrawFn, mechanisms: Bodies) -> Body:
    """Epochs of a shuffled loader, with or without a remainder."""
    population = draw(counts(1, 10**7))
    counted = {"batch_size": draw(counts(1, population)), "population": population, "epochs": draw(counts(1, 10**4))}
    return {"kind": "subsampled", "sampling": "shuffled-epochs", **counted, "mechanism": draw(mechanisms)}


@st.composite
def sampled(draw: st.DrawFn, mechanisms: Bodies) -> Body:
    """A mechanism on a random batch."""
    return draw(batches()) | {"mechanism": draw(mechanisms)}


def repeated(mechanisms: Bodies) -> Bodies:
    """A mechanism many times."""
    return bodies(kind="repeated", times=TIMES, mechanism=mechanisms)


def selections(mechanisms: Bodies) -> Bodies:
    """The best of a random number of runs."""
    numbers = st.one_of(
        bodies(kind="poisson", mean=magnitudes(1e-3, 1e3)),
        bodies(kind="geometric", mean=magnitudes(1.0, 1e3)),
        bodies(kind="negative-binomial", mean=magnitudes(1.0, 1e3), shape=st.floats(-0.5, 10.0)),
    )
    return bodies(kind="select_best", mechanism=mechanisms, repetitions=numbers)


def composed(mechanisms: Bodies) -> Bodies:
    """A few mechanisms."""
    return bodies(kind="composed", mechanisms=st.lists(mechanisms, min_size=1, max_size=3))


def wider(mechanisms: Bodies) -> Bodies:
    """Whatever is made of other mechanisms."""
    return st.one_of(sampled(mechanisms), repeated(mechanisms), composed(mechanisms))


@st.composite
def shuffled(draw: st.DrawFn) -> Body:
    """Shuffled reports, the clients perhaps drawn, the rounds perhaps many."""
    clients = draw(counts(1, 10**9))
    dimension = draw(st.none() | counts(1, 10**6))
    local = draw(st.one_of(RELEASES, repeated(RELEASES), sampled(NOISE_ON_SUMS)))
    spec = {"kind": "shuffled", "clients": clients, "mechanism": local} | (
        {"dimension": dimension} if dimension else {}
    )
    if draw(st.booleans()):
        drawn = {"sampling": "without-replacement", "level": "clients", "batch_size": clients}
        spec = {"kind": "subsampled", **drawn, "population": draw(counts(clients, 10**10)), "mechanism": spec}
    return {"kind": "repeated", "times": draw(TIMES), "mechanism": spec} if draw(st.booleans()) else spec


SCHEDULES = st.one_of(
    bodies(kind="constant", value=magnitudes(1e-3, 1e3)), bodies(kind="inverse-time", scale=magnitudes(1e-3, 1e3))
)


@st.composite
def projected_sgd(draw: st.DrawFn) -> Body:
    """A hidden-state run."""
    clients = draw(counts(1, 10**6))
    release = draw(st.sampled_from(("last", "last", "random-stop", "suffix")))
    smoothness = draw(st.none() | magnitudes(1e-3, 1e3))
    members = {
        "clients": clients,
        "participants": draw(counts(1, clients)),
        "rounds": draw(st.none() | TIMES),
        "batches": draw(st.sampled_from(("shuffled", "cyclic", "without-replacement"))),
        "lipschitz": draw(magnitudes(1e-3, 1e3)),
        "radius": draw(magnitudes(1e-3, 1e3)),
        "smoothness": smoothness,
        "strong_convexity": draw(st.sampled_from((0.0, smoothness or 0.0, 0.1 * (smoothness or 0.0)))),
        "step_schedule": draw(SCHEDULES),
        "noise_schedule": draw(SCHEDULES),
        "release": release,
        "suffix_fraction": draw(magnitudes(1e-3, 1.0)) if release == "suffix" else None,
    }
    return {"kind": "projected_sgd"} | {name: value for name, value in members.items() if value is not None}


RUNS = repeated(st.one_of(GAUSSIAN, sampled(GAUSSIAN), sampled(NOISE_ON_SUMS), RESPONSE))
NESTED = st.recursive(RELEASES, wider, max_leaves=4)
OBSERVERS = st.sampled_from(("server", "shuffled-server", "released-models", "final-model", "other-clients"))


@st.composite
def problems(draw: st.DrawFn) -> Body:
    """A whole body: the spec in a setting that suits its kind more often than not, and the δ asked for."""
    spec, observer = draw(
        st.one_of(
            st.tuples(RUNS, st.just("server")),
            st.tuples(NESTED, st.one_of(st.just("server"), OBSERVERS)),
            st.tuples(shuffled(), st.one_of(st.just("shuffled-server"), OBSERVERS)),
            st.tuples(projected_sgd(), st.one_of(st.just("final-model"), OBSERVERS)),
            st.tuples(random_allocation(), st.one_of(st.just("released-models"), OBSERVERS)),
            st.tuples(shuffled_epochs(RELEASES), st.one_of(st.just("released-models"), OBSERVERS)),
        )
    )
    setting = {"relation": draw(RELATIONS), "unit": draw(UNITS), "observer": observer}
    return {"spec": spec, **setting, "query": {"delta": draw(DELTAS)}}
