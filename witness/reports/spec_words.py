"""Descriptions of specs in words, with every number in full."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.kinds import kind_named
from epsilond.witness.reports.numbers import full

SpecBody = JsonObject
"""A spec in its JSON form."""


def describe_spec(spec: SpecBody, unit: str) -> str:
    """Describe the run of a spec in one phrase, with every given number.

    Args:
        spec: the spec in its JSON form.
        unit: protected unit, record or client. Batches consist of it, unless the spec says otherwise.
    """
    kind = spec["kind"]
    if kind in _DESCRIPTIONS:
        return _DESCRIPTIONS[kind](spec, unit)
    return kind_named(kind).sentence({name: full(value) for name, value in spec.items()})


def count_phrase(number: object, noun: str) -> str:
    """Return a count with its noun, such as `1 round` or `2000 rounds`; nouns in -ch have a plural in -es."""
    plural = noun if number == 1 else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{full(number)} {plural}"


def _describe_subsampled(spec: SpecBody, unit: str) -> str:
    noun = {"records": "record", "clients": "client"}.get(spec.get("level", ""), unit)
    inner = describe_spec(spec["mechanism"], unit)
    sampling = spec["sampling"]
    if sampling == "full":
        return f"every {noun} takes part{_batch_details(spec, noun)}; {inner}"
    repeat = ", none twice" if sampling == "without-replacement" else ", the same possibly more than once"
    if sampling == "poisson":
        draw = f"every {noun} drawn independently"
        draw += f" with probability {full(spec['rate'])}" if "rate" in spec else ""
        return f"{draw}{_batch_details(spec, noun)}; {inner}"
    if "rate" in spec:
        return (
            f"a batch of a fixed size, the share {full(spec['rate'])} of every {noun}, drawn uniformly{repeat}; {inner}"
        )
    batch, population = count_phrase(spec["batch_size"], noun), full(spec["population"])
    return f"a batch of {batch} drawn uniformly out of {population}{repeat}; {inner}"


def _batch_details(spec: SpecBody, noun: str) -> str:
    """Return the remaining numbers of a batch in brackets, for samplings that are not described by its size."""
    parts = [f"probability {full(spec['rate'])}"] if spec["sampling"] == "full" and "rate" in spec else []
    parts += [f"a batch of {count_phrase(spec['batch_size'], noun)}"] if "batch_size" in spec else []
    parts += [f"a population of {full(spec['population'])}"] if "population" in spec else []
    return f" ({', '.join(parts)})" if parts else ""


def _describe_shuffled(spec: SpecBody, unit: str) -> str:
    size = f" of {count_phrase(spec['dimension'], 'coordinate')}" if "dimension" in spec else ""
    reports = f"one report{size} of each of {count_phrase(spec['clients'], 'client')}"
    return f"{reports}, shuffled; in each report, {describe_spec(spec['mechanism'], unit)}"


def _describe_repeated(spec: SpecBody, unit: str) -> str:
    return f"{count_phrase(spec['times'], 'round')}, in each: {describe_spec(spec['mechanism'], unit)}"


def _describe_composed(spec: SpecBody, unit: str) -> str:
    parts = [describe_spec(mechanism, unit) for mechanism in spec["mechanisms"]]
    if len(parts) == 1:
        return parts[0]
    numbered = "; ".join(f"({place}) {part}" for place, part in enumerate(parts, start=1))
    return f"{len(parts)} mechanisms, one after another: {numbered}"


def _describe_projected_sgd(spec: SpecBody, _: str) -> str:
    rounds = count_phrase(spec["rounds"], "step") if "rounds" in spec else "one pass"
    batches = {
        "shuffled": "of a secret random partition, in turn",
        "cyclic": "of a partition fixed in advance, in turn",
        "without-replacement": "drawn anew in each step",
    }[spec.get("batches", "shuffled")]
    loss = [f"{full(spec['lipschitz'])}-Lipschitz"]
    loss += [f"{full(spec['smoothness'])}-smooth"] if "smoothness" in spec else []
    strong = spec.get("strong_convexity", 0.0)
    loss += [f"{full(strong)}-strongly convex"] if strong else ["convex" if spec.get("convex", True) else "not convex"]
    share = full(spec.get("suffix_fraction"))
    release = {
        "last": "the last model is released",
        "random-stop": "the model of a uniformly random step is released",
        "suffix": f"the model of a random step is released, uniform on those after the share {share} of them",
    }[spec.get("release", "last")]
    return (
        f"noisy projected gradient descent over {count_phrase(spec['clients'], 'client')}, {rounds}, each on a batch "
        f"of {full(spec['participants'])} clients {batches}; step size {_describe_schedule(spec['step_schedule'])}; "
        f"noise of standard deviation {_describe_schedule(spec['noise_schedule'])} per coordinate from each client; "
        f"on a ball of radius {full(spec['radius'])}; losses that are {', '.join(loss)}; {release}, and no other output"
    )


def _describe_schedule(schedule: Mapping[str, object]) -> str:
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
}
"""Functions that describe the specs of a kind; a test compares the kinds with all kinds of specs."""
