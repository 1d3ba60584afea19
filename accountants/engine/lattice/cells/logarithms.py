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
    """Return log(e^a − e^b) for logarithms a ≥ b, with an error of a few roundings of e^a; −∞ if they are equal.

    Args:
        larger: logarithms a of the larger numbers.
        smaller: logarithms b of the smaller numbers, at most a except for rounding.

    Returns:
        The logarithm of the difference, for each element.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(larger + np.log(-np.expm1(gap(larger, smaller))))


def gap(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Return b − a for two logarithms a ≥ b, at most 0; −∞ if both are −∞.

    Args:
        larger: logarithms a of the larger numbers.
        smaller: logarithms b of the smaller numbers, at most a except for rounding.

    Returns:
        The difference b − a, at most 0, for each pair of logarithms.
    """
    with np.errstate(invalid="ignore"):
        log_ratio = smaller - larger
    return np.asarray(np.minimum(np.where(np.isnan(log_ratio), -np.inf, log_ratio), 0.0))


def ratio(log_numerator: FloatArray, log_denominator: FloatArray) -> FloatArray:
    """Divide two numbers that are given by their logarithms. The ratio is at most e^600, and 0 if both are 0.

    Args:
        log_numerator: log of the numerator.
        log_denominator: log of the denominator.

    Returns:
        The ratio e^{a − b} of the numbers with logarithms a and b, for each element.
    """
    with np.errstate(invalid="ignore"):
        log_ratio = log_numerator - log_denominator
    log_ratio = np.where(np.isnan(log_ratio), -np.inf, log_ratio)
    return np.asarray(np.exp(np.minimum(log_ratio, 600.0)))  # no overflow


def rounding(*terms: FloatArray) -> FloatArray:
    """Bound the relative error of e^x for a sum x of terms, all of which are rounded.

    The bound is 16u (1 + Σ|term|) with the unit roundoff u. Infinite terms do not count.

    Args:
        terms: arrays of the terms, of equal shape.

    Returns:
        One bound on the relative error of e^x for each element.
    """
    sizes = [np.where(np.isfinite(term), np.abs(term), 0.0) for term in terms]
    return np.asarray(16 * UNIT_ROUNDOFF * (1.0 + np.sum(sizes, axis=0)))
