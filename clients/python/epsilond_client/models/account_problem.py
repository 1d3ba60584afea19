from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.approximate import Approximate
    from ..models.claim import Claim
    from ..models.composed import Composed
    from ..models.discrete_laplace import DiscreteLaplace
    from ..models.gaussian import Gaussian
    from ..models.laplace import Laplace
    from ..models.projected_sgd import ProjectedSgd
    from ..models.query import Query
    from ..models.randomized_response import RandomizedResponse
    from ..models.repeated import Repeated
    from ..models.shuffled import Shuffled
    from ..models.subsampled import Subsampled
    from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace


T = TypeVar("T", bound="AccountProblem")


@_attrs_define
class AccountProblem:
    """What was run, what a neighbour is, and at which point to read the curve. The relation has no default."""

    spec: (
        Approximate
        | Composed
        | DiscreteLaplace
        | Gaussian
        | Laplace
        | ProjectedSgd
        | RandomizedResponse
        | Repeated
        | Shuffled
        | Subsampled
        | TruncatedDiscreteLaplace
    )
    relation: Relation
    query: Query
    """ Exactly one of these: at which ε or δ to read the curve. """
    unit: Unit | Unset = UNSET
    observer: Observer | Unset = UNSET
    claim: Claim | Unset = UNSET
    """ A statement to be checked: (ε, δ), the δ given once. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.approximate import Approximate
        from ..models.composed import Composed
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.randomized_response import RandomizedResponse
        from ..models.repeated import Repeated
        from ..models.shuffled import Shuffled
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        spec: dict[str, Any]
        if (
            isinstance(self.spec, Gaussian)
            or isinstance(self.spec, Laplace)
            or isinstance(self.spec, DiscreteLaplace)
            or isinstance(self.spec, TruncatedDiscreteLaplace)
            or isinstance(self.spec, RandomizedResponse)
            or isinstance(self.spec, Approximate)
            or isinstance(self.spec, Subsampled)
            or isinstance(self.spec, Shuffled)
            or isinstance(self.spec, Repeated)
            or isinstance(self.spec, Composed)
        ):
            spec = self.spec.to_dict()
        else:
            spec = self.spec.to_dict()

        relation: str = self.relation

        query = self.query.to_dict()

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer

        claim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claim, Unset):
            claim = self.claim.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "spec": spec,
                "relation": relation,
                "query": query,
            }
        )
        if unit is not UNSET:
            field_dict["unit"] = unit
        if observer is not UNSET:
            field_dict["observer"] = observer
        if claim is not UNSET:
            field_dict["claim"] = claim

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.approximate import Approximate
        from ..models.claim import Claim
        from ..models.composed import Composed
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.projected_sgd import ProjectedSgd
        from ..models.query import Query
        from ..models.randomized_response import RandomizedResponse
        from ..models.repeated import Repeated
        from ..models.shuffled import Shuffled
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        d = dict(src_dict)

        def _parse_spec(
            data: object,
        ) -> (
            Approximate
            | Composed
            | DiscreteLaplace
            | Gaussian
            | Laplace
            | ProjectedSgd
            | RandomizedResponse
            | Repeated
            | Shuffled
            | Subsampled
            | TruncatedDiscreteLaplace
        ):
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_0 = Gaussian.from_dict(data)

                return componentsschemas_spec_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_1 = Laplace.from_dict(data)

                return componentsschemas_spec_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_2 = DiscreteLaplace.from_dict(data)

                return componentsschemas_spec_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_3 = TruncatedDiscreteLaplace.from_dict(data)

                return componentsschemas_spec_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_4 = RandomizedResponse.from_dict(data)

                return componentsschemas_spec_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_5 = Approximate.from_dict(data)

                return componentsschemas_spec_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_6 = Subsampled.from_dict(data)

                return componentsschemas_spec_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_7 = Shuffled.from_dict(data)

                return componentsschemas_spec_type_7
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_8 = Repeated.from_dict(data)

                return componentsschemas_spec_type_8
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_spec_type_9 = Composed.from_dict(data)

                return componentsschemas_spec_type_9
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_spec_type_10 = ProjectedSgd.from_dict(data)

            return componentsschemas_spec_type_10

        spec = _parse_spec(d.pop("spec"))

        relation = check_relation(d.pop("relation"))

        query = Query.from_dict(d.pop("query"))

        _unit = d.pop("unit", UNSET)
        unit: Unit | Unset
        if isinstance(_unit, Unset):
            unit = UNSET
        else:
            unit = check_unit(_unit)

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = check_observer(_observer)

        _claim = d.pop("claim", UNSET)
        claim: Claim | Unset
        if isinstance(_claim, Unset):
            claim = UNSET
        else:
            claim = Claim.from_dict(_claim)

        account_problem = cls(
            spec=spec,
            relation=relation,
            query=query,
            unit=unit,
            observer=observer,
            claim=claim,
        )

        return account_problem
