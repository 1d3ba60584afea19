"""What one released model shows: the rules of `projected_sgd`, the least of them, and the laws themselves inside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.account import Account, account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.profiles.bound import BoundProfile
from epsilond.accountants.schedules import Constant, Explicit, InverseTime
from epsilond.accountants.specs import ProjectedSgd
from tests.oracles.contraction import Law, gradient_step, hockey_stick, run, theta

OURS = (
    "epsilond.hidden-is-composed",
    "asoodeh.2",
    "epsilond.projected-contraction",
    "epsilond.shifted-interpolation",
    "epsilond.shift-then-contract",
    "epsilond.sampled-shifted-interpolation",
)
BASE: dict[str, Any] = {
    "clients": 40,
    "participants": 4,
    "lipschitz": 1.0,
    "radius": 1.0,
    "smoothness": 1.0,
    "step_schedule": Constant(value=0.5),
    "noise_schedule": Constant(value=3.0),
}


def spec(**changes: Any) -> ProjectedSgd:
    return ProjectedSgd(**(BASE | changes))


def accounted(given: ProjectedSgd, relation: Any = "replace-one") -> Account:
    return account(given, relation=relation, observer="final-model")


def log_delta(given: ProjectedSgd, epsilon: float, relation: Any = "replace-one") -> float:
    return accounted(given, relation).guarantee.curve.log_delta(epsilon).upper


def gave(found: Account, epsilon: float) -> dict[str, float]:
    return {
        tried.theorem: tried.curve.log_delta(epsilon).upper
        for tried in found.considered
        if tried.curve is not None and tried.theorem in OURS
    }


def refused(found: Account) -> dict[str, str]:
    return {tried.theorem: tried.reason or "" for tried in found.considered if tried.applies == "no"}


# The laws themselves ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Instance:
    """A run on a line: quadratics of one curvature and slopes 1, but for the record's, which is 1 or −1."""

    changes: dict[str, Any]
    curvature: float
    start: float

    def laws(self, given: ProjectedSgd, slope: float) -> list[list[Law]]:
        """Per place of the record, the laws of the models that may be released."""
        sizes = given.step_schedule.at(1, given.steps)
        noises = given.noise_schedule.at(1, given.steps) / math.sqrt(given.participants)

        def maps(k: int, place: int | None) -> list[tuple[float, Any]]:
            mixed = 1.0 + (slope - 1.0) / given.participants
            drawn = gradient_step(sizes[k], self.curvature, mixed)
            absent = gradient_step(sizes[k], self.curvature, 1.0)
            if place is None:
                rate = given.participants / given.clients
                return [(rate, drawn), (1.0 - rate, absent)]
            return [(1.0, drawn if k % given.period == place else absent)]

        kinds: list[int | None] = [None] if given.batches == "without-replacement" else [*range(given.period)]
        found = []
        for place in kinds:
            steps = [(maps(k, place), float(sizes[k] * noises[k])) for k in range(given.steps)]
            stops = range(given.first_stop, given.steps + 1)
            found.append([run(given.radius, self.start, steps[:stop], nodes=80) for stop in stops])
        return found

    def truth(self, given: ProjectedSgd, epsilon: float) -> float:
        """E of what is released: of the mixture over secret places, or at the worst known one; the mean over stops."""
        first, second = self.laws(given, 1.0), self.laws(given, -1.0)
        stops = range(len(first[0]))
        if given.batches == "cyclic":
            return max(
                float(np.mean([hockey_stick([p[i]], [q[i]], epsilon) for i in stops]))
                for p, q in zip(first, second, strict=True)
            )
        return float(np.mean([hockey_stick([p[i] for p in first], [q[i] for q in second], epsilon) for i in stops]))


