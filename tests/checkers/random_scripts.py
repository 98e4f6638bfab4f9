# SPDX-License-Identifier: Apache-2.0
"""Random scripts for `interpreter.cpp`, and a model of what is ordered before what in them.

The model knows of every operation, as a set of bits, which others are done before it begins. A
script is made correct by construction: where an operation would meet an unordered one, an event,
a query or a synchronisation is inserted. Leaving some of these out makes bugs that the model
names.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

HOST = 1000  # slots from here on are the program's own memory
HOST_BYTES = 4096
UNIT = 4  # bytes that a bit stands for


@dataclass(frozen=True)
class Use:
    """Which parts of a block are read or written."""

    block: int
    mask: int
    writes: bool


@dataclass
class Done:
    """An operation of a stream."""

    uses: list[Use]
    stream: int


@dataclass
class View:
    """Sizes and strides, in floats."""

    block: int
    offset: int
    sizes: tuple[int, int]
    strides: tuple[int, int]

    @property
    def mask(self) -> int:
        """The elements, as bits."""
        mask = 0
        for i in range(self.sizes[0]):
            for j in range(self.sizes[1]):
                mask |= 1 << (self.offset + i * self.strides[0] + j * self.strides[1])
        return mask

    def __str__(self) -> str:
        """As the script has it."""
        (a, b), (c, d) = self.sizes, self.strides
        return f"{self.block} {self.offset} {a} {c} {b} {d}"


def run_of(offset: int, count: int) -> int:
    """Give the bits of adjacent bytes."""
    return ((1 << (count // UNIT)) - 1) << (offset // UNIT)


@dataclass
class Section:
    """A thread's part of a script, while it is made."""

    rng: random.Random
    leave_out: float = 0.0  # how often needed order is left out
    unwritten: float = 0.0  # how often memory is read although nothing wrote it
    leaks: float = 0.0
    alone: bool = True
    lines: list[str] = field(default_factory=list)
    expected: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin with nothing."""
        self.operations: list[Done] = []
        self.host = 0  # what the program knows to be done
        self.streams: dict[int, int] = {}  # what is done before the next operation
        self.events: dict[int, int | None] = {}  # the same for whoever waits; None: not recorded
        self.size: dict[int, int] = {}
        self.locked: set[int] = set()  # blocks of aclrtMallocHost
        self.written: dict[int, int] = {}
        self.plans: dict[int, list[View]] = {}
        self.subscribed: set[int] = set()
        self.functions: dict[int, list[int]] = {}  # what each stream's functions know
        self.slots = 0

    # Order.

    def unordered(self, uses: list[Use], known: int) -> list[tuple[int, Use]]:
        """Find operations that are in conflict and not known to be done."""
        return [
            (i, use)
            for i, done in enumerate(self.operations)
            if not known >> i & 1
            for use in uses
            for other in done.uses
            if other.block == use.block and other.mask & use.mask and (other.writes or use.writes)
        ]

    def on_stream(self, stream: int, uses: list[Use], line: str) -> None:
        """Launch something that the uses describe, in order."""
        for i, _ in self.unordered(uses, self.streams[stream] | self.host):
            if (self.streams[stream] | self.host) >> i & 1:
                continue
            if self.rng.random() >= self.leave_out:
                self.order_streams(self.operations[i].stream, stream)
        known = self.streams[stream] | self.host
        if self.unordered(uses, known):
            self.expected.add("racecheck/stream-race")
        self.streams[stream] = known | 1 << len(self.operations)
        self.operations.append(Done(uses, stream))
        self.lines.append(line)

    def on_host(self, uses: list[Use], line: str, freed: bool = False) -> None:
        """Do something at once, in order."""
        for i, _ in self.unordered(uses, self.host):
            if not self.host >> i & 1 and self.rng.random() >= self.leave_out:
                self.wait_for(self.operations[i].stream)
        for _, use in self.unordered(uses, self.host):
            written = "memcheck/freed-in-use" if freed else "memcheck/overwritten-in-use"
            self.expected.add(written if use.writes else "synccheck/unsynchronized-read")
        self.lines.append(line)

    def an_event(self, stream: int) -> int:
        """Record an event, a new one or one that was recorded before."""
        if len(self.events) < 4:
            self.slots += 1
            self.events[self.slots] = None
            self.lines.append(f"event {self.slots}")
        event = self.rng.choice(list(self.events))
        self.lines.append(f"record {event} {stream}")
        self.events[event] = self.streams[stream] | self.host
        return event

    def order_streams(self, before: int, after: int) -> None:
        """Have a stream's next operation wait for another stream."""
        if self.rng.random() < 0.2:
            self.wait_for(before)
            return
        event = self.an_event(before)
        self.lines.append(f"wait {after} {event}")
        self.streams[after] |= self.events[event] or 0

    def wait_for(self, stream: int) -> None:
        """Have the program wait for a stream's operations, in one of the ways that there are."""
        rng = self.rng
        knows = self.streams[stream]
        ways = ["sync", "sync", "pollstream", "syncevent", "poll", "through", "function"]
        way = rng.choice([*ways, "syncdev", "callback"] if self.alone else ways)
        if way == "callback" and (stream not in self.subscribed):
            way = "sync"
        if way in ("sync", "pollstream"):
            self.lines.append(f"{way} {stream}")
        elif way in ("syncevent", "poll"):
            self.lines.append(f"{way} {self.an_event(stream)}")
        elif way == "syncdev":
            self.lines.append(way)
            for each in self.streams.values():
                knows |= each
        elif way == "through":
            other = rng.choice(list(self.streams))
            event = self.an_event(stream)
            self.lines += [f"wait {other} {event}", f"sync {other}"]
            self.streams[other] |= self.events[event] or 0
            knows = self.streams[other]
        else:
            verb = rng.choice(["callback", "callback-blocks"]) if way == "callback" else "hostfunc"
            self.function(stream, f"{verb} {stream} 0")
            self.lines.append(f"join {stream} {len(self.functions[stream])}")
            knows = self.host
        self.host |= knows

    def function(self, stream: int, line: str) -> None:
        """Launch a function of the program's."""
        known = self.streams[stream] | self.host
        self.functions.setdefault(stream, []).append(known)
        self.host |= known  # when it runs; the caller joins it, or must not rely on that
        self.lines.append(line)

    # Memory.

    def allocate(self) -> int:
        """Make a block of device memory, or of page-locked host memory."""
        self.slots += 1
        block = self.slots
        size = self.rng.choice([64, 256, 512, 1024])
        self.size[block] = size
        if self.rng.random() < 0.15:
            self.locked.add(block)
            self.lines.append(f"mallochost {block} {size}")
        else:
            self.lines.append(f"malloc {block} {size}")
        self.written[block] = 0
        return block

    def name(self, block: int) -> str:
        """Give the letter and number that the script has for a block."""
        if block >= HOST:
            return f"h{block - HOST}"
        return f"p{block}" if block in self.locked else f"d{block}"

    def device_block(self) -> int:
        """Choose a block of the device's."""
        blocks = [block for block in self.size if block not in self.locked]
        while len(blocks) < 3:
            block = self.allocate()
            if block not in self.locked:
                blocks.append(block)
        return self.rng.choice(blocks)

    def host_block(self) -> int:
        """Choose memory of the program's own, or page-locked."""
        return self.rng.choice([HOST, HOST + 1, HOST + 2, *self.locked])

    def room(self, block: int) -> int:
        """Give the bytes of a block."""
        return HOST_BYTES if block >= HOST else self.size[block]

    def part(self, *blocks: int) -> tuple[list[int], int]:
        """Choose an offset in each block, and a number of bytes that fits them all."""
        count = UNIT * self.rng.randint(1, min(self.room(block) for block in blocks) // UNIT)
        offsets = [
            UNIT * self.rng.randint(0, (self.room(block) - count) // UNIT) for block in blocks
        ]
        return offsets, count

    def view(self) -> View:
        """Choose a view of device memory: contiguous, strided, interleaved or transposed."""
        block = self.device_block()
        floats = self.size[block] // 4
        rows, columns = self.rng.randint(1, 4), self.rng.randint(1, 4)
        step = self.rng.choice([1, 1, 2, 3])
        if rows * columns * step > floats:
            step = 1
        strides = (columns * step, step)
        if self.rng.random() < 0.3:
            strides = (step, rows * step)
        last = (rows - 1) * strides[0] + (columns - 1) * strides[1]
        return View(block, self.rng.randint(0, floats - 1 - last), (rows, columns), strides)

    def is_watched(self, block: int) -> bool:
        """Say whether the block is the device's."""
        return block < HOST and block not in self.locked

    def make_written(self, block: int, mask: int) -> None:
        """Write what is to be read, unless that is left out."""
        if not self.is_watched(block) or not mask & ~self.written[block]:
            return
        if self.rng.random() < self.unwritten:
            self.expected.add("initcheck/uninitialized-read")
            return
        missing = mask & ~self.written[block]
        first, last = (missing & -missing).bit_length() - 1, missing.bit_length() - 1
        self.fill(block, UNIT * first, UNIT * (last + 1 - first))

    def fill(self, block: int, offset: int, count: int) -> None:
        """Write bytes, on a stream or at once."""
        mask = run_of(offset, count)
        uses = [Use(block, mask, True)]
        if self.rng.random() < 0.5:
            stream = self.rng.choice(list(self.streams))
            self.on_stream(stream, uses, f"fillasync {self.name(block)} {offset} {count} {stream}")
        else:
            self.on_host(uses, f"fill {self.name(block)} {offset} {count}")
        self.written[block] |= mask

    # Steps.

    def step_copy(self) -> None:
        """Copy between any two places."""
        to = self.rng.choice([self.device_block(), self.host_block()])
        source = self.rng.choice([self.device_block(), self.host_block()])
        (at, begin), count = self.part(to, source)
        reads, writes = run_of(begin, count), run_of(at, count)
        # Bytes that nothing wrote may be copied within the device.
        if not (self.is_watched(to) and self.is_watched(source)):
            self.make_written(source, reads)
        uses = [Use(to, writes, True), Use(source, reads, False)]
        words = f"{self.name(to)} {at} {self.name(source)} {begin} {count}"
        stream = self.rng.choice(list(self.streams))
        known = self.written.get(source, -1) if self.is_watched(source) else -1
        if self.rng.random() < 0.5:
            self.on_stream(stream, uses, f"copyasync {words} {stream}")
        else:
            self.on_host(uses, f"copy {words}")
        if self.is_watched(to):
            moved = known >> (begin // UNIT) & run_of(0, count)
            self.written[to] = self.written[to] & ~writes | moved << (at // UNIT)

    def step_copy_2d(self) -> None:
        """Copy rows that are apart from device memory to the host."""
        source, to = self.device_block(), HOST + 1
        width, height = UNIT * self.rng.randint(1, 3), self.rng.randint(1, 4)
        pitch = width + UNIT * self.rng.randint(0, 1)
        while pitch * height > self.size[source]:
            height -= 1
        if height == 0:
            return
        reads = 0
        for row in range(height):
            reads |= run_of(row * pitch, width)
        self.make_written(source, reads)
        uses = [Use(to, run_of(0, width * height), True), Use(source, reads, False)]
        words = f"h1 0 {width} {self.name(source)} 0 {pitch} {width} {height}"
        if self.rng.random() < 0.5:
            stream = self.rng.choice(list(self.streams))
            self.on_stream(stream, uses, f"copy2dasync {words} {stream}")
        else:
            self.on_host(uses, f"copy2d {words}")

    def step_fill(self) -> None:
        """Fill a part of device memory."""
        block = self.device_block()
        (offset,), count = self.part(block)
        self.fill(block, offset, count)

    def workspace(self) -> int:
        """Choose a workspace, a block with no other use; some are shared by streams."""
        if not hasattr(self, "spaces"):
            self.spaces: list[int] = []
        if len(self.spaces) < 3:
            self.slots += 1
            self.lines.append(f"malloc {self.slots} 512")
            self.spaces.append(self.slots)
        return self.rng.choice(self.spaces)

    def views_apart(self) -> tuple[View, View] | None:
        """Choose two views of one shape that do not meet."""
        for _ in range(20):
            a, b = self.view(), self.view()
            if a.sizes == b.sizes and not (a.block == b.block and a.mask & b.mask):
                return a, b
        return None

    def step_elu(self) -> None:
        """Launch an operator, at times in place."""
        stream, space = self.rng.choice(list(self.streams)), self.workspace()
        work = Use(space, run_of(0, 512), True)
        if self.rng.random() < 0.4:
            view = self.view()
            self.make_written(view.block, view.mask)
            uses = [Use(view.block, view.mask, True), work]
            self.on_stream(stream, uses, f"elu-in-place {space} {view} {stream}")
            self.written[view.block] |= view.mask
            return
        views = self.views_apart()
        if views is None:
            return
        a, b = views
        self.make_written(a.block, a.mask)
        uses = [Use(a.block, a.mask, False), Use(b.block, b.mask, True), work]
        self.on_stream(stream, uses, f"elu {space} {a} {b} {stream}")
        self.written[b.block] |= b.mask

    def step_repeat(self) -> None:
        """Launch a repeatable executor, with other addresses each time."""
        if not self.plans:
            views = self.views_apart()
            if views is None or views[0].block == views[1].block:
                return
            self.slots += 1
            self.plans[self.slots] = list(views)
            self.lines.append(f"plan 0 {self.slots} {views[0]} {views[1]}")
        plan = self.rng.choice(list(self.plans))
        views = self.plans[plan]
        for which in (0, 1):
            view = views[which]
            fits = [
                block
                for block, size in self.size.items()
                if block not in self.locked
                and size >= self.size[view.block]
                and block != views[1 - which].block
            ]
            if self.rng.random() < 0.5:
                view.block = self.rng.choice(fits)
                self.lines.append(f"address {plan} {which} {view.block}")
        a, b = views
        stream, space = self.rng.choice(list(self.streams)), self.workspace()
        self.make_written(a.block, a.mask)
        work = Use(space, run_of(0, 512), True)
        uses = [Use(a.block, a.mask, False), Use(b.block, b.mask, True), work]
        self.on_stream(stream, uses, f"launch {space} {plan} {stream}")
        self.written[b.block] |= b.mask

    def step_function(self) -> None:
        """Have a function of the program's copy what its stream has written before it."""
        stream = self.rng.choice(list(self.streams))
        source, to = self.device_block(), HOST + 2
        (at, begin), count = self.part(to, source)
        mask = run_of(begin, count)
        self.make_written(source, mask)
        uses = [Use(to, run_of(at, count), True), Use(source, mask, False)]
        for i, _ in self.unordered(uses, self.streams[stream] | self.host):
            if not (self.streams[stream] | self.host) >> i & 1:
                self.order_streams(self.operations[i].stream, stream)
        verb = "hostfunc"
        if stream in self.subscribed:
            verb = self.rng.choice(["callback", "callback-blocks", verb])
        self.function(stream, f"{verb} {stream} {count} h2 {at} {self.name(source)} {begin}")
        self.lines.append(f"join {stream} {len(self.functions[stream])}")

    def step_events(self) -> None:
        """Use an event that orders nothing: wait twice, re-record, reset."""
        stream = self.rng.choice(list(self.streams))
        event = self.an_event(stream)
        choice = self.rng.random()
        if choice < 0.5:
            other = self.rng.choice(list(self.streams))
            self.lines += [f"wait {other} {event}"] * 2
            self.streams[other] |= self.events[event] or 0
        elif choice < 0.8:
            self.lines += [f"poll {event}", f"resetevent {event} {stream}"]
            self.host |= self.events[event] or 0
            self.wait_for(stream)
            self.events[event] = None
            self.lines.append(f"unevent {event}")
            del self.events[event]

    def step_free(self) -> None:
        """Free a block after its last use."""
        if len(self.size) < 5:
            return
        plans = {view.block for views in self.plans.values() for view in views}
        self.free(self.rng.choice([block for block in self.size if block not in plans]))

    def free(self, block: int) -> None:
        """Free a block of the device's or of page-locked memory."""
        size = self.size.pop(block)
        if block in self.locked:
            uses = [Use(block, run_of(0, size), True)]
            self.on_host(uses, f"freehost {block}", freed=True)
            self.locked.remove(block)
        elif self.alone and self.rng.random() < 0.2:
            self.lines.append(f"freesync {block}")
            for known in self.streams.values():
                self.host |= known
        else:
            self.on_host([Use(block, run_of(0, size), True)], f"free {block}", freed=True)
        # The address may come again.
        for done in self.operations:
            done.uses = [use for use in done.uses if use.block != block]

    def step_fork(self) -> None:
        """Have a forked child work on its own."""
        if self.alone and self.rng.random() < 0.1:
            self.lines.append("fork")

    def open_streams(self) -> None:
        """Create streams; some have a thread for callbacks."""
        self.streams[-1] = 0
        for _ in range(self.rng.randint(1, 3)):
            self.slots += 1
            self.streams[self.slots] = 0
            self.lines.append(f"stream {self.slots}")
            if self.alone and self.rng.random() < 0.5:
                self.lines.append(f"subscribe {self.slots}")
                self.subscribed.add(self.slots)

    def close_streams(self) -> None:
        """Destroy streams, which waits for their work."""
        for plan in self.plans:
            self.lines.append(f"unplan {plan}")
        self.plans.clear()
        self.destroy_events()
        for stream, known in self.streams.items():
            if stream in self.subscribed:
                self.lines.append(f"sync {stream}")
                self.lines.append(f"unsubscribe {stream}")
            if stream != -1 and self.rng.random() < 0.3:
                self.lines += [f"sync {stream}", f"unstream-force {stream}"]
            elif stream != -1:
                self.lines.append(f"unstream {stream}")
            if stream != -1:
                self.host |= known
        self.subscribed.clear()

    def destroy_events(self) -> None:
        """Destroy events, which their recordings outlive."""
        for event in self.events:
            if self.rng.random() < self.leaks:
                self.expected.add("leakcheck/leaked-handle")
            else:
                self.lines.append(f"unevent {event}")
        self.events.clear()

    def end(self) -> None:
        """Free everything."""
        for block in [*self.size, *getattr(self, "spaces", [])]:
            if block not in self.size:
                self.size[block] = 512
            if self.rng.random() < self.leaks:
                self.expected.add("leakcheck/leaked-memory")
            else:
                self.free(block)
        self.destroy_events()

    def steps(self, count: int) -> None:
        """Do things at random."""
        steps: list[Callable[[], None]] = [
            self.step_copy,
            self.step_copy,
            self.step_copy_2d,
            self.step_fill,
            self.step_elu,
            self.step_elu,
            self.step_elu,
            self.step_repeat,
            self.step_function,
            self.step_events,
            self.step_free,
            self.step_fork,
        ]
        for _ in range(count):
            self.rng.choice(steps)()
            if self.rng.random() < 0.1:
                self.lines.append(f"print {self.quiet_host()}")

    def quiet_host(self) -> int:
        """Give a host buffer that nothing in a stream writes."""
        for i, _ in self.unordered([Use(HOST + 1, run_of(0, HOST_BYTES), False)], self.host):
            if not self.host >> i & 1:
                self.wait_for(self.operations[i].stream)
        return 1

    def restart(self) -> None:
        """Reset the device, or end and begin the use of softnpu."""
        self.close_streams()
        self.lines += self.rng.choice(
            [["reset", "set"], ["reset-force", "set"], ["finalize", "init", "set"]]
        )
        self.host |= self.streams.pop(-1)
        self.streams.clear()
        self.open_streams()


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
