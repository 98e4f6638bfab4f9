# SPDX-License-Identifier: Apache-2.0
"""The device that everyday operators run on."""

from __future__ import annotations

import pytest

from softnpu import acl


@pytest.fixture(scope="session", autouse=True)
def device() -> None:
    """Start the device, once."""
    acl.init()  # which another test may have done
    assert acl.rt.set_device(0) == 0
