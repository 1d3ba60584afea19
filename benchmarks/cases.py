"""The questions: a run, and the requested number. Sampling is Poisson sampling.

The meaning of a case never changes; its id names it in the tables.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any, Literal

Relation = Literal["add-or-remove-one", "replace-one"]

STEPS = (10**3, 10**4, 10**5, 10**6)
DELTA = 1e-6


@dataclass(frozen=True)
class Part:
    """A mechanism that is run several times on Poisson samples of the records, as a part of a question.

    Attributes:
        rate: probability with which each record enters a run, in (0, 1].
        noise: amount of noise; None if the question asks for it. For a Gaussian it is the standard deviation over the
            sensitivity, and for Laplace noise the scale over the sensitivity. For a randomised response it is the
            probability that the answer is drawn at random from `categories`.
        times: number of runs.
        mechanism: kind of the mechanism.
        categories: number of possible answers of a randomised response.
    """

    rate: float
    noise: float | None
    times: int
    mechanism: Literal["gaussian", "laplace", "randomised response"] = "gaussian"
    categories: int = 2


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question to all accountants: ε, δ or the noise multiplier of a composition of mechanisms.

    Attributes:
        id: name of the question.
        group: name of the table that the question belongs to.
        question: the requested quantity.
        parts: the mechanisms that are composed.
        epsilon: given ε, in nats; None if ε is requested.
        delta: given δ; None if δ is requested.
        relation: neighbouring relation.
    """

    id: str
    group: str
    question: Literal["epsilon", "delta", "noise_multiplier"]
    parts: tuple[Part, ...]
    epsilon: float | None = None
    delta: float | None = None
    relation: Relation = "add-or-remove-one"

    def body(self) -> dict[str, Any]:
        """Return the question as the JSON object that the process of an accountant reads.

        Returns:
            The requested quantity, the given ε and δ, the relation, and each part as a list of its fields in order.
        """
        return {
            "question": self.question,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "parts": [list(astuple(part)) for part in self.parts],
        }


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
"""ε at which δ is near 1e-6, for each of STEPS, by rate and noise multiplier: the questions of δ(ε)."""
SMALL = ((1e-15, 4.85), (1e-30, 9.34), (1e-60, 18.1), (1e-300, 85.5))
"""δ, and an ε where δ is near it, for rate 0.01, noise multiplier 1, 1000 steps."""
CALIBRATED = (
    (1.0, 1e-6, 0.01, 1000),
    (8.0, 1e-5, 0.001, 100_000),
    (2.0, 1e-6, 0.01, 10_000),
    (4.0, 1e-5, 0.1, 1000),
    (1.0, 1e-9, 0.001, 10_000),
)
"""ε, δ, rate and steps."""
CORNERS = ((0.01, 0.5, 1, 1e-6), (0.001, 0.3, 10, 1e-6), (0.001, 0.4, 3, 1e-9), (1e-5, 0.3, 1000, 1e-6))
"""Rate, noise multiplier, steps and δ: few steps, or rare steps with a large loss."""
TEN = Part(1.0, 0.5, 10, "randomised response")
SIX = Part(1.0, 0.8, 6, "randomised response", categories=3)
TWINS = {
    ("ten randomised responses, repeated", "ten randomised responses, in a list"): TEN,
    ("six randomised responses of three answers, repeated", "six of three answers, in a list"): SIX,
}
"""Two ways to write one release, which is small enough to enumerate every outcome."""
LAPLACES = {"b=10 T=100": Part(1.0, 10.0, 100, "laplace"), "b=100 T=1e4": Part(1.0, 100.0, 10_000, "laplace")}
SHORT = {
    "poisson-b1": (0.01, 1.0, 1000, 1e-6),
    "poisson-b3": (0.001, 0.6, 100_000, 1e-6),
    "poisson-b1-delta-1e-12": (0.01, 1.0, 1000, 1e-12),
    "poisson-b1-delta-1e-30": (0.01, 1.0, 1000, 1e-30),
}
"""Rate, noise multiplier, steps and δ, by ids of tests/golden/accounting.json."""


