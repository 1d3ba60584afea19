from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.definition import Definition
from ..models.objective import Objective
from ..models.observer import Observer
from ..models.qtdl_method import QtdlMethod
from ..models.reading import Reading
from ..models.relation import Relation
from ..models.release import Release
from ..models.sampling import Sampling
from ..models.server import Server
from ..models.solve_for import SolveFor
from ..models.unbounded import Unbounded
from ..models.weighting import Weighting
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.adaptive_clipping import AdaptiveClipping
    from ..models.client_group import ClientGroup
    from ..models.json_object import JsonObject
    from ..models.schedule import Schedule
    from ..models.sensitivity_rule import SensitivityRule


T = TypeVar("T", bound="RiskProblem")


@_attrs_define
class RiskProblem:
    """A run whose risk is bounded, and the lower bounds to compare it with. The algorithm in the path decides which of the
    fields are allowed.

        Attributes:
            relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
                same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
                contribution counts as zero in one of the data sets.
            unit (Any): protected unit, in which neighbours differ
            observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
                add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
                hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
                as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
                together are the adversary and see every model that a trusted server sends them.
            noise_std (float | Unset): Depends on the object:

                - standard deviation per coordinate of the Gaussian noise that is added to a message
                - standard deviation per coordinate of the noise in the mean of a round; 0 for a run without noise
                - standard deviation per coordinate of the noise on the sum of a batch. Absent: noise_multiplier ·
                contribution_norm, or the smallest certified noise
                - standard deviation per coordinate of the noise on a client's first report, or on every round's mean if the
                server is trusted. Absent: the smallest certified noise
                - standard deviation per coordinate of the noise on one message, in units of the normalised update. Absent: the
                smallest certified noise
                - standard deviation per coordinate of the noise that the server adds to the average of the clients' shared
                gradients
                - standard deviation per coordinate of the noise on one client's gradient, in the step where it is smallest.
                Absent: noise_schedule, or the smallest certified noise
                - standard deviation per coordinate of the noise on one message, in units of the update. Absent: the smallest
                certified noise
            gradient_std (float | Unset): Depends on the object:

                - root mean square distance of a record's gradient from the expected gradient of its client, at the model where
                it is largest
                - root mean square distance of a record's gradient from the expected gradient of its client, at the model where
                it is largest. Absent: the value of lipschitz
                - root mean square distance of a record's gradient from the expected gradient of its client, at the model where
                it is largest. Absent: assumed to be the value of lipschitz
            trust (Definition | Unset):
            problem (Objective | Unset):
            compositionality (float | Unset): compositionality of the algorithms that the lower bound covers: √(Σ_r
                (ε₀^r)²)/ε₀, at least 1. ε₀^r is the ε of one client's report in round r, ε₀ that of the run. It is 1 for
                sequential algorithms
            round_epsilon (float | Unset): largest ε of one client's report in one round. Absent: the ε of the whole run
            round_delta (float | Unset): smallest δ of one client's report in one round
            radius (float | Unset): radius of the domain, the ball to which the model is restricted
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            samples_per_client (int | Unset): number of records of one client
            clients (int | Unset): number of clients in the federation
            participants (int | Unset): number of clients in one round
            dimension (int | Unset): number of coordinates of the model
            lipschitz (float | Unset): Depends on the object:

                - bound on the ℓ2 norm of one record's gradient
                - bound on the ℓ2 norm of one record's gradient. Absent: assumed to be the largest value at which clipping_norm
                clips no message
            diameter (float | Unset): diameter of the domain, to which the model is restricted
            rounds (int | Unset): number of rounds
            batch_size (int | Unset): Depends on the object:

                - number of records that a client uses in one round
                - number of records in a batch; if clients are drawn, number of clients
            smoothness (float | Unset): Depends on the object:

                - smoothness constant: Lipschitz constant of the gradient of the loss
                - smoothness constant: Lipschitz constant of the gradient of the loss; 0 for linear losses
            strong_convexity (float | Unset): strong convexity constant of the loss; 0 if the loss is only convex
            initial_distance (float | Unset): bound on the distance between the initial model and a minimiser of the
                objective
            max_gradients (int | Unset): largest number of gradient evaluations of one client, which limits batch_size ·
                rounds
            communication_budget (int | Unset): largest number of bits that all clients together may send during the run
            within (float | Unset): tolerance of the choice of absent rounds or batch_size. The smallest run is chosen whose
                risk bound is at most 1 + within times the least within the budgets
            sampling (Sampling | Unset):
            identically_distributed (bool | Unset): whether the records of all clients come from the same distribution
            heterogeneity (float | Unset): Depends on the object:

                - root mean square over clients i of |∇F_i − ∇F|, at the model where it is largest. F_i is the expected loss of
                client i, and F the mean of all F_i
                - root mean square over clients of the distance of a client's expected gradient from the mean over all clients.
                Absent: the value of lipschitz
            readings (list[Reading] | Unset): Depends on the object:

                - interpretations (readings) of the printed theorem to return; all if absent
                - interpretations (readings) of the printed theorems to return; all if absent
                - interpretations (readings) of the printed bounds to return; all if absent
            client_groups (list[ClientGroup] | Unset): groups of clients with equal properties. A field that a group leaves
                out has the value given for all clients
            participation (bool | float | JsonObject | list[Any] | str | Unset): any JSON value that is not null
            empirical_gradient_std (float | Unset): root mean square over all records of |∇f − ∇F̂|, at the model where it
                is largest. f is the loss of the record, and F̂ the mean loss of all records at hand
            initial_gap (float | Unset): bound on the excess risk of the initial model, before training
            clipping_norm (float | Unset): Depends on the object:

                - bound on the ℓ2 norm of one client's update. With adaptive clipping it is the bound in the present round
                - bound on the ℓ2 norm of one client's message in a round
            adaptive_clipping (AdaptiveClipping | Unset): Adaptive clipping by Andrew et al. 2021: every round releases a
                noisy share of the updates that were not clipped. Each participant sends a bit, ½ if its update was not clipped
                and −½ otherwise.
            max_rounds (int | Unset): largest number of rounds that may be chosen, if rounds is absent. Absent: assumed to
                be 2000
            max_bytes_per_client (int | Unset): largest expected number of bytes that one client sends during the run, over
                the random draw of participants
            max_reports_per_client (float | Unset): largest expected number of rounds in which one client takes part, over
                the random draw of participants
            step_size (float | Unset): step size of a gradient step
            advantage (float | Unset): in place of epsilon: largest true minus false positive rate of an attacker
            true_positive_rate (float | Unset): in place of epsilon: largest true positive rate of an attacker at
                false_positive_rate
            false_positive_rate (float | Unset): false positive rate at which true_positive_rate is bounded
            gaussian_dp_mu (float | Unset): Depends on the object:

                - in place of epsilon: parameter μ of Gaussian differential privacy; not the ρ of zCDP, for which μ = √(2ρ)
                - parameter μ of Gaussian differential privacy. It is not the parameter ρ of zCDP, for which μ = √(2ρ)
            rho (float | Unset): in place of epsilon: parameter ρ of zero-concentrated differential privacy
            solve_for (SolveFor | Unset):
            noise_multiplier (float | Unset): standard deviation σ of the noise per coordinate, divided by the bound C on
                the ℓ2 norm of one contribution. It is not divided by the sensitivity, which is 2C for replace-one
            rate (float | Unset): probability that a given record, or client if clients are drawn, is in a batch
            population (int | Unset): number of records from which a batch is drawn; if clients are drawn, number of clients
            largest_batch (int | Unset): largest number of records, or of clients, in a batch. If more are drawn, a uniform
                subset of this size is kept
            contribution_norm (float | Unset): bound on the ℓ2 norm of every vector, to which noise_multiplier refers. A sum
                changes by up to contribution_norm for the relations add-or-remove-one and zero-out-one, and by up to 2 ×
                contribution_norm for replace-one
            records (int | Unset): number of vectors whose mean is estimated
            server (Server | Unset):
            smoothness_std (float | Unset): Lipschitz constant, as a function of the model, of a record's gradient minus the
                expected gradient of its client. Absent: the value of smoothness
            smoothness_heterogeneity (float | Unset): Lipschitz constant, as a function of the model, of a client's expected
                gradient minus the mean over all clients. Absent: the value of smoothness
            optimum_gradient_norm (float | Unset): norm of the expected loss's gradient at the minimiser in the domain; 0 if
                the minimiser is an interior point. Absent: the value of lipschitz
            quantization_levels (int | Unset): number s of grid steps in a unit: coordinates in [−1, 1] are rounded to
                multiples of 1/s
            l1_sensitivity (float | Unset): ℓ1 sensitivity: largest ℓ1 distance between the integer vectors of two
                neighbouring data sets, in grid steps
            linf_sensitivity (float | Unset): ℓ∞ sensitivity: largest difference in one coordinate between the integer
                vectors of two neighbouring data sets, in grid steps
            l2_sensitivity (float | Unset): ℓ2 sensitivity: largest ℓ2 distance between the integer vectors of two
                neighbouring data sets, in grid steps
            sensitivity_rule (SensitivityRule | Unset): A rule from which the sensitivities are computed. The kind decides
                which of the other fields are needed.
            method (QtdlMethod | Unset):
            quasar_convexity (float | Unset): quasar-convexity constant of every client's loss; 1 if the losses are convex
            client_optimum_distance (float | Unset): bound on the distance between the minimiser of a client's own loss and
                the minimiser of the mean loss
            growth_ratio (float | Unset): largest ratio of the norm of a record's gradient to the norm of its client's mean
                gradient
            local_steps (int | Unset): number of gradient steps of one client in a round
            step_ratio (float | Unset): step size of the server, divided by the step size of the clients
            participation_rate (float | Unset): probability that a given record, or client if clients are drawn, is in a
                batch
            shared_dimension (int | Unset): number of coordinates of the shared part of the model
            weighting (Weighting | Unset):
            shared_gradient_std (float | Unset): root mean square distance of a record's gradient in the shared part from
                the expected gradient of its client, at the optimum. Absent: assumed to be the value of lipschitz
            local_gradient_std (float | Unset): root mean square norm of a record's gradient in its client's own part of the
                model, at the optimum. Absent: assumed to be shared_gradient_std. Both are equal for losses of the sum of shared
                and own part
            shared_gradient_norm (float | Unset): bound on the norm of a client's expected gradient in the shared part, at
                the optimum. It is 0 if a client's model is the sum of shared and own part. Absent: assumed to be the smaller
                one of clipping_norm and lipschitz. It is 0 for losses of the sum of shared and own part, if every client's own
                part is at its optimum
            optimum_norm (float | Unset): distance between the initial model and the mean of the clients' own optimal models
            optimum_spread (float | Unset): root mean square distance of the clients' own optimal models from their mean; 0
                if they are all equal
            personalization (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
            noise_constant (float | Unset): Depends on the object:

                - constant in the paper's formulas for the noise, which it does not specify: c in equation (4), c₂ in equation
                (12)
                - constant factor in the noise of Theorem 4.1 of Lowy and Razaviyayn, which the paper does not specify
            convex (bool | Unset): whether every record's loss is convex
            step_schedule (Schedule | Unset): `constant`: The same value at every step.

                `explicit`: Listed values, one for each step.

                `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.
            noise_schedule (Schedule | Unset): `constant`: The same value at every step.

                `explicit`: Listed values, one for each step.

                `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.
            release (Release | Unset):
            suffix_fraction (float | Unset): for release `suffix`: fraction α. The released model is that after a step drawn
                uniformly from ⌈αT⌉, …, T, where T is the number of steps
            gradient_bound (float | Unset): bound on the mean gradient's norm. Absent: assumed to be the value of lipschitz
            shamir_constant (float | Unset): constant factor in the bound of Shamir 2016, Theorem 3, which no paper
                specifies
    """

    relation: Relation
    unit: Any
    observer: Observer
    noise_std: float | Unset = UNSET
    gradient_std: float | Unset = UNSET
    trust: Definition | Unset = UNSET
    problem: Objective | Unset = UNSET
    compositionality: float | Unset = UNSET
    round_epsilon: float | Unset = UNSET
    round_delta: float | Unset = UNSET
    radius: float | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    samples_per_client: int | Unset = UNSET
    clients: int | Unset = UNSET
    participants: int | Unset = UNSET
    dimension: int | Unset = UNSET
    lipschitz: float | Unset = UNSET
    diameter: float | Unset = UNSET
    rounds: int | Unset = UNSET
    batch_size: int | Unset = UNSET
    smoothness: float | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    initial_distance: float | Unset = UNSET
    max_gradients: int | Unset = UNSET
    communication_budget: int | Unset = UNSET
    within: float | Unset = UNSET
    sampling: Sampling | Unset = UNSET
    identically_distributed: bool | Unset = UNSET
    heterogeneity: float | Unset = UNSET
    readings: list[Reading] | Unset = UNSET
    client_groups: list[ClientGroup] | Unset = UNSET
    participation: bool | float | JsonObject | list[Any] | str | Unset = UNSET
    empirical_gradient_std: float | Unset = UNSET
    initial_gap: float | Unset = UNSET
    clipping_norm: float | Unset = UNSET
    adaptive_clipping: AdaptiveClipping | Unset = UNSET
    max_rounds: int | Unset = UNSET
    max_bytes_per_client: int | Unset = UNSET
    max_reports_per_client: float | Unset = UNSET
    step_size: float | Unset = UNSET
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    rho: float | Unset = UNSET
    solve_for: SolveFor | Unset = UNSET
    noise_multiplier: float | Unset = UNSET
    rate: float | Unset = UNSET
    population: int | Unset = UNSET
    largest_batch: int | Unset = UNSET
    contribution_norm: float | Unset = UNSET
    records: int | Unset = UNSET
    server: Server | Unset = UNSET
    smoothness_std: float | Unset = UNSET
    smoothness_heterogeneity: float | Unset = UNSET
    optimum_gradient_norm: float | Unset = UNSET
    quantization_levels: int | Unset = UNSET
    l1_sensitivity: float | Unset = UNSET
    linf_sensitivity: float | Unset = UNSET
    l2_sensitivity: float | Unset = UNSET
    sensitivity_rule: SensitivityRule | Unset = UNSET
    method: QtdlMethod | Unset = UNSET
    quasar_convexity: float | Unset = UNSET
    client_optimum_distance: float | Unset = UNSET
    growth_ratio: float | Unset = UNSET
    local_steps: int | Unset = UNSET
    step_ratio: float | Unset = UNSET
    participation_rate: float | Unset = UNSET
    shared_dimension: int | Unset = UNSET
    weighting: Weighting | Unset = UNSET
    shared_gradient_std: float | Unset = UNSET
    local_gradient_std: float | Unset = UNSET
    shared_gradient_norm: float | Unset = UNSET
    optimum_norm: float | Unset = UNSET
    optimum_spread: float | Unset = UNSET
    personalization: float | Unbounded | Unset = UNSET
    noise_constant: float | Unset = UNSET
    convex: bool | Unset = UNSET
    step_schedule: Schedule | Unset = UNSET
    noise_schedule: Schedule | Unset = UNSET
    release: Release | Unset = UNSET
    suffix_fraction: float | Unset = UNSET
    gradient_bound: float | Unset = UNSET
    shamir_constant: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.json_object import JsonObject

        relation = self.relation.value

        unit = self.unit

        observer = self.observer.value

        noise_std = self.noise_std

        gradient_std = self.gradient_std

        trust: str | Unset = UNSET
        if not isinstance(self.trust, Unset):
            trust = self.trust.value

        problem: str | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem.value

        compositionality = self.compositionality

        round_epsilon = self.round_epsilon

        round_delta = self.round_delta

        radius = self.radius

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        samples_per_client = self.samples_per_client

        clients = self.clients

        participants = self.participants

        dimension = self.dimension

        lipschitz = self.lipschitz

        diameter = self.diameter

        rounds = self.rounds

        batch_size = self.batch_size

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        initial_distance = self.initial_distance

        max_gradients = self.max_gradients

        communication_budget = self.communication_budget

        within = self.within

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling.value

        identically_distributed = self.identically_distributed

        heterogeneity = self.heterogeneity

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item = readings_item_data.value
                readings.append(readings_item)

        client_groups: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.client_groups, Unset):
            client_groups = []
            for client_groups_item_data in self.client_groups:
                client_groups_item = client_groups_item_data.to_dict()
                client_groups.append(client_groups_item)

        participation: bool | dict[str, Any] | float | list[Any] | str | Unset
        if isinstance(self.participation, Unset):
            participation = UNSET
        elif isinstance(self.participation, JsonObject):
            participation = self.participation.to_dict()
        elif isinstance(self.participation, list):
            participation = self.participation

        else:
            participation = self.participation

        empirical_gradient_std = self.empirical_gradient_std

        initial_gap = self.initial_gap

        clipping_norm = self.clipping_norm

        adaptive_clipping: dict[str, Any] | Unset = UNSET
        if not isinstance(self.adaptive_clipping, Unset):
            adaptive_clipping = self.adaptive_clipping.to_dict()

        max_rounds = self.max_rounds

        max_bytes_per_client = self.max_bytes_per_client

        max_reports_per_client = self.max_reports_per_client

        step_size = self.step_size

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        gaussian_dp_mu = self.gaussian_dp_mu

        rho = self.rho

        solve_for: str | Unset = UNSET
        if not isinstance(self.solve_for, Unset):
            solve_for = self.solve_for.value

        noise_multiplier = self.noise_multiplier

        rate = self.rate

        population = self.population

        largest_batch = self.largest_batch

        contribution_norm = self.contribution_norm

        records = self.records

        server: str | Unset = UNSET
        if not isinstance(self.server, Unset):
            server = self.server.value

        smoothness_std = self.smoothness_std

        smoothness_heterogeneity = self.smoothness_heterogeneity

        optimum_gradient_norm = self.optimum_gradient_norm

        quantization_levels = self.quantization_levels

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        l2_sensitivity = self.l2_sensitivity

        sensitivity_rule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sensitivity_rule, Unset):
            sensitivity_rule = self.sensitivity_rule.to_dict()

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method.value

        quasar_convexity = self.quasar_convexity

        client_optimum_distance = self.client_optimum_distance

        growth_ratio = self.growth_ratio

        local_steps = self.local_steps

        step_ratio = self.step_ratio

        participation_rate = self.participation_rate

        shared_dimension = self.shared_dimension

        weighting: str | Unset = UNSET
        if not isinstance(self.weighting, Unset):
            weighting = self.weighting.value

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_gradient_norm = self.shared_gradient_norm

        optimum_norm = self.optimum_norm

        optimum_spread = self.optimum_spread

        personalization: float | str | Unset
        if isinstance(self.personalization, Unset):
            personalization = UNSET
        elif isinstance(self.personalization, Unbounded):
            personalization = self.personalization.value
        else:
            personalization = self.personalization

        noise_constant = self.noise_constant

        convex = self.convex

        step_schedule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.step_schedule, Unset):
            step_schedule = self.step_schedule.to_dict()

        noise_schedule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.noise_schedule, Unset):
            noise_schedule = self.noise_schedule.to_dict()

        release: str | Unset = UNSET
        if not isinstance(self.release, Unset):
            release = self.release.value

        suffix_fraction = self.suffix_fraction

        gradient_bound = self.gradient_bound

        shamir_constant = self.shamir_constant

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "relation": relation,
                "unit": unit,
                "observer": observer,
            }
        )
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if trust is not UNSET:
            field_dict["trust"] = trust
        if problem is not UNSET:
            field_dict["problem"] = problem
        if compositionality is not UNSET:
            field_dict["compositionality"] = compositionality
        if round_epsilon is not UNSET:
            field_dict["round_epsilon"] = round_epsilon
        if round_delta is not UNSET:
            field_dict["round_delta"] = round_delta
        if radius is not UNSET:
            field_dict["radius"] = radius
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if clients is not UNSET:
            field_dict["clients"] = clients
        if participants is not UNSET:
            field_dict["participants"] = participants
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if diameter is not UNSET:
            field_dict["diameter"] = diameter
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if initial_distance is not UNSET:
            field_dict["initial_distance"] = initial_distance
        if max_gradients is not UNSET:
            field_dict["max_gradients"] = max_gradients
        if communication_budget is not UNSET:
            field_dict["communication_budget"] = communication_budget
        if within is not UNSET:
            field_dict["within"] = within
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if identically_distributed is not UNSET:
            field_dict["identically_distributed"] = identically_distributed
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if readings is not UNSET:
            field_dict["readings"] = readings
        if client_groups is not UNSET:
            field_dict["client_groups"] = client_groups
        if participation is not UNSET:
            field_dict["participation"] = participation
        if empirical_gradient_std is not UNSET:
            field_dict["empirical_gradient_std"] = empirical_gradient_std
        if initial_gap is not UNSET:
            field_dict["initial_gap"] = initial_gap
        if clipping_norm is not UNSET:
            field_dict["clipping_norm"] = clipping_norm
        if adaptive_clipping is not UNSET:
            field_dict["adaptive_clipping"] = adaptive_clipping
        if max_rounds is not UNSET:
            field_dict["max_rounds"] = max_rounds
        if max_bytes_per_client is not UNSET:
            field_dict["max_bytes_per_client"] = max_bytes_per_client
        if max_reports_per_client is not UNSET:
            field_dict["max_reports_per_client"] = max_reports_per_client
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if advantage is not UNSET:
            field_dict["advantage"] = advantage
        if true_positive_rate is not UNSET:
            field_dict["true_positive_rate"] = true_positive_rate
        if false_positive_rate is not UNSET:
            field_dict["false_positive_rate"] = false_positive_rate
        if gaussian_dp_mu is not UNSET:
            field_dict["gaussian_dp_mu"] = gaussian_dp_mu
        if rho is not UNSET:
            field_dict["rho"] = rho
        if solve_for is not UNSET:
            field_dict["solve_for"] = solve_for
        if noise_multiplier is not UNSET:
            field_dict["noise_multiplier"] = noise_multiplier
        if rate is not UNSET:
            field_dict["rate"] = rate
        if population is not UNSET:
            field_dict["population"] = population
        if largest_batch is not UNSET:
            field_dict["largest_batch"] = largest_batch
        if contribution_norm is not UNSET:
            field_dict["contribution_norm"] = contribution_norm
        if records is not UNSET:
            field_dict["records"] = records
        if server is not UNSET:
            field_dict["server"] = server
        if smoothness_std is not UNSET:
            field_dict["smoothness_std"] = smoothness_std
        if smoothness_heterogeneity is not UNSET:
            field_dict["smoothness_heterogeneity"] = smoothness_heterogeneity
        if optimum_gradient_norm is not UNSET:
            field_dict["optimum_gradient_norm"] = optimum_gradient_norm
        if quantization_levels is not UNSET:
            field_dict["quantization_levels"] = quantization_levels
        if l1_sensitivity is not UNSET:
            field_dict["l1_sensitivity"] = l1_sensitivity
        if linf_sensitivity is not UNSET:
            field_dict["linf_sensitivity"] = linf_sensitivity
        if l2_sensitivity is not UNSET:
            field_dict["l2_sensitivity"] = l2_sensitivity
        if sensitivity_rule is not UNSET:
            field_dict["sensitivity_rule"] = sensitivity_rule
        if method is not UNSET:
            field_dict["method"] = method
        if quasar_convexity is not UNSET:
            field_dict["quasar_convexity"] = quasar_convexity
        if client_optimum_distance is not UNSET:
            field_dict["client_optimum_distance"] = client_optimum_distance
        if growth_ratio is not UNSET:
            field_dict["growth_ratio"] = growth_ratio
        if local_steps is not UNSET:
            field_dict["local_steps"] = local_steps
        if step_ratio is not UNSET:
            field_dict["step_ratio"] = step_ratio
        if participation_rate is not UNSET:
            field_dict["participation_rate"] = participation_rate
        if shared_dimension is not UNSET:
            field_dict["shared_dimension"] = shared_dimension
        if weighting is not UNSET:
            field_dict["weighting"] = weighting
        if shared_gradient_std is not UNSET:
            field_dict["shared_gradient_std"] = shared_gradient_std
        if local_gradient_std is not UNSET:
            field_dict["local_gradient_std"] = local_gradient_std
        if shared_gradient_norm is not UNSET:
            field_dict["shared_gradient_norm"] = shared_gradient_norm
        if optimum_norm is not UNSET:
            field_dict["optimum_norm"] = optimum_norm
        if optimum_spread is not UNSET:
            field_dict["optimum_spread"] = optimum_spread
        if personalization is not UNSET:
            field_dict["personalization"] = personalization
        if noise_constant is not UNSET:
            field_dict["noise_constant"] = noise_constant
        if convex is not UNSET:
            field_dict["convex"] = convex
        if step_schedule is not UNSET:
            field_dict["step_schedule"] = step_schedule
        if noise_schedule is not UNSET:
            field_dict["noise_schedule"] = noise_schedule
        if release is not UNSET:
            field_dict["release"] = release
        if suffix_fraction is not UNSET:
            field_dict["suffix_fraction"] = suffix_fraction
        if gradient_bound is not UNSET:
            field_dict["gradient_bound"] = gradient_bound
        if shamir_constant is not UNSET:
            field_dict["shamir_constant"] = shamir_constant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.adaptive_clipping import AdaptiveClipping
        from ..models.client_group import ClientGroup
        from ..models.json_object import JsonObject
        from ..models.schedule import Schedule
        from ..models.sensitivity_rule import SensitivityRule

        d = dict(src_dict)
        relation = Relation(d.pop("relation"))

        unit = d.pop("unit")

        observer = Observer(d.pop("observer"))

        noise_std = d.pop("noise_std", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        _trust = d.pop("trust", UNSET)
        trust: Definition | Unset
        if isinstance(_trust, Unset):
            trust = UNSET
        else:
            trust = Definition(_trust)

        _problem = d.pop("problem", UNSET)
        problem: Objective | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = Objective(_problem)

        compositionality = d.pop("compositionality", UNSET)

        round_epsilon = d.pop("round_epsilon", UNSET)

        round_delta = d.pop("round_delta", UNSET)

        radius = d.pop("radius", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        samples_per_client = d.pop("samples_per_client", UNSET)

        clients = d.pop("clients", UNSET)

        participants = d.pop("participants", UNSET)

        dimension = d.pop("dimension", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        diameter = d.pop("diameter", UNSET)

        rounds = d.pop("rounds", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        initial_distance = d.pop("initial_distance", UNSET)

        max_gradients = d.pop("max_gradients", UNSET)

        communication_budget = d.pop("communication_budget", UNSET)

        within = d.pop("within", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = Sampling(_sampling)

        identically_distributed = d.pop("identically_distributed", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        _readings = d.pop("readings", UNSET)
        readings: list[Reading] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = Reading(readings_item_data)

                readings.append(readings_item)

        _client_groups = d.pop("client_groups", UNSET)
        client_groups: list[ClientGroup] | Unset = UNSET
        if _client_groups is not UNSET:
            client_groups = []
            for client_groups_item_data in _client_groups:
                client_groups_item = ClientGroup.from_dict(client_groups_item_data)

                client_groups.append(client_groups_item)

        def _parse_participation(
            data: object,
        ) -> bool | float | JsonObject | list[Any] | str | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_json_value_type_0 = JsonObject.from_dict(data)

                return componentsschemas_json_value_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                componentsschemas_json_value_type_1 = cast(list[Any], data)

                return componentsschemas_json_value_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | float | JsonObject | list[Any] | str | Unset, data)

        participation = _parse_participation(d.pop("participation", UNSET))

        empirical_gradient_std = d.pop("empirical_gradient_std", UNSET)

        initial_gap = d.pop("initial_gap", UNSET)

        clipping_norm = d.pop("clipping_norm", UNSET)

        _adaptive_clipping = d.pop("adaptive_clipping", UNSET)
        adaptive_clipping: AdaptiveClipping | Unset
        if isinstance(_adaptive_clipping, Unset):
            adaptive_clipping = UNSET
        else:
            adaptive_clipping = AdaptiveClipping.from_dict(_adaptive_clipping)

        max_rounds = d.pop("max_rounds", UNSET)

        max_bytes_per_client = d.pop("max_bytes_per_client", UNSET)

        max_reports_per_client = d.pop("max_reports_per_client", UNSET)

        step_size = d.pop("step_size", UNSET)

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        rho = d.pop("rho", UNSET)

        _solve_for = d.pop("solve_for", UNSET)
        solve_for: SolveFor | Unset
        if isinstance(_solve_for, Unset):
            solve_for = UNSET
        else:
            solve_for = SolveFor(_solve_for)

        noise_multiplier = d.pop("noise_multiplier", UNSET)

        rate = d.pop("rate", UNSET)

        population = d.pop("population", UNSET)

        largest_batch = d.pop("largest_batch", UNSET)

        contribution_norm = d.pop("contribution_norm", UNSET)

        records = d.pop("records", UNSET)

        _server = d.pop("server", UNSET)
        server: Server | Unset
        if isinstance(_server, Unset):
            server = UNSET
        else:
            server = Server(_server)

        smoothness_std = d.pop("smoothness_std", UNSET)

        smoothness_heterogeneity = d.pop("smoothness_heterogeneity", UNSET)

        optimum_gradient_norm = d.pop("optimum_gradient_norm", UNSET)

        quantization_levels = d.pop("quantization_levels", UNSET)

        l1_sensitivity = d.pop("l1_sensitivity", UNSET)

        linf_sensitivity = d.pop("linf_sensitivity", UNSET)

        l2_sensitivity = d.pop("l2_sensitivity", UNSET)

        _sensitivity_rule = d.pop("sensitivity_rule", UNSET)
        sensitivity_rule: SensitivityRule | Unset
        if isinstance(_sensitivity_rule, Unset):
            sensitivity_rule = UNSET
        else:
            sensitivity_rule = SensitivityRule.from_dict(_sensitivity_rule)

        _method = d.pop("method", UNSET)
        method: QtdlMethod | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = QtdlMethod(_method)

        quasar_convexity = d.pop("quasar_convexity", UNSET)

        client_optimum_distance = d.pop("client_optimum_distance", UNSET)

        growth_ratio = d.pop("growth_ratio", UNSET)

        local_steps = d.pop("local_steps", UNSET)

        step_ratio = d.pop("step_ratio", UNSET)

        participation_rate = d.pop("participation_rate", UNSET)

        shared_dimension = d.pop("shared_dimension", UNSET)

        _weighting = d.pop("weighting", UNSET)
        weighting: Weighting | Unset
        if isinstance(_weighting, Unset):
            weighting = UNSET
        else:
            weighting = Weighting(_weighting)

        shared_gradient_std = d.pop("shared_gradient_std", UNSET)

        local_gradient_std = d.pop("local_gradient_std", UNSET)

        shared_gradient_norm = d.pop("shared_gradient_norm", UNSET)

        optimum_norm = d.pop("optimum_norm", UNSET)

        optimum_spread = d.pop("optimum_spread", UNSET)

        def _parse_personalization(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        personalization = _parse_personalization(d.pop("personalization", UNSET))

        noise_constant = d.pop("noise_constant", UNSET)

        convex = d.pop("convex", UNSET)

        _step_schedule = d.pop("step_schedule", UNSET)
        step_schedule: Schedule | Unset
        if isinstance(_step_schedule, Unset):
            step_schedule = UNSET
        else:
            step_schedule = Schedule.from_dict(_step_schedule)

        _noise_schedule = d.pop("noise_schedule", UNSET)
        noise_schedule: Schedule | Unset
        if isinstance(_noise_schedule, Unset):
            noise_schedule = UNSET
        else:
            noise_schedule = Schedule.from_dict(_noise_schedule)

        _release = d.pop("release", UNSET)
        release: Release | Unset
        if isinstance(_release, Unset):
            release = UNSET
        else:
            release = Release(_release)

        suffix_fraction = d.pop("suffix_fraction", UNSET)

        gradient_bound = d.pop("gradient_bound", UNSET)

        shamir_constant = d.pop("shamir_constant", UNSET)

        risk_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            noise_std=noise_std,
            gradient_std=gradient_std,
            trust=trust,
            problem=problem,
            compositionality=compositionality,
            round_epsilon=round_epsilon,
            round_delta=round_delta,
            radius=radius,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            samples_per_client=samples_per_client,
            clients=clients,
            participants=participants,
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            rounds=rounds,
            batch_size=batch_size,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            initial_distance=initial_distance,
            max_gradients=max_gradients,
            communication_budget=communication_budget,
            within=within,
            sampling=sampling,
            identically_distributed=identically_distributed,
            heterogeneity=heterogeneity,
            readings=readings,
            client_groups=client_groups,
            participation=participation,
            empirical_gradient_std=empirical_gradient_std,
            initial_gap=initial_gap,
            clipping_norm=clipping_norm,
            adaptive_clipping=adaptive_clipping,
            max_rounds=max_rounds,
            max_bytes_per_client=max_bytes_per_client,
            max_reports_per_client=max_reports_per_client,
            step_size=step_size,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            gaussian_dp_mu=gaussian_dp_mu,
            rho=rho,
            solve_for=solve_for,
            noise_multiplier=noise_multiplier,
            rate=rate,
            population=population,
            largest_batch=largest_batch,
            contribution_norm=contribution_norm,
            records=records,
            server=server,
            smoothness_std=smoothness_std,
            smoothness_heterogeneity=smoothness_heterogeneity,
            optimum_gradient_norm=optimum_gradient_norm,
            quantization_levels=quantization_levels,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
            l2_sensitivity=l2_sensitivity,
            sensitivity_rule=sensitivity_rule,
            method=method,
            quasar_convexity=quasar_convexity,
            client_optimum_distance=client_optimum_distance,
            growth_ratio=growth_ratio,
            local_steps=local_steps,
            step_ratio=step_ratio,
            participation_rate=participation_rate,
            shared_dimension=shared_dimension,
            weighting=weighting,
            shared_gradient_std=shared_gradient_std,
            local_gradient_std=local_gradient_std,
            shared_gradient_norm=shared_gradient_norm,
            optimum_norm=optimum_norm,
            optimum_spread=optimum_spread,
            personalization=personalization,
            noise_constant=noise_constant,
            convex=convex,
            step_schedule=step_schedule,
            noise_schedule=noise_schedule,
            release=release,
            suffix_fraction=suffix_fraction,
            gradient_bound=gradient_bound,
            shamir_constant=shamir_constant,
        )

        return risk_problem
