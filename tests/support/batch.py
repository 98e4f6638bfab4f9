# SPDX-License-Identifier: Apache-2.0
"""Make calls on the product that each asks for.

A process has one product, so that calls on another run in a process of that product's: one for all
calls of the contract, started when the first of its outcomes is asked for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.support.calls import Outcome, make
from tests.support.contract import DEFAULT_SOC, Call
from tests.support.paths import ROOT
from tests.support.plan import everything
from tests.support.process import importing_tests

_known: dict[str, Outcome] = {}


def _key(call: Call) -> str:
    return json.dumps(call.as_json(), sort_keys=True)


def _elsewhere(soc: str, calls: list[Call]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.batch"],
        input=json.dumps([call.as_json() for call in calls]),
        capture_output=True,
        text=True,
        env={**importing_tests(), "SOFTNPU_SOC": soc},
        cwd=ROOT / "tests",  # not the root: its src/ is no installed package
        check=False,
    )
    assert done.returncode == 0, f"the process for {soc} failed:\n{done.stderr}"
    for call, form in zip(calls, json.loads(done.stdout.splitlines()[-1]), strict=True):
        _known[_key(call)] = Outcome(**form)


def outcome(call: Call) -> Outcome:
    """How a call ends."""
    key = _key(call)
    if key not in _known:
        if call.soc == os.environ.get("SOFTNPU_SOC", DEFAULT_SOC):
            _known[key] = make(call)
        else:
            batch = {_key(c): c for c in (*everything(), call) if c.soc == call.soc}
            _elsewhere(call.soc, list(batch.values()))
    return _known[key]


def main() -> None:
    """Read calls, make them, write their outcomes on the last line."""
    calls = [Call(**form) for form in json.load(sys.stdin)]
    print(json.dumps([make(call).as_json() for call in calls]))


if __name__ == "__main__":
    main()