ONE = {"clients": 3, "participants": 1}
TWICE = {"clients": 2, "participants": 1, "rounds": 5}
FRESH = {"batches": "without-replacement", "rounds": 5}
LONG = {"lipschitz": 1.8, "smoothness": 0.8, "step_schedule": Constant(value=3.5)}
SMALL = {"clients": 4, "participants": 2, "radius": 0.2, "noise_schedule": Constant(value=1.0)}
FULL = {"clients": 1, "participants": 1, "rounds": 6, "lipschitz": 1.8, "strong_convexity": 0.8}
LISTED = {"clients": 4, "participants": 1, "noise_schedule": Explicit(values=(1.0, 4.0, 2.0, 3.0)), "batches": "cyclic"}
INSTANCES = {
    "one pass": Instance(ONE, 0.0, -1.0),
    "one pass, quadratic": Instance(ONE | {"lipschitz": 1.9, "strong_convexity": 0.9}, 0.9, 1.0),
    "known order": Instance(ONE | {"batches": "cyclic", "release": "random-stop"}, 0.0, 0.0),
    "random stop": Instance(ONE | {"release": "random-stop"}, 0.0, 1.0),
    "small ball": Instance(SMALL, 0.0, 0.2),
    "two passes": Instance(TWICE, 0.0, -1.0),
    "two passes, known": Instance(TWICE | {"batches": "cyclic"}, 0.0, -1.0),
    "full batches": Instance({"clients": 2, "participants": 2, "rounds": 6, "radius": 0.3}, 0.0, 0.3),
    "full, quadratic": Instance(FULL, 0.8, 0.0),
    "fresh batches": Instance(ONE | FRESH, 0.0, 0.0),
    "not convex": Instance(ONE | {"convex": False, "lipschitz": 1.7}, -0.7, -1.0),
    "long steps": Instance(ONE | LONG, 0.8, 0.0),
    "falling steps": Instance(ONE | {"step_schedule": InverseTime(scale=2.0)}, 0.0, -1.0),
    "listed noise": Instance(LISTED, 0.0, 1.0),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_the_laws_lie_inside_every_bound(name: str) -> None:
    instance = INSTANCES[name]
    given = spec(**instance.changes)
    found = accounted(given)
    for epsilon in (0.0, 0.3, 1.0):
        truth = instance.truth(given, epsilon)
        bounds = gave(found, epsilon)
        assert bounds
        assert truth <= math.exp(min(bounds.values())) * (1 + 1e-6) + 2e-6
        assert found.guarantee.curve.log_delta(epsilon).upper == pytest.approx(min(bounds.values()), abs=1e-8)


def test_the_oracles_nodes_are_enough() -> None:
    instance = INSTANCES["small ball"]
    given = spec(**instance.changes)
    coarse = instance.laws(given, 1.0)[0][-1]
    steps = [([(1.0, gradient_step(0.5, 0.0, 1.0))], 0.5 / math.sqrt(2))] * 2
    fine = run(0.2, 0.2, steps, nodes=160)
    assert coarse.atoms == pytest.approx(fine.atoms, rel=1e-12)
    assert sum(fine.atoms) + float(fine.points()[1][2:].sum()) == pytest.approx(1.0, abs=1e-13)


# Which rule applies, and which wins ---------------------------------------------------------------------------------
def test_every_rule_is_tried_and_says_what_it_gave() -> None:
    found = accounted(spec())
    assert {tried.theorem for tried in found.considered} == set(OURS)
    bounds = gave(found, 0.3)
    parts = (bounds["asoodeh.2"], bounds["epsilond.shifted-interpolation"])
    assert bounds["epsilond.shift-then-contract"] <= min(parts) + 1e-12
    assert max(parts) <= bounds["epsilond.hidden-is-composed"]
    reasons = refused(found)
    assert "diameter 2ρ" in reasons["epsilond.projected-contraction"]
    assert "not drawn afresh" in reasons["epsilond.sampled-shifted-interpolation"]


@pytest.mark.parametrize(
    ("changes", "winner"),
    [
        ({"radius": 0.05, "clients": 4000}, "asoodeh.2"),
        ({"strong_convexity": 0.5, "clients": 1000, "participants": 10}, "epsilond.shifted-interpolation"),
        ({"clients": 40_000}, "epsilond.shift-then-contract"),
        ({"batches": "cyclic"}, "epsilond.hidden-is-composed"),
        ({"convex": False}, "epsilond.projected-contraction"),
        ({"participants": 40, "rounds": 1000, "noise_schedule": Constant(value=9.0)}, "epsilond.shifted-interpolation"),
    ],
)
def test_the_derivation_names_the_winner(changes: dict[str, Any], winner: str) -> None:
    assert accounted(spec(**changes)).guarantee.derivation.theorem == winner


@pytest.mark.parametrize(
    ("changes", "theorem", "reason"),
    [
        ({"convex": False}, "asoodeh.2", "convex"),
        ({"smoothness": None}, "epsilond.shifted-interpolation", "Lipschitz constant"),
        ({"step_schedule": Constant(value=2.5)}, "asoodeh.2", "fails, 2.5 > 2"),
        ({"step_schedule": InverseTime(scale=2.5)}, "epsilond.shift-then-contract", "fails, 2.5 > 2"),
        ({"rounds": 11}, "asoodeh.2", "11 > 10"),
        ({"rounds": 11, "release": "random-stop"}, "epsilond.shifted-interpolation", "single pass"),
        (
            {"rounds": 11, "step_schedule": InverseTime(scale=1.0)},
            "epsilond.shifted-interpolation",
            "last model of a single pass",
        ),
        ({"participants": 40, "rounds": 9}, "epsilond.shift-then-contract", "no step is behind"),
        ({"batches": "without-replacement"}, "epsilond.shift-then-contract", "drawn|draws its batch afresh"),
        ({"batches": "without-replacement", "rounds": 3}, "epsilond.sampled-shifted-interpolation", "beat composing"),
        (
            {"batches": "without-replacement", "release": "random-stop"},
            "epsilond.sampled-shifted-interpolation",
            "equal steps",
        ),
    ],
)
def test_each_condition_refuses_with_its_reason(changes: dict[str, Any], theorem: str, reason: str) -> None:
    found = refused(accounted(spec(**changes)))[theorem]
    assert any(part in found for part in reason.split("|"))


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"relation": "add-or-remove-one", "observer": "final-model"}, "no valid pair is known"),
        ({"relation": "replace-one"}, "the released model only"),
    ],
)
def test_what_no_theorem_covers_is_refused(setting: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConditionViolated, match=reason):
        account(spec(), **setting)


