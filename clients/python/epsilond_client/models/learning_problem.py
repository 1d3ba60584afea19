from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.objective import Objective
from ..types import UNSET, Unset

T = TypeVar("T", bound="LearningProblem")


@_attrs_define
class LearningProblem:
    """`dataset`: Classification or regression on real records. A client's population is the records that it is dealt.

    `samples_per_client` absent: as many as it is dealt and not held out, which is all that an empirical objective
    allows.

    `huber`: Huber's loss of ⟨x, w⟩ − y, targets in [−1, 1]: gradients are at most the threshold, whatever the domain.

    `least-squares`: Least squares on synthetic records: the loss is ½(⟨x, w⟩ − y)² for features x and target y ∈ [−1,
    1].

    Targets follow a linear model. `target_noise` is the standard deviation of their noise before they are clipped to
    [−1, 1]. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

    `linear`: ½‖x‖² − ⟨x, w⟩: the same slope everywhere; the minimiser is on the sphere.

    `logistic`: Logistic regression on synthetic records: the loss is ln(1 + e^(−y⟨x, w⟩)) for features x and label y =
    ±1.

    A label is 1 with probability 1/(1 + e^(−a⟨x, v⟩)), where a is `sharpness` and v the model that the records follow.
    `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

    `mean-estimation`: ½‖w − x‖², points x in the unit ball: 1-smooth, 1-strongly convex, least at the mean if the
    domain holds it.

    `personalized-digits`: Personalised softmax regression on images of the digits 0 to 9, split evenly over the
    clients.

    Every client gets the same number of records, and the remaining records are left out. A share `held_out` of each
    client's records is for testing.

    `personalized-huber`: Personalised Huber regression, with target noise +τ or −τ and features from a finite list of
    scaled sign vectors.

    τ is `target_noise_std`, and the list has `feature_vectors` entries. The loss is quadratic up to the residual
    κ = `threshold` and linear beyond, so that a gradient has norm at most κ‖x‖. The expected loss is a finite sum, and
    is computed exactly.

    `personalized-least-squares`: Personalised least squares, with Gaussian noise in the targets.

    The loss is half the squared residual. Its gradient has no bound, so that clipping may change it. With Gaussian
    features the loss has no smoothness constant that holds for all records, so that no risk bound applies.

        Attributes:
            kind (str): Depends on the object:

                - Depends on the object:

                - name of the kind of learning problem
                - handwritten digits
                - Huber regression
                - least squares
                - name of the kind of learning problem
            data_set (str | Unset): breast-cancer (569 records, d = 30), digits (1797 records, d = 64) or diabetes (442
                records, d = 10, a regression). Features are standardised, divided by √d and clipped to norm 1. A regression's
                targets are centred and scaled to [−1, 1]
            loss (str | Unset): logistic: of two classes, of digits odd against even; softmax: cross-entropy of all classes,
                with one row of weights for each; squared: of a regression. Absent: logistic, and squared of a regression
            clients (int | Unset): clients in the federation
            samples_per_client (int | Unset): records of one client
            split (str | Unset): Depends on the object:

                - Depends on the object:

                - assignment of records to clients, the same number to each. iid: at random. by-label: sorted by their class or
                target. odd-even-pairs: of digits, to 25 clients, each with one odd and one even digit
                - records of a client: consecutive in the file, where a writer's records are consecutive; or sorted by their
                digit
                - assignment of records to clients, the same number to each. iid: at random. by-label: sorted by their class or
                target. odd-even-pairs: of digits, to 25 clients, each with one odd and one even digit
            held_out (float | Unset): Depends on the object:

                - Depends on the object:

                - share of each client's records, taken at random, that is not used for training: the output is tested on them
                - share of each client's records that its own model is tested on
                - share of each client's records, taken at random, that is not used for training: the output is tested on them
            diameter (float | Unset): diameter of the domain
            strong_convexity (float | Unset): strong convexity: weight of ½‖w‖² in every record's loss
            objective (Objective | Unset):
            seed (int | Unset): Depends on the object:

                - Depends on the object:

                - seed that the populations are drawn from
                - seed of the held-out records
                - seed of the optima and of the feature vectors
                - seed that the populations are drawn from
            dimension (int | Unset): coordinates of the model
            own_share (float | Unset): share of a client's population that follows a model of its own; the rest is every
                client's
            population (int | Unset): records of each client's population; absent: samples_per_client if empirical,
                otherwise 50
            target_noise (float | Unset): standard deviation of targets about the model's, before clipping to 1
            threshold (float | Unset): Depends on the object:

                - Depends on the object:

                - residual from which on the loss grows linearly
                - residual beyond which the Huber loss is linear
                - residual from which on the loss grows linearly
            sharpness (float | Unset): factor of the model's score in the log-odds of a label; at 0 labels are fair coin
                flips
            optimum_norm (float | Unset): norm of the mean of the clients' own optima, from the start
            optimum_spread (float | Unset): root mean square distance of the clients' own optima from their mean, 0 if all
                are equal
            personal_dimension (int | Unset): last coordinates in which the clients' optima differ; absent: all
            feature_decay (float | Unset): coordinate k of the features has variance k^−a
            target_noise_std (float | Unset): standard deviation of the noise of the targets
            feature_vectors (int | Unset): number of different feature vectors, all equally likely
            features (str | Unset): distribution of the features: random signs with bounded norm, or Gaussian with unbounded
                norm
    """

    kind: str
    data_set: str | Unset = UNSET
    loss: str | Unset = UNSET
    clients: int | Unset = UNSET
    samples_per_client: int | Unset = UNSET
    split: str | Unset = UNSET
    held_out: float | Unset = UNSET
    diameter: float | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    objective: Objective | Unset = UNSET
    seed: int | Unset = UNSET
    dimension: int | Unset = UNSET
    own_share: float | Unset = UNSET
    population: int | Unset = UNSET
    target_noise: float | Unset = UNSET
    threshold: float | Unset = UNSET
    sharpness: float | Unset = UNSET
    optimum_norm: float | Unset = UNSET
    optimum_spread: float | Unset = UNSET
    personal_dimension: int | Unset = UNSET
    feature_decay: float | Unset = UNSET
    target_noise_std: float | Unset = UNSET
    feature_vectors: int | Unset = UNSET
    features: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        data_set = self.data_set

        loss = self.loss

        clients = self.clients

        samples_per_client = self.samples_per_client

        split = self.split

        held_out = self.held_out

        diameter = self.diameter

        strong_convexity = self.strong_convexity

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective.value

        seed = self.seed

        dimension = self.dimension

        own_share = self.own_share

        population = self.population

        target_noise = self.target_noise

        threshold = self.threshold

        sharpness = self.sharpness

        optimum_norm = self.optimum_norm

        optimum_spread = self.optimum_spread

        personal_dimension = self.personal_dimension

        feature_decay = self.feature_decay

        target_noise_std = self.target_noise_std

        feature_vectors = self.feature_vectors

        features = self.features

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if data_set is not UNSET:
            field_dict["data_set"] = data_set
        if loss is not UNSET:
            field_dict["loss"] = loss
        if clients is not UNSET:
            field_dict["clients"] = clients
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if split is not UNSET:
            field_dict["split"] = split
        if held_out is not UNSET:
            field_dict["held_out"] = held_out
        if diameter is not UNSET:
            field_dict["diameter"] = diameter
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if objective is not UNSET:
            field_dict["objective"] = objective
        if seed is not UNSET:
            field_dict["seed"] = seed
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
        if own_share is not UNSET:
            field_dict["own_share"] = own_share
        if population is not UNSET:
            field_dict["population"] = population
        if target_noise is not UNSET:
            field_dict["target_noise"] = target_noise
        if threshold is not UNSET:
            field_dict["threshold"] = threshold
        if sharpness is not UNSET:
            field_dict["sharpness"] = sharpness
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
        if feature_vectors is not UNSET:
            field_dict["feature_vectors"] = feature_vectors
        if features is not UNSET:
            field_dict["features"] = features

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = d.pop("kind")

        data_set = d.pop("data_set", UNSET)

        loss = d.pop("loss", UNSET)

        clients = d.pop("clients", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        split = d.pop("split", UNSET)

        held_out = d.pop("held_out", UNSET)

        diameter = d.pop("diameter", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: Objective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = Objective(_objective)

        seed = d.pop("seed", UNSET)

        dimension = d.pop("dimension", UNSET)

        own_share = d.pop("own_share", UNSET)

        population = d.pop("population", UNSET)

        target_noise = d.pop("target_noise", UNSET)

        threshold = d.pop("threshold", UNSET)

        sharpness = d.pop("sharpness", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        optimum_spread = d.pop("optimum_spread", UNSET)

        personal_dimension = d.pop("personal_dimension", UNSET)

        feature_decay = d.pop("feature_decay", UNSET)

        target_noise_std = d.pop("target_noise_std", UNSET)

        feature_vectors = d.pop("feature_vectors", UNSET)

        features = d.pop("features", UNSET)

        learning_problem = cls(
            kind=kind,
            data_set=data_set,
            loss=loss,
            clients=clients,
            samples_per_client=samples_per_client,
            split=split,
            held_out=held_out,
            diameter=diameter,
            strong_convexity=strong_convexity,
            objective=objective,
            seed=seed,
            dimension=dimension,
            own_share=own_share,
            population=population,
            target_noise=target_noise,
            threshold=threshold,
            sharpness=sharpness,
            optimum_norm=optimum_norm,
            optimum_spread=optimum_spread,
            personal_dimension=personal_dimension,
            feature_decay=feature_decay,
            target_noise_std=target_noise_std,
            feature_vectors=feature_vectors,
            features=features,
        )

        return learning_problem
