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

from ..types import UNSET, Unset

T = TypeVar("T", bound="PersonalizedHuber")


@_attrs_define
class PersonalizedHuber:
    """The Huber loss of the residual, noise of the targets of ±τ, and features from a list of random sign vectors.

    Gradients are at most κ‖x‖, and everything is a finite sum.

    """

    clients: int
    """ clients in the federation """
    dimension: int
    """ coordinates of the model """
    kind: Literal["personalized-huber"]
    """ Huber regression """
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
    threshold: float | Unset = 1.0
    """ residual beyond which the Huber loss is linear """
    feature_vectors: int | Unset = 64
    """ different feature vectors, each as likely as any other """

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

        threshold = self.threshold

        feature_vectors = self.feature_vectors

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
        if threshold is not UNSET:
            field_dict["threshold"] = threshold
        if feature_vectors is not UNSET:
            field_dict["feature_vectors"] = feature_vectors

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        dimension = d.pop("dimension")

        kind = cast(Literal["personalized-huber"], d.pop("kind"))
        if kind != "personalized-huber":
            raise ValueError(f"kind must match const 'personalized-huber', got '{kind}'")

        optimum_norm = d.pop("optimum_norm", UNSET)

        optimum_spread = d.pop("optimum_spread", UNSET)

        personal_dimension = d.pop("personal_dimension", UNSET)

        feature_decay = d.pop("feature_decay", UNSET)

        target_noise_std = d.pop("target_noise_std", UNSET)

        seed = d.pop("seed", UNSET)

        threshold = d.pop("threshold", UNSET)

        feature_vectors = d.pop("feature_vectors", UNSET)

        personalized_huber = cls(
            clients=clients,
            dimension=dimension,
            kind=kind,
            optimum_norm=optimum_norm,
            optimum_spread=optimum_spread,
            personal_dimension=personal_dimension,
            feature_decay=feature_decay,
            target_noise_std=target_noise_std,
            seed=seed,
            threshold=threshold,
            feature_vectors=feature_vectors,
        )

        return personalized_huber
