"""The compiled kernel beside the Python path: the same certified answers, and None for what it cannot do."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import epsilond
from epsilond.accountants.composition.run_search import search_run
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import Direction, GaussianLaw, LaplaceLaw, Law, SampledGaussianLaw
from epsilond.accountants.engine import exact, kernel
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.refusal import ContourRefused
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.numerics import compiled as compiled_kernel
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.target import Target
from epsilond.app.settings import unknown_variables
from tests.engine.pairs import poisson
from tests.kernel.conftest import NAME
from tests.oracles.contour import Step, by_contour, one_step, two_steps
from tests.oracles.golden import cases

DIRECTIONS: tuple[Direction, ...] = ("remove", "add", "replace")
GOLDEN = cases("accounting")
SMALL = 2.5e-8
"""A width of δ below which the kernel looks no further; where the two go different ways, widths below it may differ."""
WIDEST = 1e-4
"""The widest that the kernel answers, relative to δ."""


Laws = Sequence[tuple[Law, int]]


def laws_of(rate: float, noise_multiplier: float, rounds: int, direction: str) -> Laws:
    return ((SampledGaussianLaw(rate, 1.0 / noise_multiplier, direction), rounds),)


def sum_of(module: ModuleType, laws: Laws) -> Any:
    """The composition in the kernel that was built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "load_kernel", lambda: module.Composition)
        composed = kernel._compiled_sum.__wrapped__(tuple(laws))
    assert composed is not None
    return composed


def width(ends: Interval) -> float:
    return 0.0 if ends.lower == ends.upper else ends.upper - ends.lower


def meet(first: Interval, second: Interval) -> bool:
    return first.lower <= second.upper and second.lower <= first.upper


def drawn(seed: int, number: int) -> Iterator[tuple[Laws, float, random.Random]]:
    """Compositions and log δ over all magnitudes that are asked."""
    generator = random.Random(seed)

    def magnitude(low: float, high: float) -> float:
        return math.exp(generator.uniform(math.log(low), math.log(high)))

    for _ in range(number):
        given = magnitude(1e-6, 0.5), magnitude(0.3, 30.0), round(magnitude(1.0, 1e9)), generator.choice(DIRECTIONS)
        log_delta = -generator.choice((magnitude(2.4, 690.0), generator.uniform(2.4, 690.0)))
        yield laws_of(*given), log_delta, generator


def rare(seed: int, number: int) -> Iterator[tuple[Laws, float, random.Random]]:
    """Compositions in which few steps matter."""
    generator = random.Random(seed)
    for _ in range(number):
        rate, noise_multiplier, rounds = (
            math.exp(generator.uniform(math.log(low), math.log(high)))
            for low, high in ((1e-5, 0.05), (0.5, 12.0), (3.0, 1e6))
        )
        laws = laws_of(rate, noise_multiplier, round(rounds), generator.choice(("remove", "remove", "replace")))
        yield laws, -generator.uniform(5.0, 60.0), generator


def compare(module: ModuleType, questions: Iterator[tuple[Laws, float, random.Random]]) -> int:
    """How many of the questions both answer, and that they agree."""
    both = 0
    for laws, log_delta, generator in questions:
        steps = sum_of(module, laws)
        answer = steps.epsilon(log_delta, 0.0)
        if not isinstance(answer, tuple):
            continue
        assert answer[2] <= WIDEST
        found = Interval(*answer[:2])
        assert 0.0 <= found.lower <= found.upper < math.inf
        epsilon = generator.choice((found.upper, found.upper * generator.uniform(0.5, 1.5)))
        there = steps.log_delta(epsilon) if epsilon < exact.supremum(laws) else None
        try:
            expected, slope = contour.epsilon(laws, log_delta), 1.0 + answer[2] / max(width(found), 1e-300)
            assert meet(found, expected)
            assert width(found) <= max(2.0 * width(expected), WIDEST / slope, 1e-9 * found.upper)
            if not isinstance(there, tuple):
                continue
            assert there[2] <= WIDEST
            here = contour.log_delta(laws, epsilon)
            assert meet(Interval(*there[:2]), here)
            bound = steps.upper_log_delta(epsilon)
            assert here.lower <= min(bound, contour.upper_log_delta(laws, epsilon))
        except ContourRefused:
            continue
        both += 1
    return both


