"""riskcal: its connect-the-dots accountant, which is dp-accounting's distribution at a grid of 1e-4."""

from __future__ import annotations

from importlib.metadata import version

from riskcal.accountants import CTDAccountant
from riskcal.calibration import find_noise_multiplier_for_epsilon_delta

from benchmarks.runners.loop import Answer, Question, gaussians_only, serve


def answer(question: Question) -> Answer:
    """ε, δ, or the noise multiplier by its own search, to its default of 1e-3 in ε."""
    gaussians_only(question)
    if question.asked == "noise_multiplier":
        (part,) = question.parts
        noise = find_noise_multiplier_for_epsilon_delta(
            CTDAccountant, part.rate, part.times, question.epsilon, question.delta
        )
        return Answer(noise)
    accountant = CTDAccountant()
    accountant.history = [(part.noise, part.rate, part.times) for part in question.parts]
    if question.asked == "epsilon":
        return Answer(accountant.get_epsilon(delta=question.delta))
    return Answer(accountant.get_pld().get_delta_for_epsilon(question.epsilon))


if __name__ == "__main__":
    serve({"riskcal CTD": answer}, version("riskcal"))
