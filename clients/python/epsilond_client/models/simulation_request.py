from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.relation import Relation
from ..models.simulation_request_kind import SimulationRequestKind
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.canary_training import CanaryTraining
    from ..models.learning_problem import LearningProblem
    from ..models.quantized_message import QuantizedMessage
    from ..models.run import Run
    from ..models.spec import Spec
    from ..models.target import Target
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="SimulationRequest")


@_attrs_define
class SimulationRequest:
    """`audit`: Request to attack a mechanism, or one client's message, and to derive lower bounds on ε at δ.

    Either `spec` gives the mechanism, or `message` gives two updates that the attacker, the server, tells apart. For a
    message the relation is replace-one. Exactly one of `delta` and `log10_delta` is given.

    `membership`: Request for trainings with canaries, inserted records or clients, that membership attacks try to
    detect.

    An attacker guesses from the released models which canaries were in the data. Exactly one of `delta` and
    `log10_delta` is given.

    `preset`: An experiment by its name. Absent fields take the values of the experiment.

    `risk`: An algorithm, a problem, and how often to run it.

    Noise is given in the run, or else left to be calibrated to epsilon with one of delta and log10_delta. The run fixes
    the relation, unit and observer of the guarantee, and the guarantee of the result names them.

        Attributes:
            kind (SimulationRequestKind):
            relation (Relation | Unset): replace-one: One unit's data is replaced by any other data, and the number of units
                is the same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One
                unit's contribution counts as zero in one of the data sets.
            unit (Unit | Unset | WindowedUnit): protected unit, in which neighbours differ
            observer (Observer | Unset): server: The server itself is the adversary and sees every message by name; each
                client must add its own noise. shuffled-server: The server is the adversary and sees every message, but a
                trusted shuffler hides who sent it. released-models: The adversary sees the model after every round; a trusted
                curator trains it, as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All
                other clients together are the adversary and see every model that a trusted server sends them.
            spec (Spec | Unset): `approximate`: A mechanism of which only an (ε, δ) guarantee is known, in the relation of
                the request.

                δ = 0 is allowed: a pure guarantee. ε = 0 is allowed: outputs on neighbours differ by at most δ in total
                variation.

                Admits: every mechanism with this guarantee. Under replace-one and zero-out-one its output may reveal the number
                of
                records. Its output for a zeroed record may differ from that for an absent record.

                `composed`: Mechanisms that run one after another. Each may depend on the outputs of earlier ones.

                Admits: runs with parameters fixed in advance, each of which fits its mechanism for all outputs of earlier runs.
                All
                outputs are seen.

                `discrete_gaussian`: Adds noise with P(y) ∝ e^(−y²/(2 scale²)) on the integers to each of `dimension` integers.

                `l2_sensitivity` bounds the ℓ2 distance of the integer vectors, in grid steps, on any two neighbours in the
                request's relation. Nothing is doubled for replace-one.

                Admits: integers that depend on the data arbitrarily within that distance, as `discrete_laplace` does. The noise
                of
                one party is meant. A sum of several parties' discrete Gaussian noises has another distribution.

                `discrete_laplace`: Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each
                coordinate of integers.

                `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's
                relation.

                Admits: integers that depend on the data arbitrarily within that distance. They need not be a sum. A zeroed
                record
                may count where an absent one does not. An example is 1000 |S| + Σ x for a set S of records x, each 0 or 1,
                which
                has distance 1 under zero-out-one. Poisson sampling with rate q therefore keeps ε under zero-out-one, and only
                gives
                δ' = q δ.

                `exponential`: Chooses one candidate with probability ∝ e^(ε score/2), or ∝ e^(ε score) if the scores are
                monotonic.

                ε is `epsilon`, the pure privacy parameter of the mechanism. Between neighbours in the request's relation each
                score
                changes by at most 1. Monotonic scores all change in the same direction, for example counts of records under
                add-or-remove-one. Only the chosen candidate is released.

                Admits: any number of candidates, any score within that sensitivity, and any fixed weight of each candidate. The
                candidates and their weights are the same for all data. A zeroed record may change scores that an absent one
                does
                not.

                `gaussian`: Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ =
                noise_multiplier · C.

                Admits: a sum to which each record adds one vector that does not depend on the other records. A record that is
                absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

                Not covered: dividing by the actual batch size, or adding noise per record.

                `gaussian_mixture`: Adds N(0, σ²) per coordinate to a sum of contributions of random size, with σ =
                noise_multiplier · C.

                A record's contribution has ℓ2 norm at most `sensitivities[i]` · C with probability `probabilities[i]`. The
                largest
                probability is read as 1 minus the others.

                Admits: a sum to which each record adds one random vector. In every release an index i is drawn afresh for each
                record, independently of the data and of other records. The vector may depend on the data and on i. A record
                that is
                absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

                Not covered: indices that are seen, or that several records share.

                `laplace`: Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

                b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

                Admits: the sums that `Gaussian` admits, with Laplace noise.

                `permute_and_flip`: Visits the candidates in random order and accepts one with probability e^(ε (score − largest
                score)/2).

                The first accepted candidate is released. ε is `epsilon`, the pure privacy parameter of the mechanism. Between
                neighbours in the request's relation each score changes by at most 1.

                Admits: any number of candidates, and any score within that sensitivity. The candidates are the same for all
                data.
                A zeroed record may change scores that an absent one does not.

                `poisson_binomial`: Releases sums over clients of Binomial(trials, 1/2 + theta·x/C) for each coordinate x of a
                client's vector.

                C bounds the absolute value of every coordinate (ℓ∞). All binomial variables are independent and drawn afresh.
                Only
                the sum over at least `clients` clients is seen for each of `dimension` coordinates, as by secure aggregation.
                One
                client's message by itself is that of `clients` = 1, which is needed if the observer is a server.

                Admits: values of the other clients that the adversary knows or chooses before the draw, within C. Replace-one
                exchanges one client's vector for another one within C. An ℓ2 bound C also bounds every coordinate. An absent
                client
                changes the number of trials, so other relations have no bound here.

                `profile`: A mechanism of which only upper bounds on its privacy profile are known, in the relation of the
                request.

                On any two neighbours, δ at each listed ε is at most the listed δ. Between points the bound is the line in e^ε.
                After the last point it is constant.

                Admits: every mechanism with these bounds, as `approximate` does.

                `projected_sgd`: Noisy projected gradient descent that releases one model. Only this model is seen.

                W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), where Z_{t,j} ~ N(0, I).
                Π is the projection onto the ball of radius ρ. W_0 is in the ball and independent of the data. Each of the n
                clients
                holds one record. Each of the m clients of a batch adds its own noise, so the noise of the mean is σ_t/√m.
                Gradients
                are not clipped.

                `batches`: `shuffled` is a uniform partition into ⌊n/m⌋ batches of m. It is drawn once and kept secret. Its
                batches
                are used in order, repeatedly if there are more steps than batches. Clients in no batch never take part.
                `cyclic` is
                such a partition that is fixed in advance and may be public. `without-replacement` is a fresh uniform batch in
                each
                step.

                `rounds` is the number T of steps; if absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform
                on
                1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz
                on
                the ball, and convex unless `convex` is false. It is β-smooth if `smoothness` is given, and λ-strongly convex
                with
                λ = `strong_convexity`. Under zero-out-one the record's gradient is zero, and its client still adds noise.

                Admits: exactly n clients in both data sets. It does not run on a batch of a different number of clients. In a
                `cyclic` order every client may have every place, so drawing the n clients from a larger population only thins.

                `random_allocation`: Runs `mechanism` on `steps` batches in each of `epochs` epochs. A unit is in `times_chosen`
                batches of each.

                The batches of a unit are a uniformly random set of that many batches. If `kept` is false, the set is drawn
                again in
                every epoch. If `kept` is true, the set of the first epoch serves in all epochs. The unit is the protected one.

                Admits: a set for each unit that is independent of the data and of the sets of all other units. The size of a
                batch
                is then random. A batch may depend on outputs of earlier batches. The sets stay secret. Under replace-one and
                zero-out-one a mechanism that is no noisy sum may act differently on a batch without the unit. The bound then
                also
                holds if the sets are public.

                Several releases from one batch are a `composed` or `repeated` mechanism.

                Not covered: batches of a fixed size, such as those of a shuffled list, where the sets depend on each other.

                `randomized_response`: Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one
                with 1/(e^ε + k − 1).

                Here ε is `epsilon` and k is `categories`. `epsilon` is the guarantee for replacing a record's category by
                another,
                in every relation.

                Admits: reports that are seen with the names of their records. They show who is in a batch, so a random draw
                with
                inclusion probability q keeps ε, and only gives δ' = q δ. For reports without names or order use `shuffled`. A
                zeroed record still sends a report, as if of some category, fixed or random. An absent record sends nothing, so
                add-or-remove-one has no bound.

                `rdp`: A mechanism of which only bounds on its Rényi divergences are known, in the relation of the request.

                On any two neighbours, in both directions, the divergence of order `orders[i]` is at most `epsilons[i]`.

                Admits: every mechanism with these divergences, as `approximate` does.

                `repeated`: `times` independent runs of `mechanism`. Each may depend on the outputs of earlier runs.

                Admits: runs with parameters fixed in advance, each of which fits `mechanism` for all outputs of earlier runs.
                All
                outputs are seen.

                `report_noisy_max`: Adds independent noise of scale 2/ε to each score and releases the candidate with the
                largest sum.

                ε is `epsilon`, the pure privacy parameter of the mechanism. Between neighbours in the request's relation each
                score
                changes by at most 1. The noisy score itself is not released.

                Admits: any number of candidates, and any score within that sensitivity. The candidates are the same for all
                data.
                A zeroed record may change scores that an absent one does not.

                `select_best`: Runs `mechanism` a random number of times, and releases only the best output, as in hyper-
                parameter tuning.

                Admits: any total order of outputs that is fixed in advance, with ties broken by independent random numbers. The
                number of runs is drawn independently of the data and of the outputs. Runs may have different settings, such as
                learning rates, that are drawn anew for each run in the same way. Neither the other outputs nor the number of
                runs
                are seen.

                `shuffled`: Each of `clients` clients runs `mechanism` on its own single contribution, and a shuffler permutes
                the reports.

                A trusted shuffler forwards only the reports of a round, in a uniformly random order. Neighbours differ by
                replacing
                one client's contribution. The guarantee of `mechanism` for its own report is a replace-one guarantee. Bounds
                that
                depend on the number of coordinates of a report need `dimension`; the others hold for any.

                Admits: one `mechanism` that is the same for every client. Its report depends only on its client's contribution,
                so
                it names no sender. The number of reports is public. The draws of `mechanism` are draws of records of its
                client.

                `skellam`: Adds the difference of two independent Poisson variables of mean variance/2 to each of `dimension`
                integers.

                The sensitivities bound the ℓ1 and ℓ2 distance of the integer vectors, in grid steps, on any two neighbours in
                the
                request's relation. Nothing is doubled for replace-one. A sum of independent Skellam noises is Skellam noise,
                and
                the variances add. With dropouts, `variance` is that of the noise that remains.

                Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.

                `sparse_vector`: Answers for each of many queries whether it is above a noisy threshold, and stops after c such
                answers.

                ε is `epsilon`, s is `threshold_share` and c is `largest_answers`. The threshold has Laplace noise of scale 1/(s
                ε),
                drawn once. Each query has fresh Laplace noise of scale 2c/((1 − s) ε), or c/((1 − s) ε) if the queries are
                monotonic. Between neighbours in the request's relation each query changes by at most 1. Monotonic queries all
                change in the same direction. Only the answers are released, and no values of queries.

                Admits: any number of queries of that sensitivity, each chosen after the earlier answers. The thresholds do not
                depend on the data. A zeroed record may change queries that an absent one does not.

                `subsampled`: Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

                `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
                `batch_size` records. `with-replacement`: `batch_size` independent uniform draws; a record counts as often as it
                is
                drawn. `full`: every record, no amplification. `shuffled-epochs`: each of `epochs` epochs permutes the records
                and
                cuts them into batches of `batch_size`, and `mechanism` is run on every batch. A remainder is a smaller last
                batch,
                or is left out.

                `largest_batch` truncates Poisson batches: of more drawn records, a uniform subset of this size is kept. The
                other
                drawn records do not enter this batch. Then `population` is the number of records. Under add-or-remove-one it is
                that of the larger data set.

                `records_of_one_client` bounds the number of records of one client, where `level` is `records` and clients are
                protected. Records are drawn from those of all clients together, and `noise_multiplier` refers to the norm bound
                of
                one record. Without this field it refers to the whole contribution of a client, and the draw of records does not
                protect the client.

                Admits: fresh draws that do not depend on the data. The amplified ε has two conditions. The members of a batch
                stay
                secret, and the mechanism receives a batch of fixed size as a set (no order, place or name). An answer that uses
                them declares them. A mechanism for a fixed number of records or clients is not run on a batch of random size.

                `level` says whether records or clients are drawn. If it is absent, the protected unit is drawn, and some specs
                have
                two readings. If records are protected and `mechanism` draws again, it may draw from the batch, or each drawn
                client
                may draw among its own records. There is only one reading if an outer draw is of records. If clients are
                protected,
                a draw below a draw of clients may be among the records of a client. A draw of records that is not below a draw
                of
                clients may be among the records of one client, or of all clients. The answer covers both readings. If no bound
                covers both, the spec is rejected: set `records` or `clients` (docs/decisions/0004-two-level-sampling.md).

                `truncated_discrete_laplace`: Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to
                each of `dimension` integers.

                The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
                relation; a real bound means its floor. Outputs that are possible for only one of two neighbours have infinite
                loss.

                Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.

                `zcdp`: A mechanism of which only ρ-zero-concentrated privacy is known, in the relation of the request.

                With a `delta` it is δ-approximately ρ-zCDP (Bun and Steinke 2016, Definition 8.1). On any two neighbours there
                are
                events of probability 1 − δ. Given these, the outputs have Rényi divergences of at most ρa at every order a > 1.

                Admits: every mechanism with this guarantee, as `approximate` does.
            message (QuantizedMessage | Unset): A client's message for one of two updates. The attacker knows both, and has
                to find out which was sent.

                Each coordinate is rounded at random to a multiple of 1/s, without bias, where s is `quantization_levels`. Then
                truncated discrete Laplace noise is added.
            attack (str | Unset): program that is attacked. implemented: the exact samplers of integer noise and rounding,
                and draws of whole batches if population and batch_size are given. mathematical: faster samplers of the same
                distributions
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            samples (int | Unset): number of runs of the mechanism on each of the two data sets
            confidence (float | Unset): Depends on the object:

                - confidence level of each lower bound by itself: the probability that it holds
                - confidence level of the interval at each round by itself
            seed (int | Unset): seed of all randomness: the same seed gives the same answer
            claim (Target | Unset): An ε with its δ, or a risk in place of ε. A δ that is too small for a double is given
                only as `log10_delta`.
            training (CanaryTraining | Unset): A training with clipping and noise, and the canaries that are put into its
                data.

                A member is a record or a client, as `unit` says. In each round every member participates with probability
                `sampling_rate`, and sends a contribution of norm at most `clipping_norm` C. The noise of their sum has standard
                deviation `noise_multiplier` times C. A client's contribution is its update after `local_steps` gradient steps.
                Canaries are additional members, whose presence an attacker guesses. `problem` has the data, drawn once from its
                own seed.
            runs (int | Unset): number of trainings that are attacked. With several canaries, each is in the data of a
                training with probability ½, and one training is enough. With one canary, half of the trainings contain it
            references (int | Unset): number of further trainings, for likelihood-ratio attacks. The attacker knows which
                canaries they contain
            attacks (list[str] | Unset): attacks to make. every-model: by log-likelihood ratios of all models. final-model:
                by the canary's loss under the last model. Likelihood-ratio attacks: by this loss, compared with the losses
                under reference models. Absent: all that are possible
            preset (str | Unset): name of the experiment
            repetitions (int | Unset): number of independent repetitions, each with its own randomness
            run (Run | Unset): `accelerated-mb-sgd`: A run of Algorithm 2 of Lowy and Razaviyayn in which clients draw fresh
                batches in every round.

                `sampling` says how a client draws the `batch_size` records of a batch.

                `fedavg`: A run of FedAvg without noise and without privacy.

                If `local_step_size` is absent, it is the step size of Theorem 4 of Das et al. for convex losses.

                `grid-fedavg`: A run of FedAvg whose clients send updates rounded to a grid, with integer noise.

                The noise of a coordinate is one of two kinds. It is truncated discrete Laplace noise if `noise_levels` and
                `decay_rate` are given, and Binomial noise if `trials`, its number of coin flips, is given. If all three are
                absent,
                discrete Laplace noise is calibrated. The run has no noise if `noise_levels` is 0.

                `local-sgd`: A run of noisy local SGD: participants take several noisy steps before the server averages their
                models.

                In each of `rounds` rounds a participant takes `local_steps` steps, with `batch_size` fresh records in each. If
                `participants` is absent, all clients participate. If `noise_std` is absent, the noise is calibrated.

                `mb-sgd`: A run of Algorithm 1 of Lowy and Razaviyayn in which clients draw fresh batches in every round.

                `sampling` says how a client draws a batch. `participation` is a distribution of the number of participants.
                `client_groups` describes clients that differ. `quantization_levels` rounds messages. The last three may be
                absent.

                `mu2-sgd`: A run of DP-μ²-FL (Reshef and Levy), or of a method that it is compared with.

                If `noise_std` is absent, the noise is calibrated, and an absent `step_size` with it. A run with given noise
                needs a
                step size. The method `noisy-sgd` does not: its default step size depends on the problem, the noise and the
                rounds.
                The server divides the sum of a round's reports by `participants`; if it is absent, by the number of all
                clients.

                `norm-fedavg`: A run of DP-NormFedAvg (Algorithm 2 of Das et al.): normalised client updates, rounded to a grid,
                with noise.

                If `noise_levels` is absent, the noise is calibrated; 0 means no noise. If `quantization_levels` is absent,
                updates
                are sent without rounding, which is possible only without noise. Absent step sizes have the values of Theorem 2
                of
                Das et al.

                Two further kinds of noise are for comparison, and are computed when noise is calibrated. `printed_noise_levels`
                and
                `printed_decay_rate` are what Theorem 1 of Das et al. prescribes (`as-printed`). `raised_noise_levels` and
                `raised_decay_rate` keep that decay, with as many levels as its guarantee needs (`as-printed-raised`).

                `one-pass-accelerated-mb-sgd`: A run of Algorithm 2 of Lowy and Razaviyayn that uses each record at most once.

                Then `batch_size` · `rounds` is at most `samples_per_client`.

                `ppsgd`: A run of PPSGD (Bietti et al.): how the clients take part, what they send, and the step sizes.

                `noise_std` is the noise per coordinate of the mean that the server forms. If it is absent, it is calibrated,
                and
                absent `personalization` and step sizes are chosen. If it is given, they must be given. Of `step_size` η and
                `shared_step_size` one is enough, because it decides the other. If only one part of the model learns
                (`personalization` is 0 or "unbounded"), a step size that is given for the other part is converted by
                shared_step_size = η/(qW). Here q is `participation_rate`, and W the sum of the clients' weights. If
                `clipping_norm`
                is absent, messages are not clipped.

                `projected-sgd`: A run of projected noisy gradient descent that releases one model (Algorithm 1 of Asoodeh et
                al.).

                If `noise_std` is absent, the noise is calibrated; 0 means no noise. `noise_schedule` varies it over the steps.
                If
                `rounds` is absent, the run is one pass over the n clients: ⌊n/m⌋ steps of m = `participants` clients. `batches`
                says how the clients of a step are chosen. `release` says which model is released.

                `shuffled-mb-sgd`: A run of Algorithm 1 of Lowy and Razaviyayn with batches that are drawn without replacement.
            problem (LearningProblem | Unset): `dataset`: Classification or regression on real records. The records that a
                client is assigned are its population.

                If `samples_per_client` is absent, it is the number of records that a client is assigned and that are not held
                out.
                An empirical objective allows only this number.

                `huber`: Huber regression on synthetic records: the loss is Huber's function of the residual ⟨x, w⟩ − y.

                Targets y are in [−1, 1] and follow a linear model of the features x. Without the ridge term a gradient has norm
                at
                most `threshold`, in every domain. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

                `least-squares`: Least squares on synthetic records: the loss is ½(⟨x, w⟩ − y)² for features x and target y ∈
                [−1, 1].

                Targets follow a linear model. `target_noise` is the standard deviation of their noise before they are clipped
                to
                [−1, 1]. `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

                `linear`: A linear loss ½‖x‖² − ⟨x, w⟩ for the model w and a record x in the unit ball, plus the ridge term
                ½μ‖w‖².

                μ is `strong_convexity`. If it is 0, the gradient is the same at every model, and the minimiser is on the sphere
                that bounds the domain.

                `logistic`: Logistic regression on synthetic records: the loss is ln(1 + e^(−y⟨x, w⟩)) for features x and label
                y = ±1.

                A label is 1 with probability 1/(1 + e^(−a⟨x, v⟩)), where a is `sharpness` and v the model that the records
                follow.
                `strong_convexity` is the weight μ of the ridge term ½μ‖w‖².

                `mean-estimation`: Estimation of a mean: the loss is ½‖w − x‖² for the model w and a record x in the unit ball.

                The loss is 1-smooth and 1-strongly convex. The minimiser is the mean of the records, if it is in the domain.

                `personalized-digits`: Personalised softmax regression on images of the digits 0 to 9, split evenly over the
                clients.

                Every client gets the same number of records, and the remaining records are left out. A share `held_out` of each
                client's records is for testing.

                `personalized-huber`: Personalised Huber regression, with target noise +τ or −τ and features from a finite list
                of scaled sign vectors.

                τ is `target_noise_std`, and the list has `feature_vectors` entries. The loss is quadratic up to the residual
                κ = `threshold` and linear beyond, so that a gradient has norm at most κ‖x‖. The expected loss is a finite sum,
                and
                is computed exactly.

                `personalized-least-squares`: Personalised least squares, with Gaussian noise in the targets.

                The loss is half the squared residual. Its gradient has no bound, so that clipping may change it. With Gaussian
                features the loss has no smoothness constant that holds for all records, so that no risk bound applies.
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            points (int | Unset): largest number of rounds at which the run is measured
            spacing (str | Unset): whether the measured rounds have equal differences or equal ratios
            alternatives (list[str] | Unset): names of runs with which the run is compared. Absent: all that are offered for
                the algorithm
            return_model (bool | Unset): true: the answer has the weights of the model that the first repetition of every
                run put out, at most 20000 numbers for one run
    """

    kind: SimulationRequestKind
    relation: Relation | Unset = UNSET
    unit: Unit | Unset | WindowedUnit = UNSET
    observer: Observer | Unset = UNSET
    spec: Spec | Unset = UNSET
    message: QuantizedMessage | Unset = UNSET
    attack: str | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    samples: int | Unset = UNSET
    confidence: float | Unset = UNSET
    seed: int | Unset = UNSET
    claim: Target | Unset = UNSET
    training: CanaryTraining | Unset = UNSET
    runs: int | Unset = UNSET
    references: int | Unset = UNSET
    attacks: list[str] | Unset = UNSET
    preset: str | Unset = UNSET
    repetitions: int | Unset = UNSET
    run: Run | Unset = UNSET
    problem: LearningProblem | Unset = UNSET
    epsilon: float | Unset = UNSET
    points: int | Unset = UNSET
    spacing: str | Unset = UNSET
    alternatives: list[str] | Unset = UNSET
    return_model: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation.value

        unit: dict[str, Any] | str | Unset
        if isinstance(self.unit, Unset):
            unit = UNSET
        elif isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer.value

        spec: dict[str, Any] | Unset = UNSET
        if not isinstance(self.spec, Unset):
            spec = self.spec.to_dict()

        message: dict[str, Any] | Unset = UNSET
        if not isinstance(self.message, Unset):
            message = self.message.to_dict()

        attack = self.attack

        delta = self.delta

        log10_delta = self.log10_delta

        samples = self.samples

        confidence = self.confidence

        seed = self.seed

        claim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claim, Unset):
            claim = self.claim.to_dict()

        training: dict[str, Any] | Unset = UNSET
        if not isinstance(self.training, Unset):
            training = self.training.to_dict()

        runs = self.runs

        references = self.references

        attacks: list[str] | Unset = UNSET
        if not isinstance(self.attacks, Unset):
            attacks = self.attacks

        preset = self.preset

        repetitions = self.repetitions

        run: dict[str, Any] | Unset = UNSET
        if not isinstance(self.run, Unset):
            run = self.run.to_dict()

        problem: dict[str, Any] | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem.to_dict()

        epsilon = self.epsilon

        points = self.points

        spacing = self.spacing

        alternatives: list[str] | Unset = UNSET
        if not isinstance(self.alternatives, Unset):
            alternatives = self.alternatives

        return_model = self.return_model

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if relation is not UNSET:
            field_dict["relation"] = relation
        if unit is not UNSET:
            field_dict["unit"] = unit
        if observer is not UNSET:
            field_dict["observer"] = observer
        if spec is not UNSET:
            field_dict["spec"] = spec
        if message is not UNSET:
            field_dict["message"] = message
        if attack is not UNSET:
            field_dict["attack"] = attack
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if samples is not UNSET:
            field_dict["samples"] = samples
        if confidence is not UNSET:
            field_dict["confidence"] = confidence
        if seed is not UNSET:
            field_dict["seed"] = seed
        if claim is not UNSET:
            field_dict["claim"] = claim
        if training is not UNSET:
            field_dict["training"] = training
        if runs is not UNSET:
            field_dict["runs"] = runs
        if references is not UNSET:
            field_dict["references"] = references
        if attacks is not UNSET:
            field_dict["attacks"] = attacks
        if preset is not UNSET:
            field_dict["preset"] = preset
        if repetitions is not UNSET:
            field_dict["repetitions"] = repetitions
        if run is not UNSET:
            field_dict["run"] = run
        if problem is not UNSET:
            field_dict["problem"] = problem
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if points is not UNSET:
            field_dict["points"] = points
        if spacing is not UNSET:
            field_dict["spacing"] = spacing
        if alternatives is not UNSET:
            field_dict["alternatives"] = alternatives
        if return_model is not UNSET:
            field_dict["return_model"] = return_model

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.canary_training import CanaryTraining
        from ..models.learning_problem import LearningProblem
        from ..models.quantized_message import QuantizedMessage
        from ..models.run import Run
        from ..models.spec import Spec
        from ..models.target import Target
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        kind = SimulationRequestKind(d.pop("kind"))

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = Relation(_relation)

        def _parse_unit(data: object) -> Unit | Unset | WindowedUnit:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                unit_type_0 = Unit(data)

                return unit_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            unit_type_1 = WindowedUnit.from_dict(data)

            return unit_type_1

        unit = _parse_unit(d.pop("unit", UNSET))

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = Observer(_observer)

        _spec = d.pop("spec", UNSET)
        spec: Spec | Unset
        if isinstance(_spec, Unset):
            spec = UNSET
        else:
            spec = Spec.from_dict(_spec)

        _message = d.pop("message", UNSET)
        message: QuantizedMessage | Unset
        if isinstance(_message, Unset):
            message = UNSET
        else:
            message = QuantizedMessage.from_dict(_message)

        attack = d.pop("attack", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        samples = d.pop("samples", UNSET)

        confidence = d.pop("confidence", UNSET)

        seed = d.pop("seed", UNSET)

        _claim = d.pop("claim", UNSET)
        claim: Target | Unset
        if isinstance(_claim, Unset):
            claim = UNSET
        else:
            claim = Target.from_dict(_claim)

        _training = d.pop("training", UNSET)
        training: CanaryTraining | Unset
        if isinstance(_training, Unset):
            training = UNSET
        else:
            training = CanaryTraining.from_dict(_training)

        runs = d.pop("runs", UNSET)

        references = d.pop("references", UNSET)

        attacks = cast(list[str], d.pop("attacks", UNSET))

        preset = d.pop("preset", UNSET)

        repetitions = d.pop("repetitions", UNSET)

        _run = d.pop("run", UNSET)
        run: Run | Unset
        if isinstance(_run, Unset):
            run = UNSET
        else:
            run = Run.from_dict(_run)

        _problem = d.pop("problem", UNSET)
        problem: LearningProblem | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = LearningProblem.from_dict(_problem)

        epsilon = d.pop("epsilon", UNSET)

        points = d.pop("points", UNSET)

        spacing = d.pop("spacing", UNSET)

        alternatives = cast(list[str], d.pop("alternatives", UNSET))

        return_model = d.pop("return_model", UNSET)

        simulation_request = cls(
            kind=kind,
            relation=relation,
            unit=unit,
            observer=observer,
            spec=spec,
            message=message,
            attack=attack,
            delta=delta,
            log10_delta=log10_delta,
            samples=samples,
            confidence=confidence,
            seed=seed,
            claim=claim,
            training=training,
            runs=runs,
            references=references,
            attacks=attacks,
            preset=preset,
            repetitions=repetitions,
            run=run,
            problem=problem,
            epsilon=epsilon,
            points=points,
            spacing=spacing,
            alternatives=alternatives,
            return_model=return_model,
        )

        return simulation_request
