"""Events of dp-accounting with noise of one distribution, or with a random report, as specs."""

from __future__ import annotations

import math

from epsilond.accountants.specs import DiscreteLaplace, Gaussian, Laplace, RandomizedResponse
from epsilond.integrations.dp_accounting.placed import NotPrivate, Parts, PlacedEvent, whole_number


def read_gaussian(placed: PlacedEvent) -> Parts:
    """Convert a Gaussian event of dp-accounting to a spec, the library's description of a mechanism.

    Args:
        placed: the event, with its noise multiplier: standard deviation of the noise over the norm bound.

    Returns:
        The spec of the Gaussian mechanism, run once.

    Raises:
        NotPrivate: the noise multiplier is 0.
        InvalidInput: the noise multiplier is out of range.
    """
    noise_multiplier = placed.noise("noise_multiplier")
    return [(placed.build(Gaussian, {}, noise_multiplier=noise_multiplier), 1)]


def read_laplace(placed: PlacedEvent) -> Parts:
    """Convert a Laplace event of dp-accounting to a spec, the library's description of a mechanism.

    Args:
        placed: the event. Its noise multiplier is the scale of the noise over the norm bound.

    Returns:
        The spec of the Laplace mechanism, run once.

    Raises:
        NotPrivate: the noise multiplier is 0.
        InvalidInput: the noise multiplier is out of range.
    """
    names = {"scale_multiplier": "noise_multiplier"}
    scale_multiplier = placed.noise("noise_multiplier")
    return [(placed.build(Laplace, names, scale_multiplier=scale_multiplier), 1)]


def read_discrete_laplace(placed: PlacedEvent) -> Parts:
    """Convert a discrete Laplace event of dp-accounting to a spec, the library's description of a mechanism.

    The event states a bound on one record's value. The sensitivity is this bound, or twice the bound for replace-one.

    Args:
        placed: the event, with the numbers `sensitivity` (the bound) and `noise_parameter`.

    Returns:
        The spec, run once. Empty if the bound is 0, because nothing is released then.

    Raises:
        NotPrivate: the noise parameter is 0.
        InvalidInput: a number is out of range.
    """
    bound = placed.count("sensitivity")
    if bound == 0:
        return []
    decay_rate = placed.noise("noise_parameter")
    sensitivity = 2 * bound if placed.relation == "replace-one" else bound
    names = {"decay_rate": "noise_parameter"}
    return [(placed.build(DiscreteLaplace, names, decay_rate=decay_rate, sensitivity=sensitivity), 1)]


def read_discrete_gaussian(placed: PlacedEvent) -> Parts:
    """Convert a discrete Gaussian event of dp-accounting to a spec, the library's description of a mechanism.

    The event states the ℓ2 sensitivity Δ of the integers in the neighbouring relation of the account, and the parameter
    σ of the noise. If it states no dimension, the mechanism is only known to be ρ-zCDP with ρ = Δ²/(2σ²). Canonne,
    Kamath and Steinke (2020) prove this for one coordinate. It is valid in every dimension, because the Rényi
    divergences of independent coordinates add up.

    Args:
        placed: the event, with the numbers `sensitivity` and `sigma`, and possibly `dimension`.

    Returns:
        The spec, run once. Empty if the sensitivity is 0, because nothing is released then.

    Raises:
        NotPrivate: σ is 0.
        InvalidInput: a number is out of range.
    """
    sensitivity = placed.number("sensitivity", least=0.0)
    if sensitivity == 0.0:
        return []
    scale = placed.noise("sigma")
    dimension = getattr(placed.event, "dimension", None)
    if dimension is None:
        # Each result is replaced by the next larger double, so that ρ is an upper bound.
        ratio = math.nextafter(sensitivity / scale, math.inf)
        rho = math.nextafter(0.5 * ratio**2, math.inf)
        return [(placed.build_kind("zcdp", {"rho": "sigma"}, rho=rho), 1)]
    names = {"scale": "sigma", "l2_sensitivity": "sensitivity"}
    fields = {"scale": scale, "l2_sensitivity": sensitivity, "dimension": placed.count("dimension")}
    return [(placed.build_kind("discrete_gaussian", names, **fields), 1)]


def read_randomized_response(placed: PlacedEvent) -> Parts:
    """Convert a randomised response event of dp-accounting to a spec, the library's description of a mechanism.

    A client reports its own category of k with probability 1 − p + p/k, and each other one with p/k. The ratio of these
    two probabilities is e^ε = 1 + k (1 − p)/p.

    Args:
        placed: the event, with the numbers `noise_parameter` (p) and `num_buckets` (k).

    Returns:
        The spec, run once. Empty if p = 1 or k = 1, because the report then does not depend on the data.

    Raises:
        NotPrivate: p is 0, so that every report is true.
        InvalidInput: a number is out of range.
    """
    random_probability = placed.number("noise_parameter", least=0.0, most=1.0)  # p
    categories = placed.count("num_buckets")
    if categories == 0:
        raise placed.out_of_range("num_buckets", categories, least=1.0)
    if random_probability == 1.0 or categories == 1:
        return []
    if random_probability == 0.0:
        raise NotPrivate.at(placed.at, "is not private: no ε is finite")
    epsilon = math.log1p(categories * (1.0 - random_probability) / random_probability)
    names = {"epsilon": "noise_parameter", "categories": "num_buckets"}
    return [(placed.build(RandomizedResponse, names, epsilon=epsilon, categories=categories), 1)]


def read_tree(placed: PlacedEvent) -> Parts:
    """Convert a tree aggregation event of dp-accounting to Gaussian mechanisms, one for each level of the largest tree.

    Gaussian noise is added to each node of some binary trees over the steps. Neighbours differ by zeroing one record
    (the relation zero-out-one). A record contributes to at most one node on each level of one tree. With s steps in
    the largest tree, this is a composition of ⌈log2(s + 1)⌉ Gaussian mechanisms. It is exact, because the first record
    of the largest tree contributes to a node on every level.

    Args:
        placed: the event, with the number `noise_multiplier`, and the steps of each tree in `step_counts`.

    Returns:
        The description of the Gaussian mechanism, with the number of its runs. Empty if there are no steps.

    Raises:
        NotCovered: the relation is another one.
        NotPrivate: the noise multiplier is 0.
        InvalidInput: a number is out of range.
    """
    if placed.relation != "zero-out-one":
        raise placed.not_covered("is known for the relation zero-out-one alone (REPLACE_SPECIAL)")
    step_counts = placed.field("step_counts")
    if not hasattr(step_counts, "__iter__"):
        step_counts = [step_counts]  # one tree
    steps = max((whole_number(placed, "step_counts", tree_steps) for tree_steps in step_counts), default=0)
    if steps == 0:
        return []
    gaussian = placed.build(Gaussian, {}, noise_multiplier=placed.noise("noise_multiplier"))
    levels = steps.bit_length()  # ⌈log2(steps + 1)⌉
    return [(gaussian, levels)]
