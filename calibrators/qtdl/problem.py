"""The question that `qtdl` answers: a target, a grid, and how far neighbours are apart on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import read_member
from epsilond.accountants.quantities import (
    BudgetFields,
    Dimension,
    Participants,
    Quantity,
    Rounds,
    SettingFields,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    FAILURE_DELTA,
    RELATIVE_MOVEMENT,
    UPDATE_L1,
    UPDATE_L2,
    UPDATE_LINF,
    QuantizationLevels,
)
from epsilond.accountants.quantities.mechanisms import L1_SENSITIVITY, L2_SENSITIVITY, LINF_SENSITIVITY
from epsilond.accountants.specs import Spec, TruncatedDiscreteLaplace
from epsilond.accountants.theorems.papers.das.sensitivity import (
    Movement,
    coupled_bounds,
    hoeffding_bounds,
    relative_bounds,
    trivial_bounds,
    unit_distances,
    unit_vector_bounds,
)

RuleKind = Literal["trivial", "unit-vector", "coupled", "hoeffding", "relative"]
Method = Literal["escape", "hockey-stick", "concentrated", "concentrated-coupled"]
METHODS: tuple[Method, ...] = ("escape", "hockey-stick", "concentrated", "concentrated-coupled")
Reading = Literal["statement"]

METHOD = Quantity(
    description="proof that certifies the noise. escape: δ is the probability of outputs that only one "
    "neighbour can have. hockey-stick: privacy losses are composed exactly. concentrated: losses "
    "are bounded by zCDP. concentrated-coupled: escape or concentrated, with distances of "
    "neighbours that are rounded by the same random numbers. Absent: the one with the least noise"
)
RULE = Quantity(description="rule from which the sensitivities are computed. Give either it or the sensitivities")
RULE_KIND = Quantity(
    description=(
        "what is assumed of neighbouring updates. trivial: any two points of the cube [−1, 1]^d. "
        "unit-vector: any two unit vectors. coupled, hoeffding: the update_ distances, if both are "
        "rounded with the same random numbers. relative: equation (6) of Das et al."
    )
)
READINGS_WANTED = Quantity(description="interpretations (readings) of the printed theorem to return; all if absent")
FAILURE_SHARES = (0.5, 0.1, 0.01)
"""Fractions of δ that rounding may use; the best is chosen if the request gives none."""


@request
class SensitivityRule:
    """A rule from which the sensitivities are computed. The kind decides which of the other fields are needed."""

    kind: Annotated[RuleKind, RULE_KIND]
    update_l1: Annotated[float | None, UPDATE_L1] = None
    update_l2: Annotated[float | None, UPDATE_L2] = None
    update_linf: Annotated[float | None, UPDATE_LINF] = None
    failure_delta: Annotated[float | None, FAILURE_DELTA] = None
    relative_movement: Annotated[float | None, RELATIVE_MOVEMENT] = None

    def check(self) -> None:
        """Check that exactly the fields of the rule's kind are present.

        These are distances for `coupled` and `hoeffding`, and `relative_movement` for `relative`. The optional
        `failure_delta` is not allowed for `trivial` and `coupled`.

        Raises:
            InvalidInput: a field is missing or has no part in the rule.
        """
        gives_distances = self.kind in ("coupled", "hoeffding")
        needs = {
            "update_l1": gives_distances,
            "update_l2": gives_distances,
            "update_linf": gives_distances,
            "relative_movement": self.kind == "relative",
        }

        for name, is_needed in needs.items():
            is_given = getattr(self, name) is not None
            if is_needed and not is_given:
                raise InvalidInput.at(f"/{name}", f"is needed by the rule {self.kind}")
            if is_given and not is_needed:
                raise InvalidInput.at(f"/{name}", f"has no part in the rule {self.kind}")
        if self.failure_delta is not None and self.kind in ("trivial", "coupled"):
            raise InvalidInput.at("/failure_delta", f"the rule {self.kind} never fails")

    def movement(self, dimension: int, levels: int) -> Movement:
        """Return bounds on the distance between the rounded updates of two neighbours that always hold, in grid steps.

        Args:
            dimension: number of coordinates, at least 1.
            levels: grid steps in a unit of the update.

        Returns:
            Bounds in the ℓ1, ℓ∞ and, where known, the ℓ2 norm.
        """
        if self.kind == "trivial":
            return trivial_bounds(dimension, levels)
        if self.kind == "unit-vector":
            return unit_vector_bounds(dimension, levels)
        if self.relative_movement is not None:
            return relative_bounds(dimension, levels, self.relative_movement)
        return coupled_bounds(dimension, levels, **self._distances(dimension))

    def rounded_together(self, dimension: int, levels: int, log_failures: Sequence[float]) -> Iterator[Movement]:
        """Yield bounds on the distance of two neighbouring updates after rounding with the same random numbers.

        The first bound holds with certainty. Unless `kind` is `coupled`, further bounds follow, which fail with the
        given probabilities (Hoeffding's inequality). For the kind `trivial`, two neighbours may be as far apart as the
        grid allows. There is no bound then.

        Args:
            dimension: number of coordinates d.
            levels: grid steps s in a unit.
            log_failures: natural logs of the failure probabilities in a round.

        Yields:
            Bounds in the ℓ1, ℓ2 and ℓ∞ norm, in grid steps, each with its failure probability.
        """
        if self.kind == "trivial":
            return
        distances = self._distances(dimension)
        yield coupled_bounds(dimension, levels, **distances)
        if self.kind != "coupled":
            for log_failure in log_failures:
                yield hoeffding_bounds(dimension, levels, **distances, log_failure=log_failure)

    def on_grid(self, dimension: int, levels: int) -> Movement | None:
        """Return the distance of an example of two neighbours, both unit vectors on the grid.

        Rounding does not change them. If `kind` is `unit-vector`, they are opposite points of an axis, 2s steps apart.
        Otherwise, the first one has s − 1 steps in one coordinate, 1 step in 2s − 1 others, and 0 in the rest. The
        squares add up to s², so its norm is 1. In the second one, some of the coordinates with 1 step and as many with
        0 are exchanged. Each exchange changes two coordinates by one step.

        Args:
            dimension: number of coordinates.
            levels: grid steps s in a unit.

        Returns:
            The distance in grid steps. None for the kind `trivial`, or if the given distances of neighbours allow no
            such example.
        """
        if self.kind == "trivial":
            return None
        if self.kind == "unit-vector":
            return Movement(2.0 * levels, 2.0 * levels)

        # The number of exchanges is limited by the ones, the zeros, and the given distances.
        distances = self._distances(dimension)
        l1, l2, linf = (Fraction(distances[norm]) * levels for norm in ("l1", "l2", "linf"))
        ones = 2 * levels - 1
        zeros = dimension - 1 - ones
        swaps = min(ones, zeros, math.floor(l1 / 2), math.floor(l2**2 / 2))
        if swaps < 1 or linf < 1:
            return None
        return Movement(2.0 * swaps, 1.0)

    def _distances(self, dimension: int) -> dict[str, float]:
        """Return bounds on the distances of the unit updates before rounding, by norm: l1, l2 and linf."""
        if self.relative_movement is not None:
            # Unit updates at this ℓ2 distance; a vector's ℓ1 norm is at most √d times its ℓ2 norm.
            distance = self.relative_movement
            return {"l1": distance * dimension**0.5, "l2": distance, "linf": distance}
        if self.update_l1 is None or self.update_l2 is None or self.update_linf is None:
            return unit_distances(dimension)
        return {"l1": self.update_l1, "l2": self.update_l2, "linf": self.update_linf}


@request
class GridProblem(SettingFields, BudgetFields):
    """A target, a grid, and distances on it. Give one δ, and sensitivities or a `sensitivity_rule`.

    The target is (ε, δ) with ε > 0. The decay rate of the noise is proportional to ε, so ε = 0 has none. The noise is
    truncated and its proofs hold at one ε, so no risk of the whole curve is a target.
    """

    dimension: Dimension
    quantization_levels: QuantizationLevels
    l1_sensitivity: Annotated[float | None, L1_SENSITIVITY] = None
    linf_sensitivity: Annotated[float | None, LINF_SENSITIVITY] = None
    l2_sensitivity: Annotated[float | None, L2_SENSITIVITY] = None
    sensitivity_rule: Annotated[SensitivityRule | None, RULE] = None
    rounds: Rounds
    method: Annotated[Method | None, METHOD] = None
    readings: Annotated[tuple[Reading, ...] | None, READINGS_WANTED] = None

    def check(self) -> None:
        """Check that sensitivities are stated once and suffice for the method, and the algorithm's own conditions.

        A sensitivity is the largest distance of two neighbours' messages. It is given in the ℓ1 and ℓ∞ norm, or by a
        rule.

        Raises:
            InvalidInput: a check fails.
        """
        if self.sensitivity_rule is not None:
            read_member(self, "sensitivity_rule", SensitivityRule)

        norms = ("l1", "linf", "l2")
        given_norms = {norm for norm in norms if getattr(self, f"{norm}_sensitivity") is not None}
        if self.sensitivity_rule is not None and given_norms:
            raise InvalidInput.at("/sensitivity_rule", "gives the sensitivities: leave them out")
        if given_norms and not {"l1", "linf"} <= given_norms:
            raise InvalidInput.at("/l1_sensitivity", "l1_sensitivity and linf_sensitivity go together")

        self.check_own()
        if self.method == "concentrated" and self.movement.l2 is None:
            raise InvalidInput.at("/method", "concentrated needs a bound on the ℓ2 distance")
        if self.method == "concentrated-coupled" and not self.rounded_together():
            raise InvalidInput.at("/method", "concentrated-coupled needs a sensitivity_rule other than trivial")

    def check_own(self) -> None:
        """Check the conditions of one algorithm; by default there are none."""

    @property
    def movement(self) -> Movement:
        """Bounds on the distances of neighbours' messages that hold with certainty, in grid steps."""
        if self.l1_sensitivity is not None and self.linf_sensitivity is not None:
            return Movement(self.l1_sensitivity, self.linf_sensitivity, self.l2_sensitivity)
        return self.rule.movement(self.dimension, self.quantization_levels)

    @property
    def realised(self) -> Movement | None:
        """Distance that the messages of two neighbours attain, in grid steps; None if no such pair is known.

        It is known only for replace-one neighbours, and if no sensitivities are given as numbers.
        """
        if self.l1_sensitivity is not None or self.relation != "replace-one":
            return None
        return self.rule.on_grid(self.dimension, self.quantization_levels)

    @property
    def reporting(self) -> int:
        """Number of clients that send a message in one round."""
        return 1

    @property
    def rate(self) -> float:
        """Fraction of the clients that participate in a round if the observer does not see which; otherwise 1."""
        return 1.0

    def round_of(self, message: TruncatedDiscreteLaplace) -> Spec:
        """Return the mechanism of a round, from the message of a client; by default it is the message itself."""
        return message

    @property
    def rule(self) -> SensitivityRule:
        """Rule of the request; if it has none, the rule `unit-vector`, for any two unit vectors."""
        return self.sensitivity_rule or SensitivityRule(kind="unit-vector")

    def rounded_together(self) -> tuple[Movement, ...]:
        """Return bounds on the distance of neighbours that are rounded with the same random numbers, in grid steps.

        `Movement.log_failure` is the log of the probability that a bound fails in a round. It is the requested
        `failure_delta`, or one of `FAILURE_SHARES` of the target's δ per round. The result is empty if the request
        gives sensitivities, because these say nothing about the updates before rounding.

        Returns:
            The bounds, of which the first holds with certainty; empty if there are none.
        """
        if self.l1_sensitivity is not None:
            return ()
        rule = self.rule
        if rule.failure_delta is not None:
            log_failures = [math.log(rule.failure_delta)]
        else:
            log_delta_of_round = self.target.log_delta - math.log(self.rounds)
            log_failures = [log_delta_of_round + math.log(share) for share in FAILURE_SHARES]
        return tuple(rule.rounded_together(self.dimension, self.quantization_levels, log_failures))


@request
class QtdlProblem(GridProblem):
    """The target (ε, δ) for quantised updates with truncated discrete Laplace noise.

    The guarantee is for all `rounds` messages of one client, against an observer of every message.
    """

    rounds: Rounds = 1
    participants: Participants = 1

    @property
    def reporting(self) -> int:
        """Number of clients that send a message in one round."""
        return self.participants

    def check_own(self) -> None:
        """Check that sensitivities or a rule for them are given, and that the observer sees messages.

        Raises:
            InvalidInput: the request has neither, or another observer than `server` and `shuffled-server`.
        """
        if self.l1_sensitivity is None and self.sensitivity_rule is None:
            raise InvalidInput.at("/l1_sensitivity", "give l1_sensitivity and linf_sensitivity, or a sensitivity_rule")
        if self.observer not in ("server", "shuffled-server"):
            raise InvalidInput.at("/observer", "does not see messages", allowed="server, shuffled-server")
