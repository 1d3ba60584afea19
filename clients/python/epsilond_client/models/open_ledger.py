from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.relation import Relation
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.declared_asked import DeclaredAsked
    from ..models.plan_change import PlanChange
    from ..models.slot_asked import SlotAsked
    from ..models.target import Target
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="OpenLedger")


@_attrs_define
class OpenLedger:
    """A ledger to be opened: its data, its target, its plan and its slots.

    Attributes:
        name (str): name that people read, with at most 200 characters
        dataset (str): name of the data set to which the privacy budget belongs
        unit (Unit | WindowedUnit): protected unit, in which neighbours differ
        relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
            same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
            contribution counts as zero in one of the data sets.
        observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
            add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
            hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
            as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
            together are the adversary and see every model that a trusted server sends them.
        target (Target): An ε with its δ, or a risk in place of ε. A δ that is too small for a double is given only as
            `log10_delta`.
        declared (DeclaredAsked): Declarations about the data and its use, which no computation can check. The guarantee
            depends on them.
        block (str | Unset): name of the part of the data set (block). Each protected unit is in exactly one block.
            Absent: the whole data set
        plan (list[PlanChange] | Unset): planned runs, which are fixed in advance and do not depend on outputs
        slots (list[SlotAsked] | Unset): slots: budgets for runs that are not planned and may be chosen by earlier
            outputs
        approval (bool | Unset): true: amendments, voids and reconciliations take effect only when a second person has
            approved them
    """

    name: str
    dataset: str
    unit: Unit | WindowedUnit
    relation: Relation
    observer: Observer
    target: Target
    declared: DeclaredAsked
    block: str | Unset = UNSET
    plan: list[PlanChange] | Unset = UNSET
    slots: list[SlotAsked] | Unset = UNSET
    approval: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        dataset = self.dataset

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        relation = self.relation.value

        observer = self.observer.value

        target = self.target.to_dict()

        declared = self.declared.to_dict()

        block = self.block

        plan: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.plan, Unset):
            plan = []
            for plan_item_data in self.plan:
                plan_item = plan_item_data.to_dict()
                plan.append(plan_item)

        slots: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.slots, Unset):
            slots = []
            for slots_item_data in self.slots:
                slots_item = slots_item_data.to_dict()
                slots.append(slots_item)

        approval = self.approval

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "dataset": dataset,
                "unit": unit,
                "relation": relation,
                "observer": observer,
                "target": target,
                "declared": declared,
            }
        )
        if block is not UNSET:
            field_dict["block"] = block
        if plan is not UNSET:
            field_dict["plan"] = plan
        if slots is not UNSET:
            field_dict["slots"] = slots
        if approval is not UNSET:
            field_dict["approval"] = approval

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.declared_asked import DeclaredAsked
        from ..models.plan_change import PlanChange
        from ..models.slot_asked import SlotAsked
        from ..models.target import Target
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
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

        target = Target.from_dict(d.pop("target"))

        declared = DeclaredAsked.from_dict(d.pop("declared"))

        block = d.pop("block", UNSET)

        _plan = d.pop("plan", UNSET)
        plan: list[PlanChange] | Unset = UNSET
        if _plan is not UNSET:
            plan = []
            for plan_item_data in _plan:
                plan_item = PlanChange.from_dict(plan_item_data)

                plan.append(plan_item)

        _slots = d.pop("slots", UNSET)
        slots: list[SlotAsked] | Unset = UNSET
        if _slots is not UNSET:
            slots = []
            for slots_item_data in _slots:
                slots_item = SlotAsked.from_dict(slots_item_data)

                slots.append(slots_item)

        approval = d.pop("approval", UNSET)

        open_ledger = cls(
            name=name,
            dataset=dataset,
            unit=unit,
            relation=relation,
            observer=observer,
            target=target,
            declared=declared,
            block=block,
            plan=plan,
            slots=slots,
            approval=approval,
        )

        return open_ledger
