"""Runs all suites, prints their table, and stores the counts: EPSILOND_PEERS=FOLDER python -m tests.peers [SUITE …]

--own           run the peers' own accountants, and store the number of assertions of each test
--as before     store the counts as those before a change; by default as those after
--tree FOLDER   run epsilond of this source tree, such as one of an older commit; by default of this one
--commit NAME   commit of that tree, which is stored; by default the one that is checked out here
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

from tests.peers.score import OWN, own_counts, score
from tests.peers.suites import SUITES
from tests.peers.test_peers import REPOSITORY, missing, run_suite

STORED = REPOSITORY / "benchmarks/peer_suites.json"


def checked_out():
    """Return the name of the commit that is checked out, with a mark if files differ from it."""
    words = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()


def main():
    """Run the suites that can be run here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", default=list(SUITES))
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--as", dest="column", default="after")
    parser.add_argument("--tree", type=Path, default=REPOSITORY)
    parser.add_argument("--commit", default=checked_out())
    options = parser.parse_args()
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    own = json.loads(OWN.read_text(encoding="utf-8")) if OWN.exists() else {}
    for name in options.suites:
        suite = SUITES[name]
        if reason := missing(suite):
            print(f"{name}: not run, {reason}")
            continue
        own_too = ["own"] if options.own else []
        outcome = run_suite(suite, Path(os.environ["EPSILOND_PEERS"]), *own_too, tree=options.tree)
        if options.own:
            own[name] = own_counts(outcome)
            print(name, sum(own[name].values()), "assertions", flush=True)
            OWN.write_text(json.dumps(own, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            continue
        counts = score(outcome, own[name]).counts
        stored.setdefault(name, {"commit": suite.commit})[options.column] = {**counts, "tree": options.commit}
        print(name, counts, flush=True)
        STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
