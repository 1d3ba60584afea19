"""docs/published-figures.md: every bound is computed again, and every verdict follows from it."""

from __future__ import annotations

import json
import math
import re

import pytest
from mpmath import erfc, exp, findroot, mp, mpf, sqrt

import epsilond
from epsilond.accountants.specs import Composed, Gaussian, Repeated, Spec
from epsilond.calibrators.answer import Ends
from scripts.pages.published import page
from scripts.pages.published.comparison import Comparison, compare
from scripts.pages.published.figure import Claim, PublishedFigure, RepositoryFile, gaussian

STORED = page.load()
FIGURES = [comparison.figure for comparison in STORED]


def figure(published: str, claim: Claim) -> PublishedFigure:
    """Return a figure of one Gaussian mechanism."""
    source = RepositoryFile(repository="someone/something", commit="0" * 40, path="README.md")
    return PublishedFigure(
        source=source,
        place="",
        run="",
        published=published,
        claim=claim,
        delta=1e-6,
        spec=gaussian(1.0),
        accountant="",
    )


@pytest.fixture(scope="module")
def computed() -> list[Comparison]:
    return page.compute()


def test_the_page_follows_from_the_stored_bounds() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(STORED), "run: python -m scripts.pages.published"
    assert page.DATA.read_text(encoding="utf-8") == page.data(STORED)


def test_the_stored_bounds_are_those_of_today(computed: list[Comparison]) -> None:
    for today, stored in zip(computed, STORED, strict=True):
        assert today.verdict == stored.verdict, stored.figure
        if today.bounds is None or stored.bounds is None:
            assert today.bounds is stored.bounds is None
            continue
        assert float(today.bounds.lower) == pytest.approx(float(stored.bounds.lower), rel=1e-6)
        assert float(today.bounds.upper) == pytest.approx(float(stored.bounds.upper), rel=1e-6)


def test_a_stored_request_is_answered_with_its_bounds() -> None:
    entries = json.loads(page.DATA.read_text(encoding="utf-8"))
    for entry in entries[:: len(entries) // 10]:
        if entry["request"] is not None:
            asked = dict(entry["request"])
            delta = asked.pop("query")["delta"]
            guarantee = epsilond.account(**asked, delta=delta).guarantee
            assert float(guarantee.epsilon.upper) == pytest.approx(entry["epsilon"]["upper"], rel=1e-6)


def test_figures_have_a_place_that_can_be_found_again() -> None:
    for entry in FIGURES:
        assert entry.place
        assert entry.accountant
        if isinstance(entry.source, RepositoryFile):
            assert re.fullmatch(r"[0-9a-f]{40}", entry.source.commit)
    assert len({(each.source.url, each.place, each.published, each.accountant, each.run) for each in FIGURES}) == len(
        FIGURES
    )


def test_every_figure_below_the_truth_is_explained() -> None:
    below = [comparison for comparison in STORED if comparison.verdict == "below the truth"]
    assert below
    assert all(comparison.figure.explanation for comparison in below)
    undecided = [comparison.figure for comparison in STORED if comparison.verdict == "cannot be decided"]
    assert all(each.assumptions or each.explanation for each in undecided)


# Oracles --------------------------------------------------------------------------------------------------------------
def squared_shift(spec: Spec) -> mpf:
    """Return μ² of Gaussian mechanisms that run one after another."""
    if isinstance(spec, Gaussian):
        return mpf(spec.noise_multiplier) ** -2
    if isinstance(spec, Repeated):
        return spec.times * squared_shift(spec.mechanism)
    assert isinstance(spec, Composed)
    return sum(squared_shift(part) for part in spec.mechanisms)


def exact_epsilon(mu: mpf, delta: float, start: float) -> float:
    """Return ε of two normal distributions at the distance μ, from its definition."""

    def normal(x: mpf) -> mpf:
        return erfc(-x / sqrt(mpf(2))) / 2

    def excess(epsilon: mpf) -> mpf:
        return normal(mu / 2 - epsilon / mu) - exp(epsilon) * normal(-mu / 2 - epsilon / mu) - mpf(delta)

    return float(findroot(excess, mpf(start)))


def is_gaussian(spec: Spec | None) -> bool:
    """Return whether the run is of Gaussian mechanisms without sampling."""
    if isinstance(spec, Composed):
        return all(map(is_gaussian, spec.mechanisms))
    return isinstance(spec, Gaussian) or (isinstance(spec, Repeated) and isinstance(spec.mechanism, Gaussian))


def test_runs_of_gaussian_mechanisms_have_the_exact_epsilon() -> None:
    exact = [comparison for comparison in STORED if is_gaussian(comparison.figure.spec)]
    assert len(exact) >= 20
    with mp.workdps(40):
        for comparison in exact:
            spec, bounds = comparison.figure.spec, comparison.bounds
            assert spec is not None
            assert bounds is not None
            found = exact_epsilon(sqrt(squared_shift(spec)), comparison.figure.delta, float(bounds.upper))
            assert float(bounds.lower) * (1.0 - 1e-12) <= found <= float(bounds.upper) * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("part", "published", "truth"),
    [
        ("gdp_noise_multiplier[10000][30][5]", "5", 5.458),
        ("gdp_noise_multiplier[10000][100][5]", "5", 5.115),
        ("gdp_noise_multiplier[10000][30][10]", "10", 11.048),
        ("gdp_noise_multiplier[10000][100][10]", "10", 10.310),
        ("Sample parameter sets, 45 epochs", "6.86", 5.431),
        ("docstring: noise multiplier 1.12", "2.92", 2.310),
        ("test_gdp_accountant", "6.6", 6.767),
        ("docstring, first example", "3.77", 3.7697),
    ],
)
def test_bounds_that_were_computed_elsewhere(part: str, published: str, truth: float) -> None:
    (comparison,) = [each for each in STORED if part in each.figure.place and each.figure.published == published]
    assert comparison.bounds is not None
    assert float(comparison.bounds.upper) == pytest.approx(truth, abs=5e-4)


