from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.objective import Objective
from ..models.rank_by import RankBy
from ..models.unbounded import Unbounded
from ..models.verdict import Verdict
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.calibration import Calibration
    from ..models.guarantee_kind import GuaranteeKind
    from ..models.json_object import JsonObject
    from ..models.reached import Reached
    from ..models.reason import Reason
    from ..models.risk_bound import RiskBound


T = TypeVar("T", bound="PlanEntry")


@_attrs_define
class PlanEntry:
    """One algorithm, or one variant of it, as an answer to the plan: whether it applies, its noise and its risk.

    Attributes:
        algorithm (str):
        title (str):
        applies (Verdict): Whether a statement is true: `yes`, `no`, or `undecidable` from what is known.
        why (list[Reason]): reasons why the algorithm does not apply; if it applies, the assumptions that were made for
            it
        guarantee (GuaranteeKind): The kind of a guarantee: trust model, protected unit, neighbouring relation and
            adversary.
        noise_added_to (str):
        unused (list[str]): names of the plan's fields that do not affect this algorithm's request
        variant (str | Unset): variant of the algorithm; absent if the algorithm has only one
        objective (Objective | Unset):
        rank (int | Unset): rank of the entry within its group; 1 is the best. Absent if the entry has no figure,
            exceeds a limit, or is not shown to improve on the initial model
        noise_std (float | Unset): standard deviation per coordinate of the noise that is added to the quantity named in
            noise_added_to
        rounds (int | Unset):
        bits (int | Unset): bits that all clients together send during the run
        bytes_per_client (float | Unset): number of bytes that one client sends during the run; the expected number if
            clients are drawn at random
        reports_per_client (float | Unset): number of rounds in which one client takes part; the expected number if
            clients are drawn at random
        noise_norm (float | Unset): norm of the noise in the mean of one round: its standard deviation per coordinate,
            times the root of the number of coordinates
        noise_to_signal (float | Unset): noise_norm divided by a bound on the norm of the mean without noise. The bound
            is clipping_norm where messages are clipped, and otherwise lipschitz
        remaining_share (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
        basis (RankBy | Unset):
        exceeds (list[str] | Unset): names of the plan's limits that the entry exceeds. An entry that exceeds one is
            neither ranked nor recommended
        risk (RiskBound | Unset): An upper or lower bound on the excess risk by `theorem`, with the `terms` that it
            consists of. If `constant` is `hidden`, the theorem leaves a constant factor open, and the bound is only an
            order of growth.
        vacuous (bool | Unset): true: the bound on the risk or gradient norm is not below that of the initial model.
            Absent if there is no bound
        reach (Reached | Unset): A value of the field that was solved for, with the bound on the excess risk there.
        request (JsonObject | Unset): any JSON object
        calibration (Calibration | Unset): The answer to a calibration: the parameters to run with, their certified
            guarantee, and its proof.
        bits_exact (str | Unset): bits with all its digits, as a decimal string; absent unless bits is 2^53 or more
    """

    algorithm: str
    title: str
    applies: Verdict
    why: list[Reason]
    guarantee: GuaranteeKind
    noise_added_to: str
    unused: list[str]
    variant: str | Unset = UNSET
    objective: Objective | Unset = UNSET
    rank: int | Unset = UNSET
    noise_std: float | Unset = UNSET
    rounds: int | Unset = UNSET
    bits: int | Unset = UNSET
    bytes_per_client: float | Unset = UNSET
    reports_per_client: float | Unset = UNSET
    noise_norm: float | Unset = UNSET
    noise_to_signal: float | Unset = UNSET
    remaining_share: float | Unbounded | Unset = UNSET
    basis: RankBy | Unset = UNSET
    exceeds: list[str] | Unset = UNSET
    risk: RiskBound | Unset = UNSET
    vacuous: bool | Unset = UNSET
    reach: Reached | Unset = UNSET
    request: JsonObject | Unset = UNSET
    calibration: Calibration | Unset = UNSET
    bits_exact: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        title = self.title

        applies = self.applies.value

        why = []
        for why_item_data in self.why:
            why_item = why_item_data.to_dict()
            why.append(why_item)

        guarantee = self.guarantee.to_dict()

        noise_added_to = self.noise_added_to

        unused = self.unused

        variant = self.variant

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective.value

        rank = self.rank

        noise_std = self.noise_std

        rounds = self.rounds

        bits = self.bits

        bytes_per_client = self.bytes_per_client

        reports_per_client = self.reports_per_client

        noise_norm = self.noise_norm

        noise_to_signal = self.noise_to_signal

        remaining_share: float | str | Unset
        if isinstance(self.remaining_share, Unset):
            remaining_share = UNSET
        elif isinstance(self.remaining_share, Unbounded):
            remaining_share = self.remaining_share.value
        else:
            remaining_share = self.remaining_share

        basis: str | Unset = UNSET
        if not isinstance(self.basis, Unset):
            basis = self.basis.value

        exceeds: list[str] | Unset = UNSET
        if not isinstance(self.exceeds, Unset):
            exceeds = self.exceeds

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

        bits_exact = self.bits_exact

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
        if bytes_per_client is not UNSET:
            field_dict["bytes_per_client"] = bytes_per_client
        if reports_per_client is not UNSET:
            field_dict["reports_per_client"] = reports_per_client
        if noise_norm is not UNSET:
            field_dict["noise_norm"] = noise_norm
        if noise_to_signal is not UNSET:
            field_dict["noise_to_signal"] = noise_to_signal
        if remaining_share is not UNSET:
            field_dict["remaining_share"] = remaining_share
        if basis is not UNSET:
            field_dict["basis"] = basis
        if exceeds is not UNSET:
            field_dict["exceeds"] = exceeds
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
        if bits_exact is not UNSET:
            field_dict["bits_exact"] = bits_exact

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.calibration import Calibration
        from ..models.guarantee_kind import GuaranteeKind
        from ..models.json_object import JsonObject
        from ..models.reached import Reached
        from ..models.reason import Reason
        from ..models.risk_bound import RiskBound

        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        title = d.pop("title")

        applies = Verdict(d.pop("applies"))

        why = []
        _why = d.pop("why")
        for why_item_data in _why:
            why_item = Reason.from_dict(why_item_data)

            why.append(why_item)

        guarantee = GuaranteeKind.from_dict(d.pop("guarantee"))

        noise_added_to = d.pop("noise_added_to")

        unused = cast(list[str], d.pop("unused"))

        variant = d.pop("variant", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: Objective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = Objective(_objective)

        rank = d.pop("rank", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        rounds = d.pop("rounds", UNSET)

        bits = d.pop("bits", UNSET)

        bytes_per_client = d.pop("bytes_per_client", UNSET)

        reports_per_client = d.pop("reports_per_client", UNSET)

        noise_norm = d.pop("noise_norm", UNSET)

        noise_to_signal = d.pop("noise_to_signal", UNSET)

        def _parse_remaining_share(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        remaining_share = _parse_remaining_share(d.pop("remaining_share", UNSET))

        _basis = d.pop("basis", UNSET)
        basis: RankBy | Unset
        if isinstance(_basis, Unset):
            basis = UNSET
        else:
            basis = RankBy(_basis)

        exceeds = cast(list[str], d.pop("exceeds", UNSET))

        _risk = d.pop("risk", UNSET)
        risk: RiskBound | Unset
        if isinstance(_risk, Unset):
            risk = UNSET
        else:
            risk = RiskBound.from_dict(_risk)

        vacuous = d.pop("vacuous", UNSET)

        _reach = d.pop("reach", UNSET)
        reach: Reached | Unset
        if isinstance(_reach, Unset):
            reach = UNSET
        else:
            reach = Reached.from_dict(_reach)

        _request = d.pop("request", UNSET)
        request: JsonObject | Unset
        if isinstance(_request, Unset):
            request = UNSET
        else:
            request = JsonObject.from_dict(_request)

        _calibration = d.pop("calibration", UNSET)
        calibration: Calibration | Unset
        if isinstance(_calibration, Unset):
            calibration = UNSET
        else:
            calibration = Calibration.from_dict(_calibration)

        bits_exact = d.pop("bits_exact", UNSET)

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
            bytes_per_client=bytes_per_client,
            reports_per_client=reports_per_client,
            noise_norm=noise_norm,
            noise_to_signal=noise_to_signal,
            remaining_share=remaining_share,
            basis=basis,
            exceeds=exceeds,
            risk=risk,
            vacuous=vacuous,
            reach=reach,
            request=request,
            calibration=calibration,
            bits_exact=bits_exact,
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
