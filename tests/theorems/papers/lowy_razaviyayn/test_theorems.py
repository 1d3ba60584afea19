"""The theorem objects of these families: their conditions at the edge and beyond it, errata, examples, sources."""

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import in_doubles
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.composition import classical as classical_composition
from epsilond.accountants.theorems.conversions import groups as conversions
from epsilond.accountants.theorems.mechanisms import gaussian_calibration as classical
from epsilond.accountants.theorems.papers.lowy_razaviyayn import noise as lowy_noise
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import epsilon_limit
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    explicit_bound as lowy_step_size,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn import (
    smooth_losses as lowy_2_1,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas import (
    descent_lemmas as lowy_convergence,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas import (
    gradient_variance as lowy_variance_lemmas,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas import (
    noisy_descent as lowy_descent,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas import (
    stability as lowy_stability,
)
from epsilond.accountants.verdict import Verdict

FAMILIES = (
    classical,
    classical_composition,
    conversions,
    lowy_2_1,
    lowy_convergence,
    lowy_descent,
    lowy_noise,
    lowy_stability,
    lowy_step_size,
    lowy_variance_lemmas,
)
THEOREMS: dict[str, Theorem] = {theorem.id: theorem for family in FAMILIES for theorem in family.THEOREMS}
ROOT = Path(__file__).parents[4]

LOG_DELTA = math.log(1e-5)
CHAIN = {"samples_per_client": 64, "rounds": 8, "batch_size": 64, "lipschitz": 1.0, "log10_delta": -5.0}
LIMIT = 8.0 * (math.log(2.0) + 5.0 * math.log(10.0))
SMOOTH: dict[str, Any] = dict(THEOREMS["lowy.2.1"].examples[0])
FEW = {**SMOOTH, "rounds": 2, "batch_size": 1000}


def least_epsilon(batch: int) -> float:
    """ε at which K_min is `batch` of 64 records, R = 8."""
    return batch / 64 * 4.0 * math.sqrt(16.0 * (math.log(2.0) + 5.0 * math.log(10.0)))


def fraction_below(value: float) -> float:
    return value * (1.0 - 1e-12)


@dataclass(frozen=True)
class Edge:
    """Inputs at which a condition still holds, and inputs just beyond, where it does not."""

    theorem: str
    condition: str
    holding: dict[str, Any]
    failing: dict[str, Any]


def example(theorem: str, **changes: Any) -> dict[str, Any]:
    return {**THEOREMS[theorem].examples[0], **changes}


SIGNS: dict[tuple[str, str], Callable[[float, float], bool]] = {
    ("dwork-roth-2014.a.1", "epsilon-at-most-one"): operator.le,
    ("ullman-2017.amplification", "epsilon-at-most-one"): operator.le,
    ("bun-steinke-2016.proposition-1.3", "epsilon-range"): operator.le,
    ("lowy.corollary-f.1", "round-epsilon"): operator.le,
    ("dwork-roth-2014.3.20", "delta-below-one"): operator.lt,
    ("kairouz-oh-viswanath-2015.3.5", "delta-below-one"): operator.lt,
    ("lowy.corollary-f.1", "delta-below-one"): operator.lt,
    ("lowy.lemma-f.4", "delta-below-one"): operator.lt,
    ("lowy.appendix-g.1", "delta-below-one"): operator.lt,
    ("lowy.lemma-f.2", "delta-below-one"): operator.lt,
    ("lowy.lemma-d.2", "delta-below-one"): operator.lt,
    ("epsilond.mini-batch-sgd-noise", "epsilon-range"): operator.le,
    ("epsilond.mini-batch-sgd-noise", "minimal-batch-size"): operator.ge,
    ("epsilond.mini-batch-sgd-noise", "drawn-once"): operator.le,
    ("lowy.2.1", "epsilon-range"): operator.le,
    ("lowy.2.1", "minimal-batch-size"): operator.ge,
    ("lowy.2.1", "drawn-once"): operator.le,
    ("lowy.2.1", "equal-shares"): operator.eq,
    ("lowy.2.1", "prescribed-rounds"): operator.ge,
    ("lowy.2.1", "client-sampling"): operator.ge,
    ("lowy.2.1", "logarithm"): operator.gt,
    ("lowy.lemma-e.2", "step-size"): operator.le,
    ("lowy.lemma-e.2", "several-records"): operator.gt,
    ("lowy.lemma-e.3", "step-size"): operator.le,
    ("lowy.lemma-e.4", "step-size"): operator.le,
    ("lowy.lemma-e.4.strongly-convex", "step-size"): operator.le,
    ("lowy.lemma-e.5-erm", "all-participate"): operator.ge,
    ("lowy.lemma-e.9", "curvature"): operator.ge,
    ("epsilond.mini-batch-sgd-excess-risk", "step-size"): operator.lt,
}
EDGES = [
    Edge(
        "dwork-roth-2014.a.1",
        "epsilon-at-most-one",
        example("dwork-roth-2014.a.1"),
        example("dwork-roth-2014.a.1", epsilon=1.0 + 2**-52),
    ),
    Edge(
        "ullman-2017.amplification",
        "epsilon-at-most-one",
        example("ullman-2017.amplification"),
        example("ullman-2017.amplification", epsilon=1.0 + 2**-52),
    ),
    Edge(
        "bun-steinke-2016.proposition-1.3",
        "epsilon-range",
        example("bun-steinke-2016.proposition-1.3", epsilon=-8.0 * math.log(1e-5)),
        example("bun-steinke-2016.proposition-1.3", epsilon=-8.0 * math.log(1e-5) * (1 + 2**-50)),
    ),
    Edge(
        "lowy.corollary-f.1",
        "round-epsilon",
        example("lowy.corollary-f.1", epsilons=(0.1, 1.2564), deltas=(0.0, 0.0)),
        example("lowy.corollary-f.1", epsilons=(1.2565, 0.1), deltas=(0.0, 0.0)),
    ),
    *(
        Edge(
            name,
            "delta-below-one",
            example(name, epsilons=(0.5,), deltas=(0.25,), times=3, slack_delta=0.2499),
            example(name, epsilons=(0.5,), deltas=(0.25,), times=3, slack_delta=0.2501),
        )
        for name in ("dwork-roth-2014.3.20", "kairouz-oh-viswanath-2015.3.5", "lowy.corollary-f.1")
    ),
    Edge(
        "lowy.lemma-f.4",
        "delta-below-one",
        example("lowy.lemma-f.4", delta=0.999 / (1.0 + math.exp(0.5))),
        example("lowy.lemma-f.4", delta=1.001 / (1.0 + math.exp(0.5))),
    ),
    Edge(
        "lowy.appendix-g.1",
        "delta-below-one",
        example("lowy.appendix-g.1", delta=0.999 * 100.0 * math.expm1(0.01) / math.expm1(1.0)),
        example("lowy.appendix-g.1", delta=1.001 * 100.0 * math.expm1(0.01) / math.expm1(1.0)),
    ),
    Edge(
        "lowy.lemma-f.2",
        "delta-below-one",
        example("lowy.lemma-f.2", epsilon=1e-12, delta=0.1999, group_size=5),
        example("lowy.lemma-f.2", epsilon=1e-12, delta=0.2, group_size=5),
    ),
    Edge(
        "lowy.lemma-d.2",
        "delta-below-one",
        example("lowy.lemma-d.2", epsilon=1e-12, delta=0.0499, samples_per_client=20),
        example("lowy.lemma-d.2", epsilon=1e-12, delta=0.05, samples_per_client=20),
    ),
    Edge(
        "epsilond.mini-batch-sgd-noise",
        "epsilon-range",
        {**CHAIN, "epsilon": fraction_below(LIMIT)},
        {**CHAIN, "epsilon": LIMIT * (1 + 1e-12)},
    ),
    Edge(
        "epsilond.mini-batch-sgd-noise",
        "minimal-batch-size",
        {**CHAIN, "batch_size": 16, "epsilon": fraction_below(least_epsilon(16))},
        {**CHAIN, "batch_size": 16, "epsilon": least_epsilon(16) * (1 + 1e-12)},
    ),
    Edge(
        "epsilond.mini-batch-sgd-noise",
        "drawn-once",
        {**CHAIN, "epsilon": 1.0, "batch_size": 1, "sampling": "with-replacement"},
        {**CHAIN, "epsilon": 1.0, "batch_size": 2, "sampling": "with-replacement"},
    ),
    Edge(
        "lowy.2.1",
        "epsilon-range",
        {**SMOOTH, "epsilon": epsilon_limit(log_delta=LOG_DELTA, reading="complete"), "batch_size": 1000},
        {**SMOOTH, "epsilon": epsilon_limit(log_delta=LOG_DELTA, reading="complete") * (1 + 1e-12), "batch_size": 1000},
    ),
    Edge(
        "lowy.2.1",
        "epsilon-range",
        {**SMOOTH, "variant": "informal", "epsilon": epsilon_limit(log_delta=LOG_DELTA, reading="informal")},
        {**SMOOTH, "variant": "informal", "epsilon": epsilon_limit(log_delta=LOG_DELTA) * (1 + 1e-12)},
    ),
    Edge("lowy.2.1", "minimal-batch-size", {**FEW, "batch_size": 36}, {**FEW, "batch_size": 35}),
    Edge(
        "lowy.2.1",
        "drawn-once",
        {**SMOOTH, "batch_size": 1, "sampling": "with-replacement"},
        {**SMOOTH, "batch_size": 2, "sampling": "with-replacement"},
    ),
    Edge("lowy.2.1", "prescribed-rounds", {**SMOOTH, "rounds": 57}, {**SMOOTH, "rounds": 56}),
    Edge(
        "lowy.2.1",
        "equal-shares",
        {**SMOOTH, "client_groups": [{"clients": 5, "samples_per_client": n} for n in (1000, 2000)]},
        {
            **SMOOTH,
            "client_groups": [
                {"clients": 5, "samples_per_client": 1000},
                {"clients": 5, "samples_per_client": 2000, "batch_size": 201},
            ],
        },
    ),
    Edge(
        "lowy.2.1",
        "client-sampling",
        {**SMOOTH, "participants": 9, "rounds": 230},
        {**SMOOTH, "participants": 9, "rounds": 229},
    ),
    Edge(
        "lowy.2.1",
        "client-sampling",
        {**SMOOTH, "variant": "informal", "participants": 9, "rounds": 1000},
        {**SMOOTH, "variant": "informal", "participants": 9, "rounds": 999},
    ),
    Edge(
        "lowy.2.1",
        "client-sampling",
        {**SMOOTH, "participants": 9, "rounds": 230, "strong_convexity": 1.0},
        {**SMOOTH, "participants": 9, "rounds": 229, "strong_convexity": 1.0},
    ),
    Edge(
        "lowy.2.1",
        "logarithm",
        {**SMOOTH, "variant": "informal", "strong_convexity": 1.0001e-6},
        {**SMOOTH, "variant": "informal", "strong_convexity": 0.9999e-6},
    ),
    Edge(
        "lowy.lemma-e.2",
        "step-size",
        example("lowy.lemma-e.2", step_size=0.5),
        example("lowy.lemma-e.2", step_size=0.5 * (1 + 2**-50)),
    ),
    Edge(
        "lowy.lemma-e.2",
        "several-records",
        example("lowy.lemma-e.2", participants=2, samples_per_client=1),
        example("lowy.lemma-e.2", participants=1, samples_per_client=1),
    ),
    Edge(
        "lowy.lemma-e.4.strongly-convex",
        "step-size",
        example("lowy.lemma-e.4.strongly-convex", step_size=0.125),
        example("lowy.lemma-e.4.strongly-convex", step_size=0.125 * (1 + 2**-50)),
    ),
    Edge(
        "lowy.lemma-e.4",
        "step-size",
        example("lowy.lemma-e.4", step_size=0.125),
        example("lowy.lemma-e.4", step_size=0.125 * (1 + 2**-50)),
    ),
    Edge(
        "lowy.lemma-e.5-erm",
        "all-participate",
        example("lowy.lemma-e.5-erm"),
        example("lowy.lemma-e.5-erm", participants=9),
    ),
    Edge(
        "lowy.lemma-e.3",
        "step-size",
        example("lowy.lemma-e.3", step_size=0.8),
        example("lowy.lemma-e.3", step_size=0.8 * (1 + 2**-50)),
    ),
    Edge(
        "lowy.lemma-e.9",
        "curvature",
        example("lowy.lemma-e.9", curvature=0.1),
        example("lowy.lemma-e.9", curvature=0.1 * (1 - 2**-50)),
    ),
    Edge(
        "epsilond.mini-batch-sgd-excess-risk",
        "step-size",
        example("epsilond.mini-batch-sgd-excess-risk", step_size=0.5 * (1 - 2**-50)),
        example("epsilond.mini-batch-sgd-excess-risk", step_size=0.5),
    ),
]


@pytest.mark.parametrize("edge", [pytest.param(edge, id=f"{edge.theorem}-{edge.condition}") for edge in EDGES])
def test_a_condition_holds_up_to_its_edge_and_fails_beyond(edge: Edge) -> None:
    theorem = THEOREMS[edge.theorem]
    assert theorem.inputs is not None
    for fields, holds in ((edge.holding, True), (edge.failing, False)):
        evaluation = theorem.evaluate(theorem.inputs(**fields))
        (result,) = (one for one in evaluation.conditions if one.id == edge.condition)
        assert result.holds == Verdict.of(holds)
        assert result.left is not None
        assert result.right is not None
        assert SIGNS[theorem.id, edge.condition](result.left, result.right) is holds


def test_every_checked_condition_stands_in_the_table() -> None:
    checked = {(theorem.id, each.id) for theorem in THEOREMS.values() for each in theorem.conditions if each.checked}
    assert checked == {(edge.theorem, edge.condition) for edge in EDGES}


def test_what_cannot_be_checked_is_never_called_true() -> None:
    for theorem in THEOREMS.values():
        for condition in theorem.conditions:
            if not condition.checked:
                assert condition.at(None).holds == "undecidable"


@pytest.mark.parametrize(
    "theorem", [pytest.param(theorem, id=theorem.id) for theorem in THEOREMS.values() if theorem.formula]
)
def test_examples_evaluate_in_every_reading(theorem: Theorem) -> None:
    assert theorem.inputs is not None
    assert theorem.examples
    for fields in theorem.examples:
        for reading in theorem.readings:
            outputs = theorem.evaluate(theorem.inputs(**fields), reading).outputs
            assert outputs
            assert all(math.isfinite(value) for value in outputs.values() if not isinstance(value, list))
            assert all(math.isfinite(value) for group in outputs.get("groups", ()) for value in group.values())


@pytest.mark.parametrize(
    "theorem", [pytest.param(theorem, id=theorem.id) for theorem in THEOREMS.values() if theorem.formula]
)
def test_errata_are_shown_by_tests_and_sources_are_listed(theorem: Theorem) -> None:
    assert theorem.source.key in WORKS
    for erratum in theorem.errata:
        path, name = erratum.test.split("::")
        nodes = ast.walk(ast.parse((ROOT / path).read_text()))
        assert name in [node.name for node in nodes if isinstance(node, ast.FunctionDef)]


def test_ids_are_unique() -> None:
    assert len(THEOREMS) == sum(len(family.THEOREMS) for family in FAMILIES)


def test_citations() -> None:
    assert WORKS["lowy2023"].citation == (
        "Andrew Lowy, Meisam Razaviyayn. Private Federated Learning Without a Trusted Server: Optimal Algorithms for "
        "Convex Losses. International Conference on Learning Representations, 2023, arXiv:2106.09779."
    )
    assert "arXiv" not in WORKS["ullman2017"].citation


def test_scales_whose_squares_are_no_doubles_are_refused() -> None:
    """A bound whose square underflowed would be 0, and none."""
    theorem = THEOREMS["epsilond.mini-batch-sgd-excess-risk"]
    assert theorem.inputs is not None
    for changes in ({"initial_distance": 1e-170}, {"noise_std": 1e160}, {"lipschitz": 1e-101}):
        with pytest.raises(InvalidInput) as raised:
            theorem.inputs(**{**theorem.examples[0], **changes})
        assert [fault.pointer for fault in raised.value.faults] == [f"/{name}" for name in changes]
    tiny = theorem.evaluate(theorem.inputs(**{**theorem.examples[0], "initial_distance": 1e-100})).outputs
    assert tiny["excess_risk"] > 0.0


def test_a_figure_beyond_the_doubles_is_refused_and_no_error() -> None:
    for broken in (lambda: {"x": 1.0 / float("0")}, lambda: {"x": math.exp(1e9)}, lambda: {"x": math.nan}):
        with pytest.raises(InvalidInput):
            in_doubles(broken)()
    assert in_doubles(lambda: {"x": math.inf})() == {"x": math.inf}
