from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Query")


@_attrs_define
class Query:
    """The values of ε or δ at which the guarantee is returned. Give at most one of the first six members.

    δ is returned for an ε, and ε for a δ. Without any of the six, δ is returned at ε = 0. The other members request
    figures of an attacker, and divergences. They may be combined.

        Attributes:
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            epsilons (list[float] | Unset): list of ε, at most 1000, at each of which δ is returned
            deltas (list[float] | Unset): list of δ, at most 1000, at each of which ε is returned
            log10_deltas (list[float] | Unset): list of base-10 logarithms of δ, at most 1000, at each of which ε is
                returned
            false_positive_rates (list[float] | Unset): list of false positive rates, at most 100. trade_off of the answer
                has the largest true positive rate at each
            priors (list[float] | Unset): list of prior probabilities of one of two neighbours, at most 100. bayes_errors of
                the answer has the attacker's least error at each
            orders (list[float] | Unset): list of Rényi orders above 1, at most 100. renyi_divergences of the answer has the
                divergence at each
            signed_epsilons (list[float] | Unset): list of ε of any sign, at most 100. directions of the answer has δ of
                each direction at each
    """

    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    epsilons: list[float] | Unset = UNSET
    deltas: list[float] | Unset = UNSET
    log10_deltas: list[float] | Unset = UNSET
    false_positive_rates: list[float] | Unset = UNSET
    priors: list[float] | Unset = UNSET
    orders: list[float] | Unset = UNSET
    signed_epsilons: list[float] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        epsilons: list[float] | Unset = UNSET
        if not isinstance(self.epsilons, Unset):
            epsilons = self.epsilons

        deltas: list[float] | Unset = UNSET
        if not isinstance(self.deltas, Unset):
            deltas = self.deltas

        log10_deltas: list[float] | Unset = UNSET
        if not isinstance(self.log10_deltas, Unset):
            log10_deltas = self.log10_deltas

        false_positive_rates: list[float] | Unset = UNSET
        if not isinstance(self.false_positive_rates, Unset):
            false_positive_rates = self.false_positive_rates

        priors: list[float] | Unset = UNSET
        if not isinstance(self.priors, Unset):
            priors = self.priors

        orders: list[float] | Unset = UNSET
        if not isinstance(self.orders, Unset):
            orders = self.orders

        signed_epsilons: list[float] | Unset = UNSET
        if not isinstance(self.signed_epsilons, Unset):
            signed_epsilons = self.signed_epsilons

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if epsilons is not UNSET:
            field_dict["epsilons"] = epsilons
        if deltas is not UNSET:
            field_dict["deltas"] = deltas
        if log10_deltas is not UNSET:
            field_dict["log10_deltas"] = log10_deltas
        if false_positive_rates is not UNSET:
            field_dict["false_positive_rates"] = false_positive_rates
        if priors is not UNSET:
            field_dict["priors"] = priors
        if orders is not UNSET:
            field_dict["orders"] = orders
        if signed_epsilons is not UNSET:
            field_dict["signed_epsilons"] = signed_epsilons

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        epsilons = cast(list[float], d.pop("epsilons", UNSET))

        deltas = cast(list[float], d.pop("deltas", UNSET))

        log10_deltas = cast(list[float], d.pop("log10_deltas", UNSET))

        false_positive_rates = cast(list[float], d.pop("false_positive_rates", UNSET))

        priors = cast(list[float], d.pop("priors", UNSET))

        orders = cast(list[float], d.pop("orders", UNSET))

        signed_epsilons = cast(list[float], d.pop("signed_epsilons", UNSET))

        query = cls(
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            epsilons=epsilons,
            deltas=deltas,
            log10_deltas=log10_deltas,
            false_positive_rates=false_positive_rates,
            priors=priors,
            orders=orders,
            signed_epsilons=signed_epsilons,
        )

        return query
