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

if TYPE_CHECKING:
    from ..models.approximate import Approximate
    from ..models.composed import Composed
    from ..models.discrete_laplace import DiscreteLaplace
    from ..models.gaussian import Gaussian
    from ..models.laplace import Laplace
    from ..models.projected_sgd import ProjectedSgd
    from ..models.randomized_response import RandomizedResponse
    from ..models.shuffled import Shuffled
    from ..models.subsampled import Subsampled
    from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace


T = TypeVar("T", bound="Repeated")


@_attrs_define
class Repeated:
    """`times` independent runs of `mechanism`, each free to depend on what came before.

    Admits: runs that each fit the words of `mechanism` whatever came before, with parameters fixed in advance. All
    outputs are seen.

    """

    kind: Literal["repeated"]
    """ which mechanism this is """
    times: int
    """ how often the mechanism is run """
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

    def to_dict(self) -> dict[str, Any]:
        from ..models.approximate import Approximate
        from ..models.composed import Composed
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.randomized_response import RandomizedResponse
        from ..models.shuffled import Shuffled
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        kind = self.kind

        times = self.times

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

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "times": times,
                "mechanism": mechanism,
            }
        )

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
        from ..models.shuffled import Shuffled
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        d = dict(src_dict)
        kind = cast(Literal["repeated"], d.pop("kind"))
        if kind != "repeated":
            raise ValueError(f"kind must match const 'repeated', got '{kind}'")

        times = d.pop("times")

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

        repeated = cls(
            kind=kind,
            times=times,
            mechanism=mechanism,
        )

        return repeated