def test_too_many_changing_steps_are_refused_before_they_are_made() -> None:
    long = spec(clients=10**9, participants=1, step_schedule=InverseTime(scale=1.0))
    with pytest.raises(ConditionViolated, match="1000000000 steps"):
        accounted(long)


def test_a_long_curve_of_changing_noise_is_refused() -> None:
    noise = InverseTime(scale=3e7)
    with pytest.raises(ConditionViolated, match="more than 1000000"):
        accounted(spec(clients=10**7, participants=1, noise_schedule=noise))


LONG_RUNS: dict[str, dict[str, Any]] = {
    "falling steps": {"clients": 10**7, "step_schedule": InverseTime(scale=1.9)},
    "falling noise": {"clients": 10**5, "noise_schedule": InverseTime(scale=3e5)},
    "random stop": {"clients": 10**5, "step_schedule": InverseTime(scale=1.9), "release": "random-stop"},
}


@pytest.mark.parametrize("name", LONG_RUNS)
def test_the_epsilon_of_a_long_run_takes_few_evaluations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    log_bound = BoundProfile.log_delta

    def counted(self: BoundProfile, epsilon: Any) -> Any:
        new = [point for point in np.asarray(epsilon).ravel() if float(point) not in self._known]
        asked.extend(map(float, new))
        return log_bound(self, epsilon)

    monkeypatch.setattr(BoundProfile, "log_delta", counted)
    curve = accounted(spec(participants=1, **LONG_RUNS[name])).guarantee.curve
    profiles = max(len(curve.upper.alternatives), 1)
    before = len(asked)
    target = 0.5 * curve.bound_log_delta(0.3).upper + 0.5 * curve.bound_log_delta(0.6).upper
    found = curve.bound_epsilon(target)
    assert len(asked) - before <= 20 * profiles
    assert curve.bound_log_delta(found.upper).upper <= target < curve.bound_log_delta(found.lower).lower
    assert found.upper - found.lower <= 1e-5 * found.upper


def test_what_is_declared_stands_in_the_guarantee() -> None:
    secret = {condition.id for condition in accounted(spec(clients=40_000)).guarantee.declared}
    assert {"lipschitz-losses", "convex-losses", "smooth-losses", "projected", "fresh-noise", "secret-order"} <= secret
    known = {condition.id for condition in accounted(spec(batches="cyclic", rounds=50)).guarantee.declared}
    assert "fixed-order" in known
    assert "secret-order" not in known


