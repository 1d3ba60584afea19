from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.mu_2_sgd_at_value import Mu2SgdAtValue
    from ..models.mu_2_sgd_sweep_values import Mu2SgdSweepValues


T = TypeVar("T", bound="Mu2SgdSweep")


@_attrs_define
class Mu2SgdSweep:
    """What mu2-sgd answers at many values, in their order."""

    algorithm: str
    sweep: Mu2SgdSweepValues
    """ A field of mu2-sgd and its values. """
    answers: list[Mu2SgdAtValue]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        sweep = self.sweep.to_dict()

        answers = []
        for answers_item_data in self.answers:
            answers_item = answers_item_data.to_dict()
            answers.append(answers_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "algorithm": algorithm,
                "sweep": sweep,
                "answers": answers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.mu_2_sgd_at_value import Mu2SgdAtValue
        from ..models.mu_2_sgd_sweep_values import Mu2SgdSweepValues

        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        sweep = Mu2SgdSweepValues.from_dict(d.pop("sweep"))

        answers = []
        _answers = d.pop("answers")
        for answers_item_data in _answers:
            answers_item = Mu2SgdAtValue.from_dict(answers_item_data)

            answers.append(answers_item)

        mu_2_sgd_sweep = cls(
            algorithm=algorithm,
            sweep=sweep,
            answers=answers,
        )

        mu_2_sgd_sweep.additional_properties = d
        return mu_2_sgd_sweep

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
