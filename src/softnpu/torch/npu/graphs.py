# SPDX-License-Identifier: Apache-2.0
"""NPUGraph: calls that are recorded once and repeated, on the same memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from softnpu.torch.npu.streams import Stream, stream


class _Recorder(TorchDispatchMode):
    """Computes calls, and notes them with the tensors that they gave."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, tuple[Any, ...], dict[str, Any], list[Tensor]]] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        given = {leaf.untyped_storage().data_ptr() for leaf in _tensors((args, kwargs))}
        # What a view or a write in place gives lies in an argument's memory already.
        fresh = [t for t in _tensors(result) if t.untyped_storage().data_ptr() not in given]
        if fresh or func._schema.is_mutable:
            self.calls.append((func, args, kwargs, _tensors(result) if fresh else []))
        return result


def _tensors(values: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]


class NPUGraph:
    """Calls of operators, as they were captured."""

    def __init__(self) -> None:
        self._recorder: _Recorder | None = None
        self._is_capturing = False

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:  # noqa: ARG002
        """Record from here on."""
        if self._recorder is not None:
            raise RuntimeError("This NPUGraph instance already owns a captured graph.")
        self._recorder = _Recorder()
        self._recorder.__enter__()
        self._is_capturing = True

    def capture_end(self) -> None:
        """Record no more."""
        if self._recorder is None or not self._is_capturing:
            raise RuntimeError("capture_end() was called without capture_begin()")
        self._recorder.__exit__(None, None, None)
        self._is_capturing = False

    def replay(self) -> None:
        """Compute all that was recorded, from what the tensors hold now, into the same tensors."""
        if self._recorder is None or self._is_capturing:
            raise RuntimeError("Called NPUGraph::replay without a preceding successful capture.")
        with torch.no_grad():
            for func, args, kwargs, results in self._recorder.calls:
                again = _tensors(func(*args, **kwargs))
                for before, now in zip(results, again, strict=bool(results)):
                    before.copy_(now)

    def reset(self) -> None:
        """Forget what was recorded."""
        self._recorder = None

    def pool(self) -> tuple[int, int]:
        """Name the memory of the graph: graphs of softnpu have none of their own."""
        return (0, 0)


class graph:  # noqa: N801
    """A context that captures what is called in it."""

    def __init__(
        self,
        npu_graph: NPUGraph,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = "global",
        **_options: Any,
    ) -> None:
        self._graph, self._pool, self._mode = npu_graph, pool, capture_error_mode
        self._stream = stream

    def __enter__(self) -> None:
        torch.accelerator.synchronize()
        self._stream = self._stream or Stream()
        self._context = stream(self._stream)
        self._context.__enter__()
        self._graph.capture_begin(self._pool, self._mode)

    def __exit__(self, *error: object) -> None:
        self._graph.capture_end()
        self._stream.synchronize()  # what was computed, a replay on another stream may overwrite
        self._context.__exit__(*error)


def graph_pool_handle() -> tuple[int, int]:
    """Name memory for graphs to share."""
    return (0, 0)


def is_current_stream_capturing() -> bool:
    """Whether a graph is being captured."""
    modes = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    return any(isinstance(mode, _Recorder) for mode in modes)
