"""Unsound rules for keeping a budget: the factors by which they exceed the promised δ."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.paper.exhibit import Measured, Words
from epsilond.ledgers.mathematics.theorems.adaptive_stop import stopped_delta
from epsilond.ledgers.mathematics.theorems.any_order_filter import THEOREMS as ANY_ORDER
from epsilond.ledgers.mathematics.theorems.natural_filter import NATURAL_FILTER
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, whole

NATURAL = (
    (1.0, 1e-5, 0.15, "gaussian-or-pure"),
    (1.0, 1e-6, 0.12, "gaussian-or-pure"),
    (8.0, 1e-6, 0.8, "gaussian-or-pure"),
    (1.0, 1e-6, 0.15, "leaky-responses"),
    (4.0, 1e-6, 0.6, "leaky-responses"),
    (8.0, 1e-6, 1.1, "leaky-responses"),
)
"""Target ε and δ, μ of the first mechanism, and the options after it."""
OPTIONS = {
    "gaussian-or-pure": "a Gaussian, or one pure response",
    "leaky-responses": "responses that answer with some probability",
}
ROUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 400, 700, 1000)
ROUND_EPSILON = 0.1
REPORTED = 1e-3
SHOWN = 400
REFUTED = next(theorem for theorem in ANY_ORDER if theorem.examples)


def measure(short: bool) -> Measured:
    """Compute by how much the true δ of adaptive compositions exceeds the δ that a stopping rule promises.

    Args:
        short: whether only runs of at most `SHOWN` rounds are computed, for tests.

    Returns:
        `natural`: a rule that admits runs while their exact composition meets the target, as arguments and the factor;
        `orders`: examples with budgets at several Rényi orders, and the factor;
        `stops`: numbers of rounds, each with the factor at a stop of the analyst's choice.
    """
    natural = []
    for target_epsilon, target_delta, first_mu, options in NATURAL:
        request = NATURAL_FILTER.request(
            target_epsilon=target_epsilon, target_delta=target_delta, first_mu=first_mu, options=options
        )
        factor = NATURAL_FILTER.evaluate(request).outputs["factor"]
        natural.append([target_epsilon, target_delta, first_mu, options, factor])
    examples = list(map(dict, REFUTED.examples))
    # The examples are those of the refuted theorem.
    orders = [[example, REFUTED.evaluate(REFUTED.request(**example)).outputs["factor"]] for example in examples]
    stops = []
    for rounds in ROUNDS:
        if not short or rounds <= SHOWN:
            delta = stopped_delta(rounds=rounds, round_epsilon=ROUND_EPSILON, delta=REPORTED)
            stops.append([rounds, delta / REPORTED])
    return {"natural": natural, "orders": orders, "stops": stops}


def words(measured: Measured) -> Words:
    """Write the texts for the paper on stopping rules.

    Args:
        measured: the numbers that `measure` returns.

    Returns:
        Texts by name: a table, and the largest factors of true over promised δ.
    """
    rows = [
        (f"({target:g}, {delta:g})", f"Gaussian, μ = {first:g}", OPTIONS[options], f"{factor:.3f}")
        for target, delta, first, options, factor in measured["natural"]
    ]
    stops = dict(measured["stops"])
    many = [row[4] for row in measured["natural"]]
    two = [row[4] for row in measured["natural"] if row[3] == "gaussian-or-pure"]
    orders = [factor for _, factor in measured["orders"]]
    return {
        "table": table(("target", "first", "then one of", "true δ over promised δ"), rows),
        "two": f"{max(two):.2f}",
        "many": f"{max(many):.2f}",
        "orders": f"{max(orders):.2f}",
        "told": str(SHOWN),
        "stop": f"{stops[SHOWN]:.2f}",
        "longest": str(max(stops)),
        "longest_stop": f"{stops[max(stops)]:.2f}",
    }


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Draw the factor of true over reported δ at the worst stop, over the number of rounds that are allowed.

    Args:
        measured: the numbers that `measure` returns.

    Returns:
        The figure by its name.
    """
    plot = Plot(
        "What a spend that is shown at a chosen stop is worth",
        "The true δ at the worst stopping time over the reported δ rises with the number of rounds, from one to more "
        "than nine.",
        Axis("rounds allowed: randomised responses of ε₀ = 0.1", 1.0, 1000.0, whole((1, 10, 100, 1000)), "log"),
        Axis("true δ at the worst stop, over the reported 1e-3", 0.0, 10.0, whole(range(0, 11, 2))),
    )
    stops = [(float(rounds), factor) for rounds, factor in measured["stops"]]
    plot.line([(1.0, 1.0), (1000.0, 1.0)], 5, dashed=True)
    plot.line(stops, 1)
    for point in stops:
        plot.dot(point, 1)
    plot.key("the ε spent so far, at a stop of one's choice", 1)
    plot.key("at a fixed stop, and the ledger's target", 5, "dashes")
    return {"stops": plot}
