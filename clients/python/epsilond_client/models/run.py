from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.batches import Batches
from ..models.observer import Observer
from ..models.release import Release
from ..models.run_algorithm import RunAlgorithm
from ..models.sampling import Sampling
from ..models.server import Server
from ..models.unbounded import Unbounded
from ..models.weighting import Weighting
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.client_group import ClientGroup
    from ..models.json_object import JsonObject
    from ..models.schedule import Schedule
    from ..models.stage import Stage


T = TypeVar("T", bound="Run")


@_attrs_define
class Run:
    """`accelerated-mb-sgd`: A run of Algorithm 2 of Lowy and Razaviyayn in which clients draw fresh batches in every
    round.

    `sampling` says how a client draws the `batch_size` records of a batch.

    `fedavg`: A run of FedAvg without noise and without privacy.

    If `local_step_size` is absent, it is the step size of Theorem 4 of Das et al. for convex losses.

    `grid-fedavg`: A run of FedAvg whose clients send updates rounded to a grid, with integer noise.

    The noise of a coordinate is one of two kinds. It is truncated discrete Laplace noise if `noise_levels` and
    `decay_rate` are given, and Binomial noise if `trials`, its number of coin flips, is given. If all three are absent,
    discrete Laplace noise is calibrated. The run has no noise if `noise_levels` is 0.

    `local-sgd`: A run of noisy local SGD: participants take several noisy steps before the server averages their
    models.

    In each of `rounds` rounds a participant takes `local_steps` steps, with `batch_size` fresh records in each. If
    `participants` is absent, all clients participate. If `noise_std` is absent, the noise is calibrated.

    `mb-sgd`: A run of Algorithm 1 of Lowy and Razaviyayn in which clients draw fresh batches in every round.

    `sampling` says how a client draws a batch. `participation` is a distribution of the number of participants.
    `client_groups` describes clients that differ. `quantization_levels` rounds messages. The last three may be absent.

    `mu2-sgd`: A run of DP-μ²-FL (Reshef and Levy), or of a method that it is compared with.

    If `noise_std` is absent, the noise is calibrated, and an absent `step_size` with it. A run with given noise needs a
    step size. The method `noisy-sgd` does not: its default step size depends on the problem, the noise and the rounds.
    The server divides the sum of a round's reports by `participants`; if it is absent, by the number of all clients.

    `norm-fedavg`: A run of DP-NormFedAvg (Algorithm 2 of Das et al.): normalised client updates, rounded to a grid,
    with noise.

    If `noise_levels` is absent, the noise is calibrated; 0 means no noise. If `quantization_levels` is absent, updates
    are sent without rounding, which is possible only without noise. Absent step sizes have the values of Theorem 2 of
    Das et al.

    Two further kinds of noise are for comparison, and are computed when noise is calibrated. `printed_noise_levels` and
    `printed_decay_rate` are what Theorem 1 of Das et al. prescribes (`as-printed`). `raised_noise_levels` and
    `raised_decay_rate` keep that decay, with as many levels as its guarantee needs (`as-printed-raised`).

    `one-pass-accelerated-mb-sgd`: A run of Algorithm 2 of Lowy and Razaviyayn that uses each record at most once.

    Then `batch_size` · `rounds` is at most `samples_per_client`.

    `ppsgd`: A run of PPSGD (Bietti et al.): how the clients take part, what they send, and the step sizes.

    `noise_std` is the noise per coordinate of the mean that the server forms. If it is absent, it is calibrated, and
    absent `personalization` and step sizes are chosen. If it is given, they must be given. Of `step_size` η and
    `shared_step_size` one is enough, because it decides the other. If only one part of the model learns
    (`personalization` is 0 or "unbounded"), a step size that is given for the other part is converted by
    shared_step_size = η/(qW). Here q is `participation_rate`, and W the sum of the clients' weights. If `clipping_norm`
    is absent, messages are not clipped.

    `projected-sgd`: A run of projected noisy gradient descent that releases one model (Algorithm 1 of Asoodeh et al.).

    If `noise_std` is absent, the noise is calibrated; 0 means no noise. `noise_schedule` varies it over the steps. If
    `rounds` is absent, the run is one pass over the n clients: ⌊n/m⌋ steps of m = `participants` clients. `batches`
    says how the clients of a step are chosen. `release` says which model is released.

    `shuffled-mb-sgd`: A run of Algorithm 1 of Lowy and Razaviyayn with batches that are drawn without replacement.

        Attributes:
            algorithm (RunAlgorithm):
            rounds (int | Unset): number of rounds
            batch_size (int | Unset): number of records that a client uses in one round
            participants (int | Unset): number of clients in one round
            stages (list[Stage] | Unset): stages of the run, in their order. Their rounds add up to the rounds of the run
            strong_convexity (float | Unset): strong convexity constant in the step sizes of Algorithm 2 of Lowy and
                Razaviyayn. Absent: that of the learning problem
            noise_std (float | Unset): Depends on the object:

                - standard deviation per coordinate of the Gaussian noise that is added to a message
                - standard deviation per coordinate of the noise in each gradient step of a client
                - standard deviation per coordinate of the noise of a client's first report, or of a trusted server's noise in a
                round's mean
                - standard deviation per coordinate of the noise that the server adds to the average of the clients' shared
                gradients
                - standard deviation per coordinate of the noise that one client adds, in the step where it is smallest
            participation (bool | float | JsonObject | list[Any] | str | Unset): any JSON value that is not null
            client_groups (list[ClientGroup] | Unset): Depends on the object:

                - groups of clients with equal properties, in the order of the problem's clients. With weights the objective is
                the weighted mean of the clients' losses. For an empirical objective, a client with fewer records has the last
                ones of its population
                - groups of clients with equal properties. A field that a group leaves out has the value given for all clients
            sampling (Sampling | Unset):
            local_steps (int | Unset): number of gradient steps of one client in a round
            local_step_size (float | Unset): step size of a gradient step
            server_step_size (float | Unset): step size of the server: it adds the mean of the normalised updates times this
                factor to the model
            quantization_levels (int | Unset): Depends on the object:

                - number s of grid steps in a unit: coordinates in [−1, 1] are rounded to multiples of 1/s
                - number of levels between 0 and the norm of a noisy message. Its coordinates are rounded at random to these
                levels. Absent: messages are sent as they are
            scaling (str | Unset): scaling of an update before rounding. normalised: to norm 1. clipped: to norm at most
                clipping_norm, and then divided by clipping_norm
            clipping_norm (float | Unset): bound on the ℓ2 norm of one client's message in a round
            noise_at (str | Unset): who adds the noise. clients: each client adds noise to its own message. server: the
                server adds noise once, to the sum
            noise_levels (int | Unset): largest absolute value of the integer noise, in grid steps
            decay_rate (float | Unset): decay rate α of the integer noise: the value y has probability proportional to
                e^(−α|y|)
            trials (int | Unset): number of trials (coin flips) of the Binomial noise of one coordinate
            step_size (float | Unset): Depends on the object:

                - step size of a client's gradient step
                - step size of a gradient step
            averaging_ratio (float | Unset): weight of a model in the average, divided by the weight of the model before it.
                Absent: 1/(1 − ημ) as in the risk bound, for step size η and strong convexity μ
            server (Server | Unset):
            method (str | Unset): algorithm that is run: cancelled-noise is DP-μ²-FL. The others are for comparison with the
                same privacy
            printed_noise_levels (int | Unset): largest absolute value of the integer noise of the comparison run `as-
                printed`
            printed_decay_rate (float | Unset): decay rate of the integer noise of the comparison run `as-printed`
            raised_noise_levels (int | Unset): largest absolute value of the integer noise of the comparison run `as-
                printed-raised`
            raised_decay_rate (float | Unset): decay rate of the integer noise of the comparison run `as-printed-raised`
            observer (Observer | Unset): server: The server itself is the adversary and sees every message by name; each
                client must add its own noise. shuffled-server: The server is the adversary and sees every message, but a
                trusted shuffler hides who sent it. released-models: The adversary sees the model after every round; a trusted
                curator trains it, as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All
                other clients together are the adversary and see every model that a trusted server sends them.
            participation_rate (float | Unset): probability that a given record, or client if clients are drawn, is in a
                batch
            weighting (Weighting | Unset):
            personalization (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
            shared_step_size (float | Unset): step size of the shared part of the model: α times step_size, for the degree
                of sharing α
            batches (Batches | Unset):
            step_schedule (Schedule | Unset): `constant`: The same value at every step.

                `explicit`: Listed values, one for each step.

                `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.
            noise_schedule (Schedule | Unset): `constant`: The same value at every step.

                `explicit`: Listed values, one for each step.

                `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.
            release (Release | Unset):
            suffix_fraction (float | Unset): for release `suffix`: fraction α. The released model is that after a step drawn
                uniformly from ⌈αT⌉, …, T, where T is the number of steps
    """

    algorithm: RunAlgorithm
    rounds: int | Unset = UNSET
    batch_size: int | Unset = UNSET
    participants: int | Unset = UNSET
    stages: list[Stage] | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    noise_std: float | Unset = UNSET
    participation: bool | float | JsonObject | list[Any] | str | Unset = UNSET
    client_groups: list[ClientGroup] | Unset = UNSET
    sampling: Sampling | Unset = UNSET
    local_steps: int | Unset = UNSET
    local_step_size: float | Unset = UNSET
    server_step_size: float | Unset = UNSET
    quantization_levels: int | Unset = UNSET
    scaling: str | Unset = UNSET
    clipping_norm: float | Unset = UNSET
    noise_at: str | Unset = UNSET
    noise_levels: int | Unset = UNSET
    decay_rate: float | Unset = UNSET
    trials: int | Unset = UNSET
    step_size: float | Unset = UNSET
    averaging_ratio: float | Unset = UNSET
    server: Server | Unset = UNSET
    method: str | Unset = UNSET
    printed_noise_levels: int | Unset = UNSET
    printed_decay_rate: float | Unset = UNSET
    raised_noise_levels: int | Unset = UNSET
    raised_decay_rate: float | Unset = UNSET
    observer: Observer | Unset = UNSET
    participation_rate: float | Unset = UNSET
    weighting: Weighting | Unset = UNSET
    personalization: float | Unbounded | Unset = UNSET
    shared_step_size: float | Unset = UNSET
    batches: Batches | Unset = UNSET
    step_schedule: Schedule | Unset = UNSET
    noise_schedule: Schedule | Unset = UNSET
    release: Release | Unset = UNSET
    suffix_fraction: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.json_object import JsonObject

        algorithm = self.algorithm.value

        rounds = self.rounds

        batch_size = self.batch_size

        participants = self.participants

        stages: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.stages, Unset):
            stages = []
            for stages_item_data in self.stages:
                stages_item = stages_item_data.to_dict()
                stages.append(stages_item)

        strong_convexity = self.strong_convexity

        noise_std = self.noise_std

        participation: bool | dict[str, Any] | float | list[Any] | str | Unset
        if isinstance(self.participation, Unset):
            participation = UNSET
        elif isinstance(self.participation, JsonObject):
            participation = self.participation.to_dict()
        elif isinstance(self.participation, list):
            participation = self.participation

        else:
            participation = self.participation

        client_groups: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.client_groups, Unset):
            client_groups = []
            for client_groups_item_data in self.client_groups:
                client_groups_item = client_groups_item_data.to_dict()
                client_groups.append(client_groups_item)

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling.value

        local_steps = self.local_steps

        local_step_size = self.local_step_size

        server_step_size = self.server_step_size

        quantization_levels = self.quantization_levels

        scaling = self.scaling

        clipping_norm = self.clipping_norm

        noise_at = self.noise_at

        noise_levels = self.noise_levels

        decay_rate = self.decay_rate

        trials = self.trials

        step_size = self.step_size

        averaging_ratio = self.averaging_ratio

        server: str | Unset = UNSET
        if not isinstance(self.server, Unset):
            server = self.server.value

        method = self.method

        printed_noise_levels = self.printed_noise_levels

        printed_decay_rate = self.printed_decay_rate

        raised_noise_levels = self.raised_noise_levels

        raised_decay_rate = self.raised_decay_rate

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer.value

        participation_rate = self.participation_rate

        weighting: str | Unset = UNSET
        if not isinstance(self.weighting, Unset):
            weighting = self.weighting.value

        personalization: float | str | Unset
        if isinstance(self.personalization, Unset):
            personalization = UNSET
        elif isinstance(self.personalization, Unbounded):
            personalization = self.personalization.value
        else:
            personalization = self.personalization

        shared_step_size = self.shared_step_size

        batches: str | Unset = UNSET
        if not isinstance(self.batches, Unset):
            batches = self.batches.value

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

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "algorithm": algorithm,
            }
        )
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if participants is not UNSET:
            field_dict["participants"] = participants
        if stages is not UNSET:
            field_dict["stages"] = stages
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std
        if participation is not UNSET:
            field_dict["participation"] = participation
        if client_groups is not UNSET:
            field_dict["client_groups"] = client_groups
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if local_steps is not UNSET:
            field_dict["local_steps"] = local_steps
        if local_step_size is not UNSET:
            field_dict["local_step_size"] = local_step_size
        if server_step_size is not UNSET:
            field_dict["server_step_size"] = server_step_size
        if quantization_levels is not UNSET:
            field_dict["quantization_levels"] = quantization_levels
        if scaling is not UNSET:
            field_dict["scaling"] = scaling
        if clipping_norm is not UNSET:
            field_dict["clipping_norm"] = clipping_norm
        if noise_at is not UNSET:
            field_dict["noise_at"] = noise_at
        if noise_levels is not UNSET:
            field_dict["noise_levels"] = noise_levels
        if decay_rate is not UNSET:
            field_dict["decay_rate"] = decay_rate
        if trials is not UNSET:
            field_dict["trials"] = trials
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if averaging_ratio is not UNSET:
            field_dict["averaging_ratio"] = averaging_ratio
        if server is not UNSET:
            field_dict["server"] = server
        if method is not UNSET:
            field_dict["method"] = method
        if printed_noise_levels is not UNSET:
            field_dict["printed_noise_levels"] = printed_noise_levels
        if printed_decay_rate is not UNSET:
            field_dict["printed_decay_rate"] = printed_decay_rate
        if raised_noise_levels is not UNSET:
            field_dict["raised_noise_levels"] = raised_noise_levels
        if raised_decay_rate is not UNSET:
            field_dict["raised_decay_rate"] = raised_decay_rate
        if observer is not UNSET:
            field_dict["observer"] = observer
        if participation_rate is not UNSET:
            field_dict["participation_rate"] = participation_rate
        if weighting is not UNSET:
            field_dict["weighting"] = weighting
        if personalization is not UNSET:
            field_dict["personalization"] = personalization
        if shared_step_size is not UNSET:
            field_dict["shared_step_size"] = shared_step_size
        if batches is not UNSET:
            field_dict["batches"] = batches
        if step_schedule is not UNSET:
            field_dict["step_schedule"] = step_schedule
        if noise_schedule is not UNSET:
            field_dict["noise_schedule"] = noise_schedule
        if release is not UNSET:
            field_dict["release"] = release
        if suffix_fraction is not UNSET:
            field_dict["suffix_fraction"] = suffix_fraction

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.client_group import ClientGroup
        from ..models.json_object import JsonObject
        from ..models.schedule import Schedule
        from ..models.stage import Stage

        d = dict(src_dict)
        algorithm = RunAlgorithm(d.pop("algorithm"))

        rounds = d.pop("rounds", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        participants = d.pop("participants", UNSET)

        _stages = d.pop("stages", UNSET)
        stages: list[Stage] | Unset = UNSET
        if _stages is not UNSET:
            stages = []
            for stages_item_data in _stages:
                stages_item = Stage.from_dict(stages_item_data)

                stages.append(stages_item)

        strong_convexity = d.pop("strong_convexity", UNSET)

        noise_std = d.pop("noise_std", UNSET)

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

        _client_groups = d.pop("client_groups", UNSET)
        client_groups: list[ClientGroup] | Unset = UNSET
        if _client_groups is not UNSET:
            client_groups = []
            for client_groups_item_data in _client_groups:
                client_groups_item = ClientGroup.from_dict(client_groups_item_data)

                client_groups.append(client_groups_item)

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = Sampling(_sampling)

        local_steps = d.pop("local_steps", UNSET)

        local_step_size = d.pop("local_step_size", UNSET)

        server_step_size = d.pop("server_step_size", UNSET)

        quantization_levels = d.pop("quantization_levels", UNSET)

        scaling = d.pop("scaling", UNSET)

        clipping_norm = d.pop("clipping_norm", UNSET)

        noise_at = d.pop("noise_at", UNSET)

        noise_levels = d.pop("noise_levels", UNSET)

        decay_rate = d.pop("decay_rate", UNSET)

        trials = d.pop("trials", UNSET)

        step_size = d.pop("step_size", UNSET)

        averaging_ratio = d.pop("averaging_ratio", UNSET)

        _server = d.pop("server", UNSET)
        server: Server | Unset
        if isinstance(_server, Unset):
            server = UNSET
        else:
            server = Server(_server)

        method = d.pop("method", UNSET)

        printed_noise_levels = d.pop("printed_noise_levels", UNSET)

        printed_decay_rate = d.pop("printed_decay_rate", UNSET)

        raised_noise_levels = d.pop("raised_noise_levels", UNSET)

        raised_decay_rate = d.pop("raised_decay_rate", UNSET)

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = Observer(_observer)

        participation_rate = d.pop("participation_rate", UNSET)

        _weighting = d.pop("weighting", UNSET)
        weighting: Weighting | Unset
        if isinstance(_weighting, Unset):
            weighting = UNSET
        else:
            weighting = Weighting(_weighting)

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

        _batches = d.pop("batches", UNSET)
        batches: Batches | Unset
        if isinstance(_batches, Unset):
            batches = UNSET
        else:
            batches = Batches(_batches)

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

        run = cls(
            algorithm=algorithm,
            rounds=rounds,
            batch_size=batch_size,
            participants=participants,
            stages=stages,
            strong_convexity=strong_convexity,
            noise_std=noise_std,
            participation=participation,
            client_groups=client_groups,
            sampling=sampling,
            local_steps=local_steps,
            local_step_size=local_step_size,
            server_step_size=server_step_size,
            quantization_levels=quantization_levels,
            scaling=scaling,
            clipping_norm=clipping_norm,
            noise_at=noise_at,
            noise_levels=noise_levels,
            decay_rate=decay_rate,
            trials=trials,
            step_size=step_size,
            averaging_ratio=averaging_ratio,
            server=server,
            method=method,
            printed_noise_levels=printed_noise_levels,
            printed_decay_rate=printed_decay_rate,
            raised_noise_levels=raised_noise_levels,
            raised_decay_rate=raised_decay_rate,
            observer=observer,
            participation_rate=participation_rate,
            weighting=weighting,
            personalization=personalization,
            shared_step_size=shared_step_size,
            batches=batches,
            step_schedule=step_schedule,
            noise_schedule=noise_schedule,
            release=release,
            suffix_fraction=suffix_fraction,
        )

        return run
