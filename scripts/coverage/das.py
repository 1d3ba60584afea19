"""The 65 statements of Das et al. (2021)."""

from scripts.coverage.statement import Paper, Statement

NETWORKS = (
    "the experiment runs on files that the user has; no answer is stored, because the project cannot have the images"
)
UNKNOWN = "the rounds, the grid of full precision and the momentum are choices"
BITS = ("das.equation-7", "agarwal-2018.1")

PAPER = Paper(
    key="das2021",
    word="Das",
    statements=(
        Statement(number="Theorem 1", says="the levels of truncated discrete Laplace noise, and its privacy"),
        Statement(
            number="Theorem 2, privacy",
            says="rounds composed and amplified by sampling",
        ),
        Statement(
            number="Theorem 2, convergence",
            says="steps, and the gradient's norm",
        ),
        Statement(number="Theorem 3", says="sensitivities that hold for most data"),
        Statement(number="Theorem 4", says="how FedAvg converges"),
        Statement(
            number="Corollary 3.1, privacy",
            says="all rounds at those sensitivities",
            theorems=("das.corollary-3.1",),
            alone=True,
        ),
        Statement(
            number="Corollary 3.1, bits", says="bits for privacy", theorems=("das.corollary-3.1-bits",), alone=True
        ),
        Statement(number="Lemma 1", says="the variance of the noise"),
        Statement(
            number="Lemma 2",
            says="local steps approach the client's optimum",
        ),
        Statement(number="Lemma 3", says="how short an update can be"),
        Statement(
            number="Lemma 4",
            says="how far local steps go",
        ),
        Statement(
            number="Lemma 5",
            says="how a unit update moves with a record; its proof has a bound for the update",
            theorems=("das.3",),
        ),
        Statement(
            number="Lemma 6",
            says="how unit vectors move",
        ),
        Statement(
            number="Assumption 1",
            says="losses are smooth",
            used="the input `smoothness` of Theorems 2 and 4",
        ),
        Statement(
            number="Assumption 2",
            says="losses are quasar-convex",
            used="the input `quasar_convexity` of Theorems 2 and 4",
        ),
        Statement(
            number="Assumption 3",
            says="a record's gradient is at most ρ times that of the population",
            used="the input `growth_ratio` of Theorem 3",
        ),
        Statement(number="Definition 1", says="sensitivities of a rounded update"),
        Statement(
            number="Remark 1", says="noise that is not truncated: pure privacy", theorems=("epsilond.discrete-laplace",)
        ),
        Statement(number="Remark 2", says="continuous truncated Laplace noise"),
        Statement(
            number="Remark 3",
            says="the rates of DP-NormFedAvg and FedAvg compared",
            theorems=("das.remark-3", "das.2-utility", "das.4"),
        ),
        Statement(
            number="Algorithm 1",
            says="rounding to levels, and integer noise",
            theorems=("epsilond.truncated-discrete-laplace", "epsilond.escape-probability"),
            functions=("epsilond.mechanisms.from_calibration", "epsilond.mechanisms.quantization"),
        ),
        Statement(
            number="Algorithm 2",
            says="normalised updates, averaged",
            theorems=("das.2", "das.2-utility"),
            alone=True,
            runs=("norm-fedavg",),
            functions=("epsilond.train",),
        ),
        Statement(
            number="Algorithm 3",
            says="FedAvg",
            theorems=("das.4",),
            alone=True,
            runs=("fedavg",),
        ),
        Statement(number="(3)", says="the probabilities of the noise, (3) and (4)", theorems=("das.equation-3",)),
        Statement(number="(6)", says="sensitivities by rounding, (6) and (121)"),
        Statement(number="(9)", says="the formula of Lemma 1"),
        Statement(
            number="(15)",
            says="the privacy of one message with (Δ∞/Z)^d as δ, `claimed_finer_delta`",
            theorems=("das.1",),
        ),
        Statement(number="(16)", says="the levels of the noise, `noise_levels`", theorems=("das.1",)),
        Statement(number="(18)", says="the mean squared error of a message"),
        Statement(number="(19)", says="the levels are below ⌈2.5Δ∞⌉, `noise_levels_below`", theorems=("das.1",)),
        Statement(
            number="(20)",
            says="rounds composed, before ε₀ is chosen",
            theorems=("epsilond.rounds-of-clients",),
        ),
        Statement(number="(21)", says="the ε₀ of a round, `round_epsilon`"),
        Statement(number="(34)", says="the inner product of an update with the way to the optimum"),
        Statement(number="(48)", says="a gradient after some local steps is at least half the first"),
        Statement(number="(49)", says="the length of an update, with the constant of its proof"),
        Statement(number="(53)", says="the bound of Theorem 4"),
        Statement(number="(85)", says="FedAvg at any step size"),
        Statement(number="(90)", says="rounding adds 2 steps a coordinate to the sensitivities"),
        Statement(number="(106)", says="how an update moves with a record"),
        Statement(number="(113)", says="how a unit update moves with a record, `relative_movement`"),
        Statement(number="(114)", says="the same in ℓ∞ and ℓ1 norm"),
        Statement(number="(118)", says="rounding adds 2√d steps to the ℓ2 sensitivity"),
        Statement(number="(121)", says="the ℓ2 sensitivity of the experiments"),
        Statement(
            number="after Theorem 2",
            says="the error of a message does not depend on ε and δ",
            theorems=("das.2-utility", "das.2-compression"),
        ),
        Statement(number="(7)", says="bits of a coordinate", theorems=("das.equation-7",)),
        Statement(number="(22)", says="rounds composed", theorems=("das.equation-22",)),
        Statement(number="(39)", says="convergence for any steps", theorems=("das.equation-39",)),
        Statement(number="(120)", says="sensitivities with their constants", theorems=("das.3",)),
        Statement(
            number="C₁ and C₂",
            says="bits for privacy and for sampling beside each other",
            theorems=("das.corollary-3.1-bits",),
            alone=True,
        ),
        Statement(number="Appendix F", says="extra bits of a coordinate"),
        Statement(
            number="Table 1",
            says="properties of related works",
            absent="its cells are yes or no for four lines of work, and none of them is a bound or a number",
        ),
        Statement(
            number="Section 6",
            says="50 clients of at most five classes, 25 in a round, 20 local steps on batches of 256, momentum",
            experiments=("das-noise", "das-normalised"),
            partly=f"clients and participants are the paper's, but not the batches and the momentum: {NETWORKS}",
        ),
        Statement(
            number="Appendix H",
            says="step sizes, their schedules, and how images are dealt to clients",
            experiments=("das-table-2", "das-table-3", "das-table-4", "das-table-5", "das-table-6"),
        ),
        *(
            Statement(
                number=f"Figure {number}",
                says=f"curves over rounds of {table}",
                partly=NETWORKS,
                stand_in=stand_in,
            )
            for number, table, stand_in in (
                (1, "Table 2", "das-noise"),
                (2, "Table 3", "das-noise"),
                (3, "Table 4", "das-noise"),
                (4, "Table 5", "das-noise"),
                (5, "Table 6", "das-normalised"),
            )
        ),
        Statement(
            number="Table 2, bits",
            says="bits of a coordinate of its mechanism and of the Binomial one, CIFAR-10",
            theorems=BITS,
        ),
        Statement(
            number="Table 2, accuracy",
            says="experiment (i) on CIFAR-10: integer and Binomial noise",
            experiments=("das-table-2", "qtdl-against-printed"),
            partly=NETWORKS,
            stand_in="das-noise",
        ),
        Statement(
            number="Table 3",
            says="experiments (ii) and (iii), with Table 5: normalising beside clipping, noise of clients or server",
            theorems=("das.clipped-updates",),
            partly=f"{UNKNOWN}; {NETWORKS}",
            stand_in="das-noise",
        ),
        Statement(
            number="Table 4, bits",
            says="bits of a coordinate of its mechanism and of the Binomial one, FMNIST",
            theorems=BITS,
        ),
        Statement(
            number="Table 4, accuracy",
            says="experiment (i) on FMNIST: integer and Binomial noise",
            experiments=("das-table-4", "qtdl-against-printed"),
            partly=NETWORKS,
            stand_in="das-noise",
        ),
        Statement(
            number="Table 5",
            says="experiments (ii) and (iii), with Table 3: normalising beside clipping, noise of clients or server",
            theorems=("das.clipped-updates",),
            partly=f"{UNKNOWN}; {NETWORKS}",
            stand_in="das-noise",
        ),
        Statement(
            number="Table 6",
            says="experiment (iv): normalised updates beside FedAvg, without noise",
            runs=("norm-fedavg", "fedavg"),
            partly=NETWORKS,
            stand_in="das-normalised",
        ),
    ),
)
