from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.objective import Objective
from ..types import UNSET, Unset

T = TypeVar("T", bound="LearningProblem")


@_attrs_define
class LearningProblem:
    """`dataset`: Classification or regression on real records. The records that a client is assigned are its population.

    If `samples_per_client` is absent, it is the number of records that a client is assigned and that are not held out.
    An empirical objective allows only this number.

    `huber`: Huber regression on synthetic records: the loss is Huber's function of the residual ⟨x, w⟩ − y.

    Targets y are in [−1, 1] and follow a linear model of the features x. Without the ridge term a gradient has norm at
    most `threshold`, in every domain. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

    `least-squares`: Least squares on synthetic records: the loss is ½(⟨x, w⟩ − y)² for features x and target y ∈ [−1,
    1].

    Targets follow a linear model. `target_noise` is the standard deviation of their noise before they are clipped to
    [−1, 1]. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

    `linear`: A linear loss ½‖x‖² − ⟨x, w⟩ for the model w and a record x in the unit ball, plus the ridge term ½μ‖w‖².

    μ is `strong_convexity`. If it is 0, the gradient is the same at every model, and the minimiser is on the sphere
    that bounds the domain.

    `logistic`: Logistic regression on synthetic records: the loss is ln(1 + e^(−y⟨x, w⟩)) for features x and label y =
    ±1.

    A label is 1 with probability 1/(1 + e^(−a⟨x, v⟩)), where a is `sharpness` and v the model that the records follow.
    `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

    `mean-estimation`: Estimation of a mean: the loss is ½‖w − x‖² for the model w and a record x in the unit ball.

    The loss is 1-smooth and 1-strongly convex. The minimiser is the mean of the records, if it is in the domain.

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
            kind (str): name of the kind of learning problem
            data_set (str | Unset): data set: breast-cancer (569 records, d = 30 features), digits (1797 records, d = 64) or
                diabetes (442 records, d = 10, a regression). Features are standardised, divided by √d and clipped to norm 1.
                Targets of a regression are centred and scaled to [−1, 1]
            loss (str | Unset): loss function. logistic: for two classes; for digits these are odd and even. softmax: cross-
                entropy over all classes, with one row of weights for each. squared: squared error of a regression. Absent:
                squared for a regression, otherwise logistic
            clients (int | Unset): number of clients in the federation
            samples_per_client (int | Unset): number of records of one client
            split (str | Unset): Depends on the object:

                - Depends on the object:

                - how records are assigned to clients, the same number to each. iid: at random. by-label: sorted by class or
                target. odd-even-pairs: only for digits and 25 clients, each with one odd and one even digit
                - which records a client gets. consecutive: consecutive ones of the file, in which the records of one writer are
                consecutive. by-label: sorted by digit
                - how records are assigned to clients, the same number to each. iid: at random. by-label: sorted by class or
                target. odd-even-pairs: only for digits and 25 clients, each with one odd and one even digit
            held_out (float | Unset): Depends on the object:

                - Depends on the object:

                - share of each client's records that is not used for training. The trained model is tested on these records,
                which are chosen at random
                - share of each client's records that is not used for training. The client's own model is tested on these
                records
                - share of each client's records that is not used for training. The trained model is tested on these records,
                which are chosen at random
            diameter (float | Unset): diameter of the domain, to which the model is restricted
            strong_convexity (float | Unset): strong convexity constant μ: every record's loss contains ½μ‖w‖² for the model
                w
            objective (Objective | Unset):
            seed (int | Unset): Depends on the object:

                - Depends on the object:

                - seed of the random numbers by which the populations are made
                - seed of the random choice of the records that are held out for testing
                - seed of the random choice of the clients' optimal models and of the feature vectors
                - seed of the random numbers by which the populations are made
            dimension (int | Unset): number of coordinates of the model
            own_share (float | Unset): share of a client's population that follows a model of the client's own. The rest
                follows a model that all clients share
            population (int | Unset): number of records in each client's population. Absent: samples_per_client for the
                objective empirical, otherwise 50
            target_noise (float | Unset): standard deviation of the noise in the targets, before they are clipped to [−1, 1]
            threshold (float | Unset): absolute value of the residual beyond which the Huber loss is linear
            sharpness (float | Unset): factor a: the log-odds of a label are a times the score of the model that the records
                follow. At 0 labels are fair coin flips
            optimum_norm (float | Unset): distance between the initial model and the mean of the clients' own optimal models
            optimum_spread (float | Unset): root mean square distance of the clients' own optimal models from their mean; 0
                if they are all equal
            personal_dimension (int | Unset): number of coordinates, the last ones, in which the clients' optimal models
                differ; absent: all coordinates
            feature_decay (float | Unset): exponent a: coordinate k of the features has variance k^−a, for k = 1, 2, …
            target_noise_std (float | Unset): standard deviation of the noise in the targets
            feature_vectors (int | Unset): number of different feature vectors, which are all equally likely
            features (str | Unset): distribution of the features. sign: random signs, so that the norm is bounded. gaussian:
                Gaussian, so that it is not
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
