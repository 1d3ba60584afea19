from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.cell_answer_epsilon_lower_type_1 import (
    CellAnswerEpsilonLowerType1,
    check_cell_answer_epsilon_lower_type_1,
)
from ..models.cell_answer_kind import CellAnswerKind, check_cell_answer_kind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bound_answer import BoundAnswer
    from ..models.cell_answer_beside import CellAnswerBeside
    from ..models.cell_answer_place import CellAnswerPlace
    from ..models.claim_checked import ClaimChecked
    from ..models.ends import Ends
    from ..models.measured import Measured


T = TypeVar("T", bound="CellAnswer")


@_attrs_define
class CellAnswer:
    """One simulation of the grid. Parts that its kind does not have are absent."""

    place: CellAnswerPlace
    """ a value for each axis """
    kind: CellAnswerKind
    algorithm: str | Unset = UNSET
    """ that was run """
    epsilon: Ends | Unset = UNSET
    """ A two-sided enclosure: lower ≤ truth ≤ upper. """
    rounds: int | Unset = UNSET
    """ of the run """
    final_excess: Measured | Unset = UNSET
    """ A mean excess risk: measured, with the ends of its confidence interval. In the unit of the loss. """
    beside: CellAnswerBeside | Unset = UNSET
    """ final excess of the runs set beside it """
    bounds: list[BoundAnswer] | Unset = UNSET
    """ on the final excess """
    epsilon_lower: CellAnswerEpsilonLowerType1 | float | Unset = UNSET
    """ that an audit proves, with its confidence """
    test_epsilon_lower: float | Unset = UNSET
    """ what its test proves, without impossible outputs """
    claim: ClaimChecked | Unset = UNSET
    """ What the audit and the certificate say of a claimed ε at the audit's δ. """
    parameters: Any | Unset = UNSET
    """ what it was run with """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        place = self.place.to_dict()

        kind: str = self.kind

        algorithm = self.algorithm

        epsilon: dict[str, Any] | Unset = UNSET
        if not isinstance(self.epsilon, Unset):
            epsilon = self.epsilon.to_dict()

        rounds = self.rounds

        final_excess: dict[str, Any] | Unset = UNSET
        if not isinstance(self.final_excess, Unset):
            final_excess = self.final_excess.to_dict()

        beside: dict[str, Any] | Unset = UNSET
        if not isinstance(self.beside, Unset):
            beside = self.beside.to_dict()

        bounds: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.bounds, Unset):
            bounds = []
            for bounds_item_data in self.bounds:
                bounds_item = bounds_item_data.to_dict()
                bounds.append(bounds_item)

        epsilon_lower: float | str | Unset
        if isinstance(self.epsilon_lower, Unset):
            epsilon_lower = UNSET
        elif isinstance(self.epsilon_lower, str):
            epsilon_lower = self.epsilon_lower
        else:
            epsilon_lower = self.epsilon_lower

        test_epsilon_lower = self.test_epsilon_lower

        claim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claim, Unset):
            claim = self.claim.to_dict()

        parameters = self.parameters

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "place": place,
                "kind": kind,
            }
        )
        if algorithm is not UNSET:
            field_dict["algorithm"] = algorithm
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if final_excess is not UNSET:
            field_dict["final_excess"] = final_excess
        if beside is not UNSET:
            field_dict["beside"] = beside
        if bounds is not UNSET:
            field_dict["bounds"] = bounds
        if epsilon_lower is not UNSET:
            field_dict["epsilon_lower"] = epsilon_lower
        if test_epsilon_lower is not UNSET:
            field_dict["test_epsilon_lower"] = test_epsilon_lower
        if claim is not UNSET:
            field_dict["claim"] = claim
        if parameters is not UNSET:
            field_dict["parameters"] = parameters

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.bound_answer import BoundAnswer
        from ..models.cell_answer_beside import CellAnswerBeside
        from ..models.cell_answer_place import CellAnswerPlace
        from ..models.claim_checked import ClaimChecked
        from ..models.ends import Ends
        from ..models.measured import Measured

        d = dict(src_dict)
        place = CellAnswerPlace.from_dict(d.pop("place"))

        kind = check_cell_answer_kind(d.pop("kind"))

        algorithm = d.pop("algorithm", UNSET)

        _epsilon = d.pop("epsilon", UNSET)
        epsilon: Ends | Unset
        if isinstance(_epsilon, Unset):
            epsilon = UNSET
        else:
            epsilon = Ends.from_dict(_epsilon)

        rounds = d.pop("rounds", UNSET)

        _final_excess = d.pop("final_excess", UNSET)
        final_excess: Measured | Unset
        if isinstance(_final_excess, Unset):
            final_excess = UNSET
        else:
            final_excess = Measured.from_dict(_final_excess)

        _beside = d.pop("beside", UNSET)
        beside: CellAnswerBeside | Unset
        if isinstance(_beside, Unset):
            beside = UNSET
        else:
            beside = CellAnswerBeside.from_dict(_beside)

        _bounds = d.pop("bounds", UNSET)
        bounds: list[BoundAnswer] | Unset = UNSET
        if _bounds is not UNSET:
            bounds = []
            for bounds_item_data in _bounds:
                bounds_item = BoundAnswer.from_dict(bounds_item_data)

                bounds.append(bounds_item)

        def _parse_epsilon_lower(data: object) -> CellAnswerEpsilonLowerType1 | float | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                epsilon_lower_type_1 = check_cell_answer_epsilon_lower_type_1(data)

                return epsilon_lower_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CellAnswerEpsilonLowerType1 | float | Unset, data)

        epsilon_lower = _parse_epsilon_lower(d.pop("epsilon_lower", UNSET))

        test_epsilon_lower = d.pop("test_epsilon_lower", UNSET)

        _claim = d.pop("claim", UNSET)
        claim: ClaimChecked | Unset
        if isinstance(_claim, Unset):
            claim = UNSET
        else:
            claim = ClaimChecked.from_dict(_claim)

        parameters = d.pop("parameters", UNSET)

        cell_answer = cls(
            place=place,
            kind=kind,
            algorithm=algorithm,
            epsilon=epsilon,
            rounds=rounds,
            final_excess=final_excess,
            beside=beside,
            bounds=bounds,
            epsilon_lower=epsilon_lower,
            test_epsilon_lower=test_epsilon_lower,
            claim=claim,
            parameters=parameters,
        )

        cell_answer.additional_properties = d
        return cell_answer

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
