from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.personalized_least_squares_features import (
    PersonalizedLeastSquaresFeatures,
    check_personalized_least_squares_features,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="PersonalizedLeastSquares")


@_attrs_define
class PersonalizedLeastSquares:
    """Half the squared residual, with Gaussian noise of the targets.

    Its gradient has no bound, so that clipping may bind. With Gaussian features nor is it smooth: no bound applies.

    """

    clients: int
    """ clients in the federation """
    dimension: int
    """ coordinates of the model """
    kind: Literal["personalized-least-squares"]
    """ least squares """
    optimum_norm: float | Unset = 1.0
    """ norm of the mean of the clients' own optima, from the start """
    optimum_spread: float | Unset = 0.0
    """ root mean square distance of the clients' own optima from their mean, 0 if all are equal """
    personal_dimension: int | Unset = UNSET
    """ last coordinates in which the clients' optima differ; absent: all """
    feature_decay: float | Unset = 1.0
    """ coordinate k of the features has variance k^−a """
    target_noise_std: float | Unset = 1.0
    """ standard deviation of the noise of the targets """
    seed: int | Unset = 0
    """ seed of the optima and of the feature vectors """
    features: PersonalizedLeastSquaresFeatures | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        dimension = self.dimension

        kind = self.kind

        optimum_norm = self.optimum_norm

        optimum_spread = self.optimum_spread

        personal_dimension = self.personal_dimension

        feature_decay = self.feature_decay

        target_noise_std = self.target_noise_std

        seed = self.seed

        features: str | Unset = UNSET
        if not isinstance(self.features, Unset):
            features = self.features

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "dimension": dimension,
                "kind": kind,
            }
        )
        if optimum_norm is not UNSET:
            field_dict["optimum_norm"] = optimum_norm
        if optimum_spread is not UNSET:
            field_dict["optimum_spread"] = optimum_spread
        if personal_dimension is not UNSET:
            field_dict["personal_dimension"] = personal_dimension
        if feature_decay is not UNSET:
            field_dict["feature_decay"] = feature_decay
        if target_noise_std is not UNSET:
            field_dict["target_noise_std"] = target_noise_std
        if seed is not UNSET:
            field_dict["seed"] = seed
        if features is not UNSET:
            field_dict["features"] = features

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        dimension = d.pop("dimension")

        kind = cast(Literal["personalized-least-squares"], d.pop("kind"))
        if kind != "personalized-least-squares":
            raise ValueError(f"kind must match const 'personalized-least-squares', got '{kind}'")

        optimum_norm = d.pop("optimum_norm", UNSET)

        optimum_spread = d.pop("optimum_spread", UNSET)

        personal_dimension = d.pop("personal_dimension", UNSET)

        feature_decay = d.pop("feature_decay", UNSET)

        target_noise_std = d.pop("target_noise_std", UNSET)

        seed = d.pop("seed", UNSET)

        _features = d.pop("features", UNSET)
        features: PersonalizedLeastSquaresFeatures | Unset
        if isinstance(_features, Unset):
            features = UNSET
        else:
            features = check_personalized_least_squares_features(_features)

        personalized_least_squares = cls(
            clients=clients,
            dimension=dimension,
            kind=kind,
            optimum_norm=optimum_norm,
            optimum_spread=optimum_spread,
            personal_dimension=personal_dimension,
            feature_decay=feature_decay,
            target_noise_std=target_noise_std,
            seed=seed,
            features=features,
        )

        return personalized_least_squares
