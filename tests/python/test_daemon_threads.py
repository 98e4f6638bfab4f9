# SPDX-License-Identifier: Apache-2.0
"""Daemon threads, which are in a call when the interpreter ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest


@pytest.mark.parametrize("job", ["kernels", "reports", "waits"])
def test_daemon_threads_in_a_call_do_not_disturb_the_end(job: str) -> None:
    """Python ends such threads; a process that they abort would fail after all its work."""
    ended = subprocess.run(
        [sys.executable, "-c", AT_THE_END, job],
        env={**os.environ, "SOFTNPU_BANNER": "0"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


AT_THE_END = """
import sys, threading, time
import numpy as np
import softnpu
from softnpu import acl
from softnpu.acl import rt

acl.init()
rt.set_device(0)
context, _ = rt.get_context()
stream, _ = rt.create_stream()
started = threading.Semaphore(0)
in_callback = threading.Event()

def callback(_):  # lets the GIL go in a callback: its thread is caught there
    in_callback.set()
    time.sleep(1e-4)

def kernels():
    x = np.ones(100_000, np.float32)
    out = np.empty_like(x)
    softnpu.selu_backward(x, x, out=out)
    started.release()
    while True:
        softnpu.selu_backward(x, x, out=out)

def reports():
    rt.set_context(context)
    rt.subscribe_report(threading.get_ident(), stream)
    started.release()
    while True:
        rt.process_report(1)

def waits():
    rt.set_context(context)
    rt.synchronize_device()
    started.release()
    while True:
        rt.synchronize_device()

for _ in range(1 if sys.argv[1] == "reports" else 3):
    threading.Thread(target=globals()[sys.argv[1]], daemon=True).start()
    started.acquire()
if sys.argv[1] == "reports":
    for _ in range(1000):
        rt.launch_callback(callback, None, acl.ACL_CALLBACK_NO_BLOCK, stream)
    in_callback.wait()
print("done")
"""


CALLS_THAT_STAY = {
    "numbers": [
        "aclnn.aclDestroyTensor(Own())",
        "aclnn.aclCreateTensor([1], Own(), None, 0, 2, [1], None)",
        "aclnn.aclnnSmoothL1LossBackwardGetWorkspaceSize(1, 2, 3, 0, Own(), 4)",
        "_core.set_threads(Own())",
        "softnpu.smooth_l1_loss_backward(x, x, x, Own(), 1.0)",
        "softnpu.smooth_l1_loss_backward(x, x, x, 0, Own())",
    ],
    "sequences": [
        "aclnn.aclCreateIntArray([Own()])",
        "aclnn.aclCreateFloatArray((Own(),))",
        "aclnn.aclCreateTensorList([Own()])",
        "aclnn.aclCreateTensor(None, 0, Members(), 0, 2, [1], None)",
        "softnpu.upsample_nearest3d_backward(x, Members(), (1, 1, 2, 2, 2))",
    ],
    "arrays": [
        "softnpu.selu_backward(Array('__dlpack_device__'), x)",
        "softnpu.selu_backward(Array('__dlpack__'), x)",
        "softnpu.selu_backward(Array(), Array())",
        "softnpu.selu_backward(Old(), x)",
        "softnpu.selu_backward(Anything(), x)",
        "softnpu.selu_backward(Device(), x)",
    ],
    "failures": [
        "aclnn.aclDestroyTensor(1)",
        "softnpu.selu_backward(x, x[1:])",
        "softnpu.selu_backward(x, Nameless())",
        "softnpu.elu_backward(x, Fails(Unreadable), 1.0, 1.0, True, x)",
    ],
    "releases": [
        "softnpu.elu_backward(x, Fails(ValueError), 1.0, 1.0, True, x)",
        "aclnn.aclCreateIntArray([Fails(ValueError)])",
        "launch(Last())",
        "launch(fail)",
    ],
}


@pytest.mark.parametrize("calls", CALLS_THAT_STAY.values(), ids=list(CALLS_THAT_STAY))
def test_daemon_threads_in_python_code_of_a_call_do_not_disturb_the_end(
    calls: list[str], script: Callable[[str], str]
) -> None:
    """Before Python 3.14, unwinding ends them, which C++ in the middle of a call does not allow."""
    assert script(IN_PYTHON_CODE.replace("CALLS", repr(calls))) == "done"


IN_PYTHON_CODE = """
import sys, threading, time
import numpy as np
import softnpu
from softnpu import _core, aclnn, errors
from softnpu.acl import rt

inside = threading.Semaphore(0)

def linger(*_, **__):  # wants the GIL again and again, when it is gone, too
    inside.release()
    while True:
        time.sleep(1e-3)

class Own:
    __index__ = __float__ = linger

class Members:
    def __len__(self):
        return 1
    __getitem__ = linger

class Array:
    def __init__(self, slow=None):
        self.slow = slow
    def ask(self, name, *args, **options):
        return linger() if name == self.slow else getattr(x, name)(*args, **options)
    def __dlpack__(self, **options):
        return self.ask("__dlpack__", **options)
    def __dlpack_device__(self):
        return self.ask("__dlpack_device__")
    def __array_namespace__(self):
        return linger()

class Old(Array):
    def __dlpack__(self, **options):
        if options:
            raise TypeError
        linger()

class Anything(Array):
    def __getattribute__(self, name):
        linger()

class Device(Array):
    def __dlpack_device__(self):
        return Own(), 0

class Meta(type):
    __module__ = property(linger)

class Nameless(metaclass=Meta):
    pass

class Unreadable(Exception):
    __str__ = linger

class Last:
    __del__ = linger
    def __call__(self, _):
        pass

class Fails:
    def __init__(self, error):
        self.error = error
    def __float__(self):
        last = Last() if self.error is ValueError else None
        raise self.error
    __index__ = __float__

def launch(function):
    rt.set_device(0)
    stream, _ = rt.create_stream()
    rt.subscribe_report(threading.get_ident(), stream)
    _core.aclrtLaunchCallback(function, None, 0, stream)
    run = function is fail
    del function
    rt.process_report(-1) if run else rt.destroy_stream(stream)

def fail(_):
    raise ValueError

class Slow:  # the end takes long enough for the threads to want the GIL
    def __del__(self, sleep=time.sleep):
        sleep(0.05)

sys.slow = Slow()
x = np.ones(3, np.float32)
sys.unraisablehook = errors.ParamInvalidError.__init__ = linger
for call in CALLS:
    threading.Thread(target=eval, args=(call, globals()), daemon=True).start()
    inside.acquire()
print("done")
"""
