from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.account_guarantee import AccountGuarantee
    from ..models.bayes_error import BayesError
    from ..models.caution import Caution
    from ..models.claim_answer import ClaimAnswer
    from ..models.condition import Condition
    from ..models.considered_answer import ConsideredAnswer
    from ..models.derivation_step import DerivationStep
    from ..models.directions import Directions
    from ..models.ends import Ends
    from ..models.meaning_answer import MeaningAnswer
    from ..models.numerical_answer import NumericalAnswer
    from ..models.over_windows import OverWindows
    from ..models.point import Point
    from ..models.renyi_divergence import RenyiDivergence
    from ..models.true_positive_rate import TruePositiveRate


T = TypeVar("T", bound="AccountAnswer")


@_attrs_define
class AccountAnswer:
    """The account of a run: its guarantee with the proof, and the requested figures.

    Attributes:
        guarantee (AccountGuarantee): The guarantee of a run, with ε and δ at the first requested point.
        derivation (list[DerivationStep]):
        considered (list[ConsideredAnswer]):
        declared_conditions (list[Condition]): conditions of the guarantee on the data and the program, which the
            service cannot check
        warnings (list[Caution]):
        engine_version (str):
        numerical (NumericalAnswer): Numerical error of the computed bound. It does not say how close the bound is to
            the truth.
        meaning (MeaningAnswer): The success of the best attacker who has to distinguish two neighbouring data sets.
        claim (ClaimAnswer | Unset): Verdict on a claimed (ε, δ). It is `undecidable` if the claim is between the upper
            and the lower bound.
        points (list[Point] | Unset): ε and δ at each requested point, in their order; absent unless a list of points
            was requested
        over_windows (OverWindows | Unset): The guarantee for all windows of a record or client together, at the first
            requested point, by group privacy.
        trade_off (list[TruePositiveRate] | Unset): largest true positive rate of an attacker at each of the requested
            false_positive_rates, in their order; absent unless requested
        gaussian_dp_mu (Ends | Unset): A lower and an upper bound, between which the true value is.
        bayes_errors (list[BayesError] | Unset): least error of an attacker at each of the requested priors, in their
            order; absent unless requested
        renyi_divergences (list[RenyiDivergence] | Unset): Rényi divergence at each of the requested orders, in their
            order; absent unless requested
        directions (list[Directions] | Unset): δ of each direction at each of the requested signed_epsilons, in their
            order; absent unless requested
    """

    guarantee: AccountGuarantee
    derivation: list[DerivationStep]
    considered: list[ConsideredAnswer]
    declared_conditions: list[Condition]
    warnings: list[Caution]
    engine_version: str
    numerical: NumericalAnswer
    meaning: MeaningAnswer
    claim: ClaimAnswer | Unset = UNSET
    points: list[Point] | Unset = UNSET
    over_windows: OverWindows | Unset = UNSET
    trade_off: list[TruePositiveRate] | Unset = UNSET
    gaussian_dp_mu: Ends | Unset = UNSET
    bayes_errors: list[BayesError] | Unset = UNSET
    renyi_divergences: list[RenyiDivergence] | Unset = UNSET
    directions: list[Directions] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        guarantee = self.guarantee.to_dict()

        derivation = []
        for derivation_item_data in self.derivation:
            derivation_item = derivation_item_data.to_dict()
            derivation.append(derivation_item)

        considered = []
        for considered_item_data in self.considered:
            considered_item = considered_item_data.to_dict()
            considered.append(considered_item)

        declared_conditions = []
        for declared_conditions_item_data in self.declared_conditions:
            declared_conditions_item = declared_conditions_item_data.to_dict()
            declared_conditions.append(declared_conditions_item)

        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)

        engine_version = self.engine_version

        numerical = self.numerical.to_dict()

        meaning = self.meaning.to_dict()

        claim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claim, Unset):
            claim = self.claim.to_dict()

        points: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.points, Unset):
            points = []
            for points_item_data in self.points:
                points_item = points_item_data.to_dict()
                points.append(points_item)

        over_windows: dict[str, Any] | Unset = UNSET
        if not isinstance(self.over_windows, Unset):
            over_windows = self.over_windows.to_dict()

        trade_off: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.trade_off, Unset):
            trade_off = []
            for trade_off_item_data in self.trade_off:
                trade_off_item = trade_off_item_data.to_dict()
                trade_off.append(trade_off_item)

        gaussian_dp_mu: dict[str, Any] | Unset = UNSET
        if not isinstance(self.gaussian_dp_mu, Unset):
            gaussian_dp_mu = self.gaussian_dp_mu.to_dict()

        bayes_errors: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.bayes_errors, Unset):
            bayes_errors = []
            for bayes_errors_item_data in self.bayes_errors:
                bayes_errors_item = bayes_errors_item_data.to_dict()
                bayes_errors.append(bayes_errors_item)

        renyi_divergences: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.renyi_divergences, Unset):
            renyi_divergences = []
            for renyi_divergences_item_data in self.renyi_divergences:
                renyi_divergences_item = renyi_divergences_item_data.to_dict()
                renyi_divergences.append(renyi_divergences_item)

        directions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.directions, Unset):
            directions = []
            for directions_item_data in self.directions:
                directions_item = directions_item_data.to_dict()
                directions.append(directions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "guarantee": guarantee,
                "derivation": derivation,
                "considered": considered,
                "declared_conditions": declared_conditions,
                "warnings": warnings,
                "engine_version": engine_version,
                "numerical": numerical,
                "meaning": meaning,
            }
        )
        if claim is not UNSET:
            field_dict["claim"] = claim
        if points is not UNSET:
            field_dict["points"] = points
        if over_windows is not UNSET:
            field_dict["over_windows"] = over_windows
        if trade_off is not UNSET:
            field_dict["trade_off"] = trade_off
        if gaussian_dp_mu is not UNSET:
            field_dict["gaussian_dp_mu"] = gaussian_dp_mu
        if bayes_errors is not UNSET:
            field_dict["bayes_errors"] = bayes_errors
        if renyi_divergences is not UNSET:
            field_dict["renyi_divergences"] = renyi_divergences
        if directions is not UNSET:
            field_dict["directions"] = directions

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.account_guarantee import AccountGuarantee
        from ..models.bayes_error import BayesError
        from ..models.caution import Caution
        from ..models.claim_answer import ClaimAnswer
        from ..models.condition import Condition
        from ..models.considered_answer import ConsideredAnswer
        from ..models.derivation_step import DerivationStep
        from ..models.directions import Directions
        from ..models.ends import Ends
        from ..models.meaning_answer import MeaningAnswer
        from ..models.numerical_answer import NumericalAnswer
        from ..models.over_windows import OverWindows
        from ..models.point import Point
        from ..models.renyi_divergence import RenyiDivergence
        from ..models.true_positive_rate import TruePositiveRate

        d = dict(src_dict)
        guarantee = AccountGuarantee.from_dict(d.pop("guarantee"))

        derivation = []
        _derivation = d.pop("derivation")
        for derivation_item_data in _derivation:
            derivation_item = DerivationStep.from_dict(derivation_item_data)

            derivation.append(derivation_item)

        considered = []
        _considered = d.pop("considered")
        for considered_item_data in _considered:
            considered_item = ConsideredAnswer.from_dict(considered_item_data)

            considered.append(considered_item)

        declared_conditions = []
        _declared_conditions = d.pop("declared_conditions")
        for declared_conditions_item_data in _declared_conditions:
            declared_conditions_item = Condition.from_dict(
                declared_conditions_item_data
            )

            declared_conditions.append(declared_conditions_item)

        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in _warnings:
            warnings_item = Caution.from_dict(warnings_item_data)

            warnings.append(warnings_item)

        engine_version = d.pop("engine_version")

        numerical = NumericalAnswer.from_dict(d.pop("numerical"))

        meaning = MeaningAnswer.from_dict(d.pop("meaning"))

        _claim = d.pop("claim", UNSET)
        claim: ClaimAnswer | Unset
        if isinstance(_claim, Unset):
            claim = UNSET
        else:
            claim = ClaimAnswer.from_dict(_claim)

        _points = d.pop("points", UNSET)
        points: list[Point] | Unset = UNSET
        if _points is not UNSET:
            points = []
            for points_item_data in _points:
                points_item = Point.from_dict(points_item_data)

                points.append(points_item)

        _over_windows = d.pop("over_windows", UNSET)
        over_windows: OverWindows | Unset
        if isinstance(_over_windows, Unset):
            over_windows = UNSET
        else:
            over_windows = OverWindows.from_dict(_over_windows)

        _trade_off = d.pop("trade_off", UNSET)
        trade_off: list[TruePositiveRate] | Unset = UNSET
        if _trade_off is not UNSET:
            trade_off = []
            for trade_off_item_data in _trade_off:
                trade_off_item = TruePositiveRate.from_dict(trade_off_item_data)

                trade_off.append(trade_off_item)

        _gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)
        gaussian_dp_mu: Ends | Unset
        if isinstance(_gaussian_dp_mu, Unset):
            gaussian_dp_mu = UNSET
        else:
            gaussian_dp_mu = Ends.from_dict(_gaussian_dp_mu)

        _bayes_errors = d.pop("bayes_errors", UNSET)
        bayes_errors: list[BayesError] | Unset = UNSET
        if _bayes_errors is not UNSET:
            bayes_errors = []
            for bayes_errors_item_data in _bayes_errors:
                bayes_errors_item = BayesError.from_dict(bayes_errors_item_data)

                bayes_errors.append(bayes_errors_item)

        _renyi_divergences = d.pop("renyi_divergences", UNSET)
        renyi_divergences: list[RenyiDivergence] | Unset = UNSET
        if _renyi_divergences is not UNSET:
            renyi_divergences = []
            for renyi_divergences_item_data in _renyi_divergences:
                renyi_divergences_item = RenyiDivergence.from_dict(
                    renyi_divergences_item_data
                )

                renyi_divergences.append(renyi_divergences_item)

        _directions = d.pop("directions", UNSET)
        directions: list[Directions] | Unset = UNSET
        if _directions is not UNSET:
            directions = []
            for directions_item_data in _directions:
                directions_item = Directions.from_dict(directions_item_data)

                directions.append(directions_item)

        account_answer = cls(
            guarantee=guarantee,
            derivation=derivation,
            considered=considered,
            declared_conditions=declared_conditions,
            warnings=warnings,
            engine_version=engine_version,
            numerical=numerical,
            meaning=meaning,
            claim=claim,
            points=points,
            over_windows=over_windows,
            trade_off=trade_off,
            gaussian_dp_mu=gaussian_dp_mu,
            bayes_errors=bayes_errors,
            renyi_divergences=renyi_divergences,
            directions=directions,
        )

        account_answer.additional_properties = d
        return account_answer

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
