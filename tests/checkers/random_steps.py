# SPDX-License-Identifier: Apache-2.0
"""Random steps of a script for `interpreter.cpp`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.checkers.graph_steps import step_graph
from tests.checkers.ordered_scripts import (
    HOST,
    HOST_BYTES,
    UNIT,
    OrderedScript,
    Use,
    View,
    run_of,
)


class Section(OrderedScript):
    """A thread's part of a script."""

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
        self.order_for_function(stream, uses)
        verb = "hostfunc"
        if stream in self.subscribed:
            verb = self.rng.choice(["callback", "callback-blocks", verb])
        self.lines.append(f"{verb} {stream} {count} h2 {at} {self.name(source)} {begin}")
        self.function(stream, self.streams[stream])
        if verb != "callback" and self.rng.random() < 0.5:
            # The stream waits for the function.
            line = f"fillasync {self.name(source)} {begin} {count} {stream}"
            self.on_stream(stream, [Use(source, mask, True)], line)
        self.join(stream)

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
        for block in [*self.size, *self.spaces]:
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
            partial(step_graph, self),
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
