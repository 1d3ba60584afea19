from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.sharing_point import SharingPoint
    from ..models.sharing_threshold import SharingThreshold


T = TypeVar("T", bound="Sharing")


@_attrs_define
class Sharing:
    """Bounds on the excess risk as a function of the degree of sharing α, from 0 (local models) to unbounded.

    Attributes:
        optimised (bool): true: the request had no α, and α was chosen as that of the smallest bound. false: the request
            gave α
        best (SharingPoint): Bounds on the excess risk at one degree of sharing α (`personalization`), and the step
            sizes that they are for.

            `excess_risk` is optimisation + √(statistical² + privacy²), the closed form of the theorem. The other two bounds
            are not larger. α is the step size of the shared part over N times that of a client's own part, for N clients.
        local_only (SharingPoint): Bounds on the excess risk at one degree of sharing α (`personalization`), and the
            step sizes that they are for.

            `excess_risk` is optimisation + √(statistical² + privacy²), the closed form of the theorem. The other two bounds
            are not larger. α is the step size of the shared part over N times that of a client's own part, for N clients.
        balanced (SharingPoint): Bounds on the excess risk at one degree of sharing α (`personalization`), and the step
            sizes that they are for.

            `excess_risk` is optimisation + √(statistical² + privacy²), the closed form of the theorem. The other two bounds
            are not larger. α is the step size of the shared part over N times that of a client's own part, for N clients.
        global_only (SharingPoint): Bounds on the excess risk at one degree of sharing α (`personalization`), and the
            step sizes that they are for.

            `excess_risk` is optimisation + √(statistical² + privacy²), the closed form of the theorem. The other two bounds
            are not larger. α is the step size of the shared part over N times that of a client's own part, for N clients.
        curve (list[SharingPoint]): bounds at many α in ascending order, from 0 (local models) to unbounded (one model)
        threshold (SharingThreshold | Unset): Rounds and ε at which sharing nothing has the least variance, at the least
            noise (Bietti et al., Lemma 4.6).
    """

    optimised: bool
    best: SharingPoint
    local_only: SharingPoint
    balanced: SharingPoint
    global_only: SharingPoint
    curve: list[SharingPoint]
    threshold: SharingThreshold | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        optimised = self.optimised

        best = self.best.to_dict()

        local_only = self.local_only.to_dict()

        balanced = self.balanced.to_dict()

        global_only = self.global_only.to_dict()

        curve = []
        for curve_item_data in self.curve:
            curve_item = curve_item_data.to_dict()
            curve.append(curve_item)

        threshold: dict[str, Any] | Unset = UNSET
        if not isinstance(self.threshold, Unset):
            threshold = self.threshold.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "optimised": optimised,
                "best": best,
                "local_only": local_only,
                "balanced": balanced,
                "global_only": global_only,
                "curve": curve,
            }
        )
        if threshold is not UNSET:
            field_dict["threshold"] = threshold

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.sharing_point import SharingPoint
        from ..models.sharing_threshold import SharingThreshold

        d = dict(src_dict)
        optimised = d.pop("optimised")

        best = SharingPoint.from_dict(d.pop("best"))

        local_only = SharingPoint.from_dict(d.pop("local_only"))

        balanced = SharingPoint.from_dict(d.pop("balanced"))

        global_only = SharingPoint.from_dict(d.pop("global_only"))

        curve = []
        _curve = d.pop("curve")
        for curve_item_data in _curve:
            curve_item = SharingPoint.from_dict(curve_item_data)

            curve.append(curve_item)

        _threshold = d.pop("threshold", UNSET)
        threshold: SharingThreshold | Unset
        if isinstance(_threshold, Unset):
            threshold = UNSET
        else:
            threshold = SharingThreshold.from_dict(_threshold)

        sharing = cls(
            optimised=optimised,
            best=best,
            local_only=local_only,
            balanced=balanced,
            global_only=global_only,
            curve=curve,
            threshold=threshold,
        )

        sharing.additional_properties = d
        return sharing

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
