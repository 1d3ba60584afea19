from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.learning_problem import LearningProblem


T = TypeVar("T", bound="CanaryTraining")


@_attrs_define
class CanaryTraining:
    """A training with clipping and noise, and the canaries that are put into its data.

    A member is a record or a client, as `unit` says. In each round every member participates with probability
    `sampling_rate`, and sends a contribution of norm at most `clipping_norm` C. The noise of their sum has standard
    deviation `noise_multiplier` times C. A client's contribution is its update after `local_steps` gradient steps.
    Canaries are additional members, whose presence an attacker guesses. `problem` has the data, drawn once from its
    own seed.

        Attributes:
            problem (LearningProblem): `dataset`: Classification or regression on real records. The records that a client is
                assigned are its population.

                If `samples_per_client` is absent, it is the number of records that a client is assigned and that are not held
                out.
                An empirical objective allows only this number.

                `huber`: Huber regression on synthetic records: the loss is Huber's function of the residual ⟨x, w⟩ − y.

                Targets y are in [−1, 1] and follow a linear model of the features x. Without the ridge term a gradient has norm
                at
                most `threshold`, in every domain. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

                `least-squares`: Least squares on synthetic records: the loss is ½(⟨x, w⟩ − y)² for features x and target y ∈
                [−1, 1].

                Targets follow a linear model. `target_noise` is the standard deviation of their noise before they are clipped
                to
                [−1, 1]. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

                `linear`: A linear loss ½‖x‖² − ⟨x, w⟩ for the model w and a record x in the unit ball, plus the ridge term
                ½μ‖w‖².

                μ is `strong_convexity`. If it is 0, the gradient is the same at every model, and the minimiser is on the sphere
                that bounds the domain.

                `logistic`: Logistic regression on synthetic records: the loss is ln(1 + e^(−y⟨x, w⟩)) for features x and label
                y = ±1.

                A label is 1 with probability 1/(1 + e^(−a⟨x, v⟩)), where a is `sharpness` and v the model that the records
                follow.
                `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

                `mean-estimation`: Estimation of a mean: the loss is ½‖w − x‖² for the model w and a record x in the unit ball.

                The loss is 1-smooth and 1-strongly convex. The minimiser is the mean of the records, if it is in the domain.

                `personalized-digits`: Personalised softmax regression on images of the digits 0 to 9, split evenly over the
                clients.

                Every client gets the same number of records, and the remaining records are left out. A share `held_out` of each
                client's records is for testing.

                `personalized-huber`: Personalised Huber regression, with target noise +τ or −τ and features from a finite list
                of scaled sign vectors.

                τ is `target_noise_std`, and the list has `feature_vectors` entries. The loss is quadratic up to the residual
                κ = `threshold` and linear beyond, so that a gradient has norm at most κ‖x‖. The expected loss is a finite sum,
                and
                is computed exactly.

                `personalized-least-squares`: Personalised least squares, with Gaussian noise in the targets.

                The loss is half the squared residual. Its gradient has no bound, so that clipping may change it. With Gaussian
                features the loss has no smoothness constant that holds for all records, so that no risk bound applies.
            unit (Unit): record: One record is protected. client: Everything that one client holds is protected.
            rounds (int): number of rounds
            clipping_norm (float): bound on the ℓ2 norm of one client's message in a round
            noise_multiplier (float): standard deviation σ of the noise per coordinate, divided by the bound C on the ℓ2
                norm of one contribution. It is not divided by the sensitivity, which is 2C for replace-one
            step_size (float): step size of a gradient step
            sampling_rate (float | Unset): probability that a given record, or client if clients are drawn, is in a batch
            local_steps (int | Unset): number of gradient steps of one client in a round
            local_step_size (float | Unset): step size of a client's own gradient steps
            canary (str | Unset): kind of the canaries. gradient: each sends a vector of norm clipping_norm along a
                coordinate of its own in every round, the worst case under clipping. flipped-labels: members of the data with
                opposite targets, or the next class. ordinary: unchanged members of the data
            canaries (int | Unset): number of canaries. Each is in the data with probability ½, independently of the others
    """

    problem: LearningProblem
    unit: Unit
    rounds: int
    clipping_norm: float
    noise_multiplier: float
    step_size: float
    sampling_rate: float | Unset = UNSET
    local_steps: int | Unset = UNSET
    local_step_size: float | Unset = UNSET
    canary: str | Unset = UNSET
    canaries: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        problem = self.problem.to_dict()

        unit = self.unit.value

        rounds = self.rounds

        clipping_norm = self.clipping_norm

        noise_multiplier = self.noise_multiplier

        step_size = self.step_size

        sampling_rate = self.sampling_rate

        local_steps = self.local_steps

        local_step_size = self.local_step_size

        canary = self.canary

        canaries = self.canaries

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "problem": problem,
                "unit": unit,
                "rounds": rounds,
                "clipping_norm": clipping_norm,
                "noise_multiplier": noise_multiplier,
                "step_size": step_size,
            }
        )
        if sampling_rate is not UNSET:
            field_dict["sampling_rate"] = sampling_rate
        if local_steps is not UNSET:
            field_dict["local_steps"] = local_steps
        if local_step_size is not UNSET:
            field_dict["local_step_size"] = local_step_size
        if canary is not UNSET:
            field_dict["canary"] = canary
        if canaries is not UNSET:
            field_dict["canaries"] = canaries

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.learning_problem import LearningProblem

        d = dict(src_dict)
        problem = LearningProblem.from_dict(d.pop("problem"))

        unit = Unit(d.pop("unit"))

        rounds = d.pop("rounds")

        clipping_norm = d.pop("clipping_norm")

        noise_multiplier = d.pop("noise_multiplier")

        step_size = d.pop("step_size")

        sampling_rate = d.pop("sampling_rate", UNSET)

        local_steps = d.pop("local_steps", UNSET)

        local_step_size = d.pop("local_step_size", UNSET)

        canary = d.pop("canary", UNSET)

        canaries = d.pop("canaries", UNSET)

        canary_training = cls(
            problem=problem,
            unit=unit,
            rounds=rounds,
            clipping_norm=clipping_norm,
            noise_multiplier=noise_multiplier,
            step_size=step_size,
            sampling_rate=sampling_rate,
            local_steps=local_steps,
            local_step_size=local_step_size,
            canary=canary,
            canaries=canaries,
        )

        return canary_training
