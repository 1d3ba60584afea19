from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.batches import Batches
from ..models.release import Release
from ..models.spec_kind import SpecKind
from ..models.spec_sampling import SpecSampling
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.repetitions import Repetitions
    from ..models.schedule import Schedule


T = TypeVar("T", bound="Spec")


@_attrs_define
class Spec:
    """`approximate`: A mechanism of which only an (ε, δ) guarantee is known, in the relation of the request.

    δ = 0 is allowed: a pure guarantee. ε = 0 is allowed: outputs on neighbours differ by at most δ in total variation.

    Admits: every mechanism with this guarantee. Under replace-one and zero-out-one its output may reveal the number of
    records. Its output for a zeroed record may differ from that for an absent record.

    `composed`: Mechanisms that run one after another. Each may depend on the outputs of earlier ones.

    Admits: runs with parameters fixed in advance, each of which fits its mechanism for all outputs of earlier runs. All
    outputs are seen.

    `discrete_gaussian`: Adds noise with P(y) ∝ e^(−y²/(2 scale²)) on the integers to each of `dimension` integers.

    `l2_sensitivity` bounds the ℓ2 distance of the integer vectors, in grid steps, on any two neighbours in the
    request's relation. Nothing is doubled for replace-one.

    Admits: integers that depend on the data arbitrarily within that distance, as `discrete_laplace` does. The noise of
    one party is meant. A sum of several parties' discrete Gaussian noises has another distribution.

    `discrete_laplace`: Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each coordinate
    of integers.

    `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's relation.

    Admits: integers that depend on the data arbitrarily within that distance. They need not be a sum. A zeroed record
    may count where an absent one does not. An example is 1000 |S| + Σ x for a set S of records x, each 0 or 1, which
    has distance 1 under zero-out-one. Poisson sampling with rate q therefore keeps ε under zero-out-one, and only gives
    δ' = q δ.

    `exponential`: Chooses one candidate with probability ∝ e^(ε score/2), or ∝ e^(ε score) if the scores are monotonic.

    ε is `epsilon`, the pure privacy parameter of the mechanism. Between neighbours in the request's relation each score
    changes by at most 1. Monotonic scores all change in the same direction, for example counts of records under
    add-or-remove-one. Only the chosen candidate is released.

    Admits: any number of candidates, any score within that sensitivity, and any fixed weight of each candidate. The
    candidates and their weights are the same for all data. A zeroed record may change scores that an absent one does
    not.

    `gaussian`: Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ = noise_multiplier ·
    C.

    Admits: a sum to which each record adds one vector that does not depend on the other records. A record that is
    absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

    Not covered: dividing by the actual batch size, or adding noise per record.

    `gaussian_mixture`: Adds N(0, σ²) per coordinate to a sum of contributions of random size, with σ = noise_multiplier
    · C.

    A record's contribution has ℓ2 norm at most `sensitivities[i]` · C with probability `probabilities[i]`. The largest
    probability is read as 1 minus the others.

    Admits: a sum to which each record adds one random vector. In every release an index i is drawn afresh for each
    record, independently of the data and of other records. The vector may depend on the data and on i. A record that is
    absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

    Not covered: indices that are seen, or that several records share.

    `laplace`: Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

    b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

    Admits: the sums that `Gaussian` admits, with Laplace noise.

    `permute_and_flip`: Visits the candidates in random order and accepts one with probability e^(ε (score − largest
    score)/2).

    The first accepted candidate is released. ε is `epsilon`, the pure privacy parameter of the mechanism. Between
    neighbours in the request's relation each score changes by at most 1.

    Admits: any number of candidates, and any score within that sensitivity. The candidates are the same for all data.
    A zeroed record may change scores that an absent one does not.

    `poisson_binomial`: Releases sums over clients of Binomial(trials, 1/2 + theta·x/C) for each coordinate x of a
    client's vector.

    C bounds the absolute value of every coordinate (ℓ∞). All binomial variables are independent and drawn afresh. Only
    the sum over at least `clients` clients is seen for each of `dimension` coordinates, as by secure aggregation. One
    client's message by itself is that of `clients` = 1, which is needed if the observer is a server.

    Admits: values of the other clients that the adversary knows or chooses before the draw, within C. Replace-one
    exchanges one client's vector for another one within C. An ℓ2 bound C also bounds every coordinate. An absent client
    changes the number of trials, so other relations have no bound here.

    `profile`: A mechanism of which only upper bounds on its privacy profile are known, in the relation of the request.

    On any two neighbours, δ at each listed ε is at most the listed δ. Between points the bound is the line in e^ε.
    After the last point it is constant.

    Admits: every mechanism with these bounds, as `approximate` does.

    `projected_sgd`: Noisy projected gradient descent that releases one model. Only this model is seen.

    W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), where Z_{t,j} ~ N(0, I).
    Π is the projection onto the ball of radius ρ. W_0 is in the ball and independent of the data. Each of the n clients
    holds one record. Each of the m clients of a batch adds its own noise, so the noise of the mean is σ_t/√m. Gradients
    are not clipped.

    `batches`: `shuffled` is a uniform partition into ⌊n/m⌋ batches of m. It is drawn once and kept secret. Its batches
    are used in order, repeatedly if there are more steps than batches. Clients in no batch never take part. `cyclic` is
    such a partition that is fixed in advance and may be public. `without-replacement` is a fresh uniform batch in each
    step.

    `rounds` is the number T of steps; if absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform on
    1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz on
    the ball, and convex unless `convex` is false. It is β-smooth if `smoothness` is given, and λ-strongly convex with
    λ = `strong_convexity`. Under zero-out-one the record's gradient is zero, and its client still adds noise.

    Admits: exactly n clients in both data sets. It does not run on a batch of a different number of clients. In a
    `cyclic` order every client may have every place, so drawing the n clients from a larger population only thins.

    `random_allocation`: Runs `mechanism` on `steps` batches in each of `epochs` epochs. A unit is in `times_chosen`
    batches of each.

    The batches of a unit are a uniformly random set of that many batches. If `kept` is false, the set is drawn again in
    every epoch. If `kept` is true, the set of the first epoch serves in all epochs. The unit is the protected one.

    Admits: a set for each unit that is independent of the data and of the sets of all other units. The size of a batch
    is then random. A batch may depend on outputs of earlier batches. The sets stay secret. Under replace-one and
    zero-out-one a mechanism that is no noisy sum may act differently on a batch without the unit. The bound then also
    holds if the sets are public.

    Several releases from one batch are a `composed` or `repeated` mechanism.

    Not covered: batches of a fixed size, such as those of a shuffled list, where the sets depend on each other.

    `randomized_response`: Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one with
    1/(e^ε + k − 1).

    Here ε is `epsilon` and k is `categories`. `epsilon` is the guarantee for replacing a record's category by another,
    in every relation.

    Admits: reports that are seen with the names of their records. They show who is in a batch, so a random draw with
    inclusion probability q keeps ε, and only gives δ' = q δ. For reports without names or order use `shuffled`. A
    zeroed record still sends a report, as if of some category, fixed or random. An absent record sends nothing, so
    add-or-remove-one has no bound.

    `rdp`: A mechanism of which only bounds on its Rényi divergences are known, in the relation of the request.

    On any two neighbours, in both directions, the divergence of order `orders[i]` is at most `epsilons[i]`.

    Admits: every mechanism with these divergences, as `approximate` does.

    `repeated`: `times` independent runs of `mechanism`. Each may depend on the outputs of earlier runs.

    Admits: runs with parameters fixed in advance, each of which fits `mechanism` for all outputs of earlier runs. All
    outputs are seen.

    `report_noisy_max`: Adds independent noise of scale 2/ε to each score and releases the candidate with the largest
    sum.

    ε is `epsilon`, the pure privacy parameter of the mechanism. Between neighbours in the request's relation each score
    changes by at most 1. The noisy score itself is not released.

    Admits: any number of candidates, and any score within that sensitivity. The candidates are the same for all data.
    A zeroed record may change scores that an absent one does not.

    `select_best`: Runs `mechanism` a random number of times, and releases only the best output, as in hyper-parameter
    tuning.

    Admits: any total order of outputs that is fixed in advance, with ties broken by independent random numbers. The
    number of runs is drawn independently of the data and of the outputs. Runs may have different settings, such as
    learning rates, that are drawn anew for each run in the same way. Neither the other outputs nor the number of runs
    are seen.

    `shuffled`: Each of `clients` clients runs `mechanism` on its own single contribution, and a shuffler permutes the
    reports.

    A trusted shuffler forwards only the reports of a round, in a uniformly random order. Neighbours differ by replacing
    one client's contribution. The guarantee of `mechanism` for its own report is a replace-one guarantee. Bounds that
    depend on the number of coordinates of a report need `dimension`; the others hold for any.

    Admits: one `mechanism` that is the same for every client. Its report depends only on its client's contribution, so
    it names no sender. The number of reports is public. The draws of `mechanism` are draws of records of its client.

    `skellam`: Adds the difference of two independent Poisson variables of mean variance/2 to each of `dimension`
    integers.

    The sensitivities bound the ℓ1 and ℓ2 distance of the integer vectors, in grid steps, on any two neighbours in the
    request's relation. Nothing is doubled for replace-one. A sum of independent Skellam noises is Skellam noise, and
    the variances add. With dropouts, `variance` is that of the noise that remains.

    Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.

    `sparse_vector`: Answers for each of many queries whether it is above a noisy threshold, and stops after c such
    answers.

    ε is `epsilon`, s is `threshold_share` and c is `largest_answers`. The threshold has Laplace noise of scale 1/(s ε),
    drawn once. Each query has fresh Laplace noise of scale 2c/((1 − s) ε), or c/((1 − s) ε) if the queries are
    monotonic. Between neighbours in the request's relation each query changes by at most 1. Monotonic queries all
    change in the same direction. Only the answers are released, and no values of queries.

    Admits: any number of queries of that sensitivity, each chosen after the earlier answers. The thresholds do not
    depend on the data. A zeroed record may change queries that an absent one does not.

    `subsampled`: Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

    `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
    `batch_size` records. `with-replacement`: `batch_size` independent uniform draws; a record counts as often as it is
    drawn. `full`: every record, no amplification. `shuffled-epochs`: each of `epochs` epochs permutes the records and
    cuts them into batches of `batch_size`, and `mechanism` is run on every batch. A remainder is a smaller last batch,
    or is left out.

    `largest_batch` truncates Poisson batches: of more drawn records, a uniform subset of this size is kept. The other
    drawn records do not enter this batch. Then `population` is the number of records. Under add-or-remove-one it is
    that of the larger data set.

    `records_of_one_client` bounds the number of records of one client, where `level` is `records` and clients are
    protected. Records are drawn from those of all clients together, and `noise_multiplier` refers to the norm bound of
    one record. Without this field it refers to the whole contribution of a client, and the draw of records does not
    protect the client.

    Admits: fresh draws that do not depend on the data. The amplified ε has two conditions. The members of a batch stay
    secret, and the mechanism receives a batch of fixed size as a set (no order, place or name). An answer that uses
    them declares them. A mechanism for a fixed number of records or clients is not run on a batch of random size.

    `level` says whether records or clients are drawn. If it is absent, the protected unit is drawn, and some specs have
    two readings. If records are protected and `mechanism` draws again, it may draw from the batch, or each drawn client
    may draw among its own records. There is only one reading if an outer draw is of records. If clients are protected,
    a draw below a draw of clients may be among the records of a client. A draw of records that is not below a draw of
    clients may be among the records of one client, or of all clients. The answer covers both readings. If no bound
    covers both, the spec is rejected: set `records` or `clients` (docs/decisions/0004-two-level-sampling.md).

    `truncated_discrete_laplace`: Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to each
    of `dimension` integers.

    The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
    relation; a real bound means its floor. Outputs that are possible for only one of two neighbours have infinite loss.

    Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.

    `zcdp`: A mechanism of which only ρ-zero-concentrated privacy is known, in the relation of the request.

    With a `delta` it is δ-approximately ρ-zCDP (Bun and Steinke 2016, Definition 8.1). On any two neighbours there are
    events of probability 1 − δ. Given these, the outputs have Rényi divergences of at most ρa at every order a > 1.

    Admits: every mechanism with this guarantee, as `approximate` does.

        Attributes:
            kind (SpecKind):
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee; 0 for pure differential privacy
            mechanisms (list[Spec] | Unset): mechanisms that are run one after another, in this order. Each may depend on
                the outputs of earlier ones
            scale (float | Unset): scale σ of the discrete Gaussian noise, in grid steps: the integer y has probability
                proportional to e^(−y²/(2σ²))
            l2_sensitivity (float | Unset): ℓ2 sensitivity: largest ℓ2 distance between the integer vectors of two
                neighbouring data sets, in grid steps
            dimension (int | Unset): Depends on the object:

                - number of coordinates of the model
                - number of coordinates of one client's message. Absent: the bound must hold for any number
            decay_rate (float | Unset): decay rate α of the integer noise: the value y has probability proportional to
                e^(−α|y|)
            sensitivity (int | Unset): ℓ1 sensitivity: largest ℓ1 distance between the integer vectors of two neighbouring
                data sets
            monotonic (bool | Unset): Depends on the object:

                - true: between two neighbours either no score increases or no score decreases. A candidate then has weight e^(ε
                score)
                - true: between two neighbours either no query increases or no query decreases
            noise_multiplier (float | Unset): standard deviation σ of the noise per coordinate, divided by the bound C on
                the ℓ2 norm of one contribution. It is not divided by the sensitivity, which is 2C for replace-one
            sensitivities (list[float] | Unset): possible bounds on the ℓ2 norm of one record's contribution, divided by the
                bound C that noise_multiplier refers to
            probabilities (list[float] | Unset): probability of each of the sensitivities, in their order. They add up to 1.
                The largest is replaced by 1 minus the sum of the others
            scale_multiplier (float | Unset): scale of the Laplace noise, divided by the bound C on the ℓ1 norm of one
                contribution. It is not divided by the sensitivity, which is 2C for replace-one
            trials (int | Unset): number of trials of the Binomial variable of one client and one coordinate
            theta (float | Unset): largest distance of a trial's success probability from 1/2: at a coordinate x it is 1/2 +
                theta·x/C
            clients (int | Unset): Depends on the object:

                - smallest number of clients in any sum that the adversary sees
                - number of clients in the federation
            points (list[list[float]] | Unset): upper bounds on δ for the outputs with the protected unit against those
                without it, as points [ε, log10 δ] with increasing ε. 0 ≤ ε ≤ 1e9 and −1e9 ≤ log10 δ ≤ 0. Without reverse they
                are for both directions
            reverse (list[list[float]] | Unset): upper bounds on δ for the outputs without the protected unit against those
                with it, in the form of points. Absent: those of points
            participants (int | Unset): number of clients in one round
            rounds (int | Unset): number of rounds
            batches (Batches | Unset):
            lipschitz (float | Unset): bound on the ℓ2 norm of one record's gradient
            radius (float | Unset): radius of the domain, the ball to which the model is restricted
            smoothness (float | Unset): smoothness constant: Lipschitz constant of the gradient of the loss
            strong_convexity (float | Unset): strong convexity constant of the loss; 0 if the loss is only convex
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
            steps (int | Unset): number of batches in one epoch
            times_chosen (int | Unset): number of batches of one epoch that contain a given record; if clients are
                protected, a given client
            kept (bool | Unset): true: a record or client is in the same batches in every epoch. false: its batches are
                drawn again in each epoch
            epochs (int | Unset): number of epochs, which are passes over the data
            mechanism (Spec | Unset): `approximate`: A mechanism of which only an (ε, δ) guarantee is known, in the relation
                of the request.

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
            categories (int | Unset): number of categories; a report names one of them
            orders (list[float] | Unset): Rényi orders in increasing order, each above 1 and at most 1e6
            epsilons (list[float] | Unset): upper bound on the Rényi divergence at each of the orders, in nats; at least 0
                and at most 1e9
            times (int | Unset): number of runs of the mechanism
            noise (str | Unset): distribution of the noise of scale 2/ε that is added to each score
            repetitions (Repetitions | Unset): `geometric`: A geometric number of runs: after each run one stops with
                probability 1/mean.

                `negative-binomial`: A negative binomial number of runs, given that it is at least 1 (Papernot and Steinke 2022,
                Definition 1).

                K runs have probability proportional to (1 − γ)^K Γ(K + η)/K! for K ≥ 1. Here η is `shape`, and γ is determined
                by
                `mean`.

                `poisson`: A Poisson number of runs. If it is 0, an output that does not depend on the data is released.
            variance (float | Unset): variance μ of the Skellam noise on one coordinate, in squared grid steps. The noise is
                the difference of two Poisson variables of mean μ/2
            l1_sensitivity (float | Unset): ℓ1 sensitivity: largest ℓ1 distance between the integer vectors of two
                neighbouring data sets, in grid steps
            threshold_share (float | Unset): share s of ε for the noise on the threshold, which has scale 1/(s ε); the rest
                is for the queries
            largest_answers (int | Unset): number of answers above the threshold after which the mechanism stops
            sampling (SpecSampling | Unset):
            rate (float | Unset): probability that a given record, or client if clients are drawn, is in a batch
            batch_size (int | Unset): number of records in a batch; if clients are drawn, number of clients
            population (int | Unset): number of records from which a batch is drawn; if clients are drawn, number of clients
            largest_batch (int | Unset): largest number of records, or of clients, in a batch. If more are drawn, a uniform
                subset of this size is kept
            records_of_one_client (int | Unset): largest number of records of one client. Give it if noise_multiplier refers
                to the norm bound of one record, and clients are protected
            level (str | Unset): whether records or clients are drawn. Absent: the protected unit is drawn. If the inner
                mechanism draws again, both readings are bounded and the larger bound holds. The request is rejected if no bound
                covers both
            noise_levels (int | Unset): largest absolute value of the integer noise, in grid steps
            linf_sensitivity (float | Unset): ℓ∞ sensitivity: largest difference in one coordinate between the integer
                vectors of two neighbouring data sets, in grid steps
            rho (float | Unset): parameter ρ of zero-concentrated differential privacy
    """

    kind: SpecKind
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    mechanisms: list[Spec] | Unset = UNSET
    scale: float | Unset = UNSET
    l2_sensitivity: float | Unset = UNSET
    dimension: int | Unset = UNSET
    decay_rate: float | Unset = UNSET
    sensitivity: int | Unset = UNSET
    monotonic: bool | Unset = UNSET
    noise_multiplier: float | Unset = UNSET
    sensitivities: list[float] | Unset = UNSET
    probabilities: list[float] | Unset = UNSET
    scale_multiplier: float | Unset = UNSET
    trials: int | Unset = UNSET
    theta: float | Unset = UNSET
    clients: int | Unset = UNSET
    points: list[list[float]] | Unset = UNSET
    reverse: list[list[float]] | Unset = UNSET
    participants: int | Unset = UNSET
    rounds: int | Unset = UNSET
    batches: Batches | Unset = UNSET
    lipschitz: float | Unset = UNSET
    radius: float | Unset = UNSET
    smoothness: float | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    convex: bool | Unset = UNSET
    step_schedule: Schedule | Unset = UNSET
    noise_schedule: Schedule | Unset = UNSET
    release: Release | Unset = UNSET
    suffix_fraction: float | Unset = UNSET
    steps: int | Unset = UNSET
    times_chosen: int | Unset = UNSET
    kept: bool | Unset = UNSET
    epochs: int | Unset = UNSET
    mechanism: Spec | Unset = UNSET
    categories: int | Unset = UNSET
    orders: list[float] | Unset = UNSET
    epsilons: list[float] | Unset = UNSET
    times: int | Unset = UNSET
    noise: str | Unset = UNSET
    repetitions: Repetitions | Unset = UNSET
    variance: float | Unset = UNSET
    l1_sensitivity: float | Unset = UNSET
    threshold_share: float | Unset = UNSET
    largest_answers: int | Unset = UNSET
    sampling: SpecSampling | Unset = UNSET
    rate: float | Unset = UNSET
    batch_size: int | Unset = UNSET
    population: int | Unset = UNSET
    largest_batch: int | Unset = UNSET
    records_of_one_client: int | Unset = UNSET
    level: str | Unset = UNSET
    noise_levels: int | Unset = UNSET
    linf_sensitivity: float | Unset = UNSET
    rho: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        epsilon = self.epsilon

        delta = self.delta

        mechanisms: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.mechanisms, Unset):
            mechanisms = []
            for mechanisms_item_data in self.mechanisms:
                mechanisms_item = mechanisms_item_data.to_dict()
                mechanisms.append(mechanisms_item)

        scale = self.scale

        l2_sensitivity = self.l2_sensitivity

        dimension = self.dimension

        decay_rate = self.decay_rate

        sensitivity = self.sensitivity

        monotonic = self.monotonic

        noise_multiplier = self.noise_multiplier

        sensitivities: list[float] | Unset = UNSET
        if not isinstance(self.sensitivities, Unset):
            sensitivities = self.sensitivities

        probabilities: list[float] | Unset = UNSET
        if not isinstance(self.probabilities, Unset):
            probabilities = self.probabilities

        scale_multiplier = self.scale_multiplier

        trials = self.trials

        theta = self.theta

        clients = self.clients

        points: list[list[float]] | Unset = UNSET
        if not isinstance(self.points, Unset):
            points = []
            for points_item_data in self.points:
                points_item = []
                for points_item_item_data in points_item_data:
                    points_item_item: float
                    points_item_item = points_item_item_data
                    points_item.append(points_item_item)

                points.append(points_item)

        reverse: list[list[float]] | Unset = UNSET
        if not isinstance(self.reverse, Unset):
            reverse = []
            for reverse_item_data in self.reverse:
                reverse_item = []
                for reverse_item_item_data in reverse_item_data:
                    reverse_item_item: float
                    reverse_item_item = reverse_item_item_data
                    reverse_item.append(reverse_item_item)

                reverse.append(reverse_item)

        participants = self.participants

        rounds = self.rounds

        batches: str | Unset = UNSET
        if not isinstance(self.batches, Unset):
            batches = self.batches.value

        lipschitz = self.lipschitz

        radius = self.radius

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

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

        steps = self.steps

        times_chosen = self.times_chosen

        kept = self.kept

        epochs = self.epochs

        mechanism: dict[str, Any] | Unset = UNSET
        if not isinstance(self.mechanism, Unset):
            mechanism = self.mechanism.to_dict()

        categories = self.categories

        orders: list[float] | Unset = UNSET
        if not isinstance(self.orders, Unset):
            orders = self.orders

        epsilons: list[float] | Unset = UNSET
        if not isinstance(self.epsilons, Unset):
            epsilons = self.epsilons

        times = self.times

        noise = self.noise

        repetitions: dict[str, Any] | Unset = UNSET
        if not isinstance(self.repetitions, Unset):
            repetitions = self.repetitions.to_dict()

        variance = self.variance

        l1_sensitivity = self.l1_sensitivity

        threshold_share = self.threshold_share

        largest_answers = self.largest_answers

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling.value

        rate = self.rate

        batch_size = self.batch_size

        population = self.population

        largest_batch = self.largest_batch

        records_of_one_client = self.records_of_one_client

        level = self.level

        noise_levels = self.noise_levels

        linf_sensitivity = self.linf_sensitivity

        rho = self.rho

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if mechanisms is not UNSET:
            field_dict["mechanisms"] = mechanisms
        if scale is not UNSET:
            field_dict["scale"] = scale
        if l2_sensitivity is not UNSET:
            field_dict["l2_sensitivity"] = l2_sensitivity
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
        if decay_rate is not UNSET:
            field_dict["decay_rate"] = decay_rate
        if sensitivity is not UNSET:
            field_dict["sensitivity"] = sensitivity
        if monotonic is not UNSET:
            field_dict["monotonic"] = monotonic
        if noise_multiplier is not UNSET:
            field_dict["noise_multiplier"] = noise_multiplier
        if sensitivities is not UNSET:
            field_dict["sensitivities"] = sensitivities
        if probabilities is not UNSET:
            field_dict["probabilities"] = probabilities
        if scale_multiplier is not UNSET:
            field_dict["scale_multiplier"] = scale_multiplier
        if trials is not UNSET:
            field_dict["trials"] = trials
        if theta is not UNSET:
            field_dict["theta"] = theta
        if clients is not UNSET:
            field_dict["clients"] = clients
        if points is not UNSET:
            field_dict["points"] = points
        if reverse is not UNSET:
            field_dict["reverse"] = reverse
        if participants is not UNSET:
            field_dict["participants"] = participants
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if batches is not UNSET:
            field_dict["batches"] = batches
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if radius is not UNSET:
            field_dict["radius"] = radius
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
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
        if steps is not UNSET:
            field_dict["steps"] = steps
        if times_chosen is not UNSET:
            field_dict["times_chosen"] = times_chosen
        if kept is not UNSET:
            field_dict["kept"] = kept
        if epochs is not UNSET:
            field_dict["epochs"] = epochs
        if mechanism is not UNSET:
            field_dict["mechanism"] = mechanism
        if categories is not UNSET:
            field_dict["categories"] = categories
        if orders is not UNSET:
            field_dict["orders"] = orders
        if epsilons is not UNSET:
            field_dict["epsilons"] = epsilons
        if times is not UNSET:
            field_dict["times"] = times
        if noise is not UNSET:
            field_dict["noise"] = noise
        if repetitions is not UNSET:
            field_dict["repetitions"] = repetitions
        if variance is not UNSET:
            field_dict["variance"] = variance
        if l1_sensitivity is not UNSET:
            field_dict["l1_sensitivity"] = l1_sensitivity
        if threshold_share is not UNSET:
            field_dict["threshold_share"] = threshold_share
        if largest_answers is not UNSET:
            field_dict["largest_answers"] = largest_answers
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if rate is not UNSET:
            field_dict["rate"] = rate
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if population is not UNSET:
            field_dict["population"] = population
        if largest_batch is not UNSET:
            field_dict["largest_batch"] = largest_batch
        if records_of_one_client is not UNSET:
            field_dict["records_of_one_client"] = records_of_one_client
        if level is not UNSET:
            field_dict["level"] = level
        if noise_levels is not UNSET:
            field_dict["noise_levels"] = noise_levels
        if linf_sensitivity is not UNSET:
            field_dict["linf_sensitivity"] = linf_sensitivity
        if rho is not UNSET:
            field_dict["rho"] = rho

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.repetitions import Repetitions
        from ..models.schedule import Schedule

        d = dict(src_dict)
        kind = SpecKind(d.pop("kind"))

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        _mechanisms = d.pop("mechanisms", UNSET)
        mechanisms: list[Spec] | Unset = UNSET
        if _mechanisms is not UNSET:
            mechanisms = []
            for mechanisms_item_data in _mechanisms:
                mechanisms_item = Spec.from_dict(mechanisms_item_data)

                mechanisms.append(mechanisms_item)

        scale = d.pop("scale", UNSET)

        l2_sensitivity = d.pop("l2_sensitivity", UNSET)

        dimension = d.pop("dimension", UNSET)

        decay_rate = d.pop("decay_rate", UNSET)

        sensitivity = d.pop("sensitivity", UNSET)

        monotonic = d.pop("monotonic", UNSET)

        noise_multiplier = d.pop("noise_multiplier", UNSET)

        sensitivities = cast(list[float], d.pop("sensitivities", UNSET))

        probabilities = cast(list[float], d.pop("probabilities", UNSET))

        scale_multiplier = d.pop("scale_multiplier", UNSET)

        trials = d.pop("trials", UNSET)

        theta = d.pop("theta", UNSET)

        clients = d.pop("clients", UNSET)

        _points = d.pop("points", UNSET)
        points: list[list[float]] | Unset = UNSET
        if _points is not UNSET:
            points = []
            for points_item_data in _points:
                points_item = []
                _points_item = points_item_data
                for points_item_item_data in _points_item:

                    def _parse_points_item_item(data: object) -> float:
                        return cast(float, data)

                    points_item_item = _parse_points_item_item(points_item_item_data)

                    points_item.append(points_item_item)

                points.append(points_item)

        _reverse = d.pop("reverse", UNSET)
        reverse: list[list[float]] | Unset = UNSET
        if _reverse is not UNSET:
            reverse = []
            for reverse_item_data in _reverse:
                reverse_item = []
                _reverse_item = reverse_item_data
                for reverse_item_item_data in _reverse_item:

                    def _parse_reverse_item_item(data: object) -> float:
                        return cast(float, data)

                    reverse_item_item = _parse_reverse_item_item(reverse_item_item_data)

                    reverse_item.append(reverse_item_item)

                reverse.append(reverse_item)

        participants = d.pop("participants", UNSET)

        rounds = d.pop("rounds", UNSET)

        _batches = d.pop("batches", UNSET)
        batches: Batches | Unset
        if isinstance(_batches, Unset):
            batches = UNSET
        else:
            batches = Batches(_batches)

        lipschitz = d.pop("lipschitz", UNSET)

        radius = d.pop("radius", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

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

        steps = d.pop("steps", UNSET)

        times_chosen = d.pop("times_chosen", UNSET)

        kept = d.pop("kept", UNSET)

        epochs = d.pop("epochs", UNSET)

        _mechanism = d.pop("mechanism", UNSET)
        mechanism: Spec | Unset
        if isinstance(_mechanism, Unset):
            mechanism = UNSET
        else:
            mechanism = Spec.from_dict(_mechanism)

        categories = d.pop("categories", UNSET)

        orders = cast(list[float], d.pop("orders", UNSET))

        epsilons = cast(list[float], d.pop("epsilons", UNSET))

        times = d.pop("times", UNSET)

        noise = d.pop("noise", UNSET)

        _repetitions = d.pop("repetitions", UNSET)
        repetitions: Repetitions | Unset
        if isinstance(_repetitions, Unset):
            repetitions = UNSET
        else:
            repetitions = Repetitions.from_dict(_repetitions)

        variance = d.pop("variance", UNSET)

        l1_sensitivity = d.pop("l1_sensitivity", UNSET)

        threshold_share = d.pop("threshold_share", UNSET)

        largest_answers = d.pop("largest_answers", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: SpecSampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = SpecSampling(_sampling)

        rate = d.pop("rate", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        population = d.pop("population", UNSET)

        largest_batch = d.pop("largest_batch", UNSET)

        records_of_one_client = d.pop("records_of_one_client", UNSET)

        level = d.pop("level", UNSET)

        noise_levels = d.pop("noise_levels", UNSET)

        linf_sensitivity = d.pop("linf_sensitivity", UNSET)

        rho = d.pop("rho", UNSET)

        spec = cls(
            kind=kind,
            epsilon=epsilon,
            delta=delta,
            mechanisms=mechanisms,
            scale=scale,
            l2_sensitivity=l2_sensitivity,
            dimension=dimension,
            decay_rate=decay_rate,
            sensitivity=sensitivity,
            monotonic=monotonic,
            noise_multiplier=noise_multiplier,
            sensitivities=sensitivities,
            probabilities=probabilities,
            scale_multiplier=scale_multiplier,
            trials=trials,
            theta=theta,
            clients=clients,
            points=points,
            reverse=reverse,
            participants=participants,
            rounds=rounds,
            batches=batches,
            lipschitz=lipschitz,
            radius=radius,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            convex=convex,
            step_schedule=step_schedule,
            noise_schedule=noise_schedule,
            release=release,
            suffix_fraction=suffix_fraction,
            steps=steps,
            times_chosen=times_chosen,
            kept=kept,
            epochs=epochs,
            mechanism=mechanism,
            categories=categories,
            orders=orders,
            epsilons=epsilons,
            times=times,
            noise=noise,
            repetitions=repetitions,
            variance=variance,
            l1_sensitivity=l1_sensitivity,
            threshold_share=threshold_share,
            largest_answers=largest_answers,
            sampling=sampling,
            rate=rate,
            batch_size=batch_size,
            population=population,
            largest_batch=largest_batch,
            records_of_one_client=records_of_one_client,
            level=level,
            noise_levels=noise_levels,
            linf_sensitivity=linf_sensitivity,
            rho=rho,
        )

        return spec