def test_it_agrees_with_the_python_path(module: ModuleType) -> None:
    assert compare(module, drawn(1, 120)) >= 50


def test_it_agrees_with_the_python_path_where_few_steps_matter(module: ModuleType) -> None:
    assert compare(module, rare(3, 80)) >= 40


def listed(seed: int, number: int) -> Iterator[tuple[Laws, float, random.Random]]:
    """Lists of sampled Gaussian, Gaussian and Laplace losses, or of some of these."""
    generator = random.Random(seed)

    def between(low: float, high: float) -> float:
        return math.exp(generator.uniform(math.log(low), math.log(high)))

    def law(kind: str) -> Law:
        if kind == "sampled":
            return SampledGaussianLaw(between(1e-4, 0.3), 1.0 / between(0.5, 8.0), generator.choice(DIRECTIONS))
        return GaussianLaw(between(1e-3, 0.5)) if kind == "gaussian" else LaplaceLaw(between(1e-3, 0.5))

    for _ in range(number):
        kinds = generator.choices(("sampled", "gaussian", "laplace"), k=generator.choice((1, 2, 3, 5, 12)))
        laws = tuple((law(kind), round(between(1.0, 2000.0))) for kind in kinds)
        yield laws, -between(2.4, 200.0), generator


def test_lists_agree_with_the_python_path(module: ModuleType) -> None:
    assert compare(module, listed(5, 60)) >= 30


@pytest.mark.slow
def test_lists_agree_with_the_python_path_on_hundreds(module: ModuleType) -> None:
    assert compare(module, listed(6, 1500)) >= 750


@pytest.mark.parametrize("size", [0.3, 1e-2, 1e-6])
def test_thresholds_are_where_those_of_the_python_path_are(size: float, module: ModuleType) -> None:
    both = 0
    for laws, _, _ in listed(7, 12):
        found = sum_of(module, laws).threshold(math.log(size))
        try:
            expected, integrand = contour.threshold(laws, math.log(size))
        except ContourRefused:
            continue
        if not isinstance(found, tuple):
            continue
        epsilon, wide, steepness = found
        assert epsilon == pytest.approx(expected, rel=1e-4, abs=1e-4)
        assert wide <= WIDEST
        assert steepness == pytest.approx(1.0 + integrand.line.tilt, rel=1.0)
        both += 1
    assert both >= 5


def test_delta_at_epsilons_of_any_sign(module: ModuleType) -> None:
    both = 0
    for laws, _, generator in listed(8, 20):
        epsilon = generator.uniform(-3.0, 0.5)
        found = sum_of(module, laws).log_delta(epsilon)
        try:
            expected = contour.log_delta(laws, epsilon)
        except ContourRefused:
            continue
        if isinstance(found, tuple):
            assert meet(Interval(*found[:2]), expected)
            both += 1
    assert both >= 10


@pytest.mark.slow
def test_it_agrees_with_the_python_path_on_thousands(module: ModuleType) -> None:
    assert compare(module, drawn(2, 4000)) >= 1800


