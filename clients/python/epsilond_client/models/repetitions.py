from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.repetitions_kind import RepetitionsKind
from ..types import UNSET, Unset

T = TypeVar("T", bound="Repetitions")


@_attrs_define
class Repetitions:
    """`geometric`: A geometric number of runs: after each run one stops with probability 1/mean.

    `negative-binomial`: A negative binomial number of runs, given that it is at least 1 (Papernot and Steinke 2022,
    Definition 1).

    K runs have probability proportional to (1 − γ)^K Γ(K + η)/K! for K ≥ 1. Here η is `shape`, and γ is determined by
    `mean`.

    `poisson`: A Poisson number of runs. If it is 0, an output that does not depend on the data is released.

        Attributes:
            kind (RepetitionsKind):
            mean (float | Unset): Depends on the object:

                - expected number of runs of the mechanism, which is at least 1
                - expected number of runs of the mechanism
            shape (float | Unset): shape parameter η of the negative binomial distribution. 1 gives the geometric
                distribution, 0 the logarithmic one
    """

    kind: RepetitionsKind
    mean: float | Unset = UNSET
    shape: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        mean = self.mean

        shape = self.shape

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if mean is not UNSET:
            field_dict["mean"] = mean
        if shape is not UNSET:
            field_dict["shape"] = shape

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = RepetitionsKind(d.pop("kind"))

        mean = d.pop("mean", UNSET)

        shape = d.pop("shape", UNSET)

        repetitions = cls(
            kind=kind,
            mean=mean,
            shape=shape,
        )

        return repetitions
