from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.definition import Definition
from ..models.observer import Observer
from ..models.relation import Relation
from ..models.unit import Unit

if TYPE_CHECKING:
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="GuaranteeKind")


@_attrs_define
class GuaranteeKind:
    """The kind of a guarantee: trust model, protected unit, neighbouring relation and adversary.

    Attributes:
        definition (Definition):
        unit (Unit | WindowedUnit):
        relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
            same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
            contribution counts as zero in one of the data sets.
        observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
            add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
            hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
            as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
            together are the adversary and see every model that a trusted server sends them.
    """

    definition: Definition
    unit: Unit | WindowedUnit
    relation: Relation
    observer: Observer
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        definition = self.definition.value

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        relation = self.relation.value

        observer = self.observer.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "definition": definition,
                "unit": unit,
                "relation": relation,
                "observer": observer,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        definition = Definition(d.pop("definition"))

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

        relation = Relation(d.pop("relation"))

        observer = Observer(d.pop("observer"))

        guarantee_kind = cls(
            definition=definition,
            unit=unit,
            relation=relation,
            observer=observer,
        )

        guarantee_kind.additional_properties = d
        return guarantee_kind

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
