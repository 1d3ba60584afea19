"""Works that the paper cites beside those of the bibliography, and how a citation is written."""

from __future__ import annotations

import re
from collections.abc import Mapping

from epsilond.accountants.bibliography import WORKS, CitedWork

_NEURIPS = "Advances in Neural Information Processing Systems"
_ICML = "International Conference on Machine Learning"
_CCS = "ACM Conference on Computer and Communications Security"
RELATED: Mapping[str, CitedWork] = {
    "abadi2016deep": CitedWork(
        authors=(
            "Martín Abadi",
            "Andy Chu",
            "Ian Goodfellow",
            "H. Brendan McMahan",
            "Ilya Mironov",
            "Kunal Talwar",
            "Li Zhang",
        ),
        title="Deep Learning with Differential Privacy",
        venue=_CCS,
        year=2016,
        arxiv="1607.00133",
    ),
    "alghamdi2023saddle": CitedWork(
        authors=(
            "Wael Alghamdi",
            "Juan Felipe Gomez",
            "Shahab Asoodeh",
            "Flavio P. Calmon",
            "Oliver Kosut",
            "Lalitha Sankar",
        ),
        title="The Saddle-Point Method in Differential Privacy",
        venue=f"{_ICML}, PMLR 202, 508–528",
        year=2023,
        arxiv="2208.09595",
    ),
    "chua2024private": CitedWork(
        authors=(
            "Lynn Chua",
            "Badih Ghazi",
            "Pritish Kamath",
            "Ravi Kumar",
            "Pasin Manurangsi",
            "Amer Sinha",
            "Chiyuan Zhang",
        ),
        title="How Private are DP-SGD Implementations?",
        venue=_ICML,
        year=2024,
        arxiv="2403.17673",
    ),
    "doroshenko2022connect": CitedWork(
        authors=("Vadym Doroshenko", "Badih Ghazi", "Pritish Kamath", "Ravi Kumar", "Pasin Manurangsi"),
        title="Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions",
        venue="Privacy Enhancing Technologies Symposium",
        year=2022,
        arxiv="2207.04380",
    ),
    "ghazi2022faster": CitedWork(
        authors=("Badih Ghazi", "Pritish Kamath", "Ravi Kumar", "Pasin Manurangsi"),
        title="Faster Privacy Accounting via Evolving Discretization",
        venue=_ICML,
        year=2022,
        arxiv="2207.04381",
    ),
    "gopi2021numerical": CitedWork(
        authors=("Sivakanth Gopi", "Yin Tat Lee", "Lukas Wutschitz"),
        title="Numerical Composition of Differential Privacy",
        venue=_NEURIPS,
        year=2021,
        arxiv="2106.02848",
    ),
    "haney2022precision": CitedWork(
        authors=("Samuel Haney", "Damien Desfontaines", "Luke Hartman", "Ruchit Shrestha", "Michael Hay"),
        title=(
            "Precision-based attacks and interval refining: how to break, then fix, differential privacy on finite "
            "computers"
        ),
        venue="arXiv preprint",
        year=2022,
        arxiv="2207.13793",
    ),
    "haney2023concurrent": CitedWork(
        authors=(
            "Samuel Haney",
            "Michael Shoemate",
            "Grace Tian",
            "Salil Vadhan",
            "Andrew Vyrros",
            "Vicki Xu",
            "Wanrong Zhang",
        ),
        title="Concurrent Composition for Interactive Differential Privacy with Adaptive Privacy-Loss Parameters",
        venue=_CCS,
        year=2023,
        arxiv="2309.05901",
    ),
    "hay2020opendp": CitedWork(
        authors=("Michael Hay", "Marco Gaboardi", "Salil Vadhan"),
        title="A Programming Framework for OpenDP",
        venue="Workshop on the Theory and Practice of Differential Privacy",
        year=2020,
    ),
    "henzinger2024concurrent": CitedWork(
        authors=("Monika Henzinger", "Roodabeh Safavi", "Salil Vadhan"),
        title="Concurrent Composition for Differentially Private Continual Mechanisms",
        venue="arXiv preprint",
        year=2024,
        arxiv="2411.03299",
    ),
    "koskela2020tight": CitedWork(
        authors=("Antti Koskela", "Joonas Jälkö", "Antti Honkela"),
        title="Computing Tight Differential Privacy Guarantees Using FFT",
        venue="International Conference on Artificial Intelligence and Statistics",
        year=2020,
        arxiv="1906.03049",
    ),
    "lebeda2024pitfalls": CitedWork(
        authors=("Christian Janos Lebeda", "Matthew Regehr", "Gautam Kamath", "Thomas Steinke"),
        title="Avoiding Pitfalls for Privacy Accounting of Subsampled Mechanisms under Composition",
        venue="arXiv preprint",
        year=2024,
        arxiv="2405.20769",
    ),
    "lecuyer2019sage": CitedWork(
        authors=("Mathias Lécuyer", "Riley Spahn", "Kiran Vodrahalli", "Roxana Geambasu", "Daniel Hsu"),
        title="Privacy Accounting and Quality Control in the Sage Differentially Private ML Platform",
        venue="ACM Symposium on Operating Systems Principles",
        year=2019,
        arxiv="1909.01502",
    ),
    "luo2021scheduling": CitedWork(
        authors=("Tao Luo", "Mingen Pan", "Pierre Tholoniat", "Asaf Cidon", "Roxana Geambasu", "Mathias Lécuyer"),
        title="Privacy Budget Scheduling",
        venue="USENIX Symposium on Operating Systems Design and Implementation",
        year=2021,
    ),
    "lyu2022interactive": CitedWork(
        authors=("Xin Lyu",),
        title="Composition Theorems for Interactive Differential Privacy",
        venue=_NEURIPS,
        year=2022,
        arxiv="2207.09397",
    ),
    "mironov2012bits": CitedWork(
        authors=("Ilya Mironov",),
        title="On Significance of the Least Significant Bits For Differential Privacy",
        venue=_CCS,
        year=2012,
    ),
    "regehr2026residues": CitedWork(
        authors=(
            "Matthew Regehr",
            "Bingshan Hu",
            "Ethan Leeman",
            "Pasin Manurangsi",
            "Pierre Tholoniat",
            "Mathias Lécuyer",
        ),
        title=(
            "Privacy Filters are Captured by Residues: A Characterization of Free Natural Filters and the Cost of "
            "Adaptivity"
        ),
        venue="arXiv preprint, second version",
        year=2026,
        arxiv="2602.15815",
    ),
    "steinke2023auditing": CitedWork(
        authors=("Thomas Steinke", "Milad Nasr", "Matthew Jagielski"),
        title="Privacy Auditing with One (1) Training Run",
        venue=_NEURIPS,
        year=2023,
        arxiv="2305.08846",
    ),
    "trefethen2014trapezoidal": CitedWork(
        authors=("Lloyd N. Trefethen", "J. A. C. Weideman"),
        title="The Exponentially Convergent Trapezoidal Rule",
        venue="SIAM Review 56(3), 385–458",
        year=2014,
    ),
}
BRACKETED = re.compile(r"\[(@\w+(?:;\s@\w+)*)\]")
CITED = re.compile(r"@(\w+)")


def work(key: str) -> CitedWork:
    """A work by its key.

    Raises:
        KeyError: it stands in neither list.
    """
    return RELATED[key] if key in RELATED else WORKS[key]


def keys_in(text: str) -> list[str]:
    """The keys of every citation of a text, in the order of the references."""
    return sorted(set(CITED.findall(text)), key=lambda key: (_last(work(key).authors[0]), work(key).year, key))


def cited(text: str) -> str:
    """`text` with each citation as authors and year, linked: `@key` in the sentence, `[@one; @two]` in parentheses."""
    text = BRACKETED.sub(lambda found: f"({found[1]})", text)
    return CITED.sub(lambda found: _in_words(found[1]), text)


def references(text: str) -> str:
    """The list of what a text cites."""
    return "\n".join(f'- <a id="{key}"></a>{work(key).citation}' for key in keys_in(text))


def _in_words(key: str) -> str:
    first, *others = [_last(author) for author in work(key).authors]
    named = f"{first} et al." if len(others) > 2 else " and ".join([", ".join([first, *others[:-1]]), *others[-1:]])
    return f"[{named} {work(key).year}](#{key})"


def _last(author: str) -> str:
    return author.rpartition(" ")[2]
