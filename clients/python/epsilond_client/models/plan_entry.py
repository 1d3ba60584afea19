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

from ..models.plan_entry_noise_added_to import (
    PlanEntryNoiseAddedTo,
    check_plan_entry_noise_added_to,
)
from ..models.plan_entry_objective import PlanEntryObjective, check_plan_entry_objective
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.calibration import Calibration
    from ..models.guarantee_kind import GuaranteeKind
    from ..models.plan_entry_request import PlanEntryRequest
    from ..models.planned_risk import PlannedRisk
    from ..models.reached import Reached
    from ..models.reason import Reason


T = TypeVar("T", bound="PlanEntry")


@_attrs_define
class PlanEntry:
    """One algorithm, in one of its variants."""

    algorithm: str
    title: str
    applies: bool | Literal["undecided"]
    """ undecided: not answered within the deadline """
    why: list[Reason]
    """ why it does not apply; where it does, how the plan was read for it """
    guarantee: GuaranteeKind
    """ Who trusts whom, whose data is protected, what a neighbour is, and who sees what. """
    noise_added_to: PlanEntryNoiseAddedTo
    unused: list[str]
    """ fields of the plan that this algorithm takes no account of """
    variant: str | Unset = UNSET
    """ absent where the algorithm has one """
    objective: PlanEntryObjective | Unset = UNSET
    rank: int | Unset = UNSET
    """ within its group, from 1; absent where there is nothing to rank by, or its risk is vacuous """
    noise_std: float | Unset = UNSET
    """ standard deviation per coordinate of what is added """
    rounds: int | Unset = UNSET
    bits: int | Unset = UNSET
    """ all clients together, over the run """
    risk: PlannedRisk | Unset = UNSET
    """ An upper bound on the excess risk. An order with a hidden constant, and a vacuous bound, are never ranked.
    """
    vacuous: bool | Unset = UNSET
    """ whether what is proved of it is no better than the start; absent where nothing is proved """
    reach: Reached | Unset = UNSET
    """ The smallest value found that reaches the risk, and the next smaller one, which does not. """
    request: PlanEntryRequest | Unset = UNSET
    """ body of POST /v1/calibrations/{algorithm} that gives the calibration """
    calibration: Calibration | Unset = UNSET
    """ The whole answer. `parameters` is what to run with. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        title = self.title

        applies: bool | Literal["undecided"]
        applies = self.applies

        why = []
        for why_item_data in self.why:
            why_item = why_item_data.to_dict()
            why.append(why_item)

        guarantee = self.guarantee.to_dict()

        noise_added_to: str = self.noise_added_to

        unused = self.unused

        variant = self.variant

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective

        rank = self.rank

        noise_std = self.noise_std

        rounds = self.rounds

        bits = self.bits

        risk: dict[str, Any] | Unset = UNSET
        if not isinstance(self.risk, Unset):
            risk = self.risk.to_dict()

        vacuous = self.vacuous

        reach: dict[str, Any] | Unset = UNSET
        if not isinstance(self.reach, Unset):
            reach = self.reach.to_dict()

        request: dict[str, Any] | Unset = UNSET
        if not isinstance(self.request, Unset):
            request = self.request.to_dict()

        calibration: dict[str, Any] | Unset = UNSET
        if not isinstance(self.calibration, Unset):
            calibration = self.calibration.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "algorithm": algorithm,
                "title": title,
                "applies": applies,
                "why": why,
                "guarantee": guarantee,
                "noise_added_to": noise_added_to,
                "unused": unused,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant
        if objective is not UNSET:
            field_dict["objective"] = objective
        if rank is not UNSET:
            field_dict["rank"] = rank
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if bits is not UNSET:
            field_dict["bits"] = bits
        if risk is not UNSET:
            field_dict["risk"] = risk
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous
        if reach is not UNSET:
            field_dict["reach"] = reach
        if request is not UNSET:
            field_dict["request"] = request
        if calibration is not UNSET:
            field_dict["calibration"] = calibration

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.calibration import Calibration
        from ..models.guarantee_kind import GuaranteeKind
        from ..models.plan_entry_request import PlanEntryRequest
        from ..models.planned_risk import PlannedRisk
        from ..models.reached import Reached
        from ..models.reason import Reason

        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        title = d.pop("title")

        def _parse_applies(data: object) -> bool | Literal["undecided"]:
            applies_type_1 = cast(Literal["undecided"], data)
            if applies_type_1 != "undecided":
                raise ValueError(f"applies_type_1 must match const 'undecided', got '{applies_type_1}'")
            return applies_type_1
            return cast(bool | Literal["undecided"], data)

        applies = _parse_applies(d.pop("applies"))

        why = []
        _why = d.pop("why")
        for why_item_data in _why:
            why_item = Reason.from_dict(why_item_data)

            why.append(why_item)

        guarantee = GuaranteeKind.from_dict(d.pop("guarantee"))

        noise_added_to = check_plan_entry_noise_added_to(d.pop("noise_added_to"))

        unused = cast(list[str], d.pop("unused"))

        variant = d.pop("variant", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: PlanEntryObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_plan_entry_objective(_objective)

        rank = d.pop("rank", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        rounds = d.pop("rounds", UNSET)

        bits = d.pop("bits", UNSET)

        _risk = d.pop("risk", UNSET)
        risk: PlannedRisk | Unset
        if isinstance(_risk, Unset):
            risk = UNSET
        else:
            risk = PlannedRisk.from_dict(_risk)

        vacuous = d.pop("vacuous", UNSET)

        _reach = d.pop("reach", UNSET)
        reach: Reached | Unset
        if isinstance(_reach, Unset):
            reach = UNSET
        else:
            reach = Reached.from_dict(_reach)

        _request = d.pop("request", UNSET)
        request: PlanEntryRequest | Unset
        if isinstance(_request, Unset):
            request = UNSET
        else:
            request = PlanEntryRequest.from_dict(_request)

        _calibration = d.pop("calibration", UNSET)
        calibration: Calibration | Unset
        if isinstance(_calibration, Unset):
            calibration = UNSET
        else:
            calibration = Calibration.from_dict(_calibration)

        plan_entry = cls(
            algorithm=algorithm,
            title=title,
            applies=applies,
            why=why,
            guarantee=guarantee,
            noise_added_to=noise_added_to,
            unused=unused,
            variant=variant,
            objective=objective,
            rank=rank,
            noise_std=noise_std,
            rounds=rounds,
            bits=bits,
            risk=risk,
            vacuous=vacuous,
            reach=reach,
            request=request,
            calibration=calibration,
        )

        plan_entry.additional_properties = d
        return plan_entry

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
