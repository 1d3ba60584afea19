# The request classes of all questions. Written by scripts/typed_face.py.

from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem as AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated_mb_sgd.risk import AcceleratedRiskProblem as AcceleratedRiskProblem
from epsilond.calibrators.accounts import AccountProblem as AccountProblem
from epsilond.calibrators.accounts import Claim as Claim
from epsilond.calibrators.dp_fedavg.problem import DpFedavgProblem as DpFedavgProblem
from epsilond.calibrators.gaussian.problem import GaussianProblem as GaussianProblem
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem as MbSgdProblem
from epsilond.calibrators.mb_sgd.risk import MbSgdRiskProblem as MbSgdRiskProblem
from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem as Mu2SgdProblem
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem as NormFedavgProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem as OnePassProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.risk import OnePassRiskProblem as OnePassRiskProblem
from epsilond.calibrators.planning.problem import PlanProblem as PlanProblem
from epsilond.calibrators.planning.problem import Reach as Reach
from epsilond.calibrators.ppsgd.problem import PpsgdProblem as PpsgdProblem
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem as ProjectedSgdProblem
from epsilond.calibrators.qtdl.problem import QtdlProblem as QtdlProblem
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem as ShuffledMbSgdProblem
from epsilond.calibrators.shuffled_mb_sgd.risk import ShuffledMbSgdRiskProblem as ShuffledMbSgdRiskProblem
