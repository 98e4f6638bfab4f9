# SPDX-License-Identifier: Apache-2.0
"""Random graphs in a script for `interpreter.cpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.checkers.ordered_scripts import HOST, Done, Use, run_of

if TYPE_CHECKING:
    from tests.checkers.random_steps import Section

GLOBAL, THREAD_LOCAL, RELAXED = range(3)


def step_graph(section: Section) -> None:
    """Capture an operator, fills, and a function; execute them, and destroy the graph."""
    rng = section.rng
    origin = rng.choice([stream for stream in section.streams if stream != -1])
    uses, works = _operator(section, origin) if rng.random() < 0.5 else ([], [])
    filled = section.device_block()
    (at, begin), count = section.part(HOST + 2, filled)
    fill = f"fillasync {section.name(filled)} {begin} {count} {origin}"
    uses.append(Use(filled, run_of(begin, count), True))
    works.append(fill)
    has_function = rng.random() < 0.4
    if has_function:
        copied = f"{count} h2 {at} {section.name(filled)} {begin}"
        works += [f"hostfunc {origin} {copied}", fill]
    others = [stream for stream in section.streams if stream not in (origin, -1)]
    if others and not has_function and rng.random() < 0.5:
        uses, works = _with_branch(section, origin, rng.choice(others), uses, works)
    section.slots += 1
    graph = section.slots
    mode = rng.choice([GLOBAL, THREAD_LOCAL, RELAXED]) if section.alone else THREAD_LOCAL
    section.lines += [f"capture {origin} {mode}", *works, f"captured {graph} {origin}"]
    # What functions need is in memory that is theirs, so they run once.
    for _ in range(1 if has_function else rng.randint(1, 2)):
        stream = rng.choice(list(section.streams))
        if has_function:
            reads = Use(filled, uses[-1].mask, False)
            section.order_for_function(stream, [Use(HOST + 2, run_of(at, count), True), reads])
        section.on_stream(stream, uses, f"execute {graph} {stream}")
    if has_function:
        # It knows what is before it. The second fill waits for it.
        section.function(origin, section.streams[stream])
        section.streams[stream] |= 1 << len(section.operations)
        section.operations.append(Done(uses[-1:], stream))
        section.join(origin)
    for use in uses:
        if use.block in section.written:
            section.written[use.block] |= use.mask
    section.replayed |= {use.block for use in uses}
    section.lines.append(f"ungraph {graph}")


def _with_branch(
    section: Section, origin: int, other: int, uses: list[Use], works: list[str]
) -> tuple[list[Use], list[str]]:
    """Fill a part in another stream of the capture, beside the works or behind them."""
    fork, join = section.slots + 1, section.slots + 2
    section.slots += 2
    section.lines += [f"event {fork}", f"event {join}"]
    block = section.device_block()
    (begin,), count = section.part(block)
    branch = Use(block, run_of(begin, count), True)
    beside = section.rng.random() < 0.5
    if beside and any(use.block == block and use.mask & branch.mask for use in uses):
        if section.rng.random() < section.leave_out:
            section.expected.add("racecheck/stream-race")
        else:
            beside = False
    forked = [
        f"record {fork} {origin}",
        f"wait {other} {fork}",
        f"fillasync {section.name(block)} {begin} {count} {other}",
    ]
    joined = [
        f"record {join} {other}",
        f"wait {origin} {join}",
        *(f"unevent {event}" for event in (fork, join)),
    ]
    lines = forked + works if beside else works + forked
    return [*uses, branch], lines + joined


def _operator(section: Section, origin: int) -> tuple[list[Use], list[str]]:
    """Choose what is computed in place."""
    view, space = section.view(), section.workspace()
    section.make_written(view.block, view.mask)
    uses = [Use(view.block, view.mask, True), Use(space, run_of(0, 512), True)]
    return uses, [f"elu-in-place {space} {view} {origin}"]
