from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.gaussian_problem_solve_for import (
    GaussianProblemSolveFor,
    check_gaussian_problem_solve_for,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.sampling import Sampling, check_sampling
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

T = TypeVar("T", bound="GaussianProblem")


@_attrs_define
class GaussianProblem:
    """Four of the five numbers, and which one to solve for.

    `sampling` other than `full` needs `rate`, or `batch_size` and `population` (counts are what a fixed-size batch
    has); solving for the rate of a fixed-size batch needs `population` and returns `batch_size`.

    """

    solve_for: GaussianProblemSolveFor
    relation: Relation
    sampling: Sampling
    noise_multiplier: float | Unset = UNSET
    """ σ over the bound on the ℓ2 norm of one contribution to the noisy quantity, never over the sensitivity """
    rounds: int | Unset = UNSET
    """ communication rounds """
    rate: float | Unset = UNSET
    """ probability that a given record, or client where clients are drawn, is in a batch """
    batch_size: int | Unset = UNSET
    """ how many records, or clients where clients are drawn, are in a batch """
    population: int | Unset = UNSET
    """ how many records, or clients where clients are drawn, a batch is drawn from """
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    unit: Unit | Unset = UNSET
    observer: Observer | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        solve_for: str = self.solve_for

        relation: str = self.relation

        sampling: str = self.sampling

        noise_multiplier = self.noise_multiplier

        rounds = self.rounds

        rate = self.rate

        batch_size = self.batch_size

        population = self.population

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "solve_for": solve_for,
                "relation": relation,
                "sampling": sampling,
            }
        )
        if noise_multiplier is not UNSET:
            field_dict["noise_multiplier"] = noise_multiplier
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if rate is not UNSET:
            field_dict["rate"] = rate
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if population is not UNSET:
            field_dict["population"] = population
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if unit is not UNSET:
            field_dict["unit"] = unit
        if observer is not UNSET:
            field_dict["observer"] = observer

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        solve_for = check_gaussian_problem_solve_for(d.pop("solve_for"))

        relation = check_relation(d.pop("relation"))

        sampling = check_sampling(d.pop("sampling"))

        noise_multiplier = d.pop("noise_multiplier", UNSET)

        rounds = d.pop("rounds", UNSET)

        rate = d.pop("rate", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        population = d.pop("population", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _unit = d.pop("unit", UNSET)
        unit: Unit | Unset
        if isinstance(_unit, Unset):
            unit = UNSET
        else:
            unit = check_unit(_unit)

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = check_observer(_observer)

        gaussian_problem = cls(
            solve_for=solve_for,
            relation=relation,
            sampling=sampling,
            noise_multiplier=noise_multiplier,
            rounds=rounds,
            rate=rate,
            batch_size=batch_size,
            population=population,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            unit=unit,
            observer=observer,
        )

        return gaussian_problem
