from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.status import Status, check_status
from ..models.theorem_detail_constants import (
    TheoremDetailConstants,
    check_theorem_detail_constants,
)
from ..models.theorem_detail_readings_item import (
    TheoremDetailReadingsItem,
    check_theorem_detail_readings_item,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.erratum import Erratum
    from ..models.listed_condition import ListedCondition
    from ..models.source import Source
    from ..models.theorem_detail_examples_item import TheoremDetailExamplesItem
    from ..models.theorem_detail_inputs import TheoremDetailInputs
    from ..models.theorem_detail_links import TheoremDetailLinks


T = TypeVar("T", bound="TheoremDetail")


@_attrs_define
class TheoremDetail:
    """A theorem with its conditions, its errata, and how its formula is asked."""

    id: str
    title: str
    statement: str
    source: Source
    """ Where a statement stands: a key of the bibliography and the item's number in it. """
    status: Status
    """ Whether the statement, read as it is used here, holds. """
    constants: TheoremDetailConstants
    links: TheoremDetailLinks
    conditions: list[ListedCondition]
    errata: list[Erratum]
    readings: list[TheoremDetailReadingsItem] | Unset = UNSET
    """ of its formula; absent where there is none """
    inputs: TheoremDetailInputs | Unset = UNSET
    """ JSON schema of the formula's inputs """
    examples: list[TheoremDetailExamplesItem] | Unset = UNSET
    """ inputs to try """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        title = self.title

        statement = self.statement

        source = self.source.to_dict()

        status: str = self.status

        constants: str = self.constants

        links = self.links.to_dict()

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        errata = []
        for errata_item_data in self.errata:
            errata_item = errata_item_data.to_dict()
            errata.append(errata_item)

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item: str = readings_item_data
                readings.append(readings_item)

        inputs: dict[str, Any] | Unset = UNSET
        if not isinstance(self.inputs, Unset):
            inputs = self.inputs.to_dict()

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
                "conditions": conditions,
                "errata": errata,
            }
        )
        if readings is not UNSET:
            field_dict["readings"] = readings
        if inputs is not UNSET:
            field_dict["inputs"] = inputs
        if examples is not UNSET:
            field_dict["examples"] = examples

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.erratum import Erratum
        from ..models.listed_condition import ListedCondition
        from ..models.source import Source
        from ..models.theorem_detail_examples_item import TheoremDetailExamplesItem
        from ..models.theorem_detail_inputs import TheoremDetailInputs
        from ..models.theorem_detail_links import TheoremDetailLinks

        d = dict(src_dict)
        id = d.pop("id")

        title = d.pop("title")

        statement = d.pop("statement")

        source = Source.from_dict(d.pop("source"))

        status = check_status(d.pop("status"))

        constants = check_theorem_detail_constants(d.pop("constants"))

        links = TheoremDetailLinks.from_dict(d.pop("links"))

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = ListedCondition.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        errata = []
        _errata = d.pop("errata")
        for errata_item_data in _errata:
            errata_item = Erratum.from_dict(errata_item_data)

            errata.append(errata_item)

        _readings = d.pop("readings", UNSET)
        readings: list[TheoremDetailReadingsItem] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = check_theorem_detail_readings_item(readings_item_data)

                readings.append(readings_item)

        _inputs = d.pop("inputs", UNSET)
        inputs: TheoremDetailInputs | Unset
        if isinstance(_inputs, Unset):
            inputs = UNSET
        else:
            inputs = TheoremDetailInputs.from_dict(_inputs)

        _examples = d.pop("examples", UNSET)
        examples: list[TheoremDetailExamplesItem] | Unset = UNSET
        if _examples is not UNSET:
            examples = []
            for examples_item_data in _examples:
                examples_item = TheoremDetailExamplesItem.from_dict(examples_item_data)

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
            inputs=inputs,
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
