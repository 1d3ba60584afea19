from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.qtdl_method import QtdlMethod
from ..models.unbounded import Unbounded
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.adaptive_clipping import AdaptiveClipping
    from ..models.averaging import Averaging
    from ..models.client_report import ClientReport
    from ..models.convergence_answer import ConvergenceAnswer
    from ..models.conversion_answer import ConversionAnswer
    from ..models.feasible import Feasible
    from ..models.group_parameters import GroupParameters
    from ..models.participation_figures import ParticipationFigures
    from ..models.run_choice import RunChoice
    from ..models.schedule import Schedule
    from ..models.schedule_answer import ScheduleAnswer
    from ..models.sharing import Sharing
    from ..models.stage import Stage


T = TypeVar("T", bound="Parameters")


@_attrs_define
class Parameters:
    """
    Attributes:
        noise_std (float | Unset): Depends on the object:

            - standard deviation per coordinate of the noise that each client adds to the mean of its batch_size gradients;
            absent if client groups differ in it
            - standard deviation per coordinate of the noise of a client's first report. With a trusted server: of the noise
            in every round's mean
            - standard deviation of the noise per coordinate, in units of the update (grid steps divided by
            quantization_levels)
            - standard deviation per coordinate of the noise that the server adds to the average of the clipped shared
            gradients
            - standard deviation per coordinate of the noise that one client adds, in the step where it is smallest
            - standard deviation per coordinate of the noise that each client adds to the mean of its batch_size gradients
        noise_multiplier (float | Unset): Depends on the object:

            - noise_std divided by contribution_norm; absent if client groups differ in either
            - noise_std_of_sum divided by contribution_norm
            - standard deviation of the noise per coordinate, divided by the bound on the ℓ2 norm of one contribution
            - noise_std divided by contribution_norm
        contribution_norm (float | Unset): Depends on the object:

            - bound on the ℓ2 norm of one protected contribution to the quantity to which the noise is added. The noise has
            standard deviation noise_multiplier × contribution_norm per coordinate. guarantee.sensitivity is
            contribution_norm for the relations add-or-remove-one and zero-out-one, and 2 × contribution_norm for replace-
            one
            - 1, the unit of noise and sensitivity: bound on the ℓ2 norm of one protected contribution to the quantity to
            which the noise is added. The noise has standard deviation noise_multiplier × contribution_norm per coordinate.
            guarantee.sensitivity is contribution_norm for the relations add-or-remove-one and zero-out-one, and 2 ×
            contribution_norm for replace-one
        batch_size (int | Unset): Depends on the object:

            - number of records that a client with samples_per_client records uses in one round
            - number of records in a batch; if clients are drawn, number of clients
            - number of records that a client uses in one round
        rounds (int | Unset): Depends on the object:

            - number of rounds
            - number of runs of the mechanism
            - number of steps of the pass, one for each whole batch. Clients that are left over never take part
        stages (list[Stage] | Unset): stages of the run, in their order; absent if no risk bound is proved
        envelope_smoothness (float | Unset): Depends on the object:

            - smoothness constant of the Moreau envelope that is minimised in place of the loss; absent if the loss is
            smooth
            - smoothness constant of the Moreau envelope of each (weighted) loss, whose gradients are sent in place of the
            loss's. Absent if the loss is smooth
            - smoothness constant of the Moreau envelope of each loss, whose gradients are sent in place of the loss's.
            Absent if the loss is smooth
        strong_convexity (float | Unset): strong convexity constant in the steps of Algorithm 2 of Lowy and Razaviyayn
        groups (list[GroupParameters] | Unset): parameters of each client group, in the order of client_groups; absent
            without client groups
        noise_std_of_sum (float | Unset): standard deviation per coordinate of the noise on the sum of the clipped
            updates of a round
        noise_std_of_mean (float | Unset): standard deviation per coordinate of the noise in the mean of a round, which
            is the noisy sum divided by participants
        noise_norm_of_mean (float | Unset): norm of the noise in the mean of a round: noise_std_of_mean times the root
            of dimension. Compare it with clipping_norm
        clipping_norm (float | Unset): Depends on the object:

            - bound on the ℓ2 norm of one update. With adaptive clipping it changes from round to round, and the noise in
            proportion to it
            - bound on the ℓ2 norm of a client's message: lipschitz + 2 · smoothness · diameter. A longer message is scaled
            down to it before noise is added
            - bound on the ℓ2 norm of one client's message
        noise_to_signal (float | Unset): noise_norm_of_mean divided by clipping_norm
        participants (int | Unset): Depends on the object:

            - fixed number by which the noisy sum of a round is divided, however many clients take part
            - number of clients in one round
            - number of clients in one round; absent if it is random
            - number of clients in a batch
        participation_rate (float | Unset): probability that a given client takes part in a round
        reports_per_client (float | Unset): number of rounds in which one client takes part; the expected number if
            clients are drawn at random
        bytes_per_client (float | Unset): number of bytes that one client sends during the run; the expected number if
            clients are drawn at random
        remaining_share (float | Unset): bound on the excess risk after the run, divided by clipping_norm · diameter. It
            assumes one gradient step of a client per round, and gradients of norm at most clipping_norm. A value of 1 or
            more carries no information
        step_size (float | Unset): Depends on the object:

            - step size of the risk bound; absent if no risk bound is proved
            - step size of a gradient step; absent where no risk bound applies
            - step size η: round t moves by η times t times the gradient; absent without a risk bound
            - step size η in the theorem of the risk bound; absent where no risk bound applies
            - largest step size; step_schedule has each
        adaptive_clipping (AdaptiveClipping | Unset): Adaptive clipping by Andrew et al. 2021: every round releases a
            noisy share of the updates that were not clipped. Each participant sends a bit, ½ if its update was not clipped
            and −½ otherwise.
        frontier (list[RunChoice] | Unset): alternative numbers of rounds with their noise and traffic, fewest rounds
            first. Absent unless the number of rounds was chosen
        rate (float | Unset): probability that a given record, or client if clients are drawn, is in a batch
        population (int | Unset): number of records from which a batch is drawn; if clients are drawn, number of clients
        largest_batch (int | Unset): largest number of records, or of clients, in a batch. If more are drawn, a uniform
            subset of this size is kept
        epsilon (float | Unset): certified ε of the run at the answer's δ
        delta (float | Unset): certified δ of the run at the answer's ε; absent if it is too small for a double
        log10_delta (float | Unset):
        averaging (Averaging | Unset): The average of the models w_1, …, w_R of all rounds. Each weight is `ratio` times
            that of the model before.
        schedule (ScheduleAnswer | Unset): The rule for the standard deviation of the noise of every report.
        gaussian_dp_mu (float | Unset): parameter μ of Gaussian differential privacy for the least protected record,
            rounded up
        residual_noise_std (float | Unset): root mean square per coordinate of the noise that is left in the server's
            mean after the last round
        conversion (ConversionAnswer | Unset): Three conversions between (ε, δ) and the parameter μ of Gaussian
            differential privacy.

            The exact conversion needs the least noise. The last two fields say how much more noise the others need.
        client_reports (list[ClientReport] | Unset): what is and what is not protected, for each kind of client
        noise_levels (int | Unset): largest absolute value m of the integer noise, in grid steps
        decay_rate (float | Unset): decay rate α of the integer noise: the value y has probability proportional to
            e^(−α|y|)
        variance (float | Unset): variance of the noise per coordinate, in squared units of the update (noise_std
            squared)
        mean_squared_error (float | Unset): expected squared ℓ2 error of one message, by rounding and noise together, in
            squared units of the update
        quantization_levels (int | Unset): number of grid steps in a unit of the update
        method (QtdlMethod | Unset):
        l1_sensitivity (float | Unset): ℓ1 sensitivity in grid steps for which the noise is certified
        linf_sensitivity (float | Unset): ℓ∞ sensitivity in grid steps for which the noise is certified
        l2_sensitivity (float | Unset): ℓ2 sensitivity in grid steps for which the noise is certified; absent if the
            proof does not use it
        log10_failure_delta (float | Unset): base-10 logarithm of the probability that the rounding of a round exceeds
            these sensitivities. δ includes it. Absent if rounding never exceeds them
        local_steps (int | Unset): number of full gradient steps of a client in one round
        local_step_size (float | Unset): Depends on the object:

            - step size of the clients' gradient steps
            - step size of a client's own part: step_size divided by participation_rate and by the sum of the clients'
            weights. Absent where no risk bound applies
        server_step_size (float | Unset): step size of the server: it adds the mean of the messages times this factor to
            the model
        compression (float | Unset): expected squared ℓ2 error of one message, by rounding and noise together
        convergence (ConvergenceAnswer | Unset): Bounds on the gradient norm of the clients' mean loss, in units of
            loss/length.

            `mean_gradient_norm` is the sum of its three terms; `gradient_norm` is not above the baseline.
        noise_levels_exact (str | Unset): noise_levels with all its digits, as a decimal string; absent unless
            noise_levels is 2^53 or more
        noise_constant (float | Unset): value of the constant in equation (4) or (12) of Bietti et al. at which their
            formula gives noise_std; 0 if the target ε is 0
        personalization (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
        shared_step_size (float | Unset): step size of the shared part of the model; absent where no risk bound applies
        sharing (Sharing | Unset): Bounds on the excess risk as a function of the degree of sharing α, from 0 (local
            models) to unbounded.
        participation (ParticipationFigures | Unset): ε of a client at the certified noise and the target δ, if a fixed
            number of clients is drawn in each round.

            The observer is all other clients together. They know who was drawn, so that the draw does not amplify privacy.
        mean_noise_std (float | Unset): standard deviation per coordinate of the noise in the mean of a batch, where it
            is smallest: noise_std divided by the root of participants
        step_schedule (Schedule | Unset): `constant`: The same value at every step.

            `explicit`: Listed values, one for each step.

            `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.
        noise_schedule (Schedule | Unset): `constant`: The same value at every step.

            `explicit`: Listed values, one for each step.

            `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.
        feasible_participants (list[Feasible] | Unset): ranges of all tried batch sizes that meet the target; absent
            unless participants were solved for
        every_batch_size_tried (bool | Unset): true: every batch size was decided, and no other one meets the target.
            false: some were not decided. Absent unless participants were solved for
    """

    noise_std: float | Unset = UNSET
    noise_multiplier: float | Unset = UNSET
    contribution_norm: float | Unset = UNSET
    batch_size: int | Unset = UNSET
    rounds: int | Unset = UNSET
    stages: list[Stage] | Unset = UNSET
    envelope_smoothness: float | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    groups: list[GroupParameters] | Unset = UNSET
    noise_std_of_sum: float | Unset = UNSET
    noise_std_of_mean: float | Unset = UNSET
    noise_norm_of_mean: float | Unset = UNSET
    clipping_norm: float | Unset = UNSET
    noise_to_signal: float | Unset = UNSET
    participants: int | Unset = UNSET
    participation_rate: float | Unset = UNSET
    reports_per_client: float | Unset = UNSET
    bytes_per_client: float | Unset = UNSET
    remaining_share: float | Unset = UNSET
    step_size: float | Unset = UNSET
    adaptive_clipping: AdaptiveClipping | Unset = UNSET
    frontier: list[RunChoice] | Unset = UNSET
    rate: float | Unset = UNSET
    population: int | Unset = UNSET
    largest_batch: int | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    averaging: Averaging | Unset = UNSET
    schedule: ScheduleAnswer | Unset = UNSET
    gaussian_dp_mu: float | Unset = UNSET
    residual_noise_std: float | Unset = UNSET
    conversion: ConversionAnswer | Unset = UNSET
    client_reports: list[ClientReport] | Unset = UNSET
    noise_levels: int | Unset = UNSET
    decay_rate: float | Unset = UNSET
    variance: float | Unset = UNSET
    mean_squared_error: float | Unset = UNSET
    quantization_levels: int | Unset = UNSET
    method: QtdlMethod | Unset = UNSET
    l1_sensitivity: float | Unset = UNSET
    linf_sensitivity: float | Unset = UNSET
    l2_sensitivity: float | Unset = UNSET
    log10_failure_delta: float | Unset = UNSET
    local_steps: int | Unset = UNSET
    local_step_size: float | Unset = UNSET
    server_step_size: float | Unset = UNSET
    compression: float | Unset = UNSET
    convergence: ConvergenceAnswer | Unset = UNSET
    noise_levels_exact: str | Unset = UNSET
    noise_constant: float | Unset = UNSET
    personalization: float | Unbounded | Unset = UNSET
    shared_step_size: float | Unset = UNSET
    sharing: Sharing | Unset = UNSET
    participation: ParticipationFigures | Unset = UNSET
    mean_noise_std: float | Unset = UNSET
    step_schedule: Schedule | Unset = UNSET
    noise_schedule: Schedule | Unset = UNSET
    feasible_participants: list[Feasible] | Unset = UNSET
    every_batch_size_tried: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        noise_std = self.noise_std

        noise_multiplier = self.noise_multiplier

        contribution_norm = self.contribution_norm

        batch_size = self.batch_size

        rounds = self.rounds

        stages: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.stages, Unset):
            stages = []
            for stages_item_data in self.stages:
                stages_item = stages_item_data.to_dict()
                stages.append(stages_item)

        envelope_smoothness = self.envelope_smoothness

        strong_convexity = self.strong_convexity

        groups: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.groups, Unset):
            groups = []
            for groups_item_data in self.groups:
                groups_item = groups_item_data.to_dict()
                groups.append(groups_item)

        noise_std_of_sum = self.noise_std_of_sum

        noise_std_of_mean = self.noise_std_of_mean

        noise_norm_of_mean = self.noise_norm_of_mean

        clipping_norm = self.clipping_norm

        noise_to_signal = self.noise_to_signal

        participants = self.participants

        participation_rate = self.participation_rate

        reports_per_client = self.reports_per_client

        bytes_per_client = self.bytes_per_client

        remaining_share = self.remaining_share

        step_size = self.step_size

        adaptive_clipping: dict[str, Any] | Unset = UNSET
        if not isinstance(self.adaptive_clipping, Unset):
            adaptive_clipping = self.adaptive_clipping.to_dict()

        frontier: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.frontier, Unset):
            frontier = []
            for frontier_item_data in self.frontier:
                frontier_item = frontier_item_data.to_dict()
                frontier.append(frontier_item)

        rate = self.rate

        population = self.population

        largest_batch = self.largest_batch

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        averaging: dict[str, Any] | Unset = UNSET
        if not isinstance(self.averaging, Unset):
            averaging = self.averaging.to_dict()

        schedule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.schedule, Unset):
            schedule = self.schedule.to_dict()

        gaussian_dp_mu = self.gaussian_dp_mu

        residual_noise_std = self.residual_noise_std

        conversion: dict[str, Any] | Unset = UNSET
        if not isinstance(self.conversion, Unset):
            conversion = self.conversion.to_dict()

        client_reports: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.client_reports, Unset):
            client_reports = []
            for client_reports_item_data in self.client_reports:
                client_reports_item = client_reports_item_data.to_dict()
                client_reports.append(client_reports_item)

        noise_levels = self.noise_levels

        decay_rate = self.decay_rate

        variance = self.variance

        mean_squared_error = self.mean_squared_error

        quantization_levels = self.quantization_levels

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method.value

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        l2_sensitivity = self.l2_sensitivity

        log10_failure_delta = self.log10_failure_delta

        local_steps = self.local_steps

        local_step_size = self.local_step_size

        server_step_size = self.server_step_size

        compression = self.compression

        convergence: dict[str, Any] | Unset = UNSET
        if not isinstance(self.convergence, Unset):
            convergence = self.convergence.to_dict()

        noise_levels_exact = self.noise_levels_exact

        noise_constant = self.noise_constant

        personalization: float | str | Unset
        if isinstance(self.personalization, Unset):
            personalization = UNSET
        elif isinstance(self.personalization, Unbounded):
            personalization = self.personalization.value
        else:
            personalization = self.personalization

        shared_step_size = self.shared_step_size

        sharing: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sharing, Unset):
            sharing = self.sharing.to_dict()

        participation: dict[str, Any] | Unset = UNSET
        if not isinstance(self.participation, Unset):
            participation = self.participation.to_dict()

        mean_noise_std = self.mean_noise_std

        step_schedule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.step_schedule, Unset):
            step_schedule = self.step_schedule.to_dict()

        noise_schedule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.noise_schedule, Unset):
            noise_schedule = self.noise_schedule.to_dict()

        feasible_participants: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.feasible_participants, Unset):
            feasible_participants = []
            for feasible_participants_item_data in self.feasible_participants:
                feasible_participants_item = feasible_participants_item_data.to_dict()
                feasible_participants.append(feasible_participants_item)

        every_batch_size_tried = self.every_batch_size_tried

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std
        if noise_multiplier is not UNSET:
            field_dict["noise_multiplier"] = noise_multiplier
        if contribution_norm is not UNSET:
            field_dict["contribution_norm"] = contribution_norm
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if stages is not UNSET:
            field_dict["stages"] = stages
        if envelope_smoothness is not UNSET:
            field_dict["envelope_smoothness"] = envelope_smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if groups is not UNSET:
            field_dict["groups"] = groups
        if noise_std_of_sum is not UNSET:
            field_dict["noise_std_of_sum"] = noise_std_of_sum
        if noise_std_of_mean is not UNSET:
            field_dict["noise_std_of_mean"] = noise_std_of_mean
        if noise_norm_of_mean is not UNSET:
            field_dict["noise_norm_of_mean"] = noise_norm_of_mean
        if clipping_norm is not UNSET:
            field_dict["clipping_norm"] = clipping_norm
        if noise_to_signal is not UNSET:
            field_dict["noise_to_signal"] = noise_to_signal
        if participants is not UNSET:
            field_dict["participants"] = participants
        if participation_rate is not UNSET:
            field_dict["participation_rate"] = participation_rate
        if reports_per_client is not UNSET:
            field_dict["reports_per_client"] = reports_per_client
        if bytes_per_client is not UNSET:
            field_dict["bytes_per_client"] = bytes_per_client
        if remaining_share is not UNSET:
            field_dict["remaining_share"] = remaining_share
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if adaptive_clipping is not UNSET:
            field_dict["adaptive_clipping"] = adaptive_clipping
        if frontier is not UNSET:
            field_dict["frontier"] = frontier
        if rate is not UNSET:
            field_dict["rate"] = rate
        if population is not UNSET:
            field_dict["population"] = population
        if largest_batch is not UNSET:
            field_dict["largest_batch"] = largest_batch
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if averaging is not UNSET:
            field_dict["averaging"] = averaging
        if schedule is not UNSET:
            field_dict["schedule"] = schedule
        if gaussian_dp_mu is not UNSET:
            field_dict["gaussian_dp_mu"] = gaussian_dp_mu
        if residual_noise_std is not UNSET:
            field_dict["residual_noise_std"] = residual_noise_std
        if conversion is not UNSET:
            field_dict["conversion"] = conversion
        if client_reports is not UNSET:
            field_dict["client_reports"] = client_reports
        if noise_levels is not UNSET:
            field_dict["noise_levels"] = noise_levels
        if decay_rate is not UNSET:
            field_dict["decay_rate"] = decay_rate
        if variance is not UNSET:
            field_dict["variance"] = variance
        if mean_squared_error is not UNSET:
            field_dict["mean_squared_error"] = mean_squared_error
        if quantization_levels is not UNSET:
            field_dict["quantization_levels"] = quantization_levels
        if method is not UNSET:
            field_dict["method"] = method
        if l1_sensitivity is not UNSET:
            field_dict["l1_sensitivity"] = l1_sensitivity
        if linf_sensitivity is not UNSET:
            field_dict["linf_sensitivity"] = linf_sensitivity
        if l2_sensitivity is not UNSET:
            field_dict["l2_sensitivity"] = l2_sensitivity
        if log10_failure_delta is not UNSET:
            field_dict["log10_failure_delta"] = log10_failure_delta
        if local_steps is not UNSET:
            field_dict["local_steps"] = local_steps
        if local_step_size is not UNSET:
            field_dict["local_step_size"] = local_step_size
        if server_step_size is not UNSET:
            field_dict["server_step_size"] = server_step_size
        if compression is not UNSET:
            field_dict["compression"] = compression
        if convergence is not UNSET:
            field_dict["convergence"] = convergence
        if noise_levels_exact is not UNSET:
            field_dict["noise_levels_exact"] = noise_levels_exact
        if noise_constant is not UNSET:
            field_dict["noise_constant"] = noise_constant
        if personalization is not UNSET:
            field_dict["personalization"] = personalization
        if shared_step_size is not UNSET:
            field_dict["shared_step_size"] = shared_step_size
        if sharing is not UNSET:
            field_dict["sharing"] = sharing
        if participation is not UNSET:
            field_dict["participation"] = participation
        if mean_noise_std is not UNSET:
            field_dict["mean_noise_std"] = mean_noise_std
        if step_schedule is not UNSET:
            field_dict["step_schedule"] = step_schedule
        if noise_schedule is not UNSET:
            field_dict["noise_schedule"] = noise_schedule
        if feasible_participants is not UNSET:
            field_dict["feasible_participants"] = feasible_participants
        if every_batch_size_tried is not UNSET:
            field_dict["every_batch_size_tried"] = every_batch_size_tried

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.adaptive_clipping import AdaptiveClipping
        from ..models.averaging import Averaging
        from ..models.client_report import ClientReport
        from ..models.convergence_answer import ConvergenceAnswer
        from ..models.conversion_answer import ConversionAnswer
        from ..models.feasible import Feasible
        from ..models.group_parameters import GroupParameters
        from ..models.participation_figures import ParticipationFigures
        from ..models.run_choice import RunChoice
        from ..models.schedule import Schedule
        from ..models.schedule_answer import ScheduleAnswer
        from ..models.sharing import Sharing
        from ..models.stage import Stage

        d = dict(src_dict)
        noise_std = d.pop("noise_std", UNSET)

        noise_multiplier = d.pop("noise_multiplier", UNSET)

        contribution_norm = d.pop("contribution_norm", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        rounds = d.pop("rounds", UNSET)

        _stages = d.pop("stages", UNSET)
        stages: list[Stage] | Unset = UNSET
        if _stages is not UNSET:
            stages = []
            for stages_item_data in _stages:
                stages_item = Stage.from_dict(stages_item_data)

                stages.append(stages_item)

        envelope_smoothness = d.pop("envelope_smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        _groups = d.pop("groups", UNSET)
        groups: list[GroupParameters] | Unset = UNSET
        if _groups is not UNSET:
            groups = []
            for groups_item_data in _groups:
                groups_item = GroupParameters.from_dict(groups_item_data)

                groups.append(groups_item)

        noise_std_of_sum = d.pop("noise_std_of_sum", UNSET)

        noise_std_of_mean = d.pop("noise_std_of_mean", UNSET)

        noise_norm_of_mean = d.pop("noise_norm_of_mean", UNSET)

        clipping_norm = d.pop("clipping_norm", UNSET)

        noise_to_signal = d.pop("noise_to_signal", UNSET)

        participants = d.pop("participants", UNSET)

        participation_rate = d.pop("participation_rate", UNSET)

        reports_per_client = d.pop("reports_per_client", UNSET)

        bytes_per_client = d.pop("bytes_per_client", UNSET)

        remaining_share = d.pop("remaining_share", UNSET)

        step_size = d.pop("step_size", UNSET)

        _adaptive_clipping = d.pop("adaptive_clipping", UNSET)
        adaptive_clipping: AdaptiveClipping | Unset
        if isinstance(_adaptive_clipping, Unset):
            adaptive_clipping = UNSET
        else:
            adaptive_clipping = AdaptiveClipping.from_dict(_adaptive_clipping)

        _frontier = d.pop("frontier", UNSET)
        frontier: list[RunChoice] | Unset = UNSET
        if _frontier is not UNSET:
            frontier = []
            for frontier_item_data in _frontier:
                frontier_item = RunChoice.from_dict(frontier_item_data)

                frontier.append(frontier_item)

        rate = d.pop("rate", UNSET)

        population = d.pop("population", UNSET)

        largest_batch = d.pop("largest_batch", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _averaging = d.pop("averaging", UNSET)
        averaging: Averaging | Unset
        if isinstance(_averaging, Unset):
            averaging = UNSET
        else:
            averaging = Averaging.from_dict(_averaging)

        _schedule = d.pop("schedule", UNSET)
        schedule: ScheduleAnswer | Unset
        if isinstance(_schedule, Unset):
            schedule = UNSET
        else:
            schedule = ScheduleAnswer.from_dict(_schedule)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        residual_noise_std = d.pop("residual_noise_std", UNSET)

        _conversion = d.pop("conversion", UNSET)
        conversion: ConversionAnswer | Unset
        if isinstance(_conversion, Unset):
            conversion = UNSET
        else:
            conversion = ConversionAnswer.from_dict(_conversion)

        _client_reports = d.pop("client_reports", UNSET)
        client_reports: list[ClientReport] | Unset = UNSET
        if _client_reports is not UNSET:
            client_reports = []
            for client_reports_item_data in _client_reports:
                client_reports_item = ClientReport.from_dict(client_reports_item_data)

                client_reports.append(client_reports_item)

        noise_levels = d.pop("noise_levels", UNSET)

        decay_rate = d.pop("decay_rate", UNSET)

        variance = d.pop("variance", UNSET)

        mean_squared_error = d.pop("mean_squared_error", UNSET)

        quantization_levels = d.pop("quantization_levels", UNSET)

        _method = d.pop("method", UNSET)
        method: QtdlMethod | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = QtdlMethod(_method)

        l1_sensitivity = d.pop("l1_sensitivity", UNSET)

        linf_sensitivity = d.pop("linf_sensitivity", UNSET)

        l2_sensitivity = d.pop("l2_sensitivity", UNSET)

        log10_failure_delta = d.pop("log10_failure_delta", UNSET)

        local_steps = d.pop("local_steps", UNSET)

        local_step_size = d.pop("local_step_size", UNSET)

        server_step_size = d.pop("server_step_size", UNSET)

        compression = d.pop("compression", UNSET)

        _convergence = d.pop("convergence", UNSET)
        convergence: ConvergenceAnswer | Unset
        if isinstance(_convergence, Unset):
            convergence = UNSET
        else:
            convergence = ConvergenceAnswer.from_dict(_convergence)

        noise_levels_exact = d.pop("noise_levels_exact", UNSET)

        noise_constant = d.pop("noise_constant", UNSET)

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

        shared_step_size = d.pop("shared_step_size", UNSET)

        _sharing = d.pop("sharing", UNSET)
        sharing: Sharing | Unset
        if isinstance(_sharing, Unset):
            sharing = UNSET
        else:
            sharing = Sharing.from_dict(_sharing)

        _participation = d.pop("participation", UNSET)
        participation: ParticipationFigures | Unset
        if isinstance(_participation, Unset):
            participation = UNSET
        else:
            participation = ParticipationFigures.from_dict(_participation)

        mean_noise_std = d.pop("mean_noise_std", UNSET)

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

        _feasible_participants = d.pop("feasible_participants", UNSET)
        feasible_participants: list[Feasible] | Unset = UNSET
        if _feasible_participants is not UNSET:
            feasible_participants = []
            for feasible_participants_item_data in _feasible_participants:
                feasible_participants_item = Feasible.from_dict(
                    feasible_participants_item_data
                )

                feasible_participants.append(feasible_participants_item)

        every_batch_size_tried = d.pop("every_batch_size_tried", UNSET)

        parameters = cls(
            noise_std=noise_std,
            noise_multiplier=noise_multiplier,
            contribution_norm=contribution_norm,
            batch_size=batch_size,
            rounds=rounds,
            stages=stages,
            envelope_smoothness=envelope_smoothness,
            strong_convexity=strong_convexity,
            groups=groups,
            noise_std_of_sum=noise_std_of_sum,
            noise_std_of_mean=noise_std_of_mean,
            noise_norm_of_mean=noise_norm_of_mean,
            clipping_norm=clipping_norm,
            noise_to_signal=noise_to_signal,
            participants=participants,
            participation_rate=participation_rate,
            reports_per_client=reports_per_client,
            bytes_per_client=bytes_per_client,
            remaining_share=remaining_share,
            step_size=step_size,
            adaptive_clipping=adaptive_clipping,
            frontier=frontier,
            rate=rate,
            population=population,
            largest_batch=largest_batch,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            averaging=averaging,
            schedule=schedule,
            gaussian_dp_mu=gaussian_dp_mu,
            residual_noise_std=residual_noise_std,
            conversion=conversion,
            client_reports=client_reports,
            noise_levels=noise_levels,
            decay_rate=decay_rate,
            variance=variance,
            mean_squared_error=mean_squared_error,
            quantization_levels=quantization_levels,
            method=method,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
            l2_sensitivity=l2_sensitivity,
            log10_failure_delta=log10_failure_delta,
            local_steps=local_steps,
            local_step_size=local_step_size,
            server_step_size=server_step_size,
            compression=compression,
            convergence=convergence,
            noise_levels_exact=noise_levels_exact,
            noise_constant=noise_constant,
            personalization=personalization,
            shared_step_size=shared_step_size,
            sharing=sharing,
            participation=participation,
            mean_noise_std=mean_noise_std,
            step_schedule=step_schedule,
            noise_schedule=noise_schedule,
            feasible_participants=feasible_participants,
            every_batch_size_tried=every_batch_size_tried,
        )

        parameters.additional_properties = d
        return parameters

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
