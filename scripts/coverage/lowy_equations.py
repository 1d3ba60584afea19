"""The numbered equations of Lowy and Razaviyayn (2023) that state something to be served.

They are the equations of a definition or of a theorem, and those that the proof of another statement cites. All others,
such as (13), (15), (17) and (20) to (26), are steps of a single proof.
"""

from scripts.coverage.statement import Statement


def _row(number: int, says: str, *theorems: str) -> Statement:
    """Return the row of an equation that theorems evaluate."""
    return Statement(number=f"({number})", says=says, theorems=theorems, alone=True)


EQUATIONS = (
    Statement(
        number="(1)",
        says="a client's expected loss",
        theorems=("lowy.2.1", "lowy.2.3"),
        alone=True,
        used="the population risk of the bounds with the `objective` `population`",
    ),
    Statement(
        number="(2)",
        says="the weighted mean of the clients' losses, to be minimised",
        theorems=("lowy.appendix-b",),
        alone=True,
        used="the objective F of every risk bound, with the weights p_i of Appendix B",
    ),
    Statement(
        number="(3)",
        says="(ε, δ)-differential privacy",
        theorems=("asoodeh.section-2",),
        alone=True,
        used="every δ of a guarantee, as in Definition 1",
    ),
    _row(4, "Theorem 2.1, informal: excess risk, convex losses", "lowy.2.1"),
    _row(5, "Theorem 2.1, informal: excess risk, strongly convex losses", "lowy.2.1"),
    _row(6, "Theorem 2.2, informal: excess risk, convex losses", "lowy.2.2"),
    _row(7, "Theorem 2.2, informal: excess risk, strongly convex losses", "lowy.2.2"),
    _row(8, "Theorem 2.3, informal: excess risk, convex losses", "lowy.2.3"),
    _row(9, "Theorem 2.3, informal: excess risk, strongly convex losses", "lowy.2.3"),
    _row(10, "Theorem 2.4, informal: empirical risk, convex losses", "lowy.2.4"),
    _row(11, "Theorem 2.4, informal: empirical risk, strongly convex losses", "lowy.2.4"),
    _row(12, "Theorem 2.1, complete: excess risk, strongly convex losses", "lowy.2.1"),
    _row(14, "Lemma E.4: empirical risk, strongly convex losses", "lowy.lemma-e.4.strongly-convex"),
    _row(16, "the distance from the minimiser after one step, used for Theorem 4.1", "lowy.equation-16"),
    _row(19, "Lemma E.4: empirical risk, convex losses, used for Theorem 4.1", "lowy.lemma-e.4"),
    _row(27, "the sum of terms from which the constant 272 follows", "lowy.2.1"),
    _row(28, "Theorem E.1, informal: empirical risk, convex losses", "lowy.e.1"),
    _row(29, "Theorem E.1, informal: empirical risk, strongly convex losses", "lowy.e.1"),
    _row(30, "Theorem E.1, complete: empirical risk after R rounds, convex losses", "lowy.e.1"),
    _row(31, "Theorem E.1, complete: the same at the prescribed R", "lowy.e.1"),
    _row(32, "Theorem E.1, complete: empirical risk after R rounds, strongly convex losses", "lowy.e.1"),
    _row(33, "Theorem E.1, complete: the same at the prescribed R", "lowy.e.1"),
    _row(34, "Theorem 2.4, complete: empirical risk at the prescribed R, convex losses", "lowy.2.4"),
    _row(35, "Theorem 2.4, complete: empirical risk after R rounds, strongly convex losses", "lowy.2.4"),
    _row(36, "Theorem 2.4, complete: the same at the prescribed R", "lowy.2.4"),
    _row(37, "Theorem 2.3, complete: excess risk at the prescribed K, convex losses", "lowy.2.3"),
    _row(38, "Theorem 2.3, complete: excess risk at the prescribed K, strongly convex losses", "lowy.2.3"),
    _row(39, "Theorem F.2: ε of a shuffled round", "lowy.f.2"),
    _row(40, "Theorem F.2: its order, for nε₀ of order 1", "lowy.f.2"),
    _row(41, "Theorem F.2: its order at δ = Nnδ₀", "lowy.f.2.equation-41"),
    _row(42, "Lemma F.1, applied to the first report", "lowy.lemma-f.1"),
    _row(43, "Lemma F.1, applied to the second report", "lowy.lemma-f.1"),
    _row(44, "a local randomiser as a mixture of its reports on two fixed data sets", "lowy.lemma-f.1"),
    _row(45, "the same mixtures, of shuffled rounds", "lowy.lemma-f.1"),
    _row(46, "Theorem 4.1: excess risk, convex losses", "lowy.4.1"),
    _row(47, "Theorem 4.1: excess risk, strongly convex losses", "lowy.4.1"),
)
