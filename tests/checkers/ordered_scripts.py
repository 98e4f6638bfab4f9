# SPDX-License-Identifier: Apache-2.0
"""A script for `interpreter.cpp` while it is made, and what is ordered before what in it.

The model knows of every operation, as a set of bits, which others are done before it begins. A
script is made correct by construction: where an operation would meet an unordered one, an event,
a query or a synchronisation is inserted. Leaving some of these out makes bugs that the model
names.
"""

from __future__ import annotations

import random
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
class OrderedScript:
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
        self.functions: dict[int, int] = {}  # how many were launched
        self.slots = 0
        self.spaces: list[int] = []  # blocks for workspaces
        self.replayed: set[int] = set()  # blocks that graphs use

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
        for i, use in self.unordered(uses, self.host):
            # An execution that has not begun fails if its memory was freed.
            must_wait = freed and use.block in self.replayed
            if not self.host >> i & 1 and (must_wait or self.rng.random() >= self.leave_out):
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
            self.lines.append(f"{verb} {stream} 0")
            self.function(stream, knows)
            self.join(stream)
        self.host |= knows

    def order_for_function(self, stream: int, uses: list[Use]) -> None:
        """Order all that a function of the program's will meet, before it is launched."""
        for i, _ in self.unordered(uses, self.streams[stream] | self.host):
            if not (self.streams[stream] | self.host) >> i & 1:
                self.order_streams(self.operations[i].stream, stream)

    def function(self, slot: int, known: int) -> None:
        """Have launched a function of the program's, which the caller joins."""
        self.functions[slot] = self.functions.get(slot, 0) + 1
        self.host |= known

    def join(self, slot: int) -> None:
        """Wait for the functions that were launched with a stream's name."""
        self.lines.append(f"join {slot} {self.functions[slot]}")

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
