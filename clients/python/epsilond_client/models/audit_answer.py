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
from attrs import field as _attrs_field

from ..models.audit_answer_attack import AuditAnswerAttack, check_audit_answer_attack
from ..models.audit_answer_evidence import (
    AuditAnswerEvidence,
    check_audit_answer_evidence,
)
from ..models.audit_answer_verdict import AuditAnswerVerdict, check_audit_answer_verdict
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.claim_checked import ClaimChecked
    from ..models.ends import Ends
    from ..models.epsilon_bound import EpsilonBound
    from ..models.escape import Escape
    from ..models.gaussian_bound import GaussianBound
    from ..models.roc_point import RocPoint


T = TypeVar("T", bound="AuditAnswer")


@_attrs_define
class AuditAnswer:
    """The whole answer. Every lower bound holds by itself with the stated confidence."""

    unit: Unit
    observer: Observer
    attack: AuditAnswerAttack
    log10_delta: float
    confidence: float
    epsilon: EpsilonBound
    """ A lower bound on ε at the audit's δ; nothing is assumed of the mechanism. """
    gaussian: GaussianBound
    """ A lower bound on μ of Gaussian differential privacy; nothing is assumed for that. """
    escape: Escape
    """ Outputs that the other data set cannot give, by the support of the noise that is drawn. """
    evidence: AuditAnswerEvidence
    certified: Ends
    """ A two-sided enclosure: lower ≤ truth ≤ upper. """
    verdict: AuditAnswerVerdict
    ratio: float
    """ lower bound over certified upper end; absent where that is unbounded or 0 """
    meaning: str
    roc: list[RocPoint]
    """ of the attacker's statistic over all samples, for a figure """
    samples: int
    """ runs on each data set """
    seed: int
    engine_version: str
    kind: Literal["audit"] | Unset = UNSET
    relation: Relation | Unset = UNSET
    delta: float | Unset = UNSET
    """ absent where it is below every double """
    claim: ClaimChecked | Unset = UNSET
    """ What the audit and the certificate say of a claimed ε at the audit's δ. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        unit: str = self.unit

        observer: str = self.observer

        attack: str = self.attack

        log10_delta = self.log10_delta

        confidence = self.confidence

        epsilon = self.epsilon.to_dict()

        gaussian = self.gaussian.to_dict()

        escape = self.escape.to_dict()

        evidence: str = self.evidence

        certified = self.certified.to_dict()

        verdict: str = self.verdict

        ratio = self.ratio

        meaning = self.meaning

        roc = []
        for roc_item_data in self.roc:
            roc_item = roc_item_data.to_dict()
            roc.append(roc_item)

        samples = self.samples

        seed = self.seed

        engine_version = self.engine_version

        kind = self.kind

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        delta = self.delta

        claim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claim, Unset):
            claim = self.claim.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "unit": unit,
                "observer": observer,
                "attack": attack,
                "log10_delta": log10_delta,
                "confidence": confidence,
                "epsilon": epsilon,
                "gaussian": gaussian,
                "escape": escape,
                "evidence": evidence,
                "certified": certified,
                "verdict": verdict,
                "ratio": ratio,
                "meaning": meaning,
                "roc": roc,
                "samples": samples,
                "seed": seed,
                "engine_version": engine_version,
            }
        )
        if kind is not UNSET:
            field_dict["kind"] = kind
        if relation is not UNSET:
            field_dict["relation"] = relation
        if delta is not UNSET:
            field_dict["delta"] = delta
        if claim is not UNSET:
            field_dict["claim"] = claim

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.claim_checked import ClaimChecked
        from ..models.ends import Ends
        from ..models.epsilon_bound import EpsilonBound
        from ..models.escape import Escape
        from ..models.gaussian_bound import GaussianBound
        from ..models.roc_point import RocPoint

        d = dict(src_dict)
        unit = check_unit(d.pop("unit"))

        observer = check_observer(d.pop("observer"))

        attack = check_audit_answer_attack(d.pop("attack"))

        log10_delta = d.pop("log10_delta")

        confidence = d.pop("confidence")

        epsilon = EpsilonBound.from_dict(d.pop("epsilon"))

        gaussian = GaussianBound.from_dict(d.pop("gaussian"))

        escape = Escape.from_dict(d.pop("escape"))

        evidence = check_audit_answer_evidence(d.pop("evidence"))

        certified = Ends.from_dict(d.pop("certified"))

        verdict = check_audit_answer_verdict(d.pop("verdict"))

        ratio = d.pop("ratio")

        meaning = d.pop("meaning")

        roc = []
        _roc = d.pop("roc")
        for roc_item_data in _roc:
            roc_item = RocPoint.from_dict(roc_item_data)

            roc.append(roc_item)

        samples = d.pop("samples")

        seed = d.pop("seed")

        engine_version = d.pop("engine_version")

        kind = cast(Literal["audit"] | Unset, d.pop("kind", UNSET))
        if kind != "audit" and not isinstance(kind, Unset):
            raise ValueError(f"kind must match const 'audit', got '{kind}'")

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        delta = d.pop("delta", UNSET)

        _claim = d.pop("claim", UNSET)
        claim: ClaimChecked | Unset
        if isinstance(_claim, Unset):
            claim = UNSET
        else:
            claim = ClaimChecked.from_dict(_claim)

        audit_answer = cls(
            unit=unit,
            observer=observer,
            attack=attack,
            log10_delta=log10_delta,
            confidence=confidence,
            epsilon=epsilon,
            gaussian=gaussian,
            escape=escape,
            evidence=evidence,
            certified=certified,
            verdict=verdict,
            ratio=ratio,
            meaning=meaning,
            roc=roc,
            samples=samples,
            seed=seed,
            engine_version=engine_version,
            kind=kind,
            relation=relation,
            delta=delta,
            claim=claim,
        )

        audit_answer.additional_properties = d
        return audit_answer

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
