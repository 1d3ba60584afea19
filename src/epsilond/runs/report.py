"""Pages about runs: the account of the record with its status, or the reasons why there is no ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities.units import unit_json
from epsilond.calibrators.answer import as_json
from epsilond.reading import read as read_problem
from epsilond.runs.status import RunStatus
from epsilond.witness.reports.make import make as make_page
from epsilond.witness.reports.make import read_date
from epsilond.witness.reports.page import render
from epsilond.witness.reports.questions import question as find_question
from epsilond.witness.reports.record import CONTRADICTED, seal_page
from epsilond.witness.reports.record import record as make_record

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
    from epsilond.accountants.specs import Spec
    from epsilond.runs.evidence import Evidence
    from epsilond.runs.statement import RunStatement


def report_run(
    evidence: Evidence,
    spec: Spec,
    *,
    delta: float,
    relation: Relation,
    unit: ProtectedUnit,
    observer: Observer,
    date: str | None = None,
) -> str:
    """Return an HTML page about a training run, with its ε or with the observations that contradict its account.

    A contradicted run raises no error: its page prints the reasons in place of the ε. `epsilond.verify` recomputes
    the ε of the page. It does not check the observations of the run, because it cannot repeat them.

    Args:
        evidence: the conditions of the guarantee that the run was observed to fulfil or to contradict, and those for
            which the caller vouches.
        spec: the mechanisms of all recorded steps of the run.
        delta: δ of the statement, in (0, 1).
        relation: neighbouring relation.
        unit: the protected unit.
        observer: the adversary.
        date: date that the page prints, YYYY-MM-DD; none by default, because no clock is read.

    Returns:
        The text of the page, with a seal that `epsilond.verify` checks.

    Raises:
        InvalidInput: the date is invalid, or δ is outside (0, 1).
        NoCertificate: no theorem covers the recorded steps.
        MissingExtra: the packages of the extra `reports` are not installed.
    """
    evidence_members = describe_evidence(evidence)
    if evidence.status == RunStatus.CONTRADICTED:
        return _contradicted_page(evidence_members, date)
    request = {
        "spec": as_json(spec),
        "query": {"delta": delta},
        "relation": relation,
        "unit": unit_json(unit),
        "observer": observer,
    }
    account = find_question("account")
    problem: object = read_problem(account.problem, request)
    return make_page(account, problem, request, date, run=evidence_members)


def describe_evidence(evidence: Evidence) -> JsonRecord:
    """Return the observations and declarations of a run as the JSON object that a report contains.

    Args:
        evidence: the conditions of the guarantee that the run was observed to fulfil or to contradict, and those for
            which the caller vouches.

    Returns:
        An object with the status, the number of steps, the conditions that were observed or declared, and the
        contradictions.
    """
    return {
        "status": str(evidence.status),
        "steps": evidence.steps,
        "shown": dict(evidence.shown),
        "declared": list(evidence.declared),
        "outside": list(evidence.outside),
        "observations": [asdict(observation) for observation in evidence.observations],
    }


def describe_statement(statement: RunStatement) -> JsonRecord:
    """Return the evidence for a run's ε as the JSON object that a report contains. The ε itself is left out.

    A report recomputes the ε from the recorded steps, so it only takes the evidence from the statement.

    Args:
        statement: the ε of the run with its status and evidence.
    """
    members = statement.as_json()
    return {name: members[name] for name in ("status", "steps", "shown", "declared", "outside")}


def _contradicted_page(evidence_members: Mapping[str, object], date: str | None) -> str:
    """Return an HTML page that lists how a run was observed to differ from its recorded steps, without an ε.

    No ε may be stated for such a run, because its account describes other steps.

    Args:
        evidence_members: the evidence as JSON values, from `describe_evidence`.
        date: date that the page prints, in a form of ISO 8601, or None.

    Returns:
        The page as HTML, with its data and their hash.

    Raises:
        InvalidInput: the date is invalid.
    """
    page = make_record(
        CONTRADICTED,
        CONTRADICTED,
        date=read_date(date),
        request={},
        answer={"engine_version": ENGINE_VERSION},
        profile=[],
        engine_version=ENGINE_VERSION,
        run=evidence_members,
    )
    return seal_page(page, render)
