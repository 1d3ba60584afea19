"""The methods of composing pairs, in the order in which they are tried.

A part is a pair with the number of its runs. A method may join several parts into a single part in closed form. It may
replace the fallback, the composition that is used if no other method applies. It may also compose the whole product.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from epsilond.accountants.composition.exact_search import exact_pair
from epsilond.accountants.curve.facts import LaplaceLaw
from epsilond.accountants.curve.renyi_bounds import SumRenyi
from epsilond.accountants.engine.enumeration import enumerated_pair, enumerated_pair_and_gaussian
from epsilond.accountants.engine.exact import transform_decays
from epsilond.accountants.profiles.concentrated import composed_concentrated
from epsilond.accountants.profiles.declared.renyi_bounds import add_renyi, renyi_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.products.second_moment import rare_composition

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.profiles.products.second_moment import RareComposition

    Parts = Sequence[tuple[Pair, int]]

_NARROW = 0.25
"""Largest width, in log δ, of the transform's bounds that are preferred to the fallback's at its `close_from`."""
_FEWEST_STEPS = 10**6
"""Least number of steps for which the bounds of rare losses are tried."""


@dataclass(frozen=True)
class Fallback:
    """Composition of pairs that is used if no other method applies.

    Attributes:
        make: function that returns a pair with bounds on δ of the composition. It computes them at the first call only.
        close_from: least ε, in nats, at which these bounds are close to each other; None for the composition on a
            lattice of losses, which other methods need not compare with.
    """

    make: Callable[[], Pair]
    close_from: float | None = None


class Method:
    """Base class of the methods that compose mechanisms, each given by a pair of output distributions.

    A method may do one of three things. `join` replaces parts by their composition in closed form. `replace_fallback`
    improves the fallback, the composition that is used if no other method applies. `compose` computes the result. The
    defaults change nothing.

    Attributes:
        applies: condition on the parts (pairs, each with its number of runs), in words.
        cost: cost of the method, in words.
    """

    applies: ClassVar[str]
    cost: ClassVar[str]

    def join(self, parts: Parts) -> Parts:
        """Shorten a list of parts: replace those with a composition in closed form by one part.

        This method returns the list unchanged. Classes with such a closed form override it.

        Args:
            parts: pairs of output distributions, each with its number of runs.

        Returns:
            A list with the same composition.
        """
        return parts

    def replace_fallback(self, parts: Parts, fallback: Fallback) -> Fallback:
        """Improve the fallback, that is, the composition that is used if no other method applies.

        Args:
            parts: pairs of output distributions, each with its number of runs.
            fallback: the fallback so far.

        Returns:
            The fallback for the following methods; by default the given one.
        """
        del parts
        return fallback

    def compose(self, parts: Parts, fallback: Fallback) -> Pair | None:
        """Compose the mechanisms, if the method applies.

        Args:
            parts: pairs of output distributions, each with its number of runs; at least two runs in all.
            fallback: the composition that is used if no other method applies.

        Returns:
            The pair of output distributions of the composition; None if the method does not apply, as by default.
        """
        del parts, fallback
        return None


class GaussianMethod(Method):
    """Composition of Gaussian pairs in closed form: N(μ_i, 1) against N(0, 1) give μ = √(Σ μ_i²).

    Attributes:
        applies: condition on the parts, in words.
        cost: cost of the method, in words.
    """

    applies = "to every Gaussian part"
    cost = "a sum of squares"

    def join(self, parts: Parts) -> Parts:
        """Replace all Gaussian parts by a single one.

        k_i runs of N(μ_i, 1) against N(0, 1) are together N(μ, 1) against N(0, 1), where μ = √(Σ k_i μ_i²).

        Args:
            parts: pairs of output distributions, each with its number of runs.

        Returns:
            The other parts, then the Gaussian one. It is left out if μ = 0 and there are other parts.
        """
        shifts = [(pair.gaussian_dp_mu, times) for pair, times in parts if pair.gaussian_dp_mu is not None]
        remaining = [(pair, times) for pair, times in parts if pair.gaussian_dp_mu is None]
        total_mu = math.sqrt(math.fsum(times * mu * mu for mu, times in shifts))
        if total_mu > 0.0 or not remaining:
            return [*remaining, (gaussian_pair(total_mu), 1)]
        return remaining


class ConcentratedMethod(Method):
    """Composition of ρ-zero-concentrated guarantees: the ρ of all runs add up.

    A guarantee may hold on an event with a probability below 1 only. These probabilities multiply.

    Attributes:
        applies: condition on the parts, in words.
        cost: cost of the method, in words.
    """

    applies = "to every part that is known by its ρ"
    cost = "a sum"

    def join(self, parts: Parts) -> Parts:
        """Replace all parts that are known by a ρ of zero-concentrated privacy by a single one.

        Args:
            parts: pairs of output distributions, each with its number of runs.

        Returns:
            The parts without a ρ, the part with the sum of all ρ, then the Gaussian part. The list is unchanged if no
            part has a ρ.
        """
        concentrated = [(pair.concentrated, times) for pair, times in parts if pair.concentrated is not None]
        if not concentrated:
            return parts
        remaining = [(pair, times) for pair, times in parts if pair.concentrated is None]
        # `GaussianMethod` was applied first, and put the Gaussian part last.
        gaussian = [(pair, times) for pair, times in remaining if pair.gaussian_dp_mu is not None]
        not_gaussian = [(pair, times) for pair, times in remaining if pair.gaussian_dp_mu is None]
        return [*not_gaussian, (composed_concentrated(concentrated), 1), *gaussian]


class RenyiMethod(Method):
    """Composition of parts with bounds on Rényi divergences: the bounds of each order add up.

    Attributes:
        applies: condition on the parts, in words.
        cost: cost of the method, in words.
    """

    applies = "to every part that is known by bounds on its Rényi divergences"
    cost = "a sum for every order"

    def join(self, parts: Parts) -> Parts:
        """Replace all parts that are known by bounds on Rényi divergences by a single one.

        Args:
            parts: pairs of output distributions, each with its number of runs.

        Returns:
            The part with the sums of all bounds, then the others in their order. The list is unchanged if no part has
            such bounds.
        """
        bounds = [(pair.renyi, times) for pair, times in parts if pair.renyi is not None]
        if not bounds:
            return parts
        remaining = [(pair, times) for pair, times in parts if pair.renyi is None]

        # The joined part has a formula for its divergences only if all joined parts have one.
        formulas = [(pair.formula, times) for pair, times in parts if pair.renyi is not None]
        summands = tuple((formula, times) for formula, times in formulas if formula is not None)
        total = SumRenyi(summands) if len(summands) == len(formulas) else None
        joined_pair = replace(renyi_pair(add_renyi(bounds)), formula=total)
        return [(joined_pair, 1), *remaining]


class EnumeratedMethod(Method):
    """Composition by enumeration of all sums of privacy losses with finitely many values.

    A single part may be Gaussian instead.

    Attributes:
        applies: condition on the parts, in words.
        cost: cost of the method, in words.
    """

    applies = "if all parts but a Gaussian one have atoms, and the kinds of runs are few"
    cost = "the number of lists of outcome counts, at most `enumeration.MOST_KINDS`"

    def compose(self, parts: Parts, fallback: Fallback) -> Pair | None:
        """Compose pairs by enumerating all sums of their privacy losses.

        Args:
            parts: pairs of output distributions, each with its number of runs.
            fallback: not used.

        Returns:
            The pair of the composition. None if a part is neither Gaussian nor has finitely many losses, or if there
            are too many combinations of outcomes.
        """
        del fallback
        finite = [(pair, times) for pair, times in parts if pair.gaussian_dp_mu is None]
        if any(pair.atoms is None for pair, _ in finite):
            return None
        if len(finite) == len(parts):
            return enumerated_pair(parts)

        # `GaussianMethod` was applied first, and put the Gaussian part last.
        last_pair, _ = parts[-1]
        mu = last_pair.gaussian_dp_mu
        return None if mu is None else enumerated_pair_and_gaussian(finite, mu)


class RareMethod(Method):
    """Bounds for very many steps with tiny privacy losses, from the second moment and from a single large loss.

    Attributes:
        applies: condition on the parts, in words.
        cost: cost of the method, in words.
    """

    applies = "to a million steps or more, with a total loss that no lattice resolves"
    cost = "integrals over the profiles of the steps"

    def replace_fallback(self, parts: Parts, fallback: Fallback) -> Fallback:
        """Tighten the composition on a lattice of losses by bounds for very many steps with tiny losses.

        The new bounds are close for ε of at least the standard deviation of the total loss.

        Args:
            parts: pairs of output distributions, each with its number of runs.
            fallback: the composition on a lattice. Its bounds and tails are still used.

        Returns:
            The tighter composition, with the ε from which its bounds are close. The given fallback if there are fewer
            than a million steps, or if the total loss is too large.
        """
        if sum(times for _, times in parts) < _FEWEST_STEPS:
            return fallback
        composition = rare_composition(parts, fallback.make)
        if composition is None:
            return fallback
        return Fallback(make=functools.partial(_pair_of, composition), close_from=composition.deviation)


def _pair_of(composition: RareComposition) -> Pair:
    """Return the pair of a composition."""
    return composition.pair


class ContourMethod(Method):
    """Composition by numerical inversion of the transform E[e^{zL}] of the total privacy loss L.

    The transform of a sum of independent losses is the product of their transforms. An integral of this product along a
    line in the complex plane, the contour, gives δ(ε).

    Attributes:
        applies: condition on the parts, in words.
        cost: cost of the method, in words.
    """

    applies = "if every part carries a law, or is a Laplace pair"
    cost = "some hundred nodes at each ε"

    def compose(self, parts: Parts, fallback: Fallback) -> Pair | None:
        """Compose pairs by a contour integral of the transform E[e^{zL}] of their total privacy loss L.

        Args:
            parts: pairs of output distributions, each with its number of runs.
            fallback: another composition of the same pairs, which is used at every ε at which the integral fails.

        Returns:
            The pair of the composition. None if the transform of a part is unknown, or if the product of the transforms
            does not decay. Also None if the integral has wide bounds at `fallback.close_from`, the ε from which the
            fallback has close ones.
        """
        laws: list[tuple[Law, int]] = []
        for part, times in parts:
            law = _law_of(part)
            if law is None:
                return None
            laws.append((law, times))
        if not transform_decays(laws):
            return None
        pair = exact_pair(laws, fallback.make)

        if fallback.close_from is None:
            return pair
        bounds = pair.log_delta_bounds(fallback.close_from)
        return pair if bounds.upper - bounds.lower <= _NARROW else None


def _law_of(part: Pair) -> Law | None:
    """Return the distribution of the losses of a pair if its transform is known; None otherwise."""
    return part.law if part.laplace_shift is None else LaplaceLaw(part.laplace_shift)


class LatticeMethod(Method):
    """Composition of privacy losses on a lattice by fast Fourier transforms, or the fallback that has replaced it.

    It applies to all pairs, and is tried last.

    Attributes:
        applies: condition on the parts, in words.
        cost: cost of the method, in words.
    """

    applies = "to all pairs"
    cost = "transforms of up to a million cells at each ε"

    def compose(self, parts: Parts, fallback: Fallback) -> Pair | None:
        """Return the pair of the fallback."""
        del parts
        return fallback.make()


METHODS: tuple[Method, ...] = (
    GaussianMethod(),
    ConcentratedMethod(),
    RenyiMethod(),
    EnumeratedMethod(),
    RareMethod(),
    ContourMethod(),
    LatticeMethod(),
)
"""The methods in the order in which they are tried."""
