"""How CPU grows with the size of a question: series of questions, and the exponent that fits each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import linear_regression

from benchmarks import everyday_specs as specs
from benchmarks.costs import Ask
from benchmarks.everyday_cases import CLOSED, EXAMPLES, calibration, changed, epsilon_alone, swept, whole
from benchmarks.everyday_specs import ADDED, SHUFFLER, Body, Setting, repeated

STEPS = tuple(10**power for power in range(2, 10))
FEW_STEPS = (1, 10, 100, 1000, 10_000)
PARTS = (1, 10, 100, 1000)
POINTS = (1, 10, 100, 1000)
SWEPT = {"gaussian": (1, 10, 100), "mb-sgd": (1, 10)}
COUNTS = (10**3, 10**6, 10**9, 10**12)
REPORTS = (10**3, 10**4, 10**6, 10**9)
GROUPS = (1, 10, 100)


@dataclass(frozen=True)
class Series:
    """One question at several sizes of what grows."""

    name: str
    grows: str
    sizes: Sequence[int]
    ask: Callable[[int], Ask]


def named(series: Series) -> str:
    """What its rows are called."""
    return f"{series.name}: {series.grows}"


def exponent(costs: Mapping[int, float]) -> float | None:
    """The slope of log CPU against log size by least squares; None of less than two sizes."""
    if len(costs) < 2:
        return None
    return linear_regression([math.log(size) for size in costs], [math.log(cpu) for cpu in costs.values()]).slope


def _steps(name: str, mechanism: Body, relation: str = "replace-one", observer: str = "server") -> Series:
    few = observer == SHUFFLER or mechanism.get("sampling") == "with-replacement"
    return Series(
        name,
        "steps",
        FEW_STEPS if few else STEPS,
        lambda times: epsilon_alone(Setting(repeated(times, mechanism), relation, observer)),
    )


def _parts(name: str, parts: Callable[[int], list[Body]], relation: str = ADDED) -> Series:
    return Series(name, "parts", PARTS, lambda count: epsilon_alone(Setting(specs.composed(parts(count)), relation)))


def _groups(count: int) -> Ask:
    groups = [{"clients": 50, "samples_per_client": 1000 + place} for place in range(count)]
    clients = {"clients": 50 * count, "participants": 50 * count}
    return calibration("mb-sgd", {**CLOSED["mb-sgd"], **clients, "client_groups": groups})


def series() -> Iterator[Series]:
    """With steps, different parts, points of a curve or sweep, groups, and clients or records."""
    yield _steps("poisson gaussian", specs.poisson(specs.GAUSSIAN), ADDED)
    yield _steps("laplace", specs.LAPLACE, ADDED)
    yield _steps("randomised response", specs.RESPONSE)
    yield _steps("discrete laplace", specs.DISCRETE)
    yield _steps("poisson laplace", specs.poisson(specs.LAPLACE), ADDED)
    yield _steps("without replacement", specs.batch(specs.GAUSSIAN))
    yield _steps("with replacement", specs.with_replacement(specs.GAUSSIAN))
    yield _steps("shuffled gaussian", specs.shuffled({"kind": "gaussian", "noise_multiplier": 5.0}), observer=SHUFFLER)
    yield _steps("shuffled randomised response", specs.shuffled(specs.RESPONSE), observer=SHUFFLER)
    yield _parts("poisson gaussian, a step each", specs.gaussians)
    yield _parts("poisson gaussian, 1000 steps in all", lambda count: specs.gaussians(count, 1000 // count))
    yield _parts("laplace", specs.laplaces)
    yield _parts("without replacement", specs.batches, "replace-one")
    yield Series(
        "account of b1", "points", POINTS, lambda n: whole(specs.B1, [2.0 * (1 + place / n) for place in range(n)])
    )
    for algorithm, sizes in SWEPT.items():
        yield Series(f"sweep of {algorithm}", "points", sizes, lambda n, name=algorithm: swept(name, n))  # type: ignore[misc]
    yield Series("mb-sgd, full batches", "groups", GROUPS, _groups)
    yield Series(
        "gaussian, without replacement",
        "records",
        COUNTS,
        lambda n: epsilon_alone(Setting(repeated(1000, specs.batch(specs.GAUSSIAN, n // 100, n)))),
    )
    yield Series(
        "shuffled randomised response T=1",
        "clients",
        REPORTS,
        lambda n: epsilon_alone(Setting(specs.shuffled(specs.RESPONSE, n), observer=SHUFFLER)),
    )
    yield Series(
        "shuffled gaussian T=1",
        "clients",
        REPORTS,
        lambda n: epsilon_alone(
            Setting(specs.shuffled({"kind": "gaussian", "noise_multiplier": 5.0}, n), observer=SHUFFLER)
        ),
    )
    yield Series("ppsgd", "clients", COUNTS, lambda n: calibration("ppsgd", {**EXAMPLES["ppsgd"], "clients": n}))
    yield Series("mb-sgd", "records", COUNTS, lambda n: calibration("mb-sgd", changed("mb-sgd", samples_per_client=n)))
