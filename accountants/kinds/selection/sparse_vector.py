"""The sparse vector technique: bounded above as an ε-private mechanism, and below by single outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.formula import formula
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import approximate_pair
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.profiles.selection.bounded_range import two_outcome_pair
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import SparseVector
from epsilond.accountants.specs.selection.threshold_crossings import crossings
from epsilond.accountants.structure import ONE_DIRECTION
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs.selection.threshold_crossings import ThresholdOutput

ANY_QUERIES = Condition(
    "query-sensitivity",
    "on any two neighbours in the request's relation and unit each query differs by at most 1. A query may depend on "
    "earlier answers, and the threshold does not depend on the data",
)
LARGEST_SCALE = 1e9
"""Largest noise scale with lower bounds; beyond it the differences of the probabilities lose all digits."""


@formula(given="The noise of the technique.")
def scales(*, technique: SparseVector) -> Outputs:
    """Compute the scales of the Laplace noise of the sparse vector technique, on the threshold and on each query.

    Args:
        technique: the mechanism, with ε and its share for the threshold.

    Returns:
        `threshold_scale` and `query_scale`, for queries of sensitivity 1.
    """
    noise = technique.noise
    return {"threshold_scale": noise.threshold_scale, "query_scale": noise.query_scale}


PURE = Theorem(
    id="epsilond.sparse-vector",
    title="The sparse vector technique",
    statement=(
        "Shifting the threshold noise by 1 keeps every answer below, at a factor e^{sε}. Each of at most c answers "
        "above costs e^{(1 − s)ε/c}. So the answers are ε-differentially private. The lower bound is that of one output"
    ),
    source=Source("epsilond", "docs/selection.md, Sparse vector"),
    status=Status.PROVED,
    conditions=(ANY_QUERIES, ONE_DIRECTION),
    formula=scales,
    examples=({"epsilon": 1.0, "threshold_share": 0.5, "largest_answers": 3},),
)


def crossing_pair(output: ThresholdOutput) -> Pair:
    """Return two distributions of whether a certain output occurs, one for each neighbour, for lower bounds on δ.

    Whether the output occurs is a post-processing of the mechanism, so δ of the pair is at most that of the mechanism.

    Args:
        output: bounds on the probabilities of the output on the first data set and on the second one, both in (0, 1).

    Returns:
        Two distributions on two outcomes: the output does not occur, and it occurs.
    """
    log_first = (math.log1p(-output.first), math.log(output.first))
    log_second = (math.log1p(-output.second), math.log(output.second))
    loss_if_absent = log_first[0] - log_second[0]
    loss_if_present = log_first[1] - log_second[1]
    return two_outcome_pair((loss_if_absent, loss_if_present), log_first, log_second)


def sparse_vector(spec: SparseVector, case: Case) -> Guarantee:
    """Return the guarantee of the sparse vector technique: that of every ε-private mechanism.

    The technique answers queries until a given number of answers is above a threshold. Lower bounds on δ are those of
    some of its outputs. There are none if the noise has a scale above `LARGEST_SCALE`.

    Args:
        spec: the mechanism, with ε and the largest number of answers above the threshold.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, on conditions about the queries.
    """
    noise = spec.noise
    is_resolved = max(noise.threshold_scale, noise.query_scale) <= LARGEST_SCALE
    outputs = crossings(noise) if is_resolved else ()
    witnesses = tuple(crossing_pair(output) for output in outputs)
    declared = (ANY_QUERIES, ONE_DIRECTION) if spec.monotonic else (ANY_QUERIES,)
    return Guarantee(
        setting=case.setting,
        curve=Curve(approximate_pair(spec.epsilon, 0.0), witnesses),
        derivation=PURE.because(epsilon=spec.epsilon, largest_answers=spec.largest_answers),
        declared=declared,
    )


def sentence(fields: Mapping[str, str]) -> str:
    """Describe the sparse vector technique in words.

    Args:
        fields: values of the spec's fields as text, by name.

    Returns:
        A noun phrase that describes the mechanism.
    """
    share = fields.get("threshold_share", "0.5")
    answers = fields.get("largest_answers", "1")
    words = (
        f"the sparse vector technique with ε = {fields['epsilon']}, a share of {share} for the threshold,"
        f" until {answers} answers above it"
    )
    if fields.get("monotonic") != "yes":
        return words
    return f"{words}, on queries that all change in one direction"


THEOREMS: tuple[Theorem, ...] = (PURE,)
RULES: tuple[Rule, ...] = (Rule(PURE, "sparse_vector", sparse_vector),)
KIND = MechanismKind(sentence=sentence, at_noise=lambda noise: SparseVector(epsilon=1.0 / noise))
