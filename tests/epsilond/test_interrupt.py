"""Ctrl-C ends a long command with exit code 130, and without a word of where it was."""

import subprocess
import sys

import pytest

COMMANDS = {
    "calibrate": ["calibrate", "gaussian", "--request", "-"],
    "sweep": ["calibrate", "gaussian", "--sweep", "epsilon=1,2,3", "--request", "-"],
    "account": ["account", "--request", "-"],
    "plan": ["plan", "--request", "-"],
    "import": ["account", "--request", "-"],
}
WHERE = {"import": "accountants"}
REQUEST = {
    "calibrate": '{"solve_for":"noise_multiplier","relation":"add-or-remove-one","sampling":"poisson","rate":0.01,'
    '"rounds":1000,"epsilon":1.0,"delta":1e-6}',
    "account": '{"spec":{"kind":"gaussian","noise_multiplier":2.0},"relation":"replace-one","query":{"delta":1e-5}}',
    "plan": '{"epsilon":1.0,"delta":1e-5,"clients":50,"participants":25,"samples_per_client":1000,"dimension":20,'
    '"lipschitz":1.0,"diameter":2.0,"smoothness":1.0}',
}
REQUEST |= {"sweep": REQUEST["calibrate"].replace('"epsilon":1.0,', ""), "import": REQUEST["account"]}
RUN = """
import os, signal, sys
place, called = sys.argv.pop(1), False
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in what it runs in the background

def interrupt(frame, event, _):
    global called
    if not called and event == "call" and place in frame.f_code.co_filename.replace(os.sep, "/"):
        called = True
        os.kill(os.getpid(), signal.SIGINT)

from epsilond.cli import main
sys.setprofile(interrupt)
main()
"""
"""Runs the command line, and sends itself the signal of Ctrl-C as soon as a function of a file is called."""


@pytest.mark.parametrize("name", COMMANDS)
def test_it_ends_with_130_and_no_traceback(name):
    place = WHERE.get(name, "accountants/engine" if name in ("calibrate", "sweep") else "/calibrators/")
    run = [sys.executable, "-c", RUN, place, *COMMANDS[name]]
    ended = subprocess.run(run, input=REQUEST[name], capture_output=True, text=True, check=False)
    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
