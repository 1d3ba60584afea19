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
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.participation_figures import ParticipationFigures
    from ..models.sharing import Sharing


T = TypeVar("T", bound="PpsgdParameters")


@_attrs_define
class PpsgdParameters:
    """What to run with, and what sharing more or less would give."""

    noise_std: float
    """ σ_ζ per coordinate, on the average of the clipped shared gradients """
    noise_multiplier: float
    """ σ_ζ over what one clipped message contributes to that average """
    noise_constant: float
    """ the constant c of the printed (4) or (12) that this noise amounts to """
    clipping_norm: float
    """ bound on one client's message """
    rounds: int
    """ rounds """
    participation_rate: float
    """ probability that a client takes part in a round """
    participants: int | Unset = UNSET
    """ clients of one round; absent where their number is random """
    personalization: float | Literal["unbounded"] | Unset = UNSET
    """ α to run with; absent if neither given nor chosen """
    step_size: float | Unset = UNSET
    """ η of the theorem; absent where no risk bound applies """
    shared_step_size: float | Unset = UNSET
    """ αη, of the shared part """
    local_step_size: float | Unset = UNSET
    """ η/(qW), of a client's own part, for its message's gradient """
    sharing: Sharing | Unset = UNSET
    """ The bound over α: where the least is proved, at both ends and in between. """
    participation: ParticipationFigures | Unset = UNSET
    """ What drawing a fixed number of clients is worth to a client at the certified noise, at the target δ. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        noise_std = self.noise_std

        noise_multiplier = self.noise_multiplier

        noise_constant = self.noise_constant

        clipping_norm = self.clipping_norm

        rounds = self.rounds

        participation_rate = self.participation_rate

        participants = self.participants

        personalization: float | Literal["unbounded"] | Unset
        if isinstance(self.personalization, Unset):
            personalization = UNSET
        else:
            personalization = self.personalization

        step_size = self.step_size

        shared_step_size = self.shared_step_size

        local_step_size = self.local_step_size

        sharing: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sharing, Unset):
            sharing = self.sharing.to_dict()

        participation: dict[str, Any] | Unset = UNSET
        if not isinstance(self.participation, Unset):
            participation = self.participation.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "noise_std": noise_std,
                "noise_multiplier": noise_multiplier,
                "noise_constant": noise_constant,
                "clipping_norm": clipping_norm,
                "rounds": rounds,
                "participation_rate": participation_rate,
            }
        )
        if participants is not UNSET:
            field_dict["participants"] = participants
        if personalization is not UNSET:
            field_dict["personalization"] = personalization
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if shared_step_size is not UNSET:
            field_dict["shared_step_size"] = shared_step_size
        if local_step_size is not UNSET:
            field_dict["local_step_size"] = local_step_size
        if sharing is not UNSET:
            field_dict["sharing"] = sharing
        if participation is not UNSET:
            field_dict["participation"] = participation

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.participation_figures import ParticipationFigures
        from ..models.sharing import Sharing

        d = dict(src_dict)
        noise_std = d.pop("noise_std")

        noise_multiplier = d.pop("noise_multiplier")

        noise_constant = d.pop("noise_constant")

        clipping_norm = d.pop("clipping_norm")

        rounds = d.pop("rounds")

        participation_rate = d.pop("participation_rate")

        participants = d.pop("participants", UNSET)

        def _parse_personalization(data: object) -> float | Literal["unbounded"] | Unset:
            if isinstance(data, Unset):
                return data
            personalization_type_1 = cast(Literal["unbounded"], data)
            if personalization_type_1 != "unbounded":
                raise ValueError(f"personalization_type_1 must match const 'unbounded', got '{personalization_type_1}'")
            return personalization_type_1
            return cast(float | Literal["unbounded"] | Unset, data)

        personalization = _parse_personalization(d.pop("personalization", UNSET))

        step_size = d.pop("step_size", UNSET)

        shared_step_size = d.pop("shared_step_size", UNSET)

        local_step_size = d.pop("local_step_size", UNSET)

        _sharing = d.pop("sharing", UNSET)
        sharing: Sharing | Unset
        if isinstance(_sharing, Unset):
            sharing = UNSET
        else:
            sharing = Sharing.from_dict(_sharing)

        _participation = d.pop("participation", UNSET)
        participation: ParticipationFigures | Unset
        if isinstance(_participation, Unset):
            participation = UNSET
        else:
            participation = ParticipationFigures.from_dict(_participation)

        ppsgd_parameters = cls(
            noise_std=noise_std,
            noise_multiplier=noise_multiplier,
            noise_constant=noise_constant,
            clipping_norm=clipping_norm,
            rounds=rounds,
            participation_rate=participation_rate,
            participants=participants,
            personalization=personalization,
            step_size=step_size,
            shared_step_size=shared_step_size,
            local_step_size=local_step_size,
            sharing=sharing,
            participation=participation,
        )

        ppsgd_parameters.additional_properties = d
        return ppsgd_parameters

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
