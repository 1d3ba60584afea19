"""A mechanism that is known only by bounds on its Rényi divergences."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.renyi_bounds import RenyiBounds
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.profiles.declared.renyi_bounds import renyi_pair
from epsilond.accountants.quantities import AnyEpsilon, delta_outputs, request
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import Rdp
from epsilond.accountants.specs.declared.rdp import DIVERGENCES, ORDERS
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem


@request
class RenyiPairInputs:
    """Bounds on the Rényi divergences of a mechanism, and the ε at which δ is computed."""

    orders: Annotated[tuple[float, ...], ORDERS]
    epsilons: Annotated[tuple[float, ...], DIVERGENCES]
    epsilon: AnyEpsilon

    def check(self) -> None:
        """Check the lists, as for the spec `rdp`.

        Raises:
            InvalidInput: a list is empty, too long or of another length, or an entry is out of range.
        """
        Rdp(orders=self.orders, epsilons=self.epsilons)


def renyi_delta(inputs: RenyiPairInputs) -> Outputs:
    """Compute an upper bound on δ(ε) of every mechanism with given bounds on its Rényi divergences.

    Args:
        inputs: orders above 1, a bound in nats on the divergence of each order, and ε.

    Returns:
        The bound on δ, rounded up, and its decimal logarithm.
    """
    pair = renyi_pair(RenyiBounds(inputs.orders, inputs.epsilons))
    return delta_outputs(pair.upper_log_delta(inputs.epsilon))


AS_DECLARED = Condition(
    "rdp-as-declared",
    "the mechanism's Rényi divergences are at most the given ones in the relation of the request, and for its unit",
)
DECLARED_RENYI = Theorem(
    id="epsilond.declared-renyi-divergences",
    title="The pair of bounds on Rényi divergences",
    statement=(
        "δ(ε) is at most the least over the orders a of (1 − 1/a)^a/(a − 1) e^{(a−1)(D_a − ε)}, and of the smaller "
        "bound of each order from a pair with two likelihood ratios (`epsilond.two-ratio-bound`). It is at most the "
        "greatest convex function of e^ε below these values in both directions, which a pair has. Divergences of "
        "composed mechanisms add up at each order; the least of the sum and of the product of the pairs is used"
    ),
    source=Source("canonne2020discrete", "Proposition 12; the pair: accountants/profiles/declared/points.py"),
    status=Status.PROVED,
    conditions=(AS_DECLARED,),
    inputs=RenyiPairInputs,
    formula=renyi_delta,
    examples=({"orders": [2.0, 8.0, 32.0], "epsilons": [0.1, 0.4, 1.6], "epsilon": 1.0},),
)


def declared_renyi(spec: Rdp, case: Case) -> Guarantee:
    """Return the guarantee of a mechanism of which only bounds on its Rényi divergences are known.

    There is no lower bound on δ, because the mechanism may be better.

    Args:
        spec: specification of the mechanism, with orders and a bound in nats at each.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, on the condition that the declared bounds are true.
    """
    return Guarantee(
        setting=case.setting,
        curve=Curve(renyi_pair(RenyiBounds(spec.orders, spec.epsilons))),
        derivation=DECLARED_RENYI.because(orders=list(spec.orders), epsilons=list(spec.epsilons)),
        declared=(AS_DECLARED,),
    )


def gaussian_like(noise: float) -> Rdp:
    """Return an example of declared Rényi divergences: those of the Gaussian mechanism.

    The divergence of order a is a/(2σ²).

    Args:
        noise: noise multiplier σ of the Gaussian mechanism.

    Returns:
        The specification of a mechanism with these divergences, for eleven orders from 1.25 to 257.
    """
    orders = tuple(1.0 + 2.0**exponent for exponent in range(-2, 9))
    divergences = tuple(order / (2.0 * noise * noise) for order in orders)
    return Rdp(orders=orders, epsilons=divergences)


THEOREMS: tuple[Theorem, ...] = (DECLARED_RENYI,)
RULES: tuple[Rule, ...] = (Rule(DECLARED_RENYI, "rdp", declared_renyi),)
KIND = MechanismKind(
    sentence="a mechanism of which only Rényi divergences are known, {epsilons} at the orders {orders}".format_map,
    at_noise=gaussian_like,
)
