"""What is asked all day: every algorithm's example, sweeps and pictures of it, a plan, and every kind of spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import epsilond
from benchmarks.costs import Ask, moved
from benchmarks.everyday_specs import SPECS, Body, Setting
from epsilond.calibrators.calibration import Calibrator

DELTA = 1e-6
YARDSTICK = "yardstick"
SWEPT, DRAWN = 200, 30
"""How many points a sweep and a picture have."""
EXAMPLES: Mapping[str, Body] = {one.name: one.example for one in epsilond.CALIBRATORS}
PLAN: Body = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "clients": 50,
    "participants": 25,
    "samples_per_client": 1000,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "relation": "replace-one",
    "unit": "record",
    "observers": ["server"],
    "trust": ["local"],
}
"""The example of /v1/plans."""


def changed(algorithm: str, *dropped: str, **given: Any) -> Body:
    """An algorithm's example with some fields given and others left out."""
    return {name: value for name, value in {**EXAMPLES[algorithm], **given}.items() if name not in dropped}


CLOSED: Mapping[str, Body] = {
    "gaussian": changed("gaussian", "rate", sampling="full"),
    "mb-sgd": changed("mb-sgd", "batch_size", sampling="full"),
    "mu2-sgd": changed("mu2-sgd", server="trusted", observer="released-models"),
    "ppsgd": changed("ppsgd", "participation_rate", sampling="full"),
    "qtdl": changed("qtdl", method="escape"),
}
"""Calibrations that the service counts as closed forms."""


@dataclass(frozen=True)
class Asked:
    """A question by its name; `points` is how many answers it gives, `group` the table it stands in."""

    group: str
    name: str
    ask: Ask
    points: int = 1


def calibration(algorithm: str, body: Body) -> Ask:
    """One calibration."""
    return lambda place: epsilond.calibrate(algorithm, **moved(body, place))


def swept(algorithm: str, count: int, body: Body | None = None, *, true_figures: bool = True) -> Ask:
    """A calibration at so many ε, at equal ratios from a tenth of the example's to ten times it.

    As the page draws them, without what is true at printed noise, unless `true_figures`.
    """
    given = EXAMPLES[algorithm] if body is None else body
    values = [given["epsilon"] * 10.0 ** (2.0 * index / max(1, count - 1) - 1.0) for index in range(count)]

    def ask(place: int) -> object:
        answers = epsilond.sweep(
            algorithm, "epsilon", moved(values, place, within=True), true_figures=true_figures, **moved(given, place)
        ).answers
        if all(each.error is not None for each in answers):
            raise RuntimeError("each point is refused")
        return answers

    return ask


def planned() -> Ask:
    """The example of plans: every algorithm that applies."""
    return lambda place: epsilond.plan(**moved(PLAN, place))


def epsilon_alone(setting: Setting) -> Ask:
    """ε at δ = 1e-6, and nothing else."""
    spec, relation, observer = setting

    def ask(place: int) -> object:
        account: Any = epsilond.account(moved(spec, place), relation=relation, observer=observer, unit="record")  # type: ignore[call-overload]
        return account.guarantee.curve.epsilon(delta=moved(DELTA, place, within=True))

    return ask


def whole(setting: Setting, epsilons: list[float] | None = None) -> Ask:
    """What `POST /v1/accounts` answers, with what it means to an attacker: at δ = 1e-6, or at these ε."""
    spec, relation, observer = setting

    def ask(place: int) -> object:
        query = {"delta": DELTA} if epsilons is None else {"epsilon": epsilons}
        asked = moved(query, place)
        return epsilond.account(moved(spec, place), relation=relation, observer=observer, unit="record", **asked)  # type: ignore[call-overload]

    return ask


def calibrations() -> Iterator[Asked]:
    """Every algorithm's example, and the closed forms."""
    for algorithm, body in EXAMPLES.items():
        yield Asked("example", algorithm, calibration(algorithm, body))
    for algorithm, body in CLOSED.items():
        yield Asked("closed form", algorithm, calibration(algorithm, body))


def pictures() -> Iterator[Asked]:
    """A picture and a sweep of every algorithm's example, and a plan."""
    yield Asked("plan", "plan", planned())
    for group, count in (("picture", DRAWN), ("sweep", SWEPT)):
        for algorithm in EXAMPLES:
            asked = swept(algorithm, count, true_figures=group == "sweep")
            yield Asked(group, algorithm, asked, count)


def accounts() -> Iterator[Asked]:
    """ε alone, and the whole account, of every spec."""
    for name, setting in SPECS.items():
        yield Asked("ε alone", name, epsilon_alone(setting))
        yield Asked("whole account", name, whole(setting))


def yardsticks() -> Iterator[Asked]:
    """Work that has nothing to do with this project: figures of two machines are compared by what it takes on each."""
    exponents = np.linspace(0.0, 1.0, 10**6)
    yield Asked(YARDSTICK, "a sum of a million squares in Python", lambda _: sum(each * each for each in range(10**6)))
    yield Asked(YARDSTICK, "a million exponentials by numpy", lambda _: np.exp(exponents))


def calibrated(algorithm: str) -> Calibrator:
    """The calibrator of this name."""
    return next(one for one in epsilond.CALIBRATORS if one.name == algorithm)


def everything() -> list[Asked]:
    """All, the quick groups first."""
    return [*yardsticks(), *calibrations(), *accounts(), *pictures()]


def short() -> list[Asked]:
    """A few that take milliseconds."""
    few = ("gaussian T=1", "poisson gaussian T=1000 (b1)")
    sweep = Asked("sweep", "gaussian", swept("gaussian", 3, CLOSED["gaussian"]), 3)
    chosen = [each for each in accounts() if each.name in few]
    return [*chosen, *(each for each in calibrations() if each.name == "gaussian"), sweep]