@pytest.mark.parametrize(
    "case", [each for each in GOLDEN if each["id"].startswith("poisson")], ids=lambda each: each["id"]
)
def test_golden_figures(case: dict[str, Any], module: ModuleType) -> None:
    spec, orders = case["spec"], ("replace",) if case["relation"] == "replace-one" else ("remove", "add")
    sampled = spec["mechanism"]
    ends = []
    for order in orders:
        laws = laws_of(sampled["rate"], sampled["mechanism"]["noise_multiplier"], spec["times"], order)
        answer = sum_of(module, laws).epsilon(math.log(case["delta"]), 0.0)
        assert answer is not None
        ends.append(answer)
    lower, upper = max(end[0] for end in ends), max(end[1] for end in ends)
    assert upper - lower <= 1e-11 * upper
    known = len(str(case["epsilon"]).partition(".")[2])
    assert lower == pytest.approx(case["epsilon"], abs=max(0.5 * 10.0**-known, 1e-11))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("rate", "noise_multiplier", "log_delta"),
    [
        (0.3, 2.0, -5.0),
        (0.49, 4.0, -40.0),
        (0.2, 3.0, -30.0),
        (0.9, 1.5, -11.0),
        (0.05, 3.0, -11.0),
        (0.05, 5.0, -20.0),
    ],
)
def test_one_step_against_its_closed_form(
    rate: float, noise_multiplier: float, log_delta: float, direction: str, module: ModuleType
) -> None:
    laws = laws_of(rate, noise_multiplier, 1, direction)
    steps, step = sum_of(module, laws), Step(rate, 1.0 / noise_multiplier, direction)
    answer = steps.epsilon(log_delta, 0.0)
    with mp.workdps(150):
        assert answer is not None
        lower, upper, _ = answer
        assert mp.log(one_step(step, upper)) <= log_delta
        assert lower == 0.0 or mp.log(one_step(step, lower)) > log_delta
        there = steps.log_delta(0.8 * upper)
        truth = mp.log(one_step(step, 0.8 * upper))
        assert there is not None
        assert there[0] <= truth <= there[1]
        assert truth <= steps.upper_log_delta(0.8 * upper)


def test_what_was_asked_before_changes_nothing(module: ModuleType) -> None:
    laws = laws_of(0.02, 1.1, 3000, "remove")
    asked = [2.0 + 0.37 * k for k in range(12)]
    alone = [sum_of(module, laws).log_delta(epsilon) for epsilon in asked]
    used = sum_of(module, laws)
    for log_delta in (-5.0, -300.0, -20.0):
        used.epsilon(log_delta, 0.0)
    assert [used.log_delta(epsilon) for epsilon in reversed(asked)] == alone[::-1]
    assert used.epsilon(-20.0, 0.0) == sum_of(module, laws).epsilon(-20.0, 0.0)


def test_neighbours_of_the_root_are_certified_with_slack(module: ModuleType) -> None:
    steps = sum_of(module, laws_of(0.01, 1.0, 1000, "remove"))
    without, slack = steps.epsilon(-13.8, 0.0), steps.epsilon(-13.8, 1e-6)
    assert slack[0] < without[0] < without[1] < slack[1]
    assert steps.log_delta(slack[1])[1] <= -13.8 - 1e-6
    assert steps.log_delta(slack[0])[0] >= -13.8 + 1e-6


def test_from_the_largest_loss_on_delta_is_zero(module: ModuleType) -> None:
    laws = laws_of(0.2, 1.0, 3, "add")
    assert sum_of(module, laws).log_delta(exact.supremum(laws) * (1.0 + 1e-14))[:2] == (-math.inf, -math.inf)


class Recorder:
    """A kernel that remembers how it is asked, and refuses."""

    made = 0

    def __init__(self, *given: float) -> None:
        del given
        type(self).made += 1

    def epsilon(self, log_delta: float, slack: float) -> None:
        del log_delta, slack

    def log_delta(self, epsilon: float) -> None:
        del epsilon

    def upper_log_delta(self, epsilon: float) -> None:
        del epsilon


def answers(laws: list[tuple[Any, int]]) -> tuple[Interval, Interval, float]:
    return exact.epsilon(laws, -14.0), exact.log_delta(laws, 1.0), exact.upper_log_delta(laws, 1.0)


def test_where_it_refuses_python_answers(use: pytest.MonkeyPatch) -> None:
    laws = [(SampledGaussianLaw(0.01, 1.0, "remove"), 1000)]
    use.setattr(kernel, "load_kernel", lambda: None)
    expected = answers(laws)
    use.setattr(kernel, "load_kernel", lambda: Recorder)
    kernel._compiled_sum.cache_clear()
    Recorder.made = 0
    assert answers(laws) == expected
    assert Recorder.made == 1


