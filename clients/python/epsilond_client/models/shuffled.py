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

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.approximate import Approximate
    from ..models.composed import Composed
    from ..models.discrete_laplace import DiscreteLaplace
    from ..models.gaussian import Gaussian
    from ..models.laplace import Laplace
    from ..models.projected_sgd import ProjectedSgd
    from ..models.randomized_response import RandomizedResponse
    from ..models.repeated import Repeated
    from ..models.subsampled import Subsampled
    from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace


T = TypeVar("T", bound="Shuffled")


@_attrs_define
class Shuffled:
    """Each of `clients` clients runs `mechanism` on its own single contribution, and a shuffler permutes the reports.

    A trusted shuffler passes on the reports of a round in a uniformly random order and nothing else. Neighbours differ
    by replacing one client's contribution; what `mechanism` is for its own report is a replace-one guarantee. Bounds
    that depend on the number of coordinates of a report need `dimension`; the others hold for any.

    Admits: one `mechanism` that is the same for every client and whose report depends on its client's contribution
    alone, so that it names no sender. The number of reports is known to all. What `mechanism` draws are records of its
    client.

    """

    kind: Literal["shuffled"]
    """ which mechanism this is """
    clients: int
    """ clients in the federation """
    mechanism: (
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
    dimension: int | Unset = UNSET
    """ coordinates of what one client sends; absent: any number """

    def to_dict(self) -> dict[str, Any]:
        from ..models.approximate import Approximate
        from ..models.composed import Composed
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.randomized_response import RandomizedResponse
        from ..models.repeated import Repeated
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        kind = self.kind

        clients = self.clients

        mechanism: dict[str, Any]
        if (
            isinstance(self.mechanism, Gaussian)
            or isinstance(self.mechanism, Laplace)
            or isinstance(self.mechanism, DiscreteLaplace)
            or isinstance(self.mechanism, TruncatedDiscreteLaplace)
            or isinstance(self.mechanism, RandomizedResponse)
            or isinstance(self.mechanism, Approximate)
            or isinstance(self.mechanism, Subsampled)
            or isinstance(self.mechanism, Shuffled)
            or isinstance(self.mechanism, Repeated)
            or isinstance(self.mechanism, Composed)
        ):
            mechanism = self.mechanism.to_dict()
        else:
            mechanism = self.mechanism.to_dict()

        dimension = self.dimension

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "clients": clients,
                "mechanism": mechanism,
            }
        )
        if dimension is not UNSET:
            field_dict["dimension"] = dimension

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.approximate import Approximate
        from ..models.composed import Composed
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.projected_sgd import ProjectedSgd
        from ..models.randomized_response import RandomizedResponse
        from ..models.repeated import Repeated
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        d = dict(src_dict)
        kind = cast(Literal["shuffled"], d.pop("kind"))
        if kind != "shuffled":
            raise ValueError(f"kind must match const 'shuffled', got '{kind}'")

        clients = d.pop("clients")

        def _parse_mechanism(
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

        mechanism = _parse_mechanism(d.pop("mechanism"))

        dimension = d.pop("dimension", UNSET)

        shuffled = cls(
            kind=kind,
            clients=clients,
            mechanism=mechanism,
            dimension=dimension,
        )

        return shuffled
