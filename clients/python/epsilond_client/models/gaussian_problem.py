from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.relation import Relation
from ..models.sampling import Sampling
from ..models.solve_for import SolveFor
from ..models.unit import Unit
from ..types import UNSET, Unset

T = TypeVar("T", bound="GaussianProblem")


@_attrs_define
class GaussianProblem:
    """Four of the five numbers, and which one to solve for.

    `sampling` other than `full` needs `rate`, or `batch_size` and `population` (counts are what a fixed-size batch
    has); solving for the rate of a fixed-size batch needs `population` and returns `batch_size`.

        Attributes:
            relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
                same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
                contribution counts as zero in one of the data sets.
            unit (Unit): record: One record is protected. client: Everything that one client holds is protected.
            observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
                add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
                hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
                as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
                together are the adversary and see every model that a trusted server sends them.
            sampling (Sampling):
            solve_for (SolveFor | Unset):
            noise_multiplier (float | Unset): σ over the bound on the ℓ2 norm of one contribution to the noisy quantity,
                never over the sensitivity
            rounds (int | Unset): communication rounds
            rate (float | Unset): probability that a given record, or client if clients are drawn, is in a batch
            batch_size (int | Unset): records in a batch, or clients if clients are drawn
            population (int | Unset): records that a batch is drawn from, or clients if clients are drawn
            epsilon (float | Unset): privacy loss bound ε of (ε, δ), natural logs
            delta (float | Unset): failure probability δ of (ε, δ)
            log10_delta (float | Unset): base-10 logarithm of δ, for a δ below any double
    """

    relation: Relation
    unit: Unit
    observer: Observer
    sampling: Sampling
    solve_for: SolveFor | Unset = UNSET
    noise_multiplier: float | Unset = UNSET
    rounds: int | Unset = UNSET
    rate: float | Unset = UNSET
    batch_size: int | Unset = UNSET
    population: int | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        relation = self.relation.value

        unit = self.unit.value

        observer = self.observer.value

        sampling = self.sampling.value

        solve_for: str | Unset = UNSET
        if not isinstance(self.solve_for, Unset):
            solve_for = self.solve_for.value

        noise_multiplier = self.noise_multiplier

        rounds = self.rounds

        rate = self.rate

        batch_size = self.batch_size

        population = self.population

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "relation": relation,
                "unit": unit,
                "observer": observer,
                "sampling": sampling,
            }
        )
        if solve_for is not UNSET:
            field_dict["solve_for"] = solve_for
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

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        relation = Relation(d.pop("relation"))

        unit = Unit(d.pop("unit"))

        observer = Observer(d.pop("observer"))

        sampling = Sampling(d.pop("sampling"))

        _solve_for = d.pop("solve_for", UNSET)
        solve_for: SolveFor | Unset
        if isinstance(_solve_for, Unset):
            solve_for = UNSET
        else:
            solve_for = SolveFor(_solve_for)

        noise_multiplier = d.pop("noise_multiplier", UNSET)

        rounds = d.pop("rounds", UNSET)

        rate = d.pop("rate", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        population = d.pop("population", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        gaussian_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            sampling=sampling,
            solve_for=solve_for,
            noise_multiplier=noise_multiplier,
            rounds=rounds,
            rate=rate,
            batch_size=batch_size,
            population=population,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
        )

        return gaussian_problem