@pytest.mark.parametrize(
    "laws",
    [
        [(SampledGaussianLaw(0.0, 1.0, "remove"), 10), (GaussianLaw(0.0), 3), (LaplaceLaw(0.0), 2)],
        [(LaplaceLaw(1e-150), 3)],
        [(GaussianLaw(1e200), 3)],
        [(SampledGaussianLaw(0.01, 0.001, "add"), (1 << 53) + 2)],
        [(SampledGaussianLaw(1e-101, 1.0, "add"), 10)],
    ],
)
@pytest.mark.usefixtures("on")
def test_what_is_out_of_its_range(laws: list[tuple[Any, int]]) -> None:
    assert kernel._compiled_sum(tuple(laws)) is None


# Rare giant losses ----------------------------------------------------------------------------------------------------
RARE = [
    *((0.001, noise, rounds) for noise in (1.0, 2.0, 5.0) for rounds in (1_000, 10_000, 100_000)),
    (0.01, 5.0, 1_000),
]
"""Rate, noise multiplier and steps where they have a share at δ = 10^−6, or begin to."""


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("rate", "noise_multiplier", "rounds"), RARE)
def test_rare_giant_losses(
    rate: float, noise_multiplier: float, rounds: int, direction: str, module: ModuleType
) -> None:
    laws, log_delta = laws_of(rate, noise_multiplier, rounds, direction), math.log(1e-6)
    steps = sum_of(module, laws)
    answer = steps.epsilon(log_delta, 0.0)
    assert answer is not None
    there = steps.log_delta(answer[1])
    assert there is not None
    assert max(answer[2], there[2]) <= SMALL
    assert there[0] <= log_delta
    assert meet(Interval(*answer[:2]), contour.epsilon(laws, log_delta))
    assert meet(Interval(*there[:2]), contour.log_delta(laws, answer[1]))
    if direction != "replace":
        composed = compose([(poisson(rate, noise_multiplier), rounds)])
        order = composed.forward if direction == "remove" else composed.backward
        assert meet(
            Interval(*there[:2]), Interval(*(float(end[0]) for end in order.log_delta(np.asarray([answer[1]]))))
        )


@pytest.mark.parametrize(
    ("noise_multiplier", "rounds", "tilt", "period", "count", "spacing"),
    [
        (1.0, 1_000, 8.0, 20.0, 1_500, 0.02),
        (2.0, 1_000, 25.0, 3.0, 700, 0.05),
        (5.0, 1_000, 150.0, 0.8, 400, 0.1),
    ],
)
def test_rare_giant_losses_in_many_digits(
    noise_multiplier: float,
    rounds: int,
    tilt: float,
    period: float,
    count: int,
    spacing: float,
    module: ModuleType,
) -> None:
    steps = sum_of(module, laws_of(0.001, noise_multiplier, rounds, "remove"))
    epsilon = steps.epsilon(math.log(1e-6), 0.0)[1]
    step = Step(0.001, 1.0 / noise_multiplier, "remove", rounds)
    truth = mp.log(by_contour([step], epsilon, tilt=tilt, period=period, count=count, spacing=spacing))
    lower, upper, _ = steps.log_delta(epsilon)
    assert lower <= truth <= upper
    assert truth <= math.log(1e-6)


def test_what_is_cut_off_is_within_the_ends_of_two_steps(module: ModuleType) -> None:
    steps, step = sum_of(module, laws_of(0.003, 5.0, 2, "remove")), Step(0.003, 0.2, "remove")
    epsilon = steps.epsilon(-15.0, 0.0)[1]
    lower, upper, _ = steps.log_delta(epsilon)
    with mp.workdps(30):
        assert lower <= mp.log(two_steps(step, step, epsilon)) <= upper


