"""Keeping formulas inside the doubles: what vanishes or overflows is refused, not answered."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import ParamSpec

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Outputs

P = ParamSpec("P")


def in_doubles(formula: Callable[P, Outputs]) -> Callable[P, Outputs]:
    """The formula, refusing inputs that are each in range but whose combinations leave the doubles.

    Raises:
        InvalidInput: from the returned formula, instead of an arithmetic error or an output that is not a number.
    """

    @functools.wraps(formula)
    def guarded(*arguments: P.args, **named: P.kwargs) -> Outputs:
        try:
            outputs = formula(*arguments, **named)
        except (ZeroDivisionError, OverflowError) as error:
            raise InvalidInput.at("", "the figures leave the range of doubles; choose other units") from error
        if any(isinstance(value, float) and math.isnan(value) for value in outputs.values()):
            raise InvalidInput.at("", "the figures leave the range of doubles; choose other units")
        return outputs

    return guarded
