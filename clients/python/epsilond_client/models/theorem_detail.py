from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.constant_kind import ConstantKind
from ..models.reading import Reading
from ..models.status import Status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.condition import Condition
    from ..models.erratum import Erratum
    from ..models.json_object import JsonObject
    from ..models.source import Source
    from ..models.texts import Texts


T = TypeVar("T", bound="TheoremDetail")


@_attrs_define
class TheoremDetail:
    """A theorem with its conditions, its errata, and the inputs and outputs of its formula if it has one.

    A reading is a way to understand the formula: as printed, or as corrected.

        Attributes:
            id (str):
            title (str):
            statement (str):
            source (Source): The place of a statement in the literature.

                Attributes:
                    key: key of the work in the bibliography.
                    item: number or name of the statement in the work, such as "Theorem 8".
            status (Status): Whether the statement, read as it is used here, holds.
            constants (ConstantKind):
            links (Texts): texts of the page by their names
            conditions (list[Condition] | Unset):
            errata (list[Erratum] | Unset):
            readings (list[Reading] | Unset): versions of the formula (readings) that can be evaluated; absent if the
                theorem has no formula
            inputs_schema (JsonObject | Unset): any JSON object
            outputs_schema (JsonObject | Unset): any JSON object
            examples (list[JsonObject] | Unset): inputs to try
    """

    id: str
    title: str
    statement: str
    source: Source
    status: Status
    constants: ConstantKind
    links: Texts
    conditions: list[Condition] | Unset = UNSET
    errata: list[Erratum] | Unset = UNSET
    readings: list[Reading] | Unset = UNSET
    inputs_schema: JsonObject | Unset = UNSET
    outputs_schema: JsonObject | Unset = UNSET
    examples: list[JsonObject] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        title = self.title

        statement = self.statement

        source = self.source.to_dict()

        status = self.status.value

        constants = self.constants.value

        links = self.links.to_dict()

        conditions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.conditions, Unset):
            conditions = []
            for conditions_item_data in self.conditions:
                conditions_item = conditions_item_data.to_dict()
                conditions.append(conditions_item)

        errata: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.errata, Unset):
            errata = []
            for errata_item_data in self.errata:
                errata_item = errata_item_data.to_dict()
                errata.append(errata_item)

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item = readings_item_data.value
                readings.append(readings_item)

        inputs_schema: dict[str, Any] | Unset = UNSET
        if not isinstance(self.inputs_schema, Unset):
            inputs_schema = self.inputs_schema.to_dict()

        outputs_schema: dict[str, Any] | Unset = UNSET
        if not isinstance(self.outputs_schema, Unset):
            outputs_schema = self.outputs_schema.to_dict()

        examples: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.examples, Unset):
            examples = []
            for examples_item_data in self.examples:
                examples_item = examples_item_data.to_dict()
                examples.append(examples_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "title": title,
                "statement": statement,
                "source": source,
                "status": status,
                "constants": constants,
                "links": links,
            }
        )
        if conditions is not UNSET:
            field_dict["conditions"] = conditions
        if errata is not UNSET:
            field_dict["errata"] = errata
        if readings is not UNSET:
            field_dict["readings"] = readings
        if inputs_schema is not UNSET:
            field_dict["inputs_schema"] = inputs_schema
        if outputs_schema is not UNSET:
            field_dict["outputs_schema"] = outputs_schema
        if examples is not UNSET:
            field_dict["examples"] = examples

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition import Condition
        from ..models.erratum import Erratum
        from ..models.json_object import JsonObject
        from ..models.source import Source
        from ..models.texts import Texts

        d = dict(src_dict)
        id = d.pop("id")

        title = d.pop("title")

        statement = d.pop("statement")

        source = Source.from_dict(d.pop("source"))

        status = Status(d.pop("status"))

        constants = ConstantKind(d.pop("constants"))

        links = Texts.from_dict(d.pop("links"))

        _conditions = d.pop("conditions", UNSET)
        conditions: list[Condition] | Unset = UNSET
        if _conditions is not UNSET:
            conditions = []
            for conditions_item_data in _conditions:
                conditions_item = Condition.from_dict(conditions_item_data)

                conditions.append(conditions_item)

        _errata = d.pop("errata", UNSET)
        errata: list[Erratum] | Unset = UNSET
        if _errata is not UNSET:
            errata = []
            for errata_item_data in _errata:
                errata_item = Erratum.from_dict(errata_item_data)

                errata.append(errata_item)

        _readings = d.pop("readings", UNSET)
        readings: list[Reading] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = Reading(readings_item_data)

                readings.append(readings_item)

        _inputs_schema = d.pop("inputs_schema", UNSET)
        inputs_schema: JsonObject | Unset
        if isinstance(_inputs_schema, Unset):
            inputs_schema = UNSET
        else:
            inputs_schema = JsonObject.from_dict(_inputs_schema)

        _outputs_schema = d.pop("outputs_schema", UNSET)
        outputs_schema: JsonObject | Unset
        if isinstance(_outputs_schema, Unset):
            outputs_schema = UNSET
        else:
            outputs_schema = JsonObject.from_dict(_outputs_schema)

        _examples = d.pop("examples", UNSET)
        examples: list[JsonObject] | Unset = UNSET
        if _examples is not UNSET:
            examples = []
            for examples_item_data in _examples:
                examples_item = JsonObject.from_dict(examples_item_data)

                examples.append(examples_item)

        theorem_detail = cls(
            id=id,
            title=title,
            statement=statement,
            source=source,
            status=status,
            constants=constants,
            links=links,
            conditions=conditions,
            errata=errata,
            readings=readings,
            inputs_schema=inputs_schema,
            outputs_schema=outputs_schema,
            examples=examples,
        )

        theorem_detail.additional_properties = d
        return theorem_detail

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
