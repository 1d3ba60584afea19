"""The 42 statements of Das et al. (2021)."""

from scripts.coverage.statement import Paper, Statement

NETWORKS = "its images ship with no package used here, and no network is trained"
CURVES = "accuracies at the end are measured, and no curves over rounds"
UNKNOWN = "the paper tells neither its levels nor its rounds"
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
            says="a step towards the optimum",
        ),
        Statement(number="Lemma 3", says="how short an update can be"),
        Statement(
            number="Lemma 4",
            says="how far local steps go",
        ),
        Statement(
            number="Lemma 5",
            says="how an update moves with a record",
        ),
        Statement(
            number="Lemma 6",
            says="how unit vectors move",
        ),
        Statement(number="Definition 1", says="sensitivities of a rounded update"),
        Statement(
            number="Remark 1", says="noise that is not truncated: pure privacy", theorems=("epsilond.discrete-laplace",)
        ),
        Statement(number="Remark 2", says="continuous truncated Laplace noise"),
        Statement(
            number="Remark 3",
            says="the rates of DP-NormFedAvg and FedAvg compared",
            theorems=("das.2-utility", "das.4"),
            partly="both bounds are served; their orders in the rounds and in the distance of the clients' optima,"
            " which the remark compares, are not evaluated",
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
            absent="it compares works in words, and states nothing that can be evaluated",
        ),
        Statement(
            number="Appendix H",
            says="step sizes, their schedules, and how images are dealt to clients",
            absent=f"the settings are of experiments on images: {NETWORKS}",
        ),
        *(
            Statement(
                number=f"Figure {number}",
                says=f"curves over rounds of {table}",
                experiments=(experiment,),
                partly=f"{CURVES}; {NETWORKS}",
                stand_in=experiment,
            )
            for number, table, experiment in (
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
            experiments=("qtdl-against-printed",),
            partly=NETWORKS,
            stand_in="das-noise",
        ),
        Statement(
            number="Table 3",
            says="experiments (ii) and (iii), with Table 5: normalising beside clipping, noise of clients or server",
            theorems=("das.clipped-updates",),
            partly=f"{UNKNOWN}, and {NETWORKS}",
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
            experiments=("qtdl-against-printed",),
            partly=NETWORKS,
            stand_in="das-noise",
        ),
        Statement(
            number="Table 5",
            says="experiments (ii) and (iii), with Table 3: normalising beside clipping, noise of clients or server",
            theorems=("das.clipped-updates",),
            partly=f"{UNKNOWN}, and {NETWORKS}",
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
