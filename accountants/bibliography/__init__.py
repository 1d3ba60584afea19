"""The works in which theorems are stated. `Source.key` of every theorem is a key of `WORKS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CitedWork:
    """Cited work.

    Attributes:
        authors: names of the authors, in the order of the work.
        title: title of the work.
        venue: conference, journal or series in which it was published.
        year: year of publication.
        arxiv: identifier on arXiv; None if it has none.
    """

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int
    arxiv: str | None = None

    @property
    def citation(self) -> str:
        """Citation in one line: authors, title, venue, year, and the identifier on arXiv if there is one."""
        end = f", arXiv:{self.arxiv}" if self.arxiv else ""
        return f"{', '.join(self.authors)}. {self.title}. {self.venue}, {self.year}{end}."


WORKS: Mapping[str, CitedWork] = {
    "epsilond": CitedWork(
        authors=("The epsilond authors",),
        title="Proofs beside the code and under docs/ of this project",
        venue="epsilond",
        year=2026,
    ),
    # The five papers --------------------------------------------------------------------------------------------
    "lowy2023": CitedWork(
        authors=("Andrew Lowy", "Meisam Razaviyayn"),
        title="Private Federated Learning Without a Trusted Server: Optimal Algorithms for Convex Losses",
        venue="International Conference on Learning Representations",
        year=2023,
        arxiv="2106.09779",
    ),
    "das2021": CitedWork(
        authors=("Rudrajit Das", "Abolfazl Hashemi", "Sujay Sanghavi", "Inderjit S. Dhillon"),
        title="DP-NormFedAvg: Normalizing Client Updates for Privacy-Preserving Federated Learning",
        venue="arXiv preprint, first version",
        year=2021,
        arxiv="2106.07094",
    ),
    "asoodeh2021": CitedWork(
        authors=("Shahab Asoodeh", "Wei-Ning Chen", "Flavio P. Calmon", "Ayfer Özgür"),
        title="Differentially Private Federated Learning: An Information-Theoretic Perspective",
        venue="IEEE International Symposium on Information Theory, 344–349",
        year=2021,
    ),
    "bietti2022": CitedWork(
        authors=("Alberto Bietti", "Chen-Yu Wei", "Miroslav Dudík", "John Langford", "Zhiwei Steven Wu"),
        title="Personalization Improves Privacy–Accuracy Tradeoffs in Federated Learning",
        venue="International Conference on Machine Learning",
        year=2022,
        arxiv="2202.05318",
    ),
    "reshef2025": CitedWork(
        authors=("Roie Reshef", "Kfir Yehuda Levy"),
        title=(
            "Privacy-Preserving Federated Convex Optimization: Balancing Partial-Participation and Efficiency via "
            "Noise Cancellation"
        ),
        venue="International Conference on Machine Learning, PMLR 267, 51503–51530",
        year=2025,
        arxiv="2506.02563",
    ),
    # Works they and we rest on -----------------------------------------------------------------------------------
    "agarwal2018cpsgd": CitedWork(
        authors=("Naman Agarwal", "Ananda Theertha Suresh", "Felix X. Yu", "Sanjiv Kumar", "H. Brendan McMahan"),
        title="cpSGD: Communication-Efficient and Differentially-Private Distributed SGD",
        venue="Advances in Neural Information Processing Systems",
        year=2018,
        arxiv="1805.10559",
    ),
    "liu2019selection": CitedWork(
        authors=("Jingcheng Liu", "Kunal Talwar"),
        title="Private Selection from Private Candidates",
        venue="ACM Symposium on Theory of Computing, 298–309",
        year=2019,
        arxiv="1811.07971",
    ),
    "papernot2022tuning": CitedWork(
        authors=("Nicolas Papernot", "Thomas Steinke"),
        title="Hyperparameter Tuning with Renyi Differential Privacy",
        venue="International Conference on Learning Representations",
        year=2022,
        arxiv="2110.03620",
    ),
    "andrew2021adaptive": CitedWork(
        authors=("Galen Andrew", "Om Thakkar", "H. Brendan McMahan", "Swaroop Ramaswamy"),
        title="Differentially Private Learning with Adaptive Clipping",
        venue="Advances in Neural Information Processing Systems",
        year=2021,
        arxiv="1905.03871",
    ),
    "balle2018analytic": CitedWork(
        authors=("Borja Balle", "Yu-Xiang Wang"),
        title=(
            "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and Optimal Denoising"
        ),
        venue="International Conference on Machine Learning",
        year=2018,
        arxiv="1805.06530",
    ),
    "balle2018privacy": CitedWork(
        authors=("Borja Balle", "Gilles Barthe", "Marco Gaboardi"),
        title="Privacy Amplification by Subsampling: Tight Analyses via Couplings and Divergences",
        venue="Advances in Neural Information Processing Systems",
        year=2018,
        arxiv="1807.01647",
    ),
    "bok2024shifted": CitedWork(
        authors=("Jinho Bok", "Weijie Su", "Jason M. Altschuler"),
        title="Shifted Interpolation for Differential Privacy",
        venue="International Conference on Machine Learning, PMLR 235",
        year=2024,
        arxiv="2403.00278",
    ),
    "balle2019privacy": CitedWork(
        authors=("Borja Balle", "James Bell", "Adrià Gascón", "Kobbi Nissim"),
        title="The Privacy Blanket of the Shuffle Model",
        venue="Advances in Cryptology, CRYPTO",
        year=2019,
        arxiv="1903.02837",
    ),
    "bun2016concentrated": CitedWork(
        authors=("Mark Bun", "Thomas Steinke"),
        title="Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds",
        venue="Theory of Cryptography Conference",
        year=2016,
        arxiv="1605.02065",
    ),
    "canonne2020discrete": CitedWork(
        authors=("Clément L. Canonne", "Gautam Kamath", "Thomas Steinke"),
        title="The Discrete Gaussian for Differential Privacy",
        venue="Advances in Neural Information Processing Systems",
        year=2020,
        arxiv="2004.00010",
    ),
    "dong2022gaussian": CitedWork(
        authors=("Jinshuo Dong", "Aaron Roth", "Weijie J. Su"),
        title="Gaussian Differential Privacy",
        venue="Journal of the Royal Statistical Society, Series B",
        year=2022,
        arxiv="1905.02383",
    ),
    "dwork2014algorithmic": CitedWork(
        authors=("Cynthia Dwork", "Aaron Roth"),
        title="The Algorithmic Foundations of Differential Privacy",
        venue="Foundations and Trends in Theoretical Computer Science 9(3–4)",
        year=2014,
    ),
    "feldman2021hiding": CitedWork(
        authors=("Vitaly Feldman", "Audra McMillan", "Kunal Talwar"),
        title=("Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy Amplification by Shuffling"),
        venue="IEEE Symposium on Foundations of Computer Science",
        year=2021,
        arxiv="2012.12803",
    ),
    "feldman2021filter": CitedWork(
        authors=("Vitaly Feldman", "Tijana Zrnic"),
        title="Individual Privacy Accounting via a Rényi Filter",
        venue="Advances in Neural Information Processing Systems",
        year=2021,
        arxiv="2008.11193",
    ),
    "feldman2023stronger": CitedWork(
        authors=("Vitaly Feldman", "Audra McMillan", "Kunal Talwar"),
        title="Stronger Privacy Amplification by Shuffling for Rényi and Approximate Differential Privacy",
        venue="ACM-SIAM Symposium on Discrete Algorithms; arXiv version with errata",
        year=2023,
        arxiv="2208.04591",
    ),
    "hsu2014private": CitedWork(
        authors=("Justin Hsu", "Zhiyi Huang", "Aaron Roth", "Tim Roughgarden", "Zhiwei Steven Wu"),
        title="Private Matchings and Allocations",
        venue="ACM Symposium on Theory of Computing",
        year=2014,
        arxiv="1311.2828",
    ),
    "geng2020tight": CitedWork(
        authors=("Quan Geng", "Wei Ding", "Ruiqi Guo", "Sanjiv Kumar"),
        title="Tight Analysis of Privacy and Utility Tradeoff in Approximate Differential Privacy",
        venue="International Conference on Artificial Intelligence and Statistics, PMLR 108",
        year=2020,
    ),
    "kairouz2015composition": CitedWork(
        authors=("Peter Kairouz", "Sewoong Oh", "Pramod Viswanath"),
        title="The Composition Theorem for Differential Privacy",
        venue="International Conference on Machine Learning, 1376–1385",
        year=2015,
        arxiv="1311.0776",
    ),
    "mironov2017renyi": CitedWork(
        authors=("Ilya Mironov",),
        title="Rényi Differential Privacy",
        venue="IEEE Computer Security Foundations Symposium, 263–275",
        year=2017,
        arxiv="1702.07476",
    ),
    "mironov2019sampled": CitedWork(
        authors=("Ilya Mironov", "Kunal Talwar", "Li Zhang"),
        title="Rényi Differential Privacy of the Sampled Gaussian Mechanism",
        venue="arXiv preprint",
        year=2019,
        arxiv="1908.10530",
    ),
    "rogers2016odometers": CitedWork(
        authors=("Ryan Rogers", "Aaron Roth", "Jonathan Ullman", "Salil Vadhan"),
        title="Privacy Odometers and Filters: Pay-as-you-Go Composition",
        venue="Advances in Neural Information Processing Systems",
        year=2016,
        arxiv="1605.08294",
    ),
    "smith2022fully": CitedWork(
        authors=("Adam Smith", "Abhradeep Thakurta"),
        title="Fully Adaptive Composition for Gaussian Differential Privacy",
        venue="arXiv preprint",
        year=2022,
        arxiv="2210.17520",
    ),
    "su2025decomposition": CitedWork(
        authors=("Pengcheng Su", "Haibo Cheng", "Ping Wang"),
        title="Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling",
        venue="arXiv preprint",
        year=2025,
        arxiv="2504.07414",
    ),
    "ullman2017": CitedWork(
        authors=("Jonathan Ullman",),
        title="CS7880: Rigorous Approaches to Data Privacy",
        venue="Lecture notes, Northeastern University",
        year=2017,
    ),
    "vadhan2023concurrent": CitedWork(
        authors=("Salil Vadhan", "Wanrong Zhang"),
        title="Concurrent Composition Theorems for Differential Privacy",
        venue="ACM Symposium on Theory of Computing",
        year=2023,
        arxiv="2207.08335",
    ),
    "whitehouse2023fully": CitedWork(
        authors=("Justin Whitehouse", "Aaditya Ramdas", "Ryan Rogers", "Zhiwei Steven Wu"),
        title="Fully-Adaptive Composition in Differential Privacy",
        venue="International Conference on Machine Learning",
        year=2023,
        arxiv="2203.05481",
    ),
    "zhu2022optimal": CitedWork(
        authors=("Yuqing Zhu", "Jinshuo Dong", "Yu-Xiang Wang"),
        title="Optimal Accounting of Differential Privacy via Characteristic Function",
        venue="International Conference on Artificial Intelligence and Statistics",
        year=2022,
        arxiv="2106.08567",
    ),
}
