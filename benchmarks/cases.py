"""The questions: what was run, and which number is asked of it. Sampling is Poisson's.

A case's meaning never changes; its id names it in the tables. The ε asked about in the grid of δ(ε) are those where δ
is near 1e-6, and were written down once, so that the questions do not depend on anybody's answers.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, Literal

Question = Literal["epsilon", "delta", "noise_multiplier"]
Mechanism = Literal["gaussian", "laplace", "randomised response"]
Relation = Literal["add-or-remove-one", "replace-one"]

STEPS = (10**3, 10**4, 10**5, 10**6)
DELTA = 1e-6


@dataclass(frozen=True)
class Part:
    """A mechanism run `times` times, on each record with probability `rate`; noise is None where it is what is asked.

    The noise of a Gaussian is its deviation over the sensitivity, of a Laplace its scale over the sensitivity, and of a
    randomised response the probability that the answer is drawn at random from `categories`.
    """

    rate: float
    noise: float | None
    times: int
    mechanism: Mechanism = "gaussian"
    categories: int = 2


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question. `group` is the table it stands in."""

    id: str
    group: str
    question: Question
    parts: tuple[Part, ...]
    epsilon: float | None = None
    delta: float | None = None
    relation: Relation = "add-or-remove-one"

    def body(self) -> dict[str, Any]:
        """What a runner is sent."""
        return {
            "question": self.question,
            "parts": [list(astuple(part)) for part in self.parts],
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
        }

    @property
    def fingerprint(self) -> str:
        """Changes when the question does."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def harder_than(self, other: Case) -> bool:
        """Whether this takes at least as long: one mechanism, the same but for as many steps or more."""
        if len(self.parts) != 1 or len(other.parts) != 1 or "noise_multiplier" in (self.question, other.question):
            return False
        (mine,), (theirs,) = self.parts, other.parts
        same = (mine.rate, mine.noise, mine.mechanism) == (theirs.rate, theirs.noise, theirs.mechanism)
        return same and mine.times >= theirs.times and (self.delta or DELTA) <= (other.delta or DELTA)


NEAR: dict[tuple[float, float], tuple[float, float, float, float]] = {
    (0.001, 0.6): (2.11, 3.15, 6.96, 25.5),
    (0.001, 1.0): (0.186, 0.555, 1.86, 6.69),
    (0.001, 2.0): (0.0611, 0.205, 0.697, 2.42),
    (0.001, 5.0): (0.0210, 0.0720, 0.246, 0.844),
    (0.01, 0.6): (8.71, 25.4, 115.0, 750.0),
    (0.01, 1.0): (2.12, 6.91, 27.7, 145.0),
    (0.01, 2.0): (0.721, 2.45, 8.98, 38.8),
    (0.01, 5.0): (0.249, 0.847, 2.96, 11.1),
    (0.1, 0.6): (84.7, 478.0, 3710.0, 33800.0),
    (0.1, 1.0): (27.6, 135.0, 920.0, 7870.0),
    (0.1, 2.0): (9.18, 38.7, 218.0, 1630.0),
    (0.1, 5.0): (2.99, 11.2, 50.0, 298.0),
}
"""The ε of the grid of δ(ε), one for each of STEPS."""

SMALL = ((1e-15, 4.85), (1e-30, 9.34), (1e-60, 18.1), (1e-300, 85.5))
"""δ, and an ε where δ is near it, for rate 0.01, noise multiplier 1, 1000 steps."""


def forward() -> list[Case]:
    """ε(δ) and δ(ε) over the grid, few steps first."""
    found: list[Case] = []
    for place, times in enumerate(STEPS):
        for (rate, noise), near in NEAR.items():
            parts, name = (Part(rate, noise, times),), f"q={rate:g} z={noise:g} T={times:.0e}".replace("e+0", "e")
            found.append(Case(id=f"ε {name}", group="epsilon", question="epsilon", parts=parts, delta=DELTA))
            found.append(Case(id=f"δ {name}", group="delta", question="delta", parts=parts, epsilon=near[place]))
    return found


def small() -> list[Case]:
    """ε at tiny δ, and δ where it is tiny."""
    parts = (Part(0.01, 1.0, 1000),)
    return [
        case
        for delta, epsilon in SMALL
        for case in (
            Case(id=f"ε at δ={delta:.0e}", group="small", question="epsilon", parts=parts, delta=delta),
            Case(id=f"δ at ε={epsilon:g}", group="small", question="delta", parts=parts, epsilon=epsilon),
        )
    ]


def different() -> list[Case]:
    """ε of n different mechanisms, a thousand steps in all."""
    return [
        Case(id=f"{n} different", group="different", question="epsilon", parts=mixture(n), delta=DELTA)
        for n in (10, 100, 1000)
    ]


def mixture(n: int) -> tuple[Part, ...]:
    """Rates from 0.005 to 0.015 and noise multipliers from 0.8 to 1.6, no two parts alike."""
    return tuple(
        Part(round(0.005 + 0.01 * i / (n - 1), 9), round(0.8 + 0.8 * i / (n - 1), 9), 1000 // n) for i in range(n)
    )


def calibrations() -> list[Case]:
    """The noise multiplier for (ε, δ), rate and steps."""
    asked = (
        (1.0, 1e-6, 0.01, 1000),
        (8.0, 1e-5, 0.001, 100_000),
        (2.0, 1e-6, 0.01, 10_000),
        (4.0, 1e-5, 0.1, 1000),
        (1.0, 1e-9, 0.001, 10_000),
    )
    return [
        Case(
            id=f"σ for ε={epsilon:g} δ={delta:.0e} q={rate:g} T={times:.0e}".replace("e+0", "e"),
            group="calibration",
            question="noise_multiplier",
            parts=(Part(rate, None, times),),
            epsilon=epsilon,
            delta=delta,
        )
        for epsilon, delta, rate, times in asked
    ]


TEN = Part(1.0, 0.5, 10, "randomised response")
SIX = Part(1.0, 0.8, 6, "randomised response", categories=3)
TWINS = {
    ("ten randomised responses, repeated", "ten randomised responses, in a list"): TEN,
    ("six randomised responses of three answers, repeated", "six of three answers, in a list"): SIX,
}
"""Two ways to write down one release, which is small enough to enumerate: whoever answers otherwise is wrong."""


def corners() -> list[Case]:
    """Few steps, or steps that rarely matter but then much: a loss distribution with a far, thin tail."""
    asked = ((0.01, 0.5, 1, 1e-6), (0.001, 0.3, 10, 1e-6), (0.001, 0.4, 3, 1e-9), (1e-5, 0.3, 1000, 1e-6))
    return [
        Case(
            id=f"ε q={rate:g} z={noise:g} T={times} δ={delta:.0e}",
            group="corner",
            question="epsilon",
            parts=(Part(rate, noise, times),),
            delta=delta,
        )
        for rate, noise, times, delta in asked
    ]


def plain() -> list[Case]:
    """Without sampling: randomised responses, repeated and in a list, and composed Laplace mechanisms."""
    written: list[tuple[str, tuple[Part, ...], Relation]] = []
    for (repeated, listed), part in TWINS.items():
        written.append((repeated, (part,), "replace-one"))
        written.append((listed, (replace(part, times=1),) * part.times, "replace-one"))
    asked: tuple[tuple[str, tuple[Part, ...], Relation], ...] = (
        *written,
        ("Laplace b=10 T=100", (Part(1.0, 10.0, 100, "laplace"),), "add-or-remove-one"),
        ("Laplace b=100 T=1e4", (Part(1.0, 100.0, 10_000, "laplace"),), "add-or-remove-one"),
    )
    return [
        Case(id=name, group="plain", question="epsilon", parts=parts, delta=DELTA, relation=relation)
        for name, parts, relation in asked
    ]


def everything() -> list[Case]:
    """All questions, the quick groups first."""
    return [*calibrations(), *small(), *corners(), *plain(), *different(), *forward()]


def short() -> list[Case]:
    """A few whose answers are known to many digits; the ids are those of tests/golden/accounting.json."""
    asked = (("poisson-b1", 0.01, 1.0, 1000, 1e-6), ("poisson-b3", 0.001, 0.6, 100_000, 1e-6))
    deeper = (("poisson-b1-delta-1e-12", 0.01, 1.0, 1000, 1e-12), ("poisson-b1-delta-1e-30", 0.01, 1.0, 1000, 1e-30))
    found = [
        Case(id=name, group="short", question="epsilon", parts=(Part(rate, noise, times),), delta=delta)
        for name, rate, noise, times, delta in (*asked, *deeper)
    ]
    target = Case(
        id="calibrate-1",
        group="short",
        question="noise_multiplier",
        parts=(Part(0.01, None, 1000),),
        epsilon=1.0,
        delta=1e-6,
    )
    return [*found, target]