# Laws ---------------------------------------------------------------------------------------------------------------
SHAPES: dict[str, dict[str, Any]] = {
    "one pass": {"clients": 400},
    "strongly convex": {"strong_convexity": 0.3, "clients": 400},
    "passes": {"rounds": 57},
    "known": {"rounds": 57, "batches": "cyclic"},
    "stops": {"clients": 400, "release": "random-stop"},
    "falling": {"step_schedule": InverseTime(scale=1.5)},
    "full": {"participants": 40, "rounds": 300},
    "any": {"smoothness": None},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_delta_falls_with_noise_and_rises_with_radius_and_rounds(shape: str) -> None:
    changes = SHAPES[shape]
    for epsilon in (0.0, 0.4):
        here = log_delta(spec(**changes), epsilon)
        assert log_delta(spec(**changes, noise_schedule=Constant(value=3.1)), epsilon) < here
        assert log_delta(spec(**changes, radius=2.0), epsilon) >= here - 1e-12
        assert log_delta(spec(**changes), epsilon + 0.1) < here
        assert log_delta(spec(**changes), epsilon, "zero-out-one") < here
    if "rounds" in changes:
        longer = log_delta(spec(**(changes | {"rounds": changes["rounds"] + changes["rounds"]})), 0.4)
        assert longer >= log_delta(spec(**changes), 0.4) - 1e-12


@pytest.mark.parametrize("shape", ["one pass", "strongly convex"])
def test_a_known_order_is_never_safer_than_a_secret_one(shape: str) -> None:
    for release in ({}, {"release": "random-stop"}, {"release": "suffix", "suffix_fraction": 0.3}):
        secret, known = (
            log_delta(spec(**SHAPES[shape], **release, batches=batches), 0.2) for batches in ("shuffled", "cyclic")
        )
        assert secret <= known


def test_scaling_length_and_gradients_changes_nothing() -> None:
    here = log_delta(spec(), 0.3)
    longer = spec(radius=10.0, step_schedule=Constant(value=5.0), smoothness=0.1)
    louder = {"lipschitz": 7.0, "noise_schedule": Constant(value=21.0), "step_schedule": Constant(value=0.5 / 7)}
    assert log_delta(longer, 0.3) == pytest.approx(here, abs=1e-11)
    assert log_delta(spec(**louder, smoothness=7.0), 0.3) == pytest.approx(here, abs=1e-11)


def test_one_step_is_the_gaussian_mechanism_whatever_the_rule() -> None:
    found = accounted(spec(clients=4, participants=4))
    expected = math.log(theta(0.3, 2.0 / (2.0 * 3.0)))
    for bound in gave(found, 0.3).values():
        assert bound == pytest.approx(expected, abs=1e-9)


def test_a_run_shorter_than_a_pass_leaves_most_records_out() -> None:
    half, whole = (log_delta(spec(rounds=rounds, radius=100.0), 3.0) for rounds in (5, 10))
    assert half == pytest.approx(whole, abs=1e-3)  # δ of the last places dominates
    assert log_delta(spec(clients=80), 3.0) == pytest.approx(whole - math.log(2), abs=1e-2)


# The spec -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 41}, "/participants"),
        ({"strong_convexity": 1.5}, "/strong_convexity"),
        ({"strong_convexity": 0.5, "convex": False}, "/strong_convexity"),
        ({"release": "suffix"}, "/suffix_fraction"),
        ({"suffix_fraction": 0.5}, "/suffix_fraction"),
        ({"step_schedule": Explicit(values=(0.5,) * 9)}, "/step_schedule/values"),
        ({"rounds": 3, "noise_schedule": Explicit(values=(0.5,) * 10)}, "/noise_schedule/values"),
        ({"radius": 0.0}, "/radius"),
    ],
)
def test_runs_that_cannot_be(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        spec(**changes)
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.parametrize("values", [(), (0.0,), (1.0, math.nan), (math.inf,), ("x",), (True,)])
def test_schedules_that_cannot_be(values: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidInput):
        Explicit(values=values)


def test_schedules_say_what_they_are() -> None:
    assert InverseTime(scale=6.0).at(2, 4).tolist() == [3.0, 2.0, 1.5]
    assert InverseTime(scale=6.0).constant is None
    assert Explicit(values=(2.0, 2.0)).constant == 2.0
    assert Explicit(values=(2.0, 1.0)).constant is None
    assert Explicit(values=(2.0, 1.0)).least(1) == 2.0
    assert Constant(value=2.0).at(3, 4).tolist() == [2.0, 2.0]


def test_the_suffix_begins_where_its_decimal_says() -> None:
    fractions = (0.1, 0.3, 0.7, 0.71, 1e-9)
    assert [spec(release="suffix", suffix_fraction=a).first_stop for a in fractions] == [1, 3, 7, 8, 1]
    assert spec(release="random-stop").first_stop == 1
    assert spec().first_stop == spec().steps == spec().period == 10
