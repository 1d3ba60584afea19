from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.definition import Definition
from ..models.observer import Observer
from ..models.relation import Relation
from ..models.sampling import Sampling
from ..models.tightness import Tightness
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.ends import Ends
    from ..models.statement import Statement
    from ..models.target import Target
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="GuaranteeAnswer")


@_attrs_define
class GuaranteeAnswer:
    """The guarantee: protected unit, adversary, and enclosures of ε at the target δ and of δ at the target ε.

    Attributes:
        definition (Definition):
        in_words (str): the guarantee in plain sentences: protected unit, adversary, trusted parties, and batches that
            must stay secret
        statements (list[Statement]): the sentences of in_words, each with a word for its subject
        unit (Unit | WindowedUnit):
        relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
            same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
            contribution counts as zero in one of the data sets.
        observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
            add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
            hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
            as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
            together are the adversary and see every model that a trusted server sends them.
        sampling (Sampling):
        target (Target): An ε with its δ, or a risk in place of ε. A δ that is too small for a double is given only as
            `log10_delta`.
        epsilon (Ends): A lower and an upper bound, between which the true value is.
        delta (Ends): A lower and an upper bound, between which the true value is.
        log10_delta (Ends): A lower and an upper bound, between which the true value is.
        tight (Tightness):
        minimal (str): proved: with a slightly smaller parameter, the same theorem provably misses the target. searched:
            the search found no smaller parameter, and there is no proof
        sensitivity (float | Unset): ℓ2 sensitivity of the quantity to which the noise is added, in the units of that
            quantity. Absent if client groups differ in it; parameters.groups then has the sensitivity of each group
    """

    definition: Definition
    in_words: str
    statements: list[Statement]
    unit: Unit | WindowedUnit
    relation: Relation
    observer: Observer
    sampling: Sampling
    target: Target
    epsilon: Ends
    delta: Ends
    log10_delta: Ends
    tight: Tightness
    minimal: str
    sensitivity: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        definition = self.definition.value

        in_words = self.in_words

        statements = []
        for statements_item_data in self.statements:
            statements_item = statements_item_data.to_dict()
            statements.append(statements_item)

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        relation = self.relation.value

        observer = self.observer.value

        sampling = self.sampling.value

        target = self.target.to_dict()

        epsilon = self.epsilon.to_dict()

        delta = self.delta.to_dict()

        log10_delta = self.log10_delta.to_dict()

        tight = self.tight.value

        minimal = self.minimal

        sensitivity = self.sensitivity

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "definition": definition,
                "in_words": in_words,
                "statements": statements,
                "unit": unit,
                "relation": relation,
                "observer": observer,
                "sampling": sampling,
                "target": target,
                "epsilon": epsilon,
                "delta": delta,
                "log10_delta": log10_delta,
                "tight": tight,
                "minimal": minimal,
            }
        )
        if sensitivity is not UNSET:
            field_dict["sensitivity"] = sensitivity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends
        from ..models.statement import Statement
        from ..models.target import Target
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        definition = Definition(d.pop("definition"))

        in_words = d.pop("in_words")

        statements = []
        _statements = d.pop("statements")
        for statements_item_data in _statements:
            statements_item = Statement.from_dict(statements_item_data)

            statements.append(statements_item)

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

        sampling = Sampling(d.pop("sampling"))

        target = Target.from_dict(d.pop("target"))

        epsilon = Ends.from_dict(d.pop("epsilon"))

        delta = Ends.from_dict(d.pop("delta"))

        log10_delta = Ends.from_dict(d.pop("log10_delta"))

        tight = Tightness(d.pop("tight"))

        minimal = d.pop("minimal")

        sensitivity = d.pop("sensitivity", UNSET)

        guarantee_answer = cls(
            definition=definition,
            in_words=in_words,
            statements=statements,
            unit=unit,
            relation=relation,
            observer=observer,
            sampling=sampling,
            target=target,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            tight=tight,
            minimal=minimal,
            sensitivity=sensitivity,
        )

        guarantee_answer.additional_properties = d
        return guarantee_answer

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
