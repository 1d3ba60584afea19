from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.objective import Objective
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.aggregates_answer import AggregatesAnswer
    from ..models.baseline import Baseline
    from ..models.caution import Caution
    from ..models.condition import Condition
    from ..models.ratio_answer import RatioAnswer
    from ..models.reference_answer import ReferenceAnswer
    from ..models.risk_bound import RiskBound
    from ..models.run_answer import RunAnswer


T = TypeVar("T", bound="RiskBoundsAnswer")


@_attrs_define
class RiskBoundsAnswer:
    """Upper and lower bounds on the risk of a run, and orders of growth to compare with.

    A list is empty if no bound is known. Other parts that do not apply are absent.

        Attributes:
            algorithm (str):
            run (RunAnswer): The run whose risk is bounded.
            upper (list[RiskBound]):
            lower (list[RiskBound]):
            ratios (list[RatioAnswer]):
            declared_conditions (list[Condition]):
            warnings (list[Caution]):
            engine_version (str):
            measure (str | Unset): quantity that is bounded. excess-risk: the objective minus its least value. gradient-
                norm: the norm of the objective's gradient. squared-error: the expected squared error of a released mean
            objective (Objective | Unset):
            baseline (Baseline | Unset): A bound on the risk of the initial model, before any training, to compare other
                bounds with.
            aggregates (AggregatesAnswer | Unset): Statistics of unequal clients in the theorems of Lowy and Razaviyayn, at
                the rounds of the run (Appendix E.1).

                M_r is the random number of participants of a round. ξ_i is the privacy cost of client i, from its ε, δ, number
                of
                records and the rounds. L is the Lipschitz constant.
            no_upper_bound (str | Unset): why no upper bound has a value for this run, in words; absent if one has
            reference (ReferenceAnswer | Unset): Orders of growth of the excess risk for comparison, up to constants and
                logarithms.
    """

    algorithm: str
    run: RunAnswer
    upper: list[RiskBound]
    lower: list[RiskBound]
    ratios: list[RatioAnswer]
    declared_conditions: list[Condition]
    warnings: list[Caution]
    engine_version: str
    measure: str | Unset = UNSET
    objective: Objective | Unset = UNSET
    baseline: Baseline | Unset = UNSET
    aggregates: AggregatesAnswer | Unset = UNSET
    no_upper_bound: str | Unset = UNSET
    reference: ReferenceAnswer | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        run = self.run.to_dict()

        upper = []
        for upper_item_data in self.upper:
            upper_item = upper_item_data.to_dict()
            upper.append(upper_item)

        lower = []
        for lower_item_data in self.lower:
            lower_item = lower_item_data.to_dict()
            lower.append(lower_item)

        ratios = []
        for ratios_item_data in self.ratios:
            ratios_item = ratios_item_data.to_dict()
            ratios.append(ratios_item)

        declared_conditions = []
        for declared_conditions_item_data in self.declared_conditions:
            declared_conditions_item = declared_conditions_item_data.to_dict()
            declared_conditions.append(declared_conditions_item)

        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)

        engine_version = self.engine_version

        measure = self.measure

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective.value

        baseline: dict[str, Any] | Unset = UNSET
        if not isinstance(self.baseline, Unset):
            baseline = self.baseline.to_dict()

        aggregates: dict[str, Any] | Unset = UNSET
        if not isinstance(self.aggregates, Unset):
            aggregates = self.aggregates.to_dict()

        no_upper_bound = self.no_upper_bound

        reference: dict[str, Any] | Unset = UNSET
        if not isinstance(self.reference, Unset):
            reference = self.reference.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "algorithm": algorithm,
                "run": run,
                "upper": upper,
                "lower": lower,
                "ratios": ratios,
                "declared_conditions": declared_conditions,
                "warnings": warnings,
                "engine_version": engine_version,
            }
        )
        if measure is not UNSET:
            field_dict["measure"] = measure
        if objective is not UNSET:
            field_dict["objective"] = objective
        if baseline is not UNSET:
            field_dict["baseline"] = baseline
        if aggregates is not UNSET:
            field_dict["aggregates"] = aggregates
        if no_upper_bound is not UNSET:
            field_dict["no_upper_bound"] = no_upper_bound
        if reference is not UNSET:
            field_dict["reference"] = reference

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.aggregates_answer import AggregatesAnswer
        from ..models.baseline import Baseline
        from ..models.caution import Caution
        from ..models.condition import Condition
        from ..models.ratio_answer import RatioAnswer
        from ..models.reference_answer import ReferenceAnswer
        from ..models.risk_bound import RiskBound
        from ..models.run_answer import RunAnswer

        d = dict(src_dict)
        algorithm = d.pop("algorithm")

        run = RunAnswer.from_dict(d.pop("run"))

        upper = []
        _upper = d.pop("upper")
        for upper_item_data in _upper:
            upper_item = RiskBound.from_dict(upper_item_data)

            upper.append(upper_item)

        lower = []
        _lower = d.pop("lower")
        for lower_item_data in _lower:
            lower_item = RiskBound.from_dict(lower_item_data)

            lower.append(lower_item)

        ratios = []
        _ratios = d.pop("ratios")
        for ratios_item_data in _ratios:
            ratios_item = RatioAnswer.from_dict(ratios_item_data)

            ratios.append(ratios_item)

        declared_conditions = []
        _declared_conditions = d.pop("declared_conditions")
        for declared_conditions_item_data in _declared_conditions:
            declared_conditions_item = Condition.from_dict(
                declared_conditions_item_data
            )

            declared_conditions.append(declared_conditions_item)

        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in _warnings:
            warnings_item = Caution.from_dict(warnings_item_data)

            warnings.append(warnings_item)

        engine_version = d.pop("engine_version")

        measure = d.pop("measure", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: Objective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = Objective(_objective)

        _baseline = d.pop("baseline", UNSET)
        baseline: Baseline | Unset
        if isinstance(_baseline, Unset):
            baseline = UNSET
        else:
            baseline = Baseline.from_dict(_baseline)

        _aggregates = d.pop("aggregates", UNSET)
        aggregates: AggregatesAnswer | Unset
        if isinstance(_aggregates, Unset):
            aggregates = UNSET
        else:
            aggregates = AggregatesAnswer.from_dict(_aggregates)

        no_upper_bound = d.pop("no_upper_bound", UNSET)

        _reference = d.pop("reference", UNSET)
        reference: ReferenceAnswer | Unset
        if isinstance(_reference, Unset):
            reference = UNSET
        else:
            reference = ReferenceAnswer.from_dict(_reference)

        risk_bounds_answer = cls(
            algorithm=algorithm,
            run=run,
            upper=upper,
            lower=lower,
            ratios=ratios,
            declared_conditions=declared_conditions,
            warnings=warnings,
            engine_version=engine_version,
            measure=measure,
            objective=objective,
            baseline=baseline,
            aggregates=aggregates,
            no_upper_bound=no_upper_bound,
            reference=reference,
        )

        risk_bounds_answer.additional_properties = d
        return risk_bounds_answer

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
