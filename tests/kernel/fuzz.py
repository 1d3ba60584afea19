"""Ask the kernel random and hostile questions: python -m tests.kernel.fuzz MODULE COMPOSITIONS [SEED]

MODULE is the file of an extension module, which a test builds with the compiler's sanitizers. The program ends with an
error where an answer is not an enclosure; a sanitizer ends it where the kernel does what C does not define.
"""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

HOSTILE = (0.0, -0.0, 1.0, -1.0, 5e-324, 2.3e-308, 1e-300, 1e-100, 1e-16, 1e16, 1e100, 1e308, 1.8e308, -1e308, math.nan)
"""Zero, the smallest and largest doubles, infinity, what is not a number, and what is near a limit of the kernel."""


def module_of(path: Path) -> ModuleType:
    """Load an extension module from its file."""
    spec = importlib.util.spec_from_file_location("_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def number(generator: random.Random, low: float, high: float) -> float:
    """A number of any magnitude in a range, and sometimes one that is hostile."""
    if generator.random() < 0.03:
        return generator.choice((*HOSTILE, math.inf, -math.inf))
    return math.exp(generator.uniform(math.log(low), math.log(high)))


def composition(generator: random.Random, module: ModuleType) -> Any | None:
    """A random composition; None where the kernel refuses the numbers."""
    if generator.random() < 0.15:
        return module.Composition((rare_steps(generator),), 0.0, ())
    steps: tuple[tuple[Any, ...], ...] = tuple(
        (number(generator, 1e-12, 1.0), number(generator, 1e-3, 30.0), generator.randrange(4), whole(generator))
        for _ in range(generator.choice((0, 1, 1, 1, 2, 5, 40)))
    )
    if generator.random() < 0.3:
        steps = (*steps, mixture(generator))
    laplace = tuple((number(generator, 1e-4, 20.0), whole(generator)) for _ in range(generator.choice((0, 0, 0, 1, 3))))
    square = 0.0 if generator.random() < 0.6 else number(generator, 1e-6, 1e3)
    try:
        return module.Composition(steps, square, laplace)
    except (ValueError, OverflowError):
        return None


def mixture(generator: random.Random) -> tuple[float, float, int, float, tuple[float, ...], tuple[float, ...]]:
    """Steps of several components, in any order and direction."""
    size, order = generator.choice((1, 2, 3, 8, 64, 65)), generator.randrange(4)
    shifts = sorted(number(generator, 1e-3, 10.0) for _ in range(size))
    if generator.random() < 0.5:
        shifts[0] = 0.0
    weights = [number(generator, 1e-12, 1.0) for _ in range(size)]
    total = math.fsum(weights)
    shares = tuple(weight / total if total else weight for weight in weights)
    return number(generator, 1e-9, 1.0), 1.0, order, whole(generator), tuple(shifts), shares


def rare_steps(generator: random.Random) -> tuple[float, float, int, float]:
    """A short run of rare steps."""
    rate, shift = 10.0 ** generator.uniform(-7.0, -0.5), 10.0 ** generator.uniform(-1.0, 1.0)
    return rate, shift, 0, float(generator.choice((1, 2, 3, 7, 20, 60, 64, 65, 300, 1024)))


def whole(generator: random.Random) -> float:
    """How often a part is run."""
    count = number(generator, 1.0, 1e12)
    return float(round(count)) if math.isfinite(count) and count < 1e15 else count


def check_ends(found: tuple[float, float, float] | str | None, most: float) -> None:
    """Demand ends in order, below the largest value, and no NaN."""
    if isinstance(found, tuple):
        lower, upper, width = found
        assert lower <= upper <= most, found
        assert width >= 0.0, found


def ask(generator: random.Random, composed: Any) -> int:
    """Ask each question once; answers how many were answered."""
    log_delta = -number(generator, 1e-3, 700.0)
    slack = 0.0 if generator.random() < 0.7 else number(generator, 1e-12, 1e-3)
    solved = composed.epsilon(log_delta, slack)
    check_ends(solved, math.inf)
    near = solved[1] if isinstance(solved, tuple) else number(generator, 1e-6, 1e3)
    epsilon = near * generator.choice((1.0, 0.5, 2.0, -1.0, number(generator, 0.1, 10.0)))
    there = composed.log_delta(epsilon)
    check_ends(there, 0.0)
    bound = composed.upper_log_delta(epsilon)
    assert bound is None or bound <= 0.0
    assert bound is None or not isinstance(there, tuple) or there[0] <= bound + 1e-9
    test = composed.threshold(-number(generator, 1e-3, 300.0))
    assert not isinstance(test, tuple) or all(map(math.isfinite, test))
    rates = tuple(number(generator, 1e-9, 1.0) for _ in range(generator.choice((1, 3))))
    best = composed.best_tests(rates, generator.choice((0.0, 1e-14)))
    for rate, each in zip(rates, best[0], strict=True) if best is not None else ():
        assert each is None or rate * (1.0 - 1e-12) <= each[0] <= each[1] <= 1.0, (rate, each)
    nearby = tuple(epsilon + number(generator, 1e-3, 1.0) for _ in range(3))
    bounds = composed.upper_log_deltas((epsilon, *nearby))
    assert bounds is None or not isinstance(there, tuple) or there[0] <= bounds[0] + 1e-9
    assert bounds is None or max(bounds) <= 0.0
    return sum(each is not None and not isinstance(each, str) for each in (solved, there, bound, test, best, bounds))


def main(path: str, compositions: str, seed: str = "0") -> None:
    """Ask about so many compositions, and print how many questions were asked and answered."""
    module, generator = module_of(Path(path)), random.Random(int(seed))
    asked = answered = 0
    for _ in range(int(compositions)):
        if (composed := composition(generator, module)) is not None:
            asked += 6
            answered += ask(generator, composed)
    print(asked, answered)


if __name__ == "__main__":
    main(*sys.argv[1:])
