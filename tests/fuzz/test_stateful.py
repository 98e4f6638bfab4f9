# SPDX-License-Identifier: Apache-2.0
"""Descriptors, executors and device memory in any order, against a model of what must happen.

The model knows which handles and addresses are alive, so it knows the status of each call. It keeps
the contents of the memory, so it knows each result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule

from softnpu import acl, aclnn
from softnpu.judging.ulp import distance
from tests.fuzz.model import (
    INVALID,
    NULL,
    OPERATORS,
    SHAPES,
    Executor,
    Scalar,
    Tensor,
    fitting,
    is_apart,
    planning,
    status_of,
)

Array = npt.NDArray[Any]

ELEMENTS, BYTES = 16, 64


class Device(RuleBasedStateMachine):
    """What a program may do, and does wrong."""

    memory = Bundle("memory")
    tensors = Bundle("tensors")
    scalars = Bundle("scalars")
    executors = Bundle("executors")
    lists = Bundle("lists")
    address = st.one_of(memory, memory, memory, st.sampled_from([4096, 0]))

    def __init__(self) -> None:
        super().__init__()
        self.contents: dict[int, Array] = {}  # by address, of the memory that is allocated
        self.made: dict[int, int] = {}  # by address, a number that no other allocation has
        self.count = 0
        self.living: list[Tensor | Scalar | Executor] = []
        self.stream, ret = acl.rt.create_stream()
        assert ret == 0
        self.sizes = aclnn.aclCreateIntArray([4, 2, 2])

    @initialize(target=memory)
    def first_memory(self) -> Any:
        """Some that is there at first."""
        return multiple(*(self.allocate() for _ in range(3)))

    @initialize(target=tensors)
    def first_tensors(self) -> Any:
        """One of each shape."""
        return multiple(*(self.make_tensor_at(shape, self.allocate()) for shape in SHAPES))

    @initialize(target=scalars)
    def first_scalar(self) -> Scalar:
        """One that is there at first."""
        return self.make_scalar_of(1.0)

    def allocate(self) -> int:
        """Memory of zeros."""
        address, ret = acl.rt.malloc(BYTES, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert ret == 0
        self.count += 1
        self.made[address] = self.count
        self.write(address, np.zeros(ELEMENTS, np.float32))
        return int(address)

    def write(self, address: int, values: Array) -> None:
        """Fill memory, and the model's."""
        source = acl.util.numpy_to_ptr(values)
        assert acl.rt.memcpy(address, BYTES, source, BYTES, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
        self.contents[address] = values

    @rule(target=memory)
    def make_memory(self) -> int:
        """The address may be one that was freed."""
        return self.allocate()

    @rule(address=memory, seed=st.integers(0, 1000))
    def fill_memory(self, address: int, seed: int) -> None:
        """Numbers around 0."""
        if address in self.contents:
            values = np.random.default_rng(seed).normal(0, 2, ELEMENTS)
            self.write(address, values.astype(np.float32))

    @rule(address=address)
    def free_memory(self, address: int) -> None:
        """Exactly what is allocated can be freed, once."""
        assert (acl.rt.free(address) == 0) == (address in self.contents)
        self.contents.pop(address, None)
        self.made.pop(address, None)

    @rule(target=tensors, shape=st.sampled_from(SHAPES), address=address)
    def make_tensor(self, shape: tuple[int, ...], address: int) -> Tensor:
        """Of any memory: who uses it looks at that."""
        return self.make_tensor_at(shape, address)

    def make_tensor_at(self, shape: tuple[int, ...], address: int) -> Tensor:
        """Make a contiguous one."""
        handle = aclnn.aclCreateTensor(shape, aclnn.ACL_FLOAT, None, 0, 2, shape, address)
        made = Tensor(handle, shape, address)
        self.living.append(made)
        return made

    @rule(target=scalars, value=st.sampled_from([0.5, 1.0, 1.5, 2.0]))
    def make_scalar(self, value: float) -> Scalar:
        """Of values for which every operator is accurate."""
        return self.make_scalar_of(value)

    def make_scalar_of(self, value: float) -> Scalar:
        """Make one, and know it."""
        made = Scalar(aclnn.aclCreateScalar(value, aclnn.ACL_FLOAT), value)
        self.living.append(made)
        return made

    def expect_end(self, thing: Tensor | Scalar | Executor, destroy: Callable[..., Any]) -> None:
        """Destroy it, which works exactly if it is alive."""
        assert status_of(destroy, thing.handle)[0] == (0 if thing.alive else INVALID)
        thing.alive = False

    @rule(tensor=tensors)
    def destroy_tensor(self, tensor: Tensor) -> None:
        """Once."""
        self.expect_end(tensor, aclnn.aclDestroyTensor)

    @rule(scalar=scalars)
    def destroy_scalar(self, scalar: Scalar) -> None:
        """Once."""
        self.expect_end(scalar, aclnn.aclDestroyScalar)

    @rule(executor=executors)
    def destroy_executor(self, executor: Executor) -> None:
        """Once, and not after a launch that consumed it."""
        self.expect_end(executor, aclnn.aclDestroyAclOpExecutor)

    @rule(members=st.lists(tensors, max_size=3, unique_by=id))
    def make_and_destroy_list(self, members: list[Tensor]) -> None:
        """A list takes live members alone, and takes them with it."""
        code, made = status_of(aclnn.aclCreateTensorList, [each.handle for each in members])
        assert (code == 0) == all(each.alive for each in members)
        if code != 0:
            return
        assert aclnn.aclGetTensorListSize(made) == len(members)
        aclnn.aclDestroyTensorList(made)
        for each in members:
            each.alive = False

    @rule(tensor=tensors, address=address)
    def move_tensor(self, tensor: Tensor, address: int) -> None:
        """Executors that were planned with it keep their addresses."""
        code, _ = status_of(aclnn.aclSetRawTensorAddr, tensor.handle, address)
        assert code == (0 if tensor.alive else INVALID)
        if tensor.alive:
            tensor.address = address
            assert aclnn.aclGetRawTensorAddr(tensor.handle) == address
            assert aclnn.aclGetViewShape(tensor.handle) == list(tensor.shape)

    def usable(self) -> list[Tensor]:
        """Live tensors in live memory."""
        tensors = [each for each in self.living if isinstance(each, Tensor)]
        return [each for each in tensors if each.alive and each.address in self.contents]

    @rule(
        target=executors,
        name=st.sampled_from(sorted(OPERATORS)),
        tensors=st.lists(tensors, min_size=4, max_size=4),
        scalars=st.lists(scalars, min_size=3, max_size=3),
        null=st.integers(0, 60),
        alike=st.sampled_from([True, True, True, False]),
    )
    def plan(
        self, name: str, tensors: list[Tensor], scalars: list[Scalar], null: int, alike: bool
    ) -> Any:
        """Phase one, with any tensors, or with some that fit each other."""
        operator = OPERATORS[name]
        if alike:
            tensors = fitting(name, tensors, self.usable())
        tensors, scalars = tensors[: operator.tensors], scalars[: operator.scalars]
        arguments = operator.order([t.handle for t in tensors], [s.handle for s in scalars])
        if name == "aclnnUpsampleNearest3d":
            arguments = [arguments[0], self.sizes, 0.0, 0.0, 0.0, arguments[1]]
        expected = planning(name, tensors, scalars, self.contents)
        if null < len(arguments) and type(arguments[null]) is int and arguments[null] != 0:
            arguments[null], expected = None, NULL
        code, planned = status_of(getattr(aclnn, name + "GetWorkspaceSize"), *arguments)
        assert code == expected, (name, arguments)
        if code != 0:
            return multiple()
        size, handle = planned
        operands = [(each, each.address, self.made[each.address]) for each in tensors]
        shapes, values = [each.shape for each in tensors], [each.value for each in scalars]
        made = Executor(handle, name, operands, shapes, values, size)
        self.living.append(made)
        return made

    @rule(executor=executors)
    def repeat(self, executor: Executor) -> None:
        """From now on a launch does not consume it."""
        code, _ = status_of(aclnn.aclSetAclOpExecutorRepeatable, executor.handle)
        assert code == (0 if executor.alive else INVALID)
        executor.repeatable |= executor.alive

    @rule(
        executor=executors,
        index=st.integers(0, 4),
        tensor=tensors,
        address=address,
        right=st.booleans(),
    )
    def set_address(
        self, executor: Executor, index: int, tensor: Tensor, address: int, right: bool
    ) -> None:
        """The tensor must be the one that phase one got, dead or alive; the memory must live."""
        operands = executor.operands
        if right:
            index %= len(operands)
            tensor = operands[index][0]
        code, _ = status_of(aclnn.aclSetTensorAddr, executor.handle, index, tensor.handle, address)
        expected = INVALID
        if executor.alive and index < len(operands) and operands[index][0] is tensor:
            expected = self.setting(executor, index, address)
        assert code == expected
        if code == 0:
            operands[index] = (tensor, address, self.made[address])

    def setting(self, executor: Executor, index: int, address: int) -> int:
        """The status that a new address must have."""
        if address == 0:
            return NULL
        if address not in self.contents:
            return INVALID
        addresses = [
            at if self.made.get(at) == number else -1 for _, at, number in executor.operands
        ]
        addresses[index] = address
        if addresses[-1] == -1:
            return 0
        return 0 if is_apart(executor.name, addresses) else INVALID

    @rule(executor=executors, other=st.sampled_from(sorted(OPERATORS)), wrong=st.integers(0, 9))
    def launch(self, executor: Executor, other: str, wrong: int) -> None:
        """Phase two: the result is what the formula says, whatever became of the tensors."""
        name = other if wrong == 0 else executor.name
        workspace = self.allocate_workspace(executor.workspace)
        arguments = (workspace, executor.workspace, executor.handle, self.stream)
        code, _ = status_of(getattr(aclnn, name), *arguments)
        fresh = all(self.made.get(at) == number for _, at, number in executor.operands)
        ready = executor.alive and name == executor.name and fresh
        assert code == (0 if ready else INVALID)
        assert acl.rt.synchronize_stream(self.stream) == 0
        if workspace is not None:
            assert acl.rt.free(workspace) == 0
        if ready:
            executor.alive = executor.repeatable
            self.check_results(executor)

    def allocate_workspace(self, size: int) -> int | None:
        """Memory that the caller frees, if the operator needs any."""
        if size == 0:
            return None
        address, ret = acl.rt.malloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert ret == 0
        return int(address)

    def check_results(self, executor: Executor) -> None:
        """The output is right to two units in the last place; nothing else has changed."""
        pairs = zip(executor.operands, executor.shapes, strict=True)
        inputs = [self.contents[at].reshape(shape).copy() for (_, at, _), shape in pairs]
        expected = OPERATORS[executor.name].result(*inputs, *executor.values)
        output = executor.operands[-1][1]
        for address, before in self.contents.items():
            now = acl.util.ptr_to_numpy(address, (ELEMENTS,), 11).copy()
            if address == output:
                assert distance(now.reshape(expected.shape), expected).max() <= 2
                self.contents[address] = now
            else:
                assert now.tobytes() == before.tobytes()

    def teardown(self) -> None:
        """What is alive can be destroyed, whatever came before."""
        ends: dict[type, Callable[..., Any]] = {
            Tensor: aclnn.aclDestroyTensor,
            Scalar: aclnn.aclDestroyScalar,
            Executor: aclnn.aclDestroyAclOpExecutor,
        }
        for each in self.living:
            self.expect_end(each, ends[type(each)])
        aclnn.aclDestroyIntArray(self.sizes)
        for address in self.contents:
            assert acl.rt.free(address) == 0
        assert acl.rt.destroy_stream(self.stream) == 0


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    """Device 0 in this thread; the process stays initialised."""
    assert acl.init() in (0, 100002)
    assert acl.rt.set_device(0) == 0
    yield
    acl.rt.reset_device(0)
    acl.get_recent_err_msg()


TestDevice = Device.TestCase
TestDevice.settings = settings(max_examples=150, stateful_step_count=80, deadline=None)
