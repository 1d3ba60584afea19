from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.observer import Observer
from ..models.unbounded import Unbounded
from ..models.verdict import Verdict
from ..types import UNSET, Unset

T = TypeVar("T", bound="ConsideredBound")


@_attrs_define
class ConsideredBound:
    """A theorem on δ at the answer's parameters, with its bound if it applies. The least for the observer is used.

    Attributes:
        theorem (str):
        observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
            add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
            hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
            as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
            together are the adversary and see every model that a trusted server sends them.
        applies (Verdict): Whether a statement is true: `yes`, `no`, or `undecidable` from what is known.
        reason (str | Unset): why the theorem does not apply to this run; absent if it applies
        log10_delta (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
        delta (float | Unset): upper bound on δ at the target ε; absent if it is too small for a double, or if the bound
            does not apply
        least (bool | Unset): whether this bound is the smallest one for the observer of the guarantee
    """

    theorem: str
    observer: Observer
    applies: Verdict
    reason: str | Unset = UNSET
    log10_delta: float | Unbounded | Unset = UNSET
    delta: float | Unset = UNSET
    least: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        observer = self.observer.value

        applies = self.applies.value

        reason = self.reason

        log10_delta: float | str | Unset
        if isinstance(self.log10_delta, Unset):
            log10_delta = UNSET
        elif isinstance(self.log10_delta, Unbounded):
            log10_delta = self.log10_delta.value
        else:
            log10_delta = self.log10_delta

        delta = self.delta

        least = self.least

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "observer": observer,
                "applies": applies,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if delta is not UNSET:
            field_dict["delta"] = delta
        if least is not UNSET:
            field_dict["least"] = least

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        theorem = d.pop("theorem")

        observer = Observer(d.pop("observer"))

        applies = Verdict(d.pop("applies"))

        reason = d.pop("reason", UNSET)

        def _parse_log10_delta(data: object) -> float | Unbounded | Unset:
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

        log10_delta = _parse_log10_delta(d.pop("log10_delta", UNSET))

        delta = d.pop("delta", UNSET)

        least = d.pop("least", UNSET)

        considered_bound = cls(
            theorem=theorem,
            observer=observer,
            applies=applies,
            reason=reason,
            log10_delta=log10_delta,
            delta=delta,
            least=least,
        )

        considered_bound.additional_properties = d
        return considered_bound

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
