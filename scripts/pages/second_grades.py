"""Grades of a third of the errata of the five papers by second readers, who saw the texts and not the first grades."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from epsilond.accountants.theorem import Grade

SECOND_GRADES: Final[Mapping[tuple[str, str], Grade]] = {
    ("E-01", "Theorem 2.1 in Section 2.1, and the privacy part of its proof in Appendix E.3"): Grade.MISPRINT,
    ("E-05", "Section 1, after (1); Appendix E.3, complete version of Theorem 2.1, part 1"): Grade.UNCLEAR,
    ("E-07", "Theorem 2.3 (complete version), part 1, bound in terms of K before (37)"): Grade.MISPRINT,
    ("E-08", "Theorem 2.3, (9) in Section 2.2 and (38) in the complete version"): Grade.MISPRINT,
    ("E-10", "Theorem 2.1, part 2, in Section 2.1 and in Appendix E.3"): Grade.REFINEMENT,
    (
        "E-11",
        "Theorem E.1 (complete version), definition of Φ̂²; Lemma E.5, end of the proof, which uses Lemma E.6",
    ): Grade.PROVED_WRONG,
    ("E-13", "Lemma E.5, second inequality; proof of Lemma E.4, before (16)"): Grade.PROVED_WRONG,
    ("E-15", "proof of Theorem E.1, multi-stage implementation of Algorithm 2, step 1"): Grade.MISPRINT,
    ("E-17", "Appendix E.4, complete version of Theorem 2.2, part 1, and Lemma E.10"): Grade.REFINEMENT,
    ("E-18", "Appendix G.1, after the first sentence"): Grade.PROVED_WRONG,
    ("E-19", "Appendices H.1 and H.2, choice of σ² and K"): Grade.PROVED_WRONG,
    ("E-21", "Theorem 3.1 and Theorem F.4, premises; footnote 16"): Grade.PROVED_WRONG,
    ("E-29", "Appendix E.4, complete version of Theorem 2.2, part 2"): Grade.MISPRINT,
    ("E-30", "Appendix B"): Grade.UNCLEAR,
    ("E-34", "Appendix E.4, complete version of Theorem 2.2, part 1"): Grade.MISPRINT,
    ("E-37", "Theorem 3.1, part 2"): Grade.UNCLEAR,
    ("D-1", "Appendix B (proof of Theorem 1), before (12)"): Grade.PROVED_WRONG,
    ("D-1", "Section 4, Remark 2"): Grade.PROVED_WRONG,
    ("D-10", "Theorem 2, and Appendix C after (22) and (23)"): Grade.REFINEMENT,
    ("D-12", "Lemma 6, and (110) in Appendix E, where it is applied"): Grade.MISPRINT,
    ("D-4", "Appendix B (proof of Theorem 1), (19) and the bounds on m before it"): Grade.PROVED_WRONG,
    ("D-7", "Appendix F (proof of Corollary 3.1)"): Grade.UNCLEAR,
    ("D-9", "Theorem 2 (privacy), and Appendix C, (20)"): Grade.REFINEMENT,
    ("A-2", "Corollary 1, first line of the display of δ, before (11)"): Grade.MISPRINT,
    ("A-4", "Corollary 1, the bound on the risk; Corollary 2, and its proof"): Grade.PROVED_WRONG,
    ("A-6", "Section IV-B, last remark"): Grade.PROVED_WRONG,
    ("E-B10", "Section 6, Experiment setup"): Grade.MISPRINT,
    ("E-B11", "Theorem 4.5, (7)"): Grade.REFINEMENT,
    ("E-B2", "Appendix B.1, proof of Theorem 4.1"): Grade.PROVED_WRONG,
    ("E-B8", "Section 6, Experiment setup"): Grade.PROVED_WRONG,
    ("E-B9", "Theorem 5.1, (12)"): Grade.UNCLEAR,
    ("E-R2", "Appendix A, Lemma A.6 and its proof"): Grade.PROVED_WRONG,
    ("E-R6", "Appendix A, proof of Lemma A.3"): Grade.PROVED_WRONG,
    ("E-R7", "Appendix F, Theorems F.1 and F.2, and the texts before and after them"): Grade.MISPRINT,
    ("E-R9", "Section 4.3, Lemma 4.2; used in Theorem 5.1"): Grade.UNCLEAR,
}
"""Second grade by code and place of an erratum. The errata of each paper were drawn at random."""
