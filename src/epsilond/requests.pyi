# The request classes of all questions. Written by scripts/typed_face.py.

from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem as AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated_mb_sgd.risk import AcceleratedRiskProblem as AcceleratedRiskProblem
from epsilond.calibrators.accounting.claims import Claim as Claim
from epsilond.calibrators.accounts import AccountProblem as AccountProblem
from epsilond.calibrators.dp_fedavg.problem import DpFedavgProblem as DpFedavgProblem
from epsilond.calibrators.dp_fedavg.risk_bounds import DpFedavgRiskProblem as DpFedavgRiskProblem
from epsilond.calibrators.gaussian.problem import GaussianProblem as GaussianProblem
from epsilond.calibrators.gaussian.risk_bounds import GaussianRiskProblem as GaussianRiskProblem
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem as MbSgdProblem
from epsilond.calibrators.mb_sgd.risk import MbSgdRiskProblem as MbSgdRiskProblem
from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem as Mu2SgdProblem
from epsilond.calibrators.mu2_sgd.risk_bounds import Mu2SgdRiskProblem as Mu2SgdRiskProblem
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem as NormFedavgProblem
from epsilond.calibrators.norm_fedavg.risk_bounds import NormFedavgRiskProblem as NormFedavgRiskProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem as OnePassProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.risk import OnePassRiskProblem as OnePassRiskProblem
from epsilond.calibrators.planning.problem import PlanProblem as PlanProblem
from epsilond.calibrators.planning.problem import Reach as Reach
from epsilond.calibrators.ppsgd.problem import PpsgdProblem as PpsgdProblem
from epsilond.calibrators.ppsgd.risk_bounds import PpsgdRiskProblem as PpsgdRiskProblem
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem as ProjectedSgdProblem
from epsilond.calibrators.projected_sgd.risk_bounds import ProjectedSgdRiskProblem as ProjectedSgdRiskProblem
from epsilond.calibrators.qtdl.problem import QtdlProblem as QtdlProblem
from epsilond.calibrators.qtdl.risk_bounds import QtdlRiskProblem as QtdlRiskProblem
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem as ShuffledMbSgdProblem
from epsilond.calibrators.shuffled_mb_sgd.risk import ShuffledMbSgdRiskProblem as ShuffledMbSgdRiskProblem