# Verdicts -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("published", "claim", "lower", "upper", "verdict"),
    [
        ("1.03", "result", 1.0249, 1.0249, "above the truth"),
        ("1.03", "result", 1.0251, 1.0251, "equal"),
        ("1.03", "result", 1.0349, 1.0349, "equal"),
        ("1.03", "result", 1.0351, 1.0351, "below the truth"),
        ("1.03", "result", 0.0, 1.0251, "cannot be decided"),
        ("1.03", "result", 0.0, 1.0, "above the truth"),
        ("2", "guarantee", 1.5, 1.98, "above the truth"),
        ("2", "guarantee", 1.5, 2.0, "equal"),
        ("2", "guarantee", 1.999, 1.999, "equal"),
        ("2", "guarantee", 2.0000001, 2.1, "below the truth"),
        ("2", "guarantee", 1.9, 2.1, "cannot be decided"),
        ("2", "guarantee", 2.4, 2.4, "below the truth"),
    ],
)
def test_a_verdict_follows_from_the_bounds(
    published: str, claim: Claim, lower: float, upper: float, verdict: str
) -> None:
    assert Comparison(figure=figure(published, claim), bounds=Ends(lower, upper)).verdict == verdict


def test_without_a_spec_nothing_is_decided() -> None:
    undecided = next(each for each in FIGURES if each.spec is None)
    assert compare(undecided).verdict == "cannot be decided"
    assert page.request(undecided) is None


def test_bounds_on_the_page_are_rounded_outwards() -> None:
    shown = page._bounds(Comparison(figure=figure("1", "result"), bounds=Ends(1.23456749, 1.23456751)))
    assert shown == "1.23456 to 1.23457"
    assert page._bounds(Comparison(figure=figure("1", "result"), bounds=Ends(0.0, 1198.934478))) == "at most 1198.94"


def test_a_distance_is_relative_to_the_smaller_figure() -> None:
    above = Comparison(figure=figure("3.0", "guarantee"), bounds=Ends(2.0, 2.0))
    below = Comparison(figure=figure("2.0", "guarantee"), bounds=Ends(3.0, 3.0))
    assert above.distance == pytest.approx(0.5)
    assert below.distance == pytest.approx(0.5)
    assert math.isclose(above.value, 3.0)
