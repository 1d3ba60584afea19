"""What differs between two answers to one request, told apart by how much it matters.

A *failure* is a difference of a key, an entry of a list, a status, a word or an integer, or of a figure by more than
`FIGURES_WITHIN` of itself. A *remark* is listed and does not fail: a sentence that is worded differently, or an integer
that is written as a float of the same value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

Kind = Literal["failure", "remark"]
FIGURE = re.compile(r"[-−]?\d+\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+")
ABSENT = "(absent)"
FIGURES_WITHIN = 1e-6
"""Relative difference of two figures up to which they are the same.

Two engines answer with other last digits: an enclosure of δ is up to 1e-4 wide where it is widest, and mostly 1e-8.
"""
THEOREM_LIST = "list:/v1/theorems"


@dataclass(frozen=True)
class Allowed:
    """A difference that is allowed: in which requests, at which paths (both with *), and why. Anything may stand there."""

    request: str
    path: str
    why: str


ALLOWED: tuple[Allowed, ...] = (
    *(
        Allowed("golden:*", f"/body/considered/{place}", "a new rule for draws is considered, and does not apply")
        for place in (12, 13)
    ),
    Allowed("*", "*/engine_version", "names the version, not a figure"),
    Allowed("*", "*/guarantee/statements", "the sentences of in_words stand one by one too"),
    Allowed("*", "*/errata/*/test", "names a test of ours, which may be moved"),
    Allowed("list:/v1/theorems", "*/source/item", "names a file of ours, which may be moved"),
    Allowed("*", "*/numerical/relative_width", "the width of an enclosure, of which each engine has its own"),
    Allowed("*", "*/errata/*/place", "every erratum has its place in the text"),
    Allowed("*", "*/errata/*/charitable", "every erratum has the most charitable reading of the text"),
    Allowed("*", "*/errata/*/printed", "what a text says stands in sentences, where it was a formula"),
    Allowed("*", "*/errata/*/grade", "a reading of the whole texts changed some grades"),
    *(
        Allowed(request, path, "the statement is proved in a reading of the text, and false in another one only")
        for request, path in (
            ("list:/v1/theorems", "*/bietti.4.1/status"),
            ("list:/v1/theorems", "*/lowy.appendix-g.1/status"),
            ("*:evaluate_bietti_4_1", "/body/status"),
            ("*:evaluate_lowy_appendix_g_1", "/body/status"),
            ("golden:test_bietti_golden.py::test_closed_forms*", "/body/status"),
        )
    ),
    Allowed(
        "example:calibrate_ppsgd",
        "*/sharing/curve/*",
        "the base commit lists the best α twice, as two doubles that differ by rounding",
    ),
    Allowed(
        "example:calibrate_norm_fedavg",
        "*/warnings/*",
        "each failing condition of das.2 is a warning of its own, worded as for every other algorithm",
    ),
    Allowed(
        "example:calibrate_shuffled_mb_sgd",
        "*/as_printed/1/true/log10_delta/lower",
        "the compiled kernel has a lower end of a δ that no double holds, where the base commit had none",
    ),
    Allowed(
        "golden:test_accelerated_mb_sgd.py::test_sampling_that_has_no_bound_still_has_its_noise",
        "*/guarantee/epsilon/lower",
        "the kernel answers batches with replacement where the lattice did: the lower bound of ε is 1.5e-6 of itself higher",
    ),
    Allowed(
        "golden:test_mb_sgd.py::test_the_printed_noise_and_the_certified*",
        "*/as_printed/*/true/epsilon/upper",
        "the kernel answers batches without replacement where the lattice did: ε is 3e-5 of itself less",
    ),
    *(
        Allowed(request, path, "an upper bound of a δ that no double holds, which each engine has at another tilt")
        for request, path in (
            ("sweep:calibrate_mb_sgd", "*/true/log10_delta/upper"),
            ("golden:test_mb_sgd*", "*/true/log10_delta/upper"),
            ("golden:test_projected_sgd.py::*-400.0*", "/body/considered/*/log10_delta"),
        )
    ),
    Allowed(
        "golden:test_projected_sgd.py::test_the_prescribed_noise_of_corollary_3",
        "/body/considered/*/delta",
        "the lattice's upper bound of a δ below 1e-147, 60 nats above its lower one, of a rate that is now rounded up",
    ),
    *(
        Allowed(
            "golden:test_projected_sgd.py::*", path, "the period of a lattice is another: δ is 1 % less or 2e-6 more"
        )
        for path in ("*/considered/*/delta", "*/considered/*/log10_delta")
    ),
    *(
        Allowed(request, "*/guarantee/delta/*", "a rate is searched from nearer, and its δ ends nearer to the target")
        for request in ("sweep:calibrate_gaussian", "golden:test_gaussian.py::*rate*")
    ),
    Allowed("*:calibrate_ppsgd", "*/guarantee/delta/*", "the noise is searched from nearer: δ is 3e-6 of itself more"),
    *(
        Allowed(request, path, "the lattice is laid for δ by an estimate of its own, and ends move by 2e-4 at most")
        for request, path in (
            ("golden:test_mb_sgd.py::test_with_replacement*", "*/as_printed/1/true/epsilon/upper"),
            ("golden:test_mb_sgd_groups.py::*batches_drawn_twice*", "*/guarantee/*/lower"),
        )
    ),
    *(
        Allowed(request, path, "the lattice lays other grids: figures move within their enclosures, by 5e-4 at most")
        for request, path in (
            ("*:calibrate_projected_sgd", "*/considered/*/delta"),
            ("small:calibrate_shuffled_mb_sgd", "*/upper"),
            ("golden:test_bietti_golden.py::test_subsampled_accounting*", "*/meaning/*"),
            ("golden:test_lowy_4_1.py::test_the_engine_finds*", "*/meaning/advantage/upper"),
            ("golden:test_truncated_discrete_laplace.py::test_the_l2_bound*", "*/meaning/*/lower"),
            ("golden:test_accelerated_mb_sgd.py::test_sampling_that_has_no_bound*", "*/true/*"),
            ("golden:test_accelerated_mb_sgd.py::test_sampling_that_has_no_bound*", "*/guarantee/delta/lower"),
            ("golden:test_mb_sgd.py::test_with_replacement*", "*/true/*"),
            ("golden:test_mb_sgd.py::test_with_replacement*", "*/guarantee/*"),
            ("golden:test_mb_sgd.py::test_with_replacement*", "*/parameters/noise_*"),
            ("golden:test_mb_sgd.py::test_with_replacement*", "*/warnings/*/message"),
            ("golden:test_mb_sgd.py::test_the_printed_noise_and_the_certified*", "*/guarantee/*/lower"),
            ("golden:test_mb_sgd.py::test_the_printed_noise_and_the_certified*", "*/parameters/noise_*"),
            ("golden:test_mb_sgd.py::test_the_printed_noise_and_the_certified*", "*/risk/upper/terms/noise"),
            ("golden:test_mb_sgd_groups.py::*batches_drawn_twice*", "*/parameters/groups/*/noise_*"),
        )
    ),
    *(
        Allowed(
            request, path, "few steps on batches without replacement are composed on the lattice: ends move by 2e-5"
        )
        for request, path in (
            ("example:start_simulation_3", "/body/cells/*/final_excess/*"),
            (
                "golden:test_accounting.py::test_a_claim_between_bound_and_witness_is_undecidable",
                "/body/meaning/*/upper",
            ),
            ("golden:test_accounting.py::test_a_claim_between_bound_and_witness_is_undecidable", "/body/claim/*/lower"),
            ("golden:test_mb_sgd.py::test_true_epsilon_agrees_with_the_independent_brackets*", "/body/meaning/*/upper"),
            ("golden:test_mb_sgd.py::test_the_experimental_reading_is_refuted*", "*/true/epsilon/upper"),
        )
    ),
    Allowed(
        "golden:test_gaussian.py::test_the_nearest_target_is_met*",
        "*",
        "the request asks for the least ε that the base's enclosure meets; that of another grid is 1e-8 more",
    ),
    *(
        Allowed(request, f"/body/outputs/{name}", "a part of the statement that the base commit did not answer")
        for request, names in (
            ("*:evaluate_lowy_lemma_e_6*", ("exact_variance",)),
            ("*:evaluate_lowy_f_2*", ("scale",)),
            ("golden:test_shuffling_lowy.py::*", ("scale",)),
            ("*", ("one_pass_strongly_convex_*",)),
            ("*settings*", ("unreduced_samples_per_client", "images_per_used_image", "test_ratio", "samples")),
            ("*settings*", ("largest_inner_product", "lipschitz_over_largest_norm", "clipping_norms")),
            ("*settings*", ("step_sizes", "step_size_range", "local_step_size_range")),
        )
        for name in names
    ),
    *(
        Allowed(THEOREM_LIST, f"/body/theorems/{name}", "a theorem that the base commit did not have")
        for name in (
            "asoodeh.after-11",
            "asoodeh.after-corollary-3",
            "asoodeh.equation-*",
            "bietti.lemma-b.[23]",
            "bun-steinke-2016.approximate-zcdp",
            "canonne-kamath-steinke-2020.4",
            "das.equation-*",
            "das.lemma-2-distance",
            "das.remark-3",
            "epsilond.allocation-k-of-t",
            "epsilond.allocation-of-any-mechanism",
            "epsilond.allocation-one-of-t",
            "epsilond.allocation-replace-one",
            "epsilond.allocation-to-public-batches",
            "epsilond.bayes-error",
            "epsilond.bounded-range",
            "epsilond.client-records",
            "epsilond.declared-renyi-divergences",
            "epsilond.discrete-gaussian",
            "epsilond.gaussian-above-pure",
            "epsilond.gaussian-mixture",
            "epsilond.mean-of-messages-error",
            "epsilond.noisy-mean-error",
            "epsilond.one-pass-scheduled-excess-risk",
            "epsilond.permute-and-flip",
            "epsilond.poisson-binomial",
            "epsilond.profile-points",
            "epsilond.report-noisy-max-exponential",
            "epsilond.report-noisy-max-gumbel",
            "epsilond.report-noisy-max-laplace",
            "epsilond.shuffled-epochs",
            "epsilond.skellam",
            "epsilond.skellam-in-several-dimensions",
            "epsilond.sparse-vector",
            "epsilond.truncated-poisson",
            "epsilond.two-ratio-bound",
            "epsilond.unseen-multiplicities",
            "epsilond.zcdp-region",
            "epsilond.zeroed-in-a-batch",
            "kairouz-oh-viswanath-2015.hypothesis-testing",
            "lowy.appendix-a",
            "lowy.equation-16",
            "lowy.lemma-e.5.minimiser",
            "lowy.lemma-f.1",
            "papernot-steinke-2022.corollary-3",
            "papernot-steinke-2022.lemma-7",
            "reshef.lemma-a.2",
        )
    ),
    Allowed("*:risk_bounds_*", "/body/measure", "a risk says what it measures"),
    Allowed("*:risk_bounds_*", "/body/upper/*/status", "a bound says whether its theorem is proved"),
    Allowed("*:evaluate_das_4*", "/body/conditions/*", "the theorem needs full gradient steps, which it now says"),
    *(
        Allowed(request, "/body/errata/2", "A-10, an erratum that the base commit did not have")
        for request in ("*:evaluate_asoodeh_corollary_2*", "golden:test_contraction_asoodeh.py::*")
    ),
    Allowed("*:evaluate_lowy_lemma_e_8*", "/body/errata/0", "E-38, an erratum that the base commit did not have"),
    Allowed(
        "golden:test_gaussian.py::test_every_unknown_is_told_of_both_observers*",
        "*/log10_delta/lower",
        "a δ that no double holds is bounded without a transform, and has no lower bound",
    ),
    *(
        Allowed(request, path, why)
        for why, requests, paths in (
            (
                "sampling with replacement has a smaller upper bound: ε 3.93 became 3.49, and noise falls",
                (
                    "golden:test_accelerated_mb_sgd.py::test_sampling_that_has_no_bound*",
                    "golden:test_mb_sgd.py::test_with_replacement*",
                    "golden:test_mb_sgd_groups.py::*batches_drawn_twice*",
                    "golden:test_subsampling.py::test_with_replacement*",
                ),
                ("/body/*",),
            ),
            (
                "a bound by ρ is that of the tests that ρ allows: an advantage of 0.8241 became 0.7710",
                (
                    "golden:test_truncated_discrete_laplace.py::test_the_l2_bound_at_a_published_calibration",
                    "golden:test_truncated_discrete_laplace.py::test_rounds_with_an_l2_bound_add_their_divergences",
                ),
                ("/body/guarantee/epsilon/upper", "/body/meaning/*/upper"),
            ),
            (
                "the same bound by ρ: δ falls by 1e-6 to 3e-5 of itself",
                ("example:calibrate_norm_fedavg", "example:calibrate_qtdl"),
                ("/body/guarantee/delta/upper",),
            ),
            (
                "a zeroed record of a batch without replacement has a pair of its own: ε 8.70 became 4.52",
                ("golden:test_subsampling.py::test_zero_out_is_covered*",),
                ("/body/*",),
            ),
            (
                "the model after a random step has an example of neighbours, where the lower bound was zero",
                ("golden:test_projected_sgd.py::*",),
                ("*/lower", "*/tight", "*/numerical/*"),
            ),
        )
        for request in requests
        for path in paths
    ),
)
"""The table of exceptions."""


VERDICT_FIELDS = ("holds", "applies", "violated")
VERDICTS = {True: "yes", False: "no", "true": "yes", "false": "no", "undecided": "undecidable"}
"""Words that the base commit wrote for the verdicts of today."""


@dataclass(frozen=True)
class Difference:
    """One place where two answers differ."""

    request: str
    path: str
    old: Any
    new: Any
    kind: Kind = "failure"

    def __str__(self) -> str:
        return f"{self.request} {self.path}\n    old {_told(self.old)}\n    new {_told(self.new)}"

    @property
    def moves_a_figure(self) -> bool:
        """Whether it is a sentence whose decimal figures differ, too."""
        both_texts = isinstance(self.old, str) and isinstance(self.new, str)
        return both_texts and FIGURE.findall(self.old) != FIGURE.findall(self.new)


def compare(request: str, old: Any, new: Any, allowed: Sequence[Allowed] = ALLOWED) -> list[Difference]:
    """List the differences that are not allowed.

    The list of theorems is compared by id, because its order follows the files. Verdicts of the old answer are read in
    the words of today.
    """
    old = _rename_verdicts(old)
    if request == THEOREM_LIST:
        old, new = _by_id(old), _by_id(new)
    return [each for each in _walk(request, "", old, new) if not any(_allows(one, each) for one in allowed)]


def _rename_verdicts(node: Any) -> Any:
    """Return an answer with every verdict in the words of today."""
    if isinstance(node, list):
        return [_rename_verdicts(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    renamed = {name: _rename_verdicts(item) for name, item in node.items()}
    verdicts = {name: renamed[name] for name in VERDICT_FIELDS if isinstance(renamed.get(name), bool | str)}
    return renamed | {name: VERDICTS.get(word, word) for name, word in verdicts.items()}


def _by_id(answer: Any) -> Any:
    body = answer.get("body", {})
    return {**answer, "body": {**body, "theorems": {each["id"]: each for each in body.get("theorems", ())}}}


def _walk(request: str, path: str, old: Any, new: Any) -> Iterator[Difference]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in sorted(old.keys() | new.keys()):
            yield from _walk(request, f"{path}/{name}", old.get(name, ABSENT), new.get(name, ABSENT))
    elif isinstance(old, list) and isinstance(new, list):
        for place in range(max(len(old), len(new))):
            pair = [each[place] if place < len(each) else ABSENT for each in (old, new)]
            yield from _walk(request, f"{path}/{place}", *pair)
    elif _is_number(old) and _is_number(new):
        same_type = type(old) is type(new)
        if not _same_number(old, new):
            yield Difference(request, path, old, new)
        elif not same_type:
            yield Difference(request, path, old, new, "remark")
    elif type(old) is not type(new) or old != new:
        sentences = isinstance(old, str) and isinstance(new, str) and " " in old and " " in new
        yield Difference(request, path, old, new, "remark" if sentences else "failure")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(old: float, new: float) -> bool:
    """Return whether two numbers are the same: integers exactly, figures within `FIGURES_WITHIN`.

    An integer and a float of its value are the same number. 0.0 and -0.0 are not.
    """
    if old == new:
        return old != 0 or math.copysign(1.0, old) == math.copysign(1.0, new)
    both_figures = isinstance(old, float) and isinstance(new, float)
    return both_figures and math.isclose(old, new, rel_tol=FIGURES_WITHIN, abs_tol=0.0)


def _allows(one: Allowed, difference: Difference) -> bool:
    return fnmatchcase(difference.request, one.request) and fnmatchcase(difference.path, one.path)


def _told(value: Any, most: int = 300) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