def _epsilon(id: str, group: str, *parts: Part, delta: float = DELTA, relation: Relation = "add-or-remove-one") -> Case:  # noqa: A002
    return Case(id=id, group=group, question="epsilon", parts=parts, delta=delta, relation=relation)


def _delta(id: str, group: str, epsilon: float, *parts: Part) -> Case:  # noqa: A002
    return Case(id=id, group=group, question="delta", parts=parts, epsilon=epsilon)


def _noise(id: str, group: str, epsilon: float, delta: float, rate: float, times: int) -> Case:  # noqa: A002
    part = Part(rate, None, times)
    return Case(id=id, group=group, question="noise_multiplier", parts=(part,), epsilon=epsilon, delta=delta)


def mixture(n: int) -> tuple[Part, ...]:
    """Return n different subsampled Gaussian mechanisms, for a composition of about 1000 steps in all.

    Args:
        n: number of mechanisms, at least 2. Each has 1000 // n steps.

    Returns:
        The mechanisms, with rates from 0.005 to 0.015 and noise multipliers from 0.8 to 1.6, evenly spaced.
    """
    shares = [i / (n - 1) for i in range(n)]
    return tuple(Part(round(0.005 + 0.01 * share, 9), round(0.8 + 0.8 * share, 9), 1000 // n) for share in shares)


def forward() -> list[Case]:
    """Return ε(δ) and δ(ε) over the grid of 96 questions, few steps first."""
    cases = []
    for place, times in enumerate(STEPS):
        for (rate, noise), near in NEAR.items():
            part, name = Part(rate, noise, times), f"q={rate:g} z={noise:g} T={times:.0e}".replace("e+0", "e")
            cases += [_epsilon(f"ε {name}", "epsilon", part), _delta(f"δ {name}", "delta", near[place], part)]
    return cases


def calibrations() -> list[Case]:
    """Return the questions for a noise multiplier."""
    questions = []
    for epsilon, delta, rate, times in CALIBRATED:
        name = f"σ for ε={epsilon:g} δ={delta:.0e} q={rate:g} T={times:.0e}".replace("e+0", "e")
        questions.append(_noise(name, "calibration", epsilon, delta, rate, times))
    return questions


def plain() -> list[Case]:
    """Return the questions without sampling."""
    cases = []
    for (repeated, listed), part in TWINS.items():
        cases.append(_epsilon(repeated, "plain", part, relation="replace-one"))
        cases.append(_epsilon(listed, "plain", *(replace(part, times=1),) * part.times, relation="replace-one"))
    cases += [_epsilon(f"Laplace {name}", "plain", part) for name, part in LAPLACES.items()]
    return cases


def everything() -> list[Case]:
    """Return all questions of the benchmark, the quick groups first.

    Returns:
        Calibrations, small δ, runs with few steps, runs without sampling, compositions of different steps, and the
        grid.
    """
    cases = calibrations()
    # Very small δ, and ε at which δ is as small.
    b1 = Part(0.01, 1.0, 1000)
    for delta, epsilon in SMALL:
        cases.append(_epsilon(f"ε at δ={delta:.0e}", "small", b1, delta=delta))
        cases.append(_delta(f"δ at ε={epsilon:g}", "small", epsilon, b1))
    # Few steps, or rare steps with a large privacy loss.
    for rate, noise, times, delta in CORNERS:
        name = f"ε q={rate:g} z={noise:g} T={times} δ={delta:.0e}"
        cases.append(_epsilon(name, "corner", Part(rate, noise, times), delta=delta))
    cases += plain()
    cases += [_epsilon(f"{n} different", "different", *mixture(n)) for n in (10, 100, 1000)]
    return cases + forward()


def short() -> list[Case]:
    """Return a few questions with answers that are known to many digits."""
    cases = []
    for name, (rate, noise, times, delta) in SHORT.items():
        cases.append(_epsilon(name, "short", Part(rate, noise, times), delta=delta))
    cases.append(_noise("calibrate-1", "short", *CALIBRATED[0]))
    return cases
