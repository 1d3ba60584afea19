"""Features: numbers and words of a request on which the CPU time of its answer depends.

A feature is a decimal logarithm, or the number of occurrences of a word. Features from the normal approximation say
where a privacy curve is read: T runs at rate q with noise σ shift a normal distribution by about μ = q √T / σ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

SHARES: Mapping[str, tuple[str, str]] = {
    "batch rate": ("batch_size", "population"),
    "record rate": ("batch_size", "samples_per_client"),
    "client rate": ("participants", "clients"),
}
"""Features that are quotients of two fields: probabilities that a record or a client is sampled."""
RATES = ("rate", "participation_rate", *SHARES)
"""Features whose product is the rate of a calibration."""
NOISES: Mapping[str, tuple[str, float]] = {
    "gaussian": ("noise_multiplier", 1.0),
    "laplace": ("scale_multiplier", 1.0),
    "discrete_laplace": ("decay_rate", -1.0),
    "truncated_discrete_laplace": ("decay_rate", -1.0),
    "randomized_response": ("epsilon", -1.0),
    "approximate": ("epsilon", -1.0),
    "discrete_gaussian": ("scale", 1.0),
    "exponential": ("epsilon", -1.0),
    "permute_and_flip": ("epsilon", -1.0),
    "report_noisy_max": ("epsilon", -1.0),
    "skellam": ("variance", 0.5),
    "sparse_vector": ("epsilon", -1.0),
    "poisson_binomial": ("theta", -1.0),
}
"""Field of a kind of mechanism that gives its noise, and the power of the noise that the field is proportional to."""
EXTREME = 300.0
"""Largest absolute value of a decimal logarithm."""


class RepeatedMechanism(NamedTuple):
    """A mechanism of an account, with decimal logarithms of how it is run.

    Attributes:
        label: names of the sampling schemes by which the batch is drawn, followed by the kind of mechanism.
        times: log10 of the number of runs.
        rate: log10 of the probability that a given record is in the batch of a run.
        noise: log10 of the noise of a run, relative to the sensitivity; 0 if the noise is not known.
    """

    label: str
    times: float
    rate: float
    noise: float


def features_of(problem: object) -> dict[str, float]:
    """Return the features of a request from which its CPU time is estimated, by name.

    A positive number in a field is replaced by its decimal logarithm. The feature has the name of the field. If there
    are several numbers of one name, the feature is the largest, and the feature "least NAME" is the least. For a word
    or a boolean, the feature "FIELD=WORD" is the number of its occurrences. Sampling rates are quotients of other
    fields (`SHARES`). A request with a `spec`, the description of a run for an account, gets the features of
    `_add_account`. Any other gets those of `_add_calibration`.

    Args:
        problem: the parsed request, an object with its fields as attributes.

    Returns:
        The features; a feature that does not apply to the request is missing.
    """
    features: dict[str, float] = {}
    _add_fields(features, problem, "")
    # A difference of logarithms is the logarithm of the quotient.
    for share, (part, total) in SHARES.items():
        if part in features and total in features:
            features[share] = features[part] - features[total]
    spec = vars(problem).get("spec")
    if spec is None:
        _add_calibration(features)
    else:
        _add_account(features, list(runs_of(spec)))
    return features


def _add_fields(features: dict[str, float], record: object, prefix: str) -> None:
    """Add a feature for each number, word and boolean in the fields of a request, or of a part of it.

    A number gives its decimal logarithm. A negative number is kept, because it is a logarithm already, such as
    `log10_delta`. A word gives its count. Fields of the parts `query` and `claim` get the prefix "query ". Their ε and
    δ are thus distinct from those of the run.

    Args:
        features: features by name, to which these are added.
        record: the request or the part.
        prefix: text in front of the names of fields.
    """
    for name, value in vars(record).items():
        if value is None:
            continue
        for element in _elements_of(value):
            if isinstance(element, str | bool):
                _count_word(features, f"{prefix}{name}={element}")
            elif isinstance(element, int | float):
                logarithm = log10(element) if element >= 0 else float(element)
                _add_number(features, prefix + name, logarithm)
            elif hasattr(element, "__dict__"):  # a point of a profile is a pair of numbers
                inner_prefix = "query " if name in ("query", "claim") else ""
                _add_fields(features, element, inner_prefix)


def _elements_of(value: object) -> Iterator[object]:
    """Yield the numbers, words and parts of a field, also those in a list of lists, such as the points of a curve."""
    if isinstance(value, tuple):
        for element in value:
            yield from _elements_of(element)
    else:
        yield value


def _count_word(features: dict[str, float], word: str) -> None:
    """Add 1 to the count of a word."""
    features[word] = features.get(word, 0.0) + 1.0


def _add_number(features: dict[str, float], name: str, number: float) -> None:
    """Add a number to the largest number under a name, and to the least one if there are several.

    Args:
        features: the features of a request by name, which are changed. "least NAME" has the least number.
        name: name of the feature.
        number: the number to add.
    """
    if name not in features:
        features[name] = number
    else:
        largest, least = features[name], features.get(f"least {name}", features[name])
        features[name] = max(largest, number)
        features[f"least {name}"] = min(least, number)


def log10(number: float) -> float:
    """Return the decimal logarithm of a number of at least 0, limited to ± `EXTREME`."""
    if number > 0:
        return max(-EXTREME, min(EXTREME, math.log10(number)))
    return -EXTREME


def runs_of(spec: Any, times: float = 0.0, rate: float = 0.0, label: str = "") -> Iterator[RepeatedMechanism]:
    """Yield the basic mechanisms of a spec, such as Gaussian noise, with their number of runs and sampling rate.

    The numbers are decimal logarithms, so that products along a nested spec are sums and cannot overflow.

    Args:
        spec: description of a run, which may be composed of others.
        times: decimal logarithm of the number of times that the spec is run.
        rate: decimal logarithm of the probability that a record is in the batch to which the spec is applied.
        label: names of the sampling schemes by which this batch was drawn, such as "poisson shuffled ". Each ends with
            a space, because the name of the mechanism is appended.

    Yields:
        One basic mechanism, with the decimal logarithm of its noise. The logarithm is 0 if its noise is not known here.
    """
    inner = _inner_runs(spec, times, rate, label)
    if inner is None:  # a basic mechanism
        name, power = NOISES.get(spec.kind, ("", 0.0))
        noise = power * log10(getattr(spec, name)) if name else 0.0
        yield RepeatedMechanism(label + spec.kind, times, rate, noise)
        return
    for mechanism, inner_times, inner_rate, inner_label in inner:
        yield from runs_of(mechanism, inner_times, inner_rate, inner_label)


_InnerRun = tuple[Any, float, float, str]
"""A mechanism with decimal logarithms of its number of runs and sampling rate, and the names of its sampling."""


def _inner_runs(spec: Any, times: float, rate: float, label: str) -> list[_InnerRun] | None:
    """Return the mechanisms that a spec is composed of, each with its own number of runs, rate and label.

    A spec may contain other specs. The numbers of runs of all levels multiply, and so do the sampling rates. Their
    logarithms are added.

    Args:
        spec: description of a run.
        times: decimal logarithm of the number of times that the spec is run.
        rate: decimal logarithm of the probability that a record is in the batch to which the spec is applied.
        label: names of the sampling schemes by which this batch was drawn, as in `runs_of`.

    Returns:
        For each mechanism, the arguments of `runs_of`: the mechanism, `times`, `rate` and `label`. None for a basic
        mechanism, which is composed of no others.
    """
    if spec.kind == "composed":
        return [(mechanism, times, rate, label) for mechanism in spec.mechanisms]
    if spec.kind == "repeated":
        return [(spec.mechanism, times + math.log10(spec.times), rate, label)]

    # Mechanisms that run on a random part of the records.
    if spec.kind == "subsampled":
        sampling = "" if spec.sampling == "full" else f"{spec.sampling} "
        return [(spec.mechanism, times, rate + log10(spec.inclusion_probability), label + sampling)]
    if spec.kind == "random_allocation":
        share = log10(spec.times_chosen / spec.steps)
        runs = times + log10(spec.steps) + log10(spec.epochs)
        return [(spec.mechanism, runs, rate + share, f"{label}random-allocation ")]
    if spec.kind == "shuffled":
        return [(spec.mechanism, times, rate, label + "shuffled ")]

    # The number of repetitions is random and does not count here.
    if spec.kind == "select_best":
        return [(spec.mechanism, times, rate, label + "best of ")]
    return None


def _add_account(features: dict[str, float], runs: list[RepeatedMechanism]) -> None:
    """Add features on which the CPU time of an account, the guarantee of a composed run, depends.

    Each mechanism has T runs (`times`), inclusion probability q (`rate`) and noise σ; `label` says how its batch is
    drawn. The privacy loss of all runs is about normal with mean μ²/2 and variance μ², where μ² = Σ T (q/σ)². These
    numbers are decimal logarithms. The other features are counts, and the point at which the privacy curve is read.

    Args:
        features: features of the request.
        runs: the mechanisms of the account.
    """
    variance = 0.0
    for label, times, rate, noise in runs:
        shift = rate - noise
        # The limit `EXTREME` on the exponent keeps the power of ten a double.
        variance += 10.0 ** min(2.0 * shift + times, EXTREME)
        _add_number(features, "T", times)
        _add_number(features, "q", rate)
        _add_number(features, "q T", rate + times)
        _add_number(features, "σ", noise)
        _add_number(features, "q / σ", shift)
        _count_word(features, f"run={label}")
        if times > 0.0:
            _count_word(features, f"repeated={label}")

    features["runs"] = float(len(runs))
    features["labels"] = float(len({run.label for run in runs}))
    features["μ"] = 0.5 * log10(variance)
    _add_curve_point(features, "query ")


def _add_calibration(features: dict[str, float]) -> None:
    """Add features on which the CPU time of a calibration, the search for the noise of a run, depends.

    All values of features are decimal logarithms. Features are the sampling rate q, its products with T and √T for T
    rounds, and the estimates μ and σ. The privacy loss is taken as normal with mean μ²/2 and variance μ². Then μ
    follows from the target (ε, δ), and the noise is σ = q √T / μ. If the request gives the noise and no ε, μ follows
    from it.

    Args:
        features: features of the request, to which these are added.
    """
    log_rate = sum(features[name] for name in RATES if name in features)  # of the product of the rates
    log_rounds = features.get("rounds", 0.0)
    features["q"] = log_rate
    features["q T"] = log_rate + log_rounds
    features["q √T"] = log_rate + 0.5 * log_rounds
    log_noise = features.get("noise_multiplier")
    deviations = deviations_of(features, "")
    if "epsilon" in features and deviations is not None:
        epsilon = 10.0 ** features["epsilon"]
        # The solution μ of ε = μ z + μ²/2, with z = √(2 log 1/δ): where δ(ε) of the normal loss is about δ.
        features["μ"] = log10(2.0 * epsilon / (deviations + math.sqrt(deviations**2 + 2.0 * epsilon)))
        features["σ"] = features["q √T"] - features["μ"]
        features["ε / deviations"] = features["epsilon"] - log10(deviations)
        if log_noise is not None:
            features["σ / noise"] = features["σ"] - log_noise
    elif log_noise is not None:
        features["μ"] = features["q √T"] - log_noise
        _add_curve_point(features, "")


def deviations_of(features: Mapping[str, float], prefix: str) -> float | None:
    """Return √(2 ln 1/δ), the number of standard deviations that a normal variable exceeds with probability about δ.

    Args:
        features: features of the request by name, with the decimal logarithm of δ.
        prefix: text in front of the name of δ in `features`, such as "query ".

    Returns:
        The number of standard deviations; None if δ is not given.
    """
    # The feature `delta` is a decimal logarithm too. Times ln 10 it is the natural one.
    log10_delta = features.get(f"{prefix}log10_delta", features.get(f"{prefix}delta"))
    return None if log10_delta is None else math.sqrt(max(0.0, -2.0 * math.log(10.0) * log10_delta))


def _add_curve_point(features: dict[str, float], prefix: str) -> None:
    """Add features of the point (ε, δ) at which the privacy curve is read, on which the CPU time depends.

    The privacy loss is taken as normal with mean μ²/2 and variance μ². If δ is given, the features are z/μ with
    z = √(2 log 1/δ), and the estimate ε ≈ μ z + μ²/2. If ε is given, they are ε/μ² and ε/μ. All are decimal logarithms,
    limited to ± `EXTREME` so that their powers of ten are doubles.

    Args:
        features: features of the request by name, with μ; these are added.
        prefix: text in front of the names of ε and δ in `features`.
    """
    shift = features["μ"]
    deviations = deviations_of(features, prefix)
    epsilon = features.get(f"{prefix}epsilon")
    if deviations is not None:
        features["deviations / μ"] = log10(deviations) - shift
        features["ε"] = log10(10.0**shift * deviations + 0.5 * 10.0 ** min(2.0 * shift, EXTREME))
    elif epsilon is not None:
        features["ε / μ²"] = epsilon - 2.0 * shift
        features["ε / μ"] = epsilon - shift
