"""The question that `gaussian` answers: four of five numbers, and which one to solve for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import (
    ANY_EPSILON,
    DELTA,
    DRAWN,
    LOG10_DELTA,
    NOISE_MULTIPLIER,
    POPULATION,
    RATE,
    ROUNDS,
    SAMPLING,
    Quantity,
    Sampling,
    SettingFields,
    request,
)
from epsilond.accountants.quantities.mechanisms import LARGEST_BATCH
from epsilond.accountants.quantities.risks import RISKS, RiskTargetFields
from epsilond.accountants.target import Target, natural_log_delta

_OF_A_RISK = "noise_multiplier, rounds, rate"
"""Numbers that can be solved for if a risk is the target."""
Unknown = Literal["noise_multiplier", "rounds", "rate", "epsilon", "delta"]


@request
class GaussianProblem(SettingFields, RiskTargetFields):
    """A repeated Gaussian mechanism: one of noise multiplier, rounds, rate, ε and δ is computed from the others.

    A risk may replace ε, such as `advantage`. Then δ may be absent; it is only the point at which ε is returned.

    `sampling` other than `full` needs the rate, as `rate` or as `batch_size` of `population` records. Sampling with
    replacement needs `batch_size` and `population`. To compute the rate of a batch of fixed size, give `population`.
    `largest_batch` truncates Poisson batches, as in a spec. It needs `population`, and `rate` or to compute it.
    """

    solve_for: Annotated[
        Unknown, Quantity(description="name of the number to compute; the request gives the others")
    ] = "noise_multiplier"
    sampling: Annotated[Sampling, SAMPLING]
    noise_multiplier: Annotated[float | None, NOISE_MULTIPLIER] = None
    rounds: Annotated[int | None, ROUNDS] = None
    rate: Annotated[float | None, RATE] = None
    batch_size: Annotated[int | None, DRAWN] = None
    population: Annotated[int | None, POPULATION] = None
    largest_batch: Annotated[int | None, LARGEST_BATCH] = None
    epsilon: Annotated[float | None, ANY_EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None

    def check(self) -> None:
        """Check that exactly the unknown is absent, and that the batch is described once."""
        faults = [*self._absences(), *self._batch_faults()]
        if faults:
            raise InvalidInput(*faults)
        has_delta = self.delta is not None or self.log10_delta is not None
        needs_delta = self.solve_for != "delta" and self.risk is None
        if has_delta or needs_delta:
            natural_log_delta(self.delta, self.log10_delta)  # raises an error if both forms of δ are given, or none

    @property
    def target(self) -> Target:
        """The given (ε, δ), with ε = 0 where ε is the unknown, or the given risk."""
        if self.risk is not None:
            return Target.of_risk(self.risk, self.delta, self.log10_delta)
        return Target.of(self.epsilon or 0.0, self.delta, self.log10_delta)

    def _absences(self) -> Iterator[Fault]:
        """Yield a fault if the unknown is given, and a fault for each other number that is missing.

        The numbers are noise multiplier, rounds, ε and δ. A target risk takes the place of ε, and δ may then be absent.

        Yields:
            Faults with the pointer to the field, the reason and the allowed values.
        """
        is_present = {
            "noise_multiplier": self.noise_multiplier is not None,
            "rounds": self.rounds is not None,
            "epsilon": self.epsilon is not None,
            "delta": self.delta is not None or self.log10_delta is not None,
        }
        # A risk takes the place of ε, and makes δ optional.
        if self.risk is not None:
            if is_present.pop("epsilon"):
                yield Fault("/epsilon", f"is one target, and {self.risk.kind} is another")
            if self.solve_for in ("epsilon", "delta"):
                yield Fault("/solve_for", f"is part of the answer if {self.risk.kind} is the target", _OF_A_RISK)
            del is_present["delta"]
        for name, present in is_present.items():
            is_unknown = name == self.solve_for
            if present and is_unknown:
                yield Fault(f"/{name}", "is the field that is solved for")
            elif not present and not is_unknown:
                takes_risk = name == "epsilon" and self.solve_for != "delta"
                instead = f", or one of {', '.join(RISKS)} in its place" if takes_risk else ""
                yield Fault(f"/{name}", f"is needed to solve for {self.solve_for}{instead}")

    def _batch_faults(self) -> Iterator[Fault]:
        """Yield a fault if the sampling rate of batches is missing, given twice, or impossible.

        Yields:
            Faults with the pointer to the field and the reason.
        """
        if self.largest_batch is not None:
            yield from self._truncation_faults()
            return
        given_fields = {name for name in ("rate", "batch_size", "population") if getattr(self, name) is not None}
        if self.sampling == "full":
            if given_fields or self.solve_for == "rate":
                yield Fault("/rate", "a full batch has no rate")
            return
        if self.solve_for == "rate":
            needed = set() if self.sampling == "poisson" else {"population"}
            if given_fields != needed:
                yield Fault("/rate", "solving for the rate needs population, or nothing if poisson")
            return

        # A rate is given directly, or as a batch size of a population. Draws with replacement have no rate.
        allowed = [{"batch_size", "population"}]
        if self.sampling != "with-replacement":
            allowed.append({"rate"})
        if given_fields not in allowed:
            reason = "give either rate, or batch_size and population; counts if drawn with replacement"
            yield Fault("/rate", reason)
        elif self.sampling == "without-replacement" and (self.batch_size or 0) > (self.population or math.inf):
            yield Fault("/batch_size", "cannot exceed population", f"≤ {self.population}")

    def _truncation_faults(self) -> Iterator[Fault]:
        """Yield a fault if batches of a largest size are not Poisson batches of a known population and rate."""
        if self.sampling != "poisson":
            yield Fault("/largest_batch", "only Poisson batches have a largest size", "poisson")
        elif self.batch_size is not None or self.population is None:
            yield Fault("/population", "a largest batch needs rate and population, and no batch_size")
        elif (self.rate is None) != (self.solve_for == "rate"):
            reason = "is the field that is solved for" if self.rate is not None else "a largest batch needs the rate"
            yield Fault("/rate", reason)


def infer_unknown(fields: JsonObject) -> Unknown | None:
    """Return which of noise multiplier, rounds, rate, ε and δ a request leaves open.

    A bound on an attacker's success ("risk") counts as ε and δ.

    Args:
        fields: fields of a `GaussianProblem` by their names. A batch has a rate unless `sampling` is `full`.

    Returns:
        The name of the number; None if not exactly one of the five is absent.
    """
    has_risk = not set(RISKS).isdisjoint(fields)
    present: dict[Unknown, bool] = {
        "noise_multiplier": "noise_multiplier" in fields,
        "rounds": "rounds" in fields,
        # A full batch has the rate 1.
        "rate": fields.get("sampling") == "full" or "rate" in fields or "batch_size" in fields,
        "epsilon": "epsilon" in fields or has_risk,
        "delta": "delta" in fields or "log10_delta" in fields or has_risk,
    }
    absent = [name for name, is_present in present.items() if not is_present]
    if len(absent) != 1:
        return None
    return absent[0]