def test_where_giant_losses_alone_matter_it_refuses(module: ModuleType) -> None:
    assert sum_of(module, laws_of(0.0001, 1.0, 10_000, "remove")).epsilon(math.log(1e-6), 0.0) is None


def test_after_no_line_decays_the_contour_engine_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType
) -> None:
    laws = laws_of(5.8e-7, 0.1316, 182, "remove")
    assert sum_of(module, laws).threshold(-7.0) == "no decay"
    monkeypatch.setattr(contour, "threshold", None)
    assert exact.thresholds(laws, [-7.0]) == [None]


def test_with_much_noise_the_contour_engine_is_asked_after_no_line_decays(module: ModuleType) -> None:
    laws = laws_of(1.357e-11, 1.823, 5_735_349_966, "add")
    assert sum_of(module, laws).log_delta(6.09e-7) == "no decay"
    assert width(exact.log_delta(laws, 6.09e-7)) <= WIDEST


NOT_FINITE = (math.nan, math.inf, -math.inf)
STEPS = ((0.01, 1.0, 0, 10.0),)


@pytest.mark.parametrize(
    "given",
    [
        *((((rate, 1.0, 0, 1.0),), 0.0, ()) for rate in (0.0, 1.0, -0.1, 5e-324, *NOT_FINITE)),
        *((((0.1, shift, 0, 1.0),), 0.0, ()) for shift in (0.0, -1.0, 5e-324, 1e308, *NOT_FINITE)),
        *((((0.1, 1.0, 0, count),), 0.0, ()) for count in (0.5, 1e308, *NOT_FINITE)),
        *((((0.1, 1.0, order, 1.0),), 0.0, ()) for order in (-1, 4)),
        *((STEPS, square, ()) for square in (-1.0, 5e-324, 1e308, *NOT_FINITE)),
        *(((), 0.0, ((shift, 1.0),)) for shift in (0.0, 1e308, *NOT_FINITE)),
        *(((), 0.0, ((1.0, count),)) for count in (0.5, 1e308, *NOT_FINITE)),
        ((), 0.0, ()),
    ],
    ids=str,
)
def test_what_has_no_meaning_is_an_error(given: tuple[Any, ...], module: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"range|too many parts"):
        module.Composition(*given)


@pytest.mark.parametrize("number", [*NOT_FINITE, 1e308, -1e308, 5e-324, -5e-324, 1.0], ids=str)
def test_questions_without_meaning_are_refused(number: float, module: ModuleType) -> None:
    for given in ((STEPS, 0.0, ()), ((), 0.25, ()), ((), 0.0, ((0.1, 100.0),)), (STEPS, 0.25, ((0.1, 100.0),))):
        composed = module.Composition(*given)
        for found in (composed.epsilon(number, 0.0), composed.log_delta(number), composed.epsilon(-14.0, number)):
            assert not isinstance(found, tuple) or (found[0] <= found[1] and 0.0 <= found[2] <= WIDEST)
        for place in (composed.threshold(number), composed.upper_log_delta(number)):
            assert place is None or place == place


@pytest.mark.usefixtures("on")
def test_an_account_asks_it(use: pytest.MonkeyPatch) -> None:
    spec = Repeated(
        times=1000, mechanism=Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=1.0))
    )
    curve = epsilond.account(spec, relation="add-or-remove-one", unit="record", observer="server").guarantee.curve

    def never(*given: object) -> None:
        raise AssertionError(given)

    use.setattr(contour, "log_delta", never)
    use.setattr(contour, "epsilon", never)
    lower, upper = curve.epsilon(delta=1e-6)
    assert lower <= 2.1245151711202 <= upper + 1e-12
    assert curve.delta(epsilon=upper).lower <= 1e-6 <= curve.delta(epsilon=lower).upper


