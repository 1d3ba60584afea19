"""autodp: its default Rényi accounting, and its analytical Fourier accountant (AFA) as its tutorial composes it."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from autodp.calibrator_zoo import generalized_eps_delta_calibrator
from autodp.mechanism_zoo import (
    GaussianMechanism,
    LaplaceMechanism,
    RandresponseMechanism,
    SubsampleGaussianMechanism,
)
from autodp.transformer_zoo import AmplificationBySampling, AmplificationBySampling_pld, ComposeAFA, Composition

from benchmarks.runners.loop import Answer, NotOffered, Question, Run, gaussians_only, serve

BOUNDS = (0.3, 20.0)
"""Its calibrator must be told where to look."""


def _mechanism(part: Run) -> Any:
    if part.mechanism == "randomised response":
        if part.categories != 2:
            raise NotOffered("randomised response with two answers only")
        return RandresponseMechanism(p=1.0 - (part.noise or 0.0) / 2.0)
    if part.mechanism == "laplace":
        return LaplaceMechanism(b=part.noise)
    return AmplificationBySampling()(GaussianMechanism(sigma=part.noise), part.rate, improved_bound_flag=True)


def renyi(question: Question) -> Answer:
    """By Rényi divergences, and the noise multiplier by its own calibrator."""
    if question.asked == "noise_multiplier":
        (part,) = question.parts
        settings = {"prob": part.rate, "sigma": None, "coeff": part.times}
        found = generalized_eps_delta_calibrator()(
            SubsampleGaussianMechanism, question.epsilon, question.delta, BOUNDS, settings, "sigma"
        )
        return Answer(found.params["sigma"])
    mechanisms = [_mechanism(part) for part in question.parts]
    composed = Composition()(mechanisms, [part.times for part in question.parts])
    if question.asked == "epsilon":
        return Answer(composed.get_approxDP(question.delta))
    return Answer(composed.get_approx_delta(question.epsilon))


def fourier(question: Question) -> Answer:
    """By characteristic functions, for adding and for removing; the larger is the guarantee."""
    gaussians_only(question)
    if question.asked == "noise_multiplier":
        raise NotOffered("its calibrator uses the Rényi accountant")
    ends = []
    for neighbours in ("add_only", "remove_only"):
        subsample = AmplificationBySampling_pld(PoissonSampling=True, neighboring=neighbours)
        mechanisms = [
            subsample(GaussianMechanism(sigma=part.noise, phi_off=False, RDP_off=True, approxDP_off=True), part.rate)
            for part in question.parts
        ]
        composed = ComposeAFA()(mechanisms, [part.times for part in question.parts])
        epsilon = question.asked == "epsilon"
        ends.append(composed.get_approxDP(question.delta) if epsilon else composed.get_approx_delta(question.epsilon))
    return Answer(max(ends))


if __name__ == "__main__":
    serve({"autodp RDP": renyi, "autodp AFA": fourier}, version("autodp"))
