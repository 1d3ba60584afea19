"""Arithmetic of numbers that are represented by their logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


def log(x: FloatArray) -> FloatArray:
    """Return the natural logarithm; −∞ at and below zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(x, 0.0)))


def difference(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Return log(e^a − e^b) for each pair of logarithms a ≥ b; −∞ if they are equal.

    The error of the difference e^a − e^b is a few units in the last place of e^a.

    Args:
        larger: logarithms a.
        smaller: logarithms b, at most a except for rounding.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(larger + np.log(-np.expm1(gap(larger, smaller))))


def gap(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Return b − a ≤ 0 for each pair of logarithms a ≥ b; −∞ if both are −∞.

    Args:
        larger: logarithms a.
        smaller: logarithms b, at most a except for rounding.
    """
    with np.errstate(invalid="ignore"):
        log_ratio = smaller - larger
    return np.asarray(np.minimum(np.where(np.isnan(log_ratio), -np.inf, log_ratio), 0.0))


def ratio(log_numerator: FloatArray, log_denominator: FloatArray) -> FloatArray:
    """Divide numbers that are given by their logarithms.

    Args:
        log_numerator: logarithms of the numerators.
        log_denominator: logarithms of the denominators.

    Returns:
        The ratios, limited to e^600; 0 if both numbers are 0.
    """
    with np.errstate(invalid="ignore"):
        log_ratio = log_numerator - log_denominator
    log_ratio = np.where(np.isnan(log_ratio), -np.inf, log_ratio)
    return np.asarray(np.exp(np.minimum(log_ratio, 600.0)))  # e^600 is far below the largest double, e^709


def rounding(*terms: FloatArray) -> FloatArray:
    """Bound the relative error of e^x for a sum x of rounded terms, by 16u (1 + Σ|term|) with the unit roundoff u.

    Args:
        terms: arrays of the terms, of equal shape. Infinite terms do not count.

    Returns:
        One bound for each element.
    """
    sizes = [np.where(np.isfinite(term), np.abs(term), 0.0) for term in terms]
    return np.asarray(16 * UNIT_ROUNDOFF * (1.0 + np.sum(sizes, axis=0)))