# Searches ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
@pytest.mark.parametrize(("rate", "noise", "rounds"), [(0.01, 1.0, 1000), (0.1, 2.0, 100), (0.002, 0.8, 20_000)])
@pytest.mark.usefixtures("on")
def test_a_search_finds_each_number_from_the_others(rate: float, noise: float, rounds: int, relation: Relation) -> None:
    first = SampledGaussianLaw(rate, 1.0 / noise, "replace" if relation == "replace-one" else "remove")
    log_delta = max(exact.log_delta([(law, rounds)], 2.0).upper for law in {first, first.reverse()})
    target = Target(2.0, log_delta)
    known = {"shift": 1.0 / noise, "count": float(rounds), "rate": rate}
    for unknown, number in known.items():
        given = {"rate": rate, "noise": noise, "rounds": rounds, "relation": relation}
        found = search_run(unknown, target, sampling="poisson", **given, guess=0.7 * number)
        assert found == pytest.approx(number, rel=1e-6)


def test_without_a_kernel_nothing_is_searched(use: pytest.MonkeyPatch) -> None:
    use.setattr(kernel, "load_kernel", lambda: None)
    assert kernel.search([(SampledGaussianLaw(0.01, 1.0, "remove"), 1)], "count", 2.0, -14.0, 100.0) is None


@pytest.mark.parametrize("number", [*NOT_FINITE, 0.0, -1.0, 1e308, 5e-324], ids=str)
def test_searches_without_meaning_are_refused(number: float, module: ModuleType) -> None:
    for unknown in range(3):
        for given in ((number, -14.0, 1.0), (2.0, number, 1.0), (2.0, -14.0, number)):
            found = module.Composition.search(STEPS, unknown, *given)
            assert found is None or 0.0 < found < math.inf


# Whether it is used at all -------------------------------------------------------------------------------------------
def import_instead(use: pytest.MonkeyPatch, module: object) -> None:
    use.setitem(sys.modules, NAME, module)
    compiled_kernel.load_kernel.cache_clear()


def test_it_is_used_where_it_agrees(module: ModuleType, use: pytest.MonkeyPatch) -> None:
    use.delenv("EPSILOND_KERNEL", raising=False)
    import_instead(use, module)
    assert compiled_kernel.load_kernel() is module.Composition


def test_it_can_be_turned_off(module: ModuleType, use: pytest.MonkeyPatch) -> None:
    use.setenv("EPSILOND_KERNEL", "off")
    import_instead(use, module)
    assert compiled_kernel.load_kernel() is None


def test_another_interface_is_left_alone(module: ModuleType, use: pytest.MonkeyPatch) -> None:
    import_instead(use, SimpleNamespace(Composition=module.Composition, INTERFACE=compiled_kernel.INTERFACE + 1))
    assert compiled_kernel.load_kernel() is None


@pytest.mark.parametrize("factor", [1.0 - 1e-9, 1.0 + 1e-9, math.nan])
def test_one_that_errs_is_left_alone(factor: float, module: ModuleType, use: pytest.MonkeyPatch) -> None:
    class Erring:
        def __init__(self, *given: Any) -> None:
            self.steps = module.Composition(*given)

        def epsilon(self, log_delta: float, slack: float) -> tuple[float, float, float]:
            lower, upper, wide = self.steps.epsilon(log_delta, slack)
            return lower * factor, upper * factor, wide

    import_instead(use, SimpleNamespace(Composition=Erring, INTERFACE=compiled_kernel.INTERFACE))
    assert compiled_kernel.load_kernel() is None


@pytest.mark.parametrize("rounds", range(len(compiled_kernel._KNOWN)))
def test_what_it_must_know_is_true(rounds: int) -> None:
    (((rate, shift, order, count),), _, _), epsilon = compiled_kernel._KNOWN[rounds]
    found = contour.epsilon([(SampledGaussianLaw(rate, shift, DIRECTIONS[order]), int(count))], math.log(1e-6))
    assert found.lower <= epsilon <= found.upper <= found.lower + 1e-11 * epsilon


def test_the_service_starts_with_it_turned_off() -> None:
    assert not list(unknown_variables({"EPSILOND_KERNEL": "off"}, ()))
