from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.series_answer_lower_item_type_1 import (
    SeriesAnswerLowerItemType1,
    check_series_answer_lower_item_type_1,
)
from ..models.series_answer_mean_item_type_1 import (
    SeriesAnswerMeanItemType1,
    check_series_answer_mean_item_type_1,
)
from ..models.series_answer_role import SeriesAnswerRole, check_series_answer_role
from ..models.series_answer_standard_error_item_type_1 import (
    SeriesAnswerStandardErrorItemType1,
    check_series_answer_standard_error_item_type_1,
)
from ..models.series_answer_upper_item_type_1 import (
    SeriesAnswerUpperItemType1,
    check_series_answer_upper_item_type_1,
)

if TYPE_CHECKING:
    from ..models.measured import Measured
    from ..models.series_answer_diagnostics import SeriesAnswerDiagnostics


T = TypeVar("T", bound="SeriesAnswer")


@_attrs_define
class SeriesAnswer:
    """Excess risk of one run after some of its rounds, over all repetitions. In the unit of the loss."""

    name: str
    title: str
    """ what was run, in a few words """
    role: SeriesAnswerRole
    algorithm: str
    parameters: Any
    """ what it was run with """
    rounds: list[int]
    mean: list[float | SeriesAnswerMeanItemType1]
    lower: list[float | SeriesAnswerLowerItemType1]
    """ lower end of the confidence band """
    upper: list[float | SeriesAnswerUpperItemType1]
    """ upper end of the confidence band """
    standard_error: list[float | SeriesAnswerStandardErrorItemType1]
    final: Measured
    """ A mean excess risk: measured, with the ends of its confidence interval. In the unit of the loss. """
    diagnostics: SeriesAnswerDiagnostics
    """ over repetitions """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        title = self.title

        role: str = self.role

        algorithm = self.algorithm

        parameters = self.parameters

        rounds = self.rounds

        mean = []
        for mean_item_data in self.mean:
            mean_item: float | str
            if isinstance(mean_item_data, str):
                mean_item = mean_item_data
            else:
                mean_item = mean_item_data
            mean.append(mean_item)

        lower = []
        for lower_item_data in self.lower:
            lower_item: float | str
            if isinstance(lower_item_data, str):
                lower_item = lower_item_data
            else:
                lower_item = lower_item_data
            lower.append(lower_item)

        upper = []
        for upper_item_data in self.upper:
            upper_item: float | str
            if isinstance(upper_item_data, str):
                upper_item = upper_item_data
            else:
                upper_item = upper_item_data
            upper.append(upper_item)

        standard_error = []
        for standard_error_item_data in self.standard_error:
            standard_error_item: float | str
            if isinstance(standard_error_item_data, str):
                standard_error_item = standard_error_item_data
            else:
                standard_error_item = standard_error_item_data
            standard_error.append(standard_error_item)

        final = self.final.to_dict()

        diagnostics = self.diagnostics.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "title": title,
                "role": role,
                "algorithm": algorithm,
                "parameters": parameters,
                "rounds": rounds,
                "mean": mean,
                "lower": lower,
                "upper": upper,
                "standard_error": standard_error,
                "final": final,
                "diagnostics": diagnostics,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.measured import Measured
        from ..models.series_answer_diagnostics import SeriesAnswerDiagnostics

        d = dict(src_dict)
        name = d.pop("name")

        title = d.pop("title")

        role = check_series_answer_role(d.pop("role"))

        algorithm = d.pop("algorithm")

        parameters = d.pop("parameters")

        rounds = cast(list[int], d.pop("rounds"))

        mean = []
        _mean = d.pop("mean")
        for mean_item_data in _mean:

            def _parse_mean_item(data: object) -> float | SeriesAnswerMeanItemType1:
                try:
                    if not isinstance(data, str):
                        raise TypeError()
                    mean_item_type_1 = check_series_answer_mean_item_type_1(data)

                    return mean_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(float | SeriesAnswerMeanItemType1, data)

            mean_item = _parse_mean_item(mean_item_data)

            mean.append(mean_item)

        lower = []
        _lower = d.pop("lower")
        for lower_item_data in _lower:

            def _parse_lower_item(data: object) -> float | SeriesAnswerLowerItemType1:
                try:
                    if not isinstance(data, str):
                        raise TypeError()
                    lower_item_type_1 = check_series_answer_lower_item_type_1(data)

                    return lower_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(float | SeriesAnswerLowerItemType1, data)

            lower_item = _parse_lower_item(lower_item_data)

            lower.append(lower_item)

        upper = []
        _upper = d.pop("upper")
        for upper_item_data in _upper:

            def _parse_upper_item(data: object) -> float | SeriesAnswerUpperItemType1:
                try:
                    if not isinstance(data, str):
                        raise TypeError()
                    upper_item_type_1 = check_series_answer_upper_item_type_1(data)

                    return upper_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(float | SeriesAnswerUpperItemType1, data)

            upper_item = _parse_upper_item(upper_item_data)

            upper.append(upper_item)

        standard_error = []
        _standard_error = d.pop("standard_error")
        for standard_error_item_data in _standard_error:

            def _parse_standard_error_item(data: object) -> float | SeriesAnswerStandardErrorItemType1:
                try:
                    if not isinstance(data, str):
                        raise TypeError()
                    standard_error_item_type_1 = check_series_answer_standard_error_item_type_1(data)

                    return standard_error_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(float | SeriesAnswerStandardErrorItemType1, data)

            standard_error_item = _parse_standard_error_item(standard_error_item_data)

            standard_error.append(standard_error_item)

        final = Measured.from_dict(d.pop("final"))

        diagnostics = SeriesAnswerDiagnostics.from_dict(d.pop("diagnostics"))

        series_answer = cls(
            name=name,
            title=title,
            role=role,
            algorithm=algorithm,
            parameters=parameters,
            rounds=rounds,
            mean=mean,
            lower=lower,
            upper=upper,
            standard_error=standard_error,
            final=final,
            diagnostics=diagnostics,
        )

        series_answer.additional_properties = d
        return series_answer

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
