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
    from ..models.axis import Axis
    from ..models.cell_answer import CellAnswer
    from ..models.preset_answer_beside import PresetAnswerBeside
    from ..models.warning import Warning_


T = TypeVar("T", bound="PresetAnswer")


@_attrs_define
class PresetAnswer:
    """The whole answer: the grid, cell by cell."""

    preset: str
    title: str
    summary: str
    source: str
    across: Axis
    """ One direction of the grid. `title` says in words what it is, with the unit. """
    repetitions: int
    beside: PresetAnswerBeside
    """ what the runs set beside are, in a few words, by name """
    cells: list[CellAnswer]
    warnings: list[Warning_]
    seed: int
    engine_version: str
    kind: Literal["preset"] | Unset = UNSET
    lines: Axis | Unset = UNSET
    """ One direction of the grid. `title` says in words what it is, with the unit. """
    panels: Axis | Unset = UNSET
    """ One direction of the grid. `title` says in words what it is, with the unit. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        preset = self.preset

        title = self.title

        summary = self.summary

        source = self.source

        across = self.across.to_dict()

        repetitions = self.repetitions

        beside = self.beside.to_dict()

        cells = []
        for cells_item_data in self.cells:
            cells_item = cells_item_data.to_dict()
            cells.append(cells_item)

        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)

        seed = self.seed

        engine_version = self.engine_version

        kind = self.kind

        lines: dict[str, Any] | Unset = UNSET
        if not isinstance(self.lines, Unset):
            lines = self.lines.to_dict()

        panels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.panels, Unset):
            panels = self.panels.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "preset": preset,
                "title": title,
                "summary": summary,
                "source": source,
                "across": across,
                "repetitions": repetitions,
                "beside": beside,
                "cells": cells,
                "warnings": warnings,
                "seed": seed,
                "engine_version": engine_version,
            }
        )
        if kind is not UNSET:
            field_dict["kind"] = kind
        if lines is not UNSET:
            field_dict["lines"] = lines
        if panels is not UNSET:
            field_dict["panels"] = panels

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.axis import Axis
        from ..models.cell_answer import CellAnswer
        from ..models.preset_answer_beside import PresetAnswerBeside
        from ..models.warning import Warning_

        d = dict(src_dict)
        preset = d.pop("preset")

        title = d.pop("title")

        summary = d.pop("summary")

        source = d.pop("source")

        across = Axis.from_dict(d.pop("across"))

        repetitions = d.pop("repetitions")

        beside = PresetAnswerBeside.from_dict(d.pop("beside"))

        cells = []
        _cells = d.pop("cells")
        for cells_item_data in _cells:
            cells_item = CellAnswer.from_dict(cells_item_data)

            cells.append(cells_item)

        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in _warnings:
            warnings_item = Warning_.from_dict(warnings_item_data)

            warnings.append(warnings_item)

        seed = d.pop("seed")

        engine_version = d.pop("engine_version")

        kind = cast(Literal["preset"] | Unset, d.pop("kind", UNSET))
        if kind != "preset" and not isinstance(kind, Unset):
            raise ValueError(f"kind must match const 'preset', got '{kind}'")

        _lines = d.pop("lines", UNSET)
        lines: Axis | Unset
        if isinstance(_lines, Unset):
            lines = UNSET
        else:
            lines = Axis.from_dict(_lines)

        _panels = d.pop("panels", UNSET)
        panels: Axis | Unset
        if isinstance(_panels, Unset):
            panels = UNSET
        else:
            panels = Axis.from_dict(_panels)

        preset_answer = cls(
            preset=preset,
            title=title,
            summary=summary,
            source=source,
            across=across,
            repetitions=repetitions,
            beside=beside,
            cells=cells,
            warnings=warnings,
            seed=seed,
            engine_version=engine_version,
            kind=kind,
            lines=lines,
            panels=panels,
        )

        preset_answer.additional_properties = d
        return preset_answer

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
