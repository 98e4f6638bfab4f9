# SPDX-License-Identifier: Apache-2.0
"""Runs a program to its end, as if it had been started instead of the command."""

import contextlib
import os
import resource
import signal
import sys
from typing import NoReturn

from softnpu.cli.output import EXIT_NOT_RUNNABLE, fail

# What others may send to the command and mean for the program.
_PASSED_ON = {
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
}
# si_code of signals that the terminal sends to all processes in its foreground.
_FROM_THE_SYSTEM = 0x80


def run_to_its_end(command: list[str], environment: dict[str, str]) -> int:
    """Run a program on this process's streams; give its exit status, or -n for signal n.

    Signals that are sent to this process reach the program.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    # Whoever ignores it cannot wait for a child.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    waited_for = {*_PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    try:
        # Python ignores some signals, and what is ignored stays ignored in the program.
        defaults = [signal.SIGPIPE, signal.SIGXFSZ]
        child = os.posix_spawn(
            command[0], command, environment, setsigmask=before, setsigdef=defaults
        )
        return _wait(child, waited_for)
    except OSError as error:
        fail(f"cannot run {command[0]}: {error.strerror}", EXIT_NOT_RUNNABLE)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(child: int, signals: set[signal.Signals]) -> int:
    while True:
        came = signal.sigwaitinfo(signals)
        if came.si_signo == signal.SIGCHLD:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
        elif came.si_code != _FROM_THE_SYSTEM:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, came.si_signo)


def end_as(status: int) -> NoReturn:
    """End this process with the program's exit status, or by the signal that killed it."""
    sys.stdout.flush()
    sys.stderr.flush()
    if status < 0:
        # The program has left a core file if one is wanted.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError):  # SIGKILL cannot be set
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
