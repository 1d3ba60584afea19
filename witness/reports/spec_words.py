"""Descriptions of specs in words, with every number in full."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.kinds import kind_named
from epsilond.witness.reports.numbers import full

SpecBody = JsonObject
"""A spec in its JSON form."""


def describe_spec(spec: SpecBody, unit: str) -> str:
    """Describe the spec of a mechanism in one phrase that states every number of the spec with all digits.

    Mechanisms within the mechanism are described in the same phrase.

    Args:
        spec: the spec, that is, a description of the mechanism in JSON form.
        unit: protected unit, record or client. Batches consist of it, unless the spec says otherwise.

    Returns:
        A phrase without a full stop.
    """
    kind = spec["kind"]
    if kind in _DESCRIPTIONS:
        return _DESCRIPTIONS[kind](spec, unit)
    return kind_named(kind).sentence({name: full(value) for name, value in spec.items()})


def count_phrase(number: object, noun: str) -> str:
    """Return a count with its noun, such as `1 round` or `2000 rounds`; nouns in -ch have a plural in -es.

    Args:
        number: the count.
        noun: the noun in the singular.

    Returns:
        The number with all its digits, and the noun in the singular or plural.
    """
    if number == 1:
        return f"{full(number)} {noun}"
    ending = "es" if noun.endswith("ch") else "s"
    return f"{full(number)} {noun}{ending}"


def _describe_subsampled(spec: SpecBody, unit: str) -> str:
    """Describe the sampling of a batch, and the mechanism that is run on it.

    Args:
        spec: JSON form of the mechanism.
        unit: protected unit, of which batches consist unless the spec names a level.

    Returns:
        A phrase without a full stop.
    """
    nouns_of_levels = {"records": "record", "clients": "client"}
    noun = nouns_of_levels.get(spec.get("level", ""), unit)
    mechanism = describe_spec(spec["mechanism"], unit)
    return f"{_sampling_phrase(spec, noun)}; {mechanism}"


def _sampling_phrase(spec: SpecBody, noun: str) -> str:
    """Describe in words how a batch is drawn.

    Args:
        spec: JSON form of a subsampled mechanism, with the name of its sampling and its rate or batch size.
        noun: singular name of the members of a batch, such as "record".

    Returns:
        A phrase without a full stop, with every number in full.
    """
    sampling = spec["sampling"]
    if sampling == "shuffled-epochs":
        size, population = count_phrase(spec["batch_size"], noun), full(spec["population"])
        epochs = count_phrase(spec["epochs"], "epoch")
        return f"{epochs}, each a random order of {population} {noun}s, cut into batches of {size}"
    if sampling == "full":
        return f"every {noun} takes part{_batch_details(spec, noun)}"
    if sampling == "poisson":
        probability = f" with probability {full(spec['rate'])}" if "rate" in spec else ""
        return f"every {noun} drawn independently{probability}{_batch_details(spec, noun)}"

    # The remaining samplings draw a batch of a fixed size.
    repeat = ", the same possibly more than once"
    if sampling == "without-replacement":
        repeat = ", none twice"
    if "rate" in spec:
        return f"a batch of a fixed size, the share {full(spec['rate'])} of every {noun}, drawn uniformly{repeat}"
    batch, population = count_phrase(spec["batch_size"], noun), full(spec["population"])
    return f"a batch of {batch} drawn uniformly out of {population}{repeat}{_client_detail(spec)}"


def _batch_details(spec: SpecBody, noun: str) -> str:
    """Return in brackets the numbers of a spec that are not in the phrase about its full or Poisson sampling.

    Args:
        spec: JSON form of a subsampled mechanism.
        noun: singular name of the members of a batch, such as "record".

    Returns:
        The text with a leading space; empty if there are no such numbers.
    """
    details = []
    if spec["sampling"] == "full" and "rate" in spec:
        details.append(f"probability {full(spec['rate'])}")
    if "batch_size" in spec:
        details.append(f"a batch of {count_phrase(spec['batch_size'], noun)}")
    if "population" in spec:
        details.append(f"a population of {full(spec['population'])}")
    if "largest_batch" in spec:
        most = count_phrase(spec["largest_batch"], noun)
        details.append(f"of more than {most} a uniform subset of this size is kept, and the rest does not enter")
    brackets = ""
    if details:
        brackets = f" ({', '.join(details)})"
    return brackets + _client_detail(spec)


def _client_detail(spec: SpecBody) -> str:
    """Return in brackets the largest number of records of one client; an empty text if the spec has none."""
    if "records_of_one_client" not in spec:
        return ""
    return f" (at most {count_phrase(spec['records_of_one_client'], 'record')} of one client, one contribution each)"


def _describe_shuffled(spec: SpecBody, unit: str) -> str:
    """Describe shuffled reports in words: their size, their number, and the mechanism that makes each report."""
    size = f" of {count_phrase(spec['dimension'], 'coordinate')}" if "dimension" in spec else ""
    reports = f"one report{size} of each of {count_phrase(spec['clients'], 'client')}"
    return f"{reports}, shuffled; in each report, {describe_spec(spec['mechanism'], unit)}"


def _describe_repeated(spec: SpecBody, unit: str) -> str:
    """Describe a repeated mechanism in words: the number of rounds, and the mechanism of a round."""
    return f"{count_phrase(spec['times'], 'round')}, in each: {describe_spec(spec['mechanism'], unit)}"


def _describe_composed(spec: SpecBody, unit: str) -> str:
    """Describe the mechanisms of a composition in a numbered list.

    Args:
        spec: JSON form of the composition, with its list of mechanisms.
        unit: protected unit, record or client.

    Returns:
        A phrase without a full stop. A composition of one mechanism is described as this mechanism.
    """
    parts = [describe_spec(mechanism, unit) for mechanism in spec["mechanisms"]]
    if len(parts) == 1:
        return parts[0]
    numbered = "; ".join(f"({number}) {part}" for number, part in enumerate(parts, start=1))
    return f"{len(parts)} mechanisms, one after another: {numbered}"


def _describe_random_allocation(spec: SpecBody, unit: str) -> str:
    """Describe a random allocation: its epochs and batches, and the mechanism that is run on a batch.

    In each epoch, every record or client is assigned to a fixed number of randomly chosen batches.

    Args:
        spec: JSON form of the mechanism.
        unit: protected unit, record or client.

    Returns:
        A phrase without a full stop.
    """
    epochs, steps = count_phrase(spec["epochs"], "epoch"), count_phrase(spec["steps"], "batch")
    chosen = "the same in all epochs" if spec["kept"] else "drawn again in every epoch"
    return (
        f"{epochs} of {steps}; every {unit} in {full(spec['times_chosen'])} of them, {chosen}; "
        f"{describe_spec(spec['mechanism'], unit)}"
    )


def _describe_selection(spec: SpecBody, unit: str) -> str:
    """Describe the selection of the best of several runs: the distribution of their number, and one run.

    Args:
        spec: JSON form of the mechanism, with the distribution of the number of runs.
        unit: protected unit, record or client.

    Returns:
        A phrase without a full stop.
    """
    number = spec.get("repetitions", {})
    kind = number.get("kind", "random")
    distribution = "Poisson" if kind == "poisson" else str(kind).replace("-", " ")
    details = f" of mean {full(number['mean'])}" if "mean" in number else ""
    if "shape" in number:
        details += f" and shape {full(number['shape'])}"
    one_run = describe_spec(spec["mechanism"], unit)
    return f"the best of a {distribution} number of runs{details}; in each run, {one_run}"


def _describe_projected_sgd(spec: SpecBody, _: str) -> str:
    """Describe projected gradient descent in words: its steps and batches, its schedules, its losses, and its output.

    Missing fields of the spec have default values: one pass, a secret random partition, and the release of the last
    model.

    Args:
        spec: JSON form of the mechanism, which names its clients, schedules, radius and losses.

    Returns:
        A phrase without a full stop. Its numbers are written with all their digits.
    """
    rounds = count_phrase(spec["rounds"], "step") if "rounds" in spec else "one pass"
    batch_phrases = {
        "shuffled": "of a secret random partition, in turn",
        "cyclic": "of a partition fixed in advance, in turn",
        "without-replacement": "drawn anew in each step",
    }
    batches = batch_phrases[spec.get("batches", "shuffled")]

    share = full(spec.get("suffix_fraction"))
    release_phrases = {
        "last": "the last model is released",
        "random-stop": "the model of a uniformly random step is released",
        "suffix": f"the model of a random step is released, uniform on those after the share {share} of them",
    }
    release = release_phrases[spec.get("release", "last")]
    step_size = _describe_schedule(spec["step_schedule"])
    noise_std = _describe_schedule(spec["noise_schedule"])
    return (
        f"noisy projected gradient descent over {count_phrase(spec['clients'], 'client')}, {rounds}, each on a batch "
        f"of {full(spec['participants'])} clients {batches}; step size {step_size}; "
        f"noise of standard deviation {noise_std} per coordinate from each client; "
        f"on a ball of radius {full(spec['radius'])}; losses that are {_loss_phrase(spec)}; {release}, "
        "and no other output"
    )


def _loss_phrase(spec: SpecBody) -> str:
    """Describe the losses of projected gradient descent by their constants.

    Args:
        spec: JSON form of the mechanism. The default of `strong_convexity` is 0, and that of `convex` is true.

    Returns:
        The Lipschitz constant, the smoothness if it is given, and the convexity, separated by commas.
    """
    properties = [f"{full(spec['lipschitz'])}-Lipschitz"]
    if "smoothness" in spec:
        properties.append(f"{full(spec['smoothness'])}-smooth")
    strong_convexity = spec.get("strong_convexity", 0.0)
    if strong_convexity:
        properties.append(f"{full(strong_convexity)}-strongly convex")
    elif spec.get("convex", True):
        properties.append("convex")
    else:
        properties.append("not convex")
    return ", ".join(properties)


def _describe_schedule(schedule: Mapping[str, object]) -> str:
    """Describe the values of a step size or of a noise over the steps.

    Args:
        schedule: JSON form of the schedule: constant, explicit values, or a scale that is divided by the step's number.

    Returns:
        A phrase with every number in full.
    """
    if schedule["kind"] == "explicit":
        return f"as listed, {full(schedule['values'])},"
    if schedule["kind"] == "inverse-time":
        return f"{full(schedule['scale'])}/t at step t"
    return full(schedule["value"])


_DESCRIPTIONS: Mapping[str, Callable[[SpecBody, str], str]] = {
    "subsampled": _describe_subsampled,
    "shuffled": _describe_shuffled,
    "repeated": _describe_repeated,
    "composed": _describe_composed,
    "projected_sgd": _describe_projected_sgd,
    "random_allocation": _describe_random_allocation,
    "select_best": _describe_selection,
}
"""Functions that describe the specs of a kind; a test compares the kinds with all kinds of specs."""
