from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.relation import Relation
from ..models.sampling import Sampling
from ..models.solve_for import SolveFor
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="GaussianProblem")


@_attrs_define
class GaussianProblem:
    """A repeated Gaussian mechanism: one of noise multiplier, rounds, rate, ε and δ is computed from the others.

    A risk may replace ε, such as `advantage`. Then δ may be absent; it is only the point at which ε is returned.

    `sampling` other than `full` needs the rate, as `rate` or as `batch_size` of `population` records. Sampling with
    replacement needs `batch_size` and `population`. To compute the rate of a batch of fixed size, give `population`.
    `largest_batch` truncates Poisson batches, as in a spec. It needs `population`, and `rate` or to compute it.

        Attributes:
            relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
                same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
                contribution counts as zero in one of the data sets.
            unit (Unit | WindowedUnit): protected unit, in which neighbours differ
            observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
                add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
                hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
                as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
                together are the adversary and see every model that a trusted server sends them.
            sampling (Sampling):
            advantage (float | Unset): in place of epsilon: largest true minus false positive rate of an attacker
            true_positive_rate (float | Unset): in place of epsilon: largest true positive rate of an attacker at
                false_positive_rate
            false_positive_rate (float | Unset): false positive rate at which true_positive_rate is bounded
            gaussian_dp_mu (float | Unset): in place of epsilon: parameter μ of Gaussian differential privacy; not the ρ of
                zCDP, for which μ = √(2ρ)
            rho (float | Unset): in place of epsilon: parameter ρ of zero-concentrated differential privacy
            solve_for (SolveFor | Unset):
            noise_multiplier (float | Unset): standard deviation σ of the noise per coordinate, divided by the bound C on
                the ℓ2 norm of one contribution. It is not divided by the sensitivity, which is 2C for replace-one
            rounds (int | Unset): number of rounds
            rate (float | Unset): probability that a given record, or client if clients are drawn, is in a batch
            batch_size (int | Unset): number of records in a batch; if clients are drawn, number of clients
            population (int | Unset): number of records from which a batch is drawn; if clients are drawn, number of clients
            largest_batch (int | Unset): largest number of records, or of clients, in a batch. If more are drawn, a uniform
                subset of this size is kept
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
    """

    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    sampling: Sampling
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    rho: float | Unset = UNSET
    solve_for: SolveFor | Unset = UNSET
    noise_multiplier: float | Unset = UNSET
    rounds: int | Unset = UNSET
    rate: float | Unset = UNSET
    batch_size: int | Unset = UNSET
    population: int | Unset = UNSET
    largest_batch: int | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        relation = self.relation.value

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        observer = self.observer.value

        sampling = self.sampling.value

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        gaussian_dp_mu = self.gaussian_dp_mu

        rho = self.rho

        solve_for: str | Unset = UNSET
        if not isinstance(self.solve_for, Unset):
            solve_for = self.solve_for.value

        noise_multiplier = self.noise_multiplier

        rounds = self.rounds

        rate = self.rate

        batch_size = self.batch_size

        population = self.population

        largest_batch = self.largest_batch

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
        if advantage is not UNSET:
            field_dict["advantage"] = advantage
        if true_positive_rate is not UNSET:
            field_dict["true_positive_rate"] = true_positive_rate
        if false_positive_rate is not UNSET:
            field_dict["false_positive_rate"] = false_positive_rate
        if gaussian_dp_mu is not UNSET:
            field_dict["gaussian_dp_mu"] = gaussian_dp_mu
        if rho is not UNSET:
            field_dict["rho"] = rho
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
        if largest_batch is not UNSET:
            field_dict["largest_batch"] = largest_batch
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        relation = Relation(d.pop("relation"))

        def _parse_unit(data: object) -> Unit | WindowedUnit:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                unit_type_0 = Unit(data)

                return unit_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            unit_type_1 = WindowedUnit.from_dict(data)

            return unit_type_1

        unit = _parse_unit(d.pop("unit"))

        observer = Observer(d.pop("observer"))

        sampling = Sampling(d.pop("sampling"))

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        rho = d.pop("rho", UNSET)

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

        largest_batch = d.pop("largest_batch", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        gaussian_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            sampling=sampling,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
            solve_for=solve_for,
            noise_multiplier=noise_multiplier,
            rounds=rounds,
            rate=rate,
            batch_size=batch_size,
            population=population,
            largest_batch=largest_batch,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
        )

        return gaussian_problem
