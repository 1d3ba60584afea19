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

from ..models.audit_simulation_attack import (
    AuditSimulationAttack,
    check_audit_simulation_attack,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.approximate import Approximate
    from ..models.audit_claim import AuditClaim
    from ..models.composed import Composed
    from ..models.discrete_laplace import DiscreteLaplace
    from ..models.gaussian import Gaussian
    from ..models.laplace import Laplace
    from ..models.projected_sgd import ProjectedSgd
    from ..models.quantized_message import QuantizedMessage
    from ..models.randomized_response import RandomizedResponse
    from ..models.repeated import Repeated
    from ..models.shuffled import Shuffled
    from ..models.subsampled import Subsampled
    from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace


T = TypeVar("T", bound="AuditSimulation")


@_attrs_define
class AuditSimulation:
    """Attack `spec` in a stated relation, or `message`: two updates that one client may send. δ is given once."""

    kind: Literal["audit"]
    """ which simulation this is """
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
        | Unset
    ) = UNSET
    message: QuantizedMessage | Unset = UNSET
    """ What a client sends of one of two updates that the attacker knows.

    Each coordinate is rounded at random to the grid of steps 1/s, without bias, and truncated discrete Laplace
    noise is
    added. """
    relation: Relation | Unset = UNSET
    unit: Unit | Unset = UNSET
    observer: Observer | Unset = UNSET
    attack: AuditSimulationAttack | Unset = UNSET
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    samples: int | Unset = 100000
    """ runs of the mechanism on each of the two data sets """
    confidence: float | Unset = 0.95
    """ probability with which the lower bounds hold, each by itself """
    seed: int | Unset = 0
    """ of all randomness: the same seed gives the same answer """
    claim: AuditClaim | Unset = UNSET
    """ An ε that was claimed at the audit's δ. """

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

        kind = self.kind

        spec: dict[str, Any] | Unset
        if isinstance(self.spec, Unset):
            spec = UNSET
        elif (
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

        message: dict[str, Any] | Unset = UNSET
        if not isinstance(self.message, Unset):
            message = self.message.to_dict()

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer

        attack: str | Unset = UNSET
        if not isinstance(self.attack, Unset):
            attack = self.attack

        delta = self.delta

        log10_delta = self.log10_delta

        samples = self.samples

        confidence = self.confidence

        seed = self.seed

        claim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claim, Unset):
            claim = self.claim.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if spec is not UNSET:
            field_dict["spec"] = spec
        if message is not UNSET:
            field_dict["message"] = message
        if relation is not UNSET:
            field_dict["relation"] = relation
        if unit is not UNSET:
            field_dict["unit"] = unit
        if observer is not UNSET:
            field_dict["observer"] = observer
        if attack is not UNSET:
            field_dict["attack"] = attack
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if samples is not UNSET:
            field_dict["samples"] = samples
        if confidence is not UNSET:
            field_dict["confidence"] = confidence
        if seed is not UNSET:
            field_dict["seed"] = seed
        if claim is not UNSET:
            field_dict["claim"] = claim

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.approximate import Approximate
        from ..models.audit_claim import AuditClaim
        from ..models.composed import Composed
        from ..models.discrete_laplace import DiscreteLaplace
        from ..models.gaussian import Gaussian
        from ..models.laplace import Laplace
        from ..models.projected_sgd import ProjectedSgd
        from ..models.quantized_message import QuantizedMessage
        from ..models.randomized_response import RandomizedResponse
        from ..models.repeated import Repeated
        from ..models.shuffled import Shuffled
        from ..models.subsampled import Subsampled
        from ..models.truncated_discrete_laplace import TruncatedDiscreteLaplace

        d = dict(src_dict)
        kind = cast(Literal["audit"], d.pop("kind"))
        if kind != "audit":
            raise ValueError(f"kind must match const 'audit', got '{kind}'")

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
            | Unset
        ):
            if isinstance(data, Unset):
                return data
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

        spec = _parse_spec(d.pop("spec", UNSET))

        _message = d.pop("message", UNSET)
        message: QuantizedMessage | Unset
        if isinstance(_message, Unset):
            message = UNSET
        else:
            message = QuantizedMessage.from_dict(_message)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

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

        _attack = d.pop("attack", UNSET)
        attack: AuditSimulationAttack | Unset
        if isinstance(_attack, Unset):
            attack = UNSET
        else:
            attack = check_audit_simulation_attack(_attack)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        samples = d.pop("samples", UNSET)

        confidence = d.pop("confidence", UNSET)

        seed = d.pop("seed", UNSET)

        _claim = d.pop("claim", UNSET)
        claim: AuditClaim | Unset
        if isinstance(_claim, Unset):
            claim = UNSET
        else:
            claim = AuditClaim.from_dict(_claim)

        audit_simulation = cls(
            kind=kind,
            spec=spec,
            message=message,
            relation=relation,
            unit=unit,
            observer=observer,
            attack=attack,
            delta=delta,
            log10_delta=log10_delta,
            samples=samples,
            confidence=confidence,
            seed=seed,
            claim=claim,
        )

        return audit_simulation
