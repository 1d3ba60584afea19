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
    from ..models.bound_answer import BoundAnswer
    from ..models.guarantee_answer import GuaranteeAnswer
    from ..models.measured import Measured
    from ..models.problem_answer import ProblemAnswer
    from ..models.series_answer import SeriesAnswer
    from ..models.warning import Warning_


T = TypeVar("T", bound="RiskAnswer")


@_attrs_define
class RiskAnswer:
    """The whole answer."""

    algorithm: str
    title: str
    parameters: Any
    """ what the algorithm was run with """
    problem: ProblemAnswer
    """ The problem that was run on, with what is true of it by construction. """
    rounds: int
    repetitions: int
    confidence: float
    final_excess: Measured
    """ A mean excess risk: measured, with the ends of its confidence interval. In the unit of the loss. """
    bounds: list[BoundAnswer]
    series: list[SeriesAnswer]
    warnings: list[Warning_]
    seed: int
    engine_version: str
    kind: Literal["risk"] | Unset = UNSET
    guarantee: GuaranteeAnswer | Unset = UNSET
    """ What is guaranteed: for whom, against whom, and the enclosures of ε at the target δ and of δ at the target
    ε. """
    band: str | Unset = UNSET
    """ how the band was made, and what it says """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        title = self.title

        parameters = self.parameters

        problem = self.problem.to_dict()

        rounds = self.rounds

        repetitions = self.repetitions

        confidence = self.confidence

        final_excess = self.final_excess.to_dict()

        bounds = []
        for bounds_item_data in self.bounds:
            bounds_item = bounds_item_data.to_dict()
            bounds.append(bounds_item)

        series = []
        for series_item_data in self.series:
            series_item = series_item_data.to_dict()
            series.append(series_item)

        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)

        seed = self.seed

        engine_version = self.engine_version

        kind = self.kind

        guarantee: dict[str, Any] | Unset = UNSET
        if not isinstance(self.guarantee, Unset):
            guarantee = self.guarantee.to_dict()

        band = self.band

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "algorithm": algorithm,
                "title": title,
                "parameters": parameters,
                "problem": problem,
                "rounds": rounds,
                "repetitions": repetitions,
                "confidence": confidence,
                "final_excess": final_excess,
                "bounds": bounds,
                "series": series,
                "warnings": warnings,
                "seed": seed,
                "engine_version": engine_version,
            }
        )
        if kind is not UNSET:
            field_dict["kind"] = kind
        if guarantee is not UNSET:
            field_dict["guarantee"] = guarantee
        if band is not UNSET:
            field_dict["band"] = band

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.bound_answer import BoundAnswer
        from ..models.guarantee_answer import GuaranteeAnswer
        from ..models.measured import Measured
        from ..models.problem_answer import ProblemAnswer
        from ..models.series_answer import SeriesAnswer
        from ..models.warning import Warning_

        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        title = d.pop("title")

        parameters = d.pop("parameters")

        problem = ProblemAnswer.from_dict(d.pop("problem"))

        rounds = d.pop("rounds")

        repetitions = d.pop("repetitions")

        confidence = d.pop("confidence")

        final_excess = Measured.from_dict(d.pop("final_excess"))

        bounds = []
        _bounds = d.pop("bounds")
        for bounds_item_data in _bounds:
            bounds_item = BoundAnswer.from_dict(bounds_item_data)

            bounds.append(bounds_item)

        series = []
        _series = d.pop("series")
        for series_item_data in _series:
            series_item = SeriesAnswer.from_dict(series_item_data)

            series.append(series_item)

        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in _warnings:
            warnings_item = Warning_.from_dict(warnings_item_data)

            warnings.append(warnings_item)

        seed = d.pop("seed")

        engine_version = d.pop("engine_version")

        kind = cast(Literal["risk"] | Unset, d.pop("kind", UNSET))
        if kind != "risk" and not isinstance(kind, Unset):
            raise ValueError(f"kind must match const 'risk', got '{kind}'")

        _guarantee = d.pop("guarantee", UNSET)
        guarantee: GuaranteeAnswer | Unset
        if isinstance(_guarantee, Unset):
            guarantee = UNSET
        else:
            guarantee = GuaranteeAnswer.from_dict(_guarantee)

        band = d.pop("band", UNSET)

        risk_answer = cls(
            algorithm=algorithm,
            title=title,
            parameters=parameters,
            problem=problem,
            rounds=rounds,
            repetitions=repetitions,
            confidence=confidence,
            final_excess=final_excess,
            bounds=bounds,
            series=series,
            warnings=warnings,
            seed=seed,
            engine_version=engine_version,
            kind=kind,
            guarantee=guarantee,
            band=band,
        )

        risk_answer.additional_properties = d
        return risk_answer

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
