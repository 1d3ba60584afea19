from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.problem_answer_objective import (
    ProblemAnswerObjective,
    check_problem_answer_objective,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.constants import Constants
    from ..models.personalized_constants import PersonalizedConstants
    from ..models.problem_answer_facts import ProblemAnswerFacts


T = TypeVar("T", bound="ProblemAnswer")


@_attrs_define
class ProblemAnswer:
    """The problem that was run on, with what is true of it by construction."""

    spec: Any
    """ as it was asked for """
    objective: ProblemAnswerObjective
    clients: int
    dimension: int
    constants: Constants | PersonalizedConstants
    """ over all models in the domain and all possible records """
    facts: ProblemAnswerFacts
    samples_per_client: int | Unset = UNSET
    """ absent where every record is drawn anew """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.constants import Constants

        spec = self.spec

        objective: str = self.objective

        clients = self.clients

        dimension = self.dimension

        constants: dict[str, Any]
        if isinstance(self.constants, Constants):
            constants = self.constants.to_dict()
        else:
            constants = self.constants.to_dict()

        facts = self.facts.to_dict()

        samples_per_client = self.samples_per_client

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "spec": spec,
                "objective": objective,
                "clients": clients,
                "dimension": dimension,
                "constants": constants,
                "facts": facts,
            }
        )
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.constants import Constants
        from ..models.personalized_constants import PersonalizedConstants
        from ..models.problem_answer_facts import ProblemAnswerFacts

        d = dict(src_dict)
        spec = d.pop("spec")

        objective = check_problem_answer_objective(d.pop("objective"))

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        def _parse_constants(data: object) -> Constants | PersonalizedConstants:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                constants_type_0 = Constants.from_dict(data)

                return constants_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            constants_type_1 = PersonalizedConstants.from_dict(data)

            return constants_type_1

        constants = _parse_constants(d.pop("constants"))

        facts = ProblemAnswerFacts.from_dict(d.pop("facts"))

        samples_per_client = d.pop("samples_per_client", UNSET)

        problem_answer = cls(
            spec=spec,
            objective=objective,
            clients=clients,
            dimension=dimension,
            constants=constants,
            facts=facts,
            samples_per_client=samples_per_client,
        )

        problem_answer.additional_properties = d
        return problem_answer

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
