from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.observer import Observer
from ..models.relation import Relation
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution
    from ..models.condition import Condition
    from ..models.guarantee_of_ledger import GuaranteeOfLedger
    from ..models.item_answer import ItemAnswer
    from ..models.observation import Observation
    from ..models.resource_answer import ResourceAnswer
    from ..models.slot_answer import SlotAnswer
    from ..models.target import Target
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="Ledger")


@_attrs_define
class Ledger:
    """A ledger with its guarantee and conditions. A contradicted ledger has observations and no guarantee.

    Attributes:
        id (str):
        name (str):
        dataset (str):
        unit (Unit | WindowedUnit):
        relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
            same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
            contribution counts as zero in one of the data sets.
        observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
            add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
            hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
            as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
            together are the adversary and see every model that a trusted server sends them.
        opened (str): time at which the ledger was opened (RFC 3339, UTC)
        state (str): state of the ledger. open: runs can be reserved. closed: nothing more can be reserved.
            contradicted: a run differed from its record, and no ε holds
        sealed (bool): true: the membership of the block is fixed. Runs can be reserved only then
        conditional (bool): true: the guarantee also depends on declarations that were made for voided runs or for
            amendments
        target (Target): An ε with its δ, or a risk in place of ε. A δ that is too small for a double is given only as
            `log10_delta`.
        plan (list[ItemAnswer]):
        slots (list[SlotAnswer]):
        block (str | Unset): name of the part of the data set (block); absent: the whole data set
        approval (bool | Unset): true: amendments, voids and reconciliations take effect only when a second person has
            approved them
        guarantee (GuaranteeOfLedger | Unset): The guarantee for all runs that the ledger ever allows, certified when it
            was opened or last amended.
        observations (list[Observation] | Unset): observations that contradict runs; empty if there are none
        runs_out_first (ResourceAnswer | Unset): The part of a slot, or the item of the plan, that runs out first.
        declared_conditions (list[Condition] | Unset):
        curve (list[Target] | Unset): upper bounds on ε at several δ, if only the whole plan is run. Empty without a
            plan, or if the ledger is contradicted
        warnings (list[Caution] | Unset):
    """

    id: str
    name: str
    dataset: str
    unit: Unit | WindowedUnit
    relation: Relation
    observer: Observer
    opened: str
    state: str
    sealed: bool
    conditional: bool
    target: Target
    plan: list[ItemAnswer]
    slots: list[SlotAnswer]
    block: str | Unset = UNSET
    approval: bool | Unset = UNSET
    guarantee: GuaranteeOfLedger | Unset = UNSET
    observations: list[Observation] | Unset = UNSET
    runs_out_first: ResourceAnswer | Unset = UNSET
    declared_conditions: list[Condition] | Unset = UNSET
    curve: list[Target] | Unset = UNSET
    warnings: list[Caution] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        dataset = self.dataset

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        relation = self.relation.value

        observer = self.observer.value

        opened = self.opened

        state = self.state

        sealed = self.sealed

        conditional = self.conditional

        target = self.target.to_dict()

        plan = []
        for plan_item_data in self.plan:
            plan_item = plan_item_data.to_dict()
            plan.append(plan_item)

        slots = []
        for slots_item_data in self.slots:
            slots_item = slots_item_data.to_dict()
            slots.append(slots_item)

        block = self.block

        approval = self.approval

        guarantee: dict[str, Any] | Unset = UNSET
        if not isinstance(self.guarantee, Unset):
            guarantee = self.guarantee.to_dict()

        observations: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.observations, Unset):
            observations = []
            for observations_item_data in self.observations:
                observations_item = observations_item_data.to_dict()
                observations.append(observations_item)

        runs_out_first: dict[str, Any] | Unset = UNSET
        if not isinstance(self.runs_out_first, Unset):
            runs_out_first = self.runs_out_first.to_dict()

        declared_conditions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.declared_conditions, Unset):
            declared_conditions = []
            for declared_conditions_item_data in self.declared_conditions:
                declared_conditions_item = declared_conditions_item_data.to_dict()
                declared_conditions.append(declared_conditions_item)

        curve: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.curve, Unset):
            curve = []
            for curve_item_data in self.curve:
                curve_item = curve_item_data.to_dict()
                curve.append(curve_item)

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "dataset": dataset,
                "unit": unit,
                "relation": relation,
                "observer": observer,
                "opened": opened,
                "state": state,
                "sealed": sealed,
                "conditional": conditional,
                "target": target,
                "plan": plan,
                "slots": slots,
            }
        )
        if block is not UNSET:
            field_dict["block"] = block
        if approval is not UNSET:
            field_dict["approval"] = approval
        if guarantee is not UNSET:
            field_dict["guarantee"] = guarantee
        if observations is not UNSET:
            field_dict["observations"] = observations
        if runs_out_first is not UNSET:
            field_dict["runs_out_first"] = runs_out_first
        if declared_conditions is not UNSET:
            field_dict["declared_conditions"] = declared_conditions
        if curve is not UNSET:
            field_dict["curve"] = curve
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution
        from ..models.condition import Condition
        from ..models.guarantee_of_ledger import GuaranteeOfLedger
        from ..models.item_answer import ItemAnswer
        from ..models.observation import Observation
        from ..models.resource_answer import ResourceAnswer
        from ..models.slot_answer import SlotAnswer
        from ..models.target import Target
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        dataset = d.pop("dataset")

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

        opened = d.pop("opened")

        state = d.pop("state")

        sealed = d.pop("sealed")

        conditional = d.pop("conditional")

        target = Target.from_dict(d.pop("target"))

        plan = []
        _plan = d.pop("plan")
        for plan_item_data in _plan:
            plan_item = ItemAnswer.from_dict(plan_item_data)

            plan.append(plan_item)

        slots = []
        _slots = d.pop("slots")
        for slots_item_data in _slots:
            slots_item = SlotAnswer.from_dict(slots_item_data)

            slots.append(slots_item)

        block = d.pop("block", UNSET)

        approval = d.pop("approval", UNSET)

        _guarantee = d.pop("guarantee", UNSET)
        guarantee: GuaranteeOfLedger | Unset
        if isinstance(_guarantee, Unset):
            guarantee = UNSET
        else:
            guarantee = GuaranteeOfLedger.from_dict(_guarantee)

        _observations = d.pop("observations", UNSET)
        observations: list[Observation] | Unset = UNSET
        if _observations is not UNSET:
            observations = []
            for observations_item_data in _observations:
                observations_item = Observation.from_dict(observations_item_data)

                observations.append(observations_item)

        _runs_out_first = d.pop("runs_out_first", UNSET)
        runs_out_first: ResourceAnswer | Unset
        if isinstance(_runs_out_first, Unset):
            runs_out_first = UNSET
        else:
            runs_out_first = ResourceAnswer.from_dict(_runs_out_first)

        _declared_conditions = d.pop("declared_conditions", UNSET)
        declared_conditions: list[Condition] | Unset = UNSET
        if _declared_conditions is not UNSET:
            declared_conditions = []
            for declared_conditions_item_data in _declared_conditions:
                declared_conditions_item = Condition.from_dict(
                    declared_conditions_item_data
                )

                declared_conditions.append(declared_conditions_item)

        _curve = d.pop("curve", UNSET)
        curve: list[Target] | Unset = UNSET
        if _curve is not UNSET:
            curve = []
            for curve_item_data in _curve:
                curve_item = Target.from_dict(curve_item_data)

                curve.append(curve_item)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[Caution] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = Caution.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        ledger = cls(
            id=id,
            name=name,
            dataset=dataset,
            unit=unit,
            relation=relation,
            observer=observer,
            opened=opened,
            state=state,
            sealed=sealed,
            conditional=conditional,
            target=target,
            plan=plan,
            slots=slots,
            block=block,
            approval=approval,
            guarantee=guarantee,
            observations=observations,
            runs_out_first=runs_out_first,
            declared_conditions=declared_conditions,
            curve=curve,
            warnings=warnings,
        )

        ledger.additional_properties = d
        return ledger

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
