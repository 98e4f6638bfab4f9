# SPDX-License-Identifier: Apache-2.0
"""Random scripts for `interpreter.cpp`, and what must be found in them."""

from __future__ import annotations

import random

from tests.checkers.random_steps import Section


def one_thread(seed: int, **mistakes: float) -> tuple[str, set[str]]:
    """Make a script of one thread, and say what must be found in it."""
    rng = random.Random(seed)
    section = Section(rng, **mistakes)  # type: ignore[arg-type]
    section.lines += ["==", "init", "set"]
    section.open_streams()
    for part in range(rng.randint(1, 3)):
        if part > 0:
            section.restart()
        section.steps(rng.randint(2, 14))
    if rng.random() < 0.5:
        section.close_streams()
        section.streams = {-1: section.streams[-1]}
        section.end()
    else:
        section.end()
        section.close_streams()
    section.lines += rng.choice([["reset", "finalize"], ["finalize"], ["reset-force", "finalize"]])
    return "\n".join(section.lines) + "\n", section.expected


def several_threads(seed: int) -> str:
    """Make a correct script of threads with contexts of their own."""
    rng = random.Random(seed)
    lines = ["==", "init", "set"]
    for _ in range(rng.randint(2, 4)):
        section = Section(rng, alone=False)
        section.lines += ["==", "set" if rng.random() < 0.5 else "context"]
        last = "reset" if section.lines[-1] == "set" else "uncontext"
        section.open_streams()
        section.steps(rng.randint(5, 20))
        section.end()
        section.close_streams()
        lines += [*section.lines, last]
    return "\n".join([*lines, "==", "reset", "finalize"]) + "\n"
