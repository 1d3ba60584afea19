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
    from ..models.discrete_laplace import DiscreteLaplace
    from ..models.gaussian import Gaussian
    from ..models.laplace import Laplace
    from ..models.projected_sgd import ProjectedSgd
    from ..models.randomized_response import RandomizedResponse
    from ..models.repeated import Repeated
    from ..models.shuffled import Shuffled
    from ..models.subsampled import Subsampled
    from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace


T = TypeVar("T", bound="Composed")


@_attrs_define
class Composed:
    """The mechanisms one after another, each free to depend on what came before; their parameters fixed in advance.

    Admits: runs that each fit the words of their mechanism whatever came before. All outputs are seen.

    """

    kind: Literal["composed"]
    """ which mechanism this is """
    mechanisms: list[
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
    ]
    """ the mechanisms, run one after another, each free to depend on what came before """

    def to_dict(self) -> dict[str, Any]:
        from ..models.approximate import Approximate
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.randomized_response import RandomizedResponse
        from ..models.repeated import Repeated
        from ..models.shuffled import Shuffled
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        kind = self.kind

        mechanisms = []
        for mechanisms_item_data in self.mechanisms:
            mechanisms_item: dict[str, Any]
            if (
                isinstance(mechanisms_item_data, Gaussian)
                or isinstance(mechanisms_item_data, Laplace)
                or isinstance(mechanisms_item_data, DiscreteLaplace)
                or isinstance(mechanisms_item_data, TruncatedDiscreteLaplace)
                or isinstance(mechanisms_item_data, RandomizedResponse)
                or isinstance(mechanisms_item_data, Approximate)
                or isinstance(mechanisms_item_data, Subsampled)
                or isinstance(mechanisms_item_data, Shuffled)
                or isinstance(mechanisms_item_data, Repeated)
                or isinstance(mechanisms_item_data, Composed)
            ):
                mechanisms_item = mechanisms_item_data.to_dict()
            else:
                mechanisms_item = mechanisms_item_data.to_dict()

            mechanisms.append(mechanisms_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "mechanisms": mechanisms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.approximate import Approximate
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.projected_sgd import ProjectedSgd
        from ..models.randomized_response import RandomizedResponse
        from ..models.repeated import Repeated
        from ..models.shuffled import Shuffled
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        d = dict(src_dict)
        kind = cast(Literal["composed"], d.pop("kind"))
        if kind != "composed":
            raise ValueError(f"kind must match const 'composed', got '{kind}'")

        mechanisms = []
        _mechanisms = d.pop("mechanisms")
        for mechanisms_item_data in _mechanisms:

            def _parse_mechanisms_item(
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

            mechanisms_item = _parse_mechanisms_item(mechanisms_item_data)

            mechanisms.append(mechanisms_item)

        composed = cls(
            kind=kind,
            mechanisms=mechanisms,
        )

        return composed
