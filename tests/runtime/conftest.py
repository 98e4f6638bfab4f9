# SPDX-License-Identifier: Apache-2.0
"""What tests of the runtime share: a thread's device with a stream."""

from collections.abc import Iterator

import pytest

from tests.support.acl_runtime import Runtime


@pytest.fixture
def rt() -> Iterator[Runtime]:
    """Device 0 set in this thread, and a stream."""
    with Runtime() as runtime:
        runtime.api.aclrtGetLastError(0)
        yield runtime
