from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.projected_sgd_batches import (
    ProjectedSgdBatches,
    check_projected_sgd_batches,
)
from ..models.projected_sgd_release import (
    ProjectedSgdRelease,
    check_projected_sgd_release,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.constant import Constant
    from ..models.explicit import Explicit
    from ..models.inverse_time import InverseTime


T = TypeVar("T", bound="ProjectedSgd")


@_attrs_define
class ProjectedSgd:
    """Noisy projected gradient descent of which one model is released and nothing else is seen.

    W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), Z_{t,j} ~ N(0, I), Π the projection onto
    the ball of radius ρ, W_0 in it and independent of the data. Each of the n clients holds one record; each of the m
    clients of a batch adds its own noise, so that the mean carries σ_t/√m. Gradients are used as they are: no clipping.

    `batches`: `shuffled`, a uniform partition into ⌊n/m⌋ batches of m, drawn once, kept secret, and gone through in
    its order, over and over if there are more steps than batches (clients left over never take part); `cyclic`, such
    a partition fixed in advance, which anyone may know; `without-replacement`, a fresh uniform batch in each step.
    `rounds` is the number T of steps; absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform on
    1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz on
    the ball, and convex unless `convex` is false; β-smooth if `smoothness` is given, λ-strongly convex with λ =
    `strong_convexity`. zero-out-one: the record's gradient is zero, its client still adds noise.

    Admits: exactly n clients in both worlds. A batch of another number cannot be run on, and in a `cyclic` order a
    place may be anyone's, so that drawing the n clients from a larger population only thins.

    """

    kind: Literal["projected_sgd"]
    """ which mechanism this is """
    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    radius: float
    """ radius of the domain """
    step_schedule: Constant | Explicit | InverseTime
    noise_schedule: Constant | Explicit | InverseTime
    rounds: int | Unset = UNSET
    """ communication rounds """
    batches: ProjectedSgdBatches | Unset = UNSET
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    convex: bool | Unset = True
    """ whether every record's loss is convex """
    release: ProjectedSgdRelease | Unset = UNSET
    suffix_fraction: float | Unset = UNSET
    """ the released step is uniform on ⌈αT⌉, …, T (release `suffix` only) """

    def to_dict(self) -> dict[str, Any]:
        from ..models.constant import Constant
        from ..models.inverse_time import InverseTime

        kind = self.kind

        clients = self.clients

        participants = self.participants

        lipschitz = self.lipschitz

        radius = self.radius

        step_schedule: dict[str, Any]
        if isinstance(self.step_schedule, Constant) or isinstance(self.step_schedule, InverseTime):
            step_schedule = self.step_schedule.to_dict()
        else:
            step_schedule = self.step_schedule.to_dict()

        noise_schedule: dict[str, Any]
        if isinstance(self.noise_schedule, Constant) or isinstance(self.noise_schedule, InverseTime):
            noise_schedule = self.noise_schedule.to_dict()
        else:
            noise_schedule = self.noise_schedule.to_dict()

        rounds = self.rounds

        batches: str | Unset = UNSET
        if not isinstance(self.batches, Unset):
            batches = self.batches

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        convex = self.convex

        release: str | Unset = UNSET
        if not isinstance(self.release, Unset):
            release = self.release

        suffix_fraction = self.suffix_fraction

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "clients": clients,
                "participants": participants,
                "lipschitz": lipschitz,
                "radius": radius,
                "step_schedule": step_schedule,
                "noise_schedule": noise_schedule,
            }
        )
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if batches is not UNSET:
            field_dict["batches"] = batches
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if convex is not UNSET:
            field_dict["convex"] = convex
        if release is not UNSET:
            field_dict["release"] = release
        if suffix_fraction is not UNSET:
            field_dict["suffix_fraction"] = suffix_fraction

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.constant import Constant
        from ..models.explicit import Explicit
        from ..models.inverse_time import InverseTime

        d = dict(src_dict)
        kind = cast(Literal["projected_sgd"], d.pop("kind"))
        if kind != "projected_sgd":
            raise ValueError(f"kind must match const 'projected_sgd', got '{kind}'")

        clients = d.pop("clients")

        participants = d.pop("participants")

        lipschitz = d.pop("lipschitz")

        radius = d.pop("radius")

        def _parse_step_schedule(data: object) -> Constant | Explicit | InverseTime:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_0 = Constant.from_dict(data)

                return componentsschemas_schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_1 = InverseTime.from_dict(data)

                return componentsschemas_schedule_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_schedule_type_2 = Explicit.from_dict(data)

            return componentsschemas_schedule_type_2

        step_schedule = _parse_step_schedule(d.pop("step_schedule"))

        def _parse_noise_schedule(data: object) -> Constant | Explicit | InverseTime:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_0 = Constant.from_dict(data)

                return componentsschemas_schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_1 = InverseTime.from_dict(data)

                return componentsschemas_schedule_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_schedule_type_2 = Explicit.from_dict(data)

            return componentsschemas_schedule_type_2

        noise_schedule = _parse_noise_schedule(d.pop("noise_schedule"))

        rounds = d.pop("rounds", UNSET)

        _batches = d.pop("batches", UNSET)
        batches: ProjectedSgdBatches | Unset
        if isinstance(_batches, Unset):
            batches = UNSET
        else:
            batches = check_projected_sgd_batches(_batches)

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        convex = d.pop("convex", UNSET)

        _release = d.pop("release", UNSET)
        release: ProjectedSgdRelease | Unset
        if isinstance(_release, Unset):
            release = UNSET
        else:
            release = check_projected_sgd_release(_release)

        suffix_fraction = d.pop("suffix_fraction", UNSET)

        projected_sgd = cls(
            kind=kind,
            clients=clients,
            participants=participants,
            lipschitz=lipschitz,
            radius=radius,
            step_schedule=step_schedule,
            noise_schedule=noise_schedule,
            rounds=rounds,
            batches=batches,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            convex=convex,
            release=release,
            suffix_fraction=suffix_fraction,
        )

        return projected_sgd
