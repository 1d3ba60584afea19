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

from ..models.sampling import Sampling, check_sampling
from ..models.subsampled_level import SubsampledLevel, check_subsampled_level
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
    from ..models.shuffled import Shuffled
    from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace


T = TypeVar("T", bound="Subsampled")


@_attrs_define
class Subsampled:
    """Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

    `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
    `batch_size` records. `with-replacement`: `batch_size` independent uniform draws, a record counts as often as it
    is drawn. `full`: every record, no amplification.

    Admits: fresh draws, whatever the data are. That nobody sees who is in a batch, and that the mechanism is told a
    batch of fixed size as a set (no order, place or name), are conditions of the amplified ε; an answer that needs them
    declares them. A mechanism that needs a fixed number of records or clients is not run on a batch of random size.

    `level` says what is drawn. Absent, it is the unit that is protected. For a record it stays open where `mechanism`
    draws again, unless records are drawn above it: the answer then covers both readings, a batch of a batch, and
    clients who then draw among their own records. For a client it stays open below a draw of clients, where it may be
    one of the client's records. For a client, records that no draw of clients stands above may be its own or drawn from
    all clients' together. Where no bound covers both readings the spec is refused: say `records` or `clients`
    (docs/decisions/0004-two-level-sampling.md).

    """

    kind: Literal["subsampled"]
    """ which mechanism this is """
    sampling: Sampling
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
    rate: float | Unset = UNSET
    """ probability that a given record, or client where clients are drawn, is in a batch """
    batch_size: int | Unset = UNSET
    """ how many records, or clients where clients are drawn, are in a batch """
    population: int | Unset = UNSET
    """ how many records, or clients where clients are drawn, a batch is drawn from """
    level: SubsampledLevel | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.approximate import Approximate
        from ..models.composed import Composed
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.randomized_response import RandomizedResponse
        from ..models.repeated import Repeated
        from ..models.shuffled import Shuffled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        kind = self.kind

        sampling: str = self.sampling

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

        rate = self.rate

        batch_size = self.batch_size

        population = self.population

        level: str | Unset = UNSET
        if not isinstance(self.level, Unset):
            level = self.level

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "sampling": sampling,
                "mechanism": mechanism,
            }
        )
        if rate is not UNSET:
            field_dict["rate"] = rate
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if population is not UNSET:
            field_dict["population"] = population
        if level is not UNSET:
            field_dict["level"] = level

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
        from ..models.shuffled import Shuffled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        d = dict(src_dict)
        kind = cast(Literal["subsampled"], d.pop("kind"))
        if kind != "subsampled":
            raise ValueError(f"kind must match const 'subsampled', got '{kind}'")

        sampling = check_sampling(d.pop("sampling"))

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

        rate = d.pop("rate", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        population = d.pop("population", UNSET)

        _level = d.pop("level", UNSET)
        level: SubsampledLevel | Unset
        if isinstance(_level, Unset):
            level = UNSET
        else:
            level = check_subsampled_level(_level)

        subsampled = cls(
            kind=kind,
            sampling=sampling,
            mechanism=mechanism,
            rate=rate,
            batch_size=batch_size,
            population=population,
            level=level,
        )

        return subsampled
