from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Capacity")


@_attrs_define
class Capacity:
    """Capacity of a slot, a budget for runs that are not planned, as the amounts of its parts.

    A gdp slot has `mu_squared`, the sum of μ², and `eta`, the δ that other charges may add. A zcdp slot has `rho` and
    `delta`, a pure slot `epsilon` and `delta`. An rdp slot has `orders`, their `weights` and a `budget`. The first
    amount may be "largest": as much as the ledger's target leaves beside the other parts.

        Attributes:
            mu_squared (float | str | Unset): a number, or a text
            eta (float | str | Unset): a number, or a text
            rho (float | str | Unset): a number, or a text
            delta (float | str | Unset): a number, or a text
            orders (list[float] | Unset): Rényi orders, each above 1
            weights (list[float] | Unset): weights of the orders in the slot's bound, in the order of orders. They add up to
                1
            budget (float | str | Unset): a number, or a text
            epsilon (float | str | Unset): a number, or a text
    """

    mu_squared: float | str | Unset = UNSET
    eta: float | str | Unset = UNSET
    rho: float | str | Unset = UNSET
    delta: float | str | Unset = UNSET
    orders: list[float] | Unset = UNSET
    weights: list[float] | Unset = UNSET
    budget: float | str | Unset = UNSET
    epsilon: float | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        mu_squared: float | str | Unset
        if isinstance(self.mu_squared, Unset):
            mu_squared = UNSET
        else:
            mu_squared = self.mu_squared

        eta: float | str | Unset
        if isinstance(self.eta, Unset):
            eta = UNSET
        else:
            eta = self.eta

        rho: float | str | Unset
        if isinstance(self.rho, Unset):
            rho = UNSET
        else:
            rho = self.rho

        delta: float | str | Unset
        if isinstance(self.delta, Unset):
            delta = UNSET
        else:
            delta = self.delta

        orders: list[float] | Unset = UNSET
        if not isinstance(self.orders, Unset):
            orders = self.orders

        weights: list[float] | Unset = UNSET
        if not isinstance(self.weights, Unset):
            weights = self.weights

        budget: float | str | Unset
        if isinstance(self.budget, Unset):
            budget = UNSET
        else:
            budget = self.budget

        epsilon: float | str | Unset
        if isinstance(self.epsilon, Unset):
            epsilon = UNSET
        else:
            epsilon = self.epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if mu_squared is not UNSET:
            field_dict["mu_squared"] = mu_squared
        if eta is not UNSET:
            field_dict["eta"] = eta
        if rho is not UNSET:
            field_dict["rho"] = rho
        if delta is not UNSET:
            field_dict["delta"] = delta
        if orders is not UNSET:
            field_dict["orders"] = orders
        if weights is not UNSET:
            field_dict["weights"] = weights
        if budget is not UNSET:
            field_dict["budget"] = budget
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_mu_squared(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        mu_squared = _parse_mu_squared(d.pop("mu_squared", UNSET))

        def _parse_eta(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        eta = _parse_eta(d.pop("eta", UNSET))

        def _parse_rho(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        rho = _parse_rho(d.pop("rho", UNSET))

        def _parse_delta(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        delta = _parse_delta(d.pop("delta", UNSET))

        orders = cast(list[float], d.pop("orders", UNSET))

        weights = cast(list[float], d.pop("weights", UNSET))

        def _parse_budget(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        budget = _parse_budget(d.pop("budget", UNSET))

        def _parse_epsilon(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        epsilon = _parse_epsilon(d.pop("epsilon", UNSET))

        capacity = cls(
            mu_squared=mu_squared,
            eta=eta,
            rho=rho,
            delta=delta,
            orders=orders,
            weights=weights,
            budget=budget,
            epsilon=epsilon,
        )

        return capacity
