# SPDX-License-Identifier: Apache-2.0
"""Runs programs to their end. Signals sent to the command are passed on to the program."""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TextIO

import typer

from softnpu.cli.output import EXIT_NOT_RUNNABLE, fail

_ASKS_TO_END = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM}
# Signals to the command that are meant for the program.
_PASSED_ON = {*_ASKS_TO_END, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM}
# The si_code of signals that the terminal sends to its whole foreground process group.
_FROM_THE_SYSTEM = 0x80

_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Outcome:
    """The result of a run: the exit status as in a shell, or None if it took too long.

    stdout and stderr are empty if they were not captured. signal is the one that ended it, or 0.
    """

    status: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    signal: int = 0

    def show(self, stdout: TextIO | None = None) -> None:
        """Write the captured output, that of stdout to ``stdout`` if it is given."""
        sys.stderr.buffer.write(self.stderr)
        sys.stderr.buffer.flush()
        stdout = stdout or sys.stdout
        stdout.buffer.write(self.stdout)
        stdout.buffer.flush()


class StoppedError(typer.Exit):
    """A signal asked the command to end while a program ran. The exit status has its number."""


def run_to_its_end(
    command: Sequence[str], environment: Mapping[str, str], stdout: TextIO | None = None
) -> int:
    """Run a program as if it had been started instead of the command, on its streams.

    Its stdout can be another one. Returns its exit status, or -n for signal n. The program decides
    how to handle a signal.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    waited_for = {*_PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    try:
        child = _start(command, environment, before, stdout=stdout)
        return _wait(child, waited_for)
    except OSError as error:
        fail(f"cannot run {command[0]}: {error.strerror}", EXIT_NOT_RUNNABLE)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(child: "subprocess.Popen[bytes]", signals: set[signal.Signals]) -> int:
    while True:
        came = signal.sigwaitinfo(signals)
        if came.si_signo == signal.SIGCHLD:
            status = child.poll()
            if status is not None:
                return status
        elif came.si_code != _FROM_THE_SYSTEM:
            child.send_signal(came.si_signo)


def run_in_group(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    limit: float | None = None,
    capture: bool = True,
) -> Outcome:
    """Run a program without input, in its own process group, to which signals are passed on.

    It is killed after ``limit`` seconds. Raises StoppedError if a signal asked the command to end,
    after the program has ended, and OSError if it cannot be started.
    """
    asked: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        _signal_group(child, number)
        if number in _ASKS_TO_END:
            _signal_group(child, signal.SIGCONT)  # a stopped program would not end
            asked.append(number)
            if len(asked) == 1:
                raise StoppedError(exit_status(-number))

    # The program ignores the signals that the command ignores, as under nohup.
    heard = [one for one in _PASSED_ON if signal.getsignal(one) != signal.SIG_IGN]
    pipe = subprocess.PIPE if capture else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, heard)  # until the child exists
    before = {number: signal.signal(number, pass_on) for number in heard}
    try:
        child = _start(command, environment, mask, subprocess.DEVNULL, pipe, pipe, own_group=True)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return _outcome(child, limit)
    except StoppedError:
        with contextlib.suppress(ChildProcessError):  # already ended
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        _signal_group(child, signal.SIGKILL)  # for its own children
        child.wait()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _outcome(child: "subprocess.Popen[bytes]", limit: float | None) -> Outcome:
    start = time.monotonic()
    status: int | None = None
    output: tuple[bytes | None, bytes | None]
    try:
        output = child.communicate(timeout=limit)
        status = exit_status(child.returncode)
    except subprocess.TimeoutExpired as late:
        _signal_group(child, signal.SIGKILL)
        child.wait()
        output = late.stdout, late.stderr
    stdout, stderr = (text or b"" for text in output)
    number = 0 if status is None else signal_of(child.returncode)
    return Outcome(status, stdout, stderr, time.monotonic() - start, number)


def _signal_group(child: "subprocess.Popen[bytes]", number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


def _start(
    command: Sequence[str],
    environment: Mapping[str, str] | None,
    mask: Collection[int],
    stdin: int | None = None,
    stdout: int | TextIO | None = None,
    stderr: int | None = None,
    own_group: bool = False,
) -> "subprocess.Popen[bytes]":
    def in_child() -> None:
        if own_group:
            os.setpgrp()
            # The terminal would stop a background process that reads, or possibly writes.
            for stop in (signal.SIGTTIN, signal.SIGTTOU):
                signal.signal(stop, signal.SIG_IGN)
        # A SIGKILL of the command cannot be passed on.
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    # A process that ignores it cannot wait for a child.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    program = Path(command[0])
    return subprocess.Popen(
        command,
        executable=f"{program.parent}/{program.name}",  # with a /, so that PATH is not searched
        env=environment,
        preexec_fn=in_child,
        close_fds=False,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )


def exit_status(returncode: int) -> int:
    """Return a process's exit status as a shell does: 128 + n if signal n killed it."""
    return returncode if returncode >= 0 else 128 - returncode


def signal_of(returncode: int) -> int:
    """Return the signal that killed a process, or 0."""
    return max(0, -returncode)


def end_as(status: int) -> NoReturn:
    """End this process with the program's exit status, or by the signal that killed it."""
    sys.stdout.flush()
    sys.stderr.flush()
    if status < 0:
        # The program has already written a core file, if one is enabled.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError):  # SIGKILL cannot be set
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
