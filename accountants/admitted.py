"""Which mechanisms the words of a spec admit, as conditions that the caller declares and every answer repeats.

A number holds for every mechanism that these conditions and the spec's docstring admit. What a theorem needs beyond
them, it checks on the spec, or does not apply.
"""

from __future__ import annotations

from epsilond.accountants.theorem import Condition

ONE_SUM = Condition(
    "sum-of-contributions",
    "noise is added to a sum to which every protected unit adds one contribution of norm at most C, whatever others "
    "add; a unit that is absent, not drawn or zeroed adds exactly zero, and the noise is the same with and without it",
)
ANY_INTEGERS = Condition(
    "integer-sensitivity",
    "on any two neighbours in the request's relation and unit the integers differ by at most the sensitivities; they "
    "may depend on the data in any way, so that a zeroed record may count where one that is not drawn does not",
)
ONE_REPORT = Condition("one-report-each", "every protected unit sends one report, drawn from its own category alone")
SECRET_DRAW = Condition(
    "secret-draw",
    "every batch is drawn afresh, whatever the data and earlier batches are; who is in it, and how many, shows only in "
    "what the mechanism puts out",
)
FRESH_DRAW = Condition(
    "fresh-draw", "every batch is drawn afresh, whatever the data and earlier batches are; it may be seen who is in it"
)
NO_ORDER = Condition(
    "batch-has-no-order",
    "the mechanism is told what was drawn as a set: what it puts out depends on no order, place or name in the batch",
)
