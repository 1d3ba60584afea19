"""The 30 statements of Bietti et al. (2022)."""

from scripts.coverage.statement import Paper, Statement

RUNS = ("ppsgd",)
STAND_IN = "on scikit-learn's digits, dealt to users in the order of the file or by label: its data are on other hosts"
NETWORKS = (
    "federated EMNIST with a convolutional network and Stackoverflow are on other hosts, and no network is trained here"
)

PAPER = Paper(
    key="bietti2022",
    word="Bietti",
    statements=(
        Statement(number="Theorem 4.1", says="the noise of PPSGD, all users in each round"),
        Statement(number="(6)", says="the total variance", theorems=("bietti.4.5",)),
        Statement(number="(7)", says="the step, and the generalisation of PPSGD", theorems=("bietti.4.5",)),
        Statement(number="(9)", says="bias, statistical and privacy error at the certified noise"),
        Statement(number="(22)", says="any step size"),
        Statement(number="(23)", says="any step size, simpler", theorems=("bietti.4.5.any-step",)),
        Statement(
            number="Section 4, global limit", says="nothing personal", theorems=("bietti.4.5.global-limit",), alone=True
        ),
        Statement(
            number="Section 4, local limit",
            says="nothing shared",
            theorems=("bietti.4.5.local-limit",),
            alone=True,
        ),
        Statement(
            number="Lemma 4.6, norm",
            says="the least norm of an optimum of the additive model",
            theorems=("epsilond.minimal-norm-optimum",),
        ),
        Statement(number="Lemma 4.6, variance", says="the variance term"),
        Statement(number="(10)", says="when to personalise", theorems=("bietti.lemma-4.6", "bietti.squared-loss")),
        Statement(number="Theorem 5.1", says="the noise with users drawn: (12)"),
        Statement(number="Theorem 5.2", says="generalisation with users drawn: (13)"),
        Statement(number="(14)", says="the same at the noise of (12)"),
        Statement(number="Theorem B.4", says="every user counts alike: (15), (16), (35)"),
        Statement(number="(36)", says="the same at the noise of (12)"),
        Statement(
            number="Cost of heterogeneity",
            says="users of unlike size",
            theorems=("bietti.5.2", "bietti.b.4"),
            alone=True,
        ),
        Statement(
            number="Billboard lemma",
            says="joint privacy from what all may see",
            theorems=("hsu-2014.billboard-lemma",),
            alone=True,
        ),
        Statement(
            number="Appendix B.2",
            says="the constants of the proofs, with those of Appendix B.3",
            theorems=("epsilond.personalized-sgd-excess-risk",),
        ),
        Statement(
            number="Bias at q = 1/N",
            says="one user a round",
            theorems=("bietti.section-5-bias", "bietti.5.2"),
            alone=True,
        ),
        Statement(number="Section 6", says="the noise of the experiments"),
        Statement(
            number="Appendix A, grids",
            says="the grids of the experiments",
            theorems=("bietti.section-6", "bietti.appendix-a"),
            alone=True,
            experiments=("ppsgd-synthetic-full", "ppsgd-synthetic-grid"),
            partly="the synthetic grids are experiments; those of Stackoverflow and EMNIST are known only in part",
        ),
        Statement(
            number="Algorithm 1",
            says="PPSGD, all users in each round",
            theorems=("bietti.4.1", "bietti.4.5"),
            alone=True,
            runs=RUNS,
            functions=("epsilond.train",),
            experiments=("ppsgd-digits",),
        ),
        Statement(
            number="Algorithm 2",
            says="PPSGD, users drawn and weighed by their records",
            theorems=("bietti.5.1", "bietti.5.2"),
            alone=True,
            runs=RUNS,
            functions=("epsilond.train",),
            experiments=("ppsgd-digits",),
        ),
        Statement(
            number="Algorithm 3",
            says="PPSGD, users drawn and weighed alike",
            theorems=("bietti.b.4",),
            alone=True,
            runs=RUNS,
            functions=("epsilond.train",),
            experiments=("ppsgd-digits",),
        ),
        Statement(
            number="Figure 1a",
            says="excess risk by privacy and share of personalisation",
            experiments=("ppsgd-synthetic", "ppsgd-synthetic-full"),
        ),
        *(
            Statement(
                number=f"Figure {number}",
                says="an experiment of Section 6 on other data",
                experiments=("ppsgd-digits",),
                partly=STAND_IN,
            )
            for number in ("1b", "1c", "1d")
        ),
        Statement(number="Figure 2", says="an experiment of Section 6 on other data", absent=NETWORKS),
    ),
)
