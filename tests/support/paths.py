# SPDX-License-Identifier: Apache-2.0
"""Where the repository and the SDK are."""

from __future__ import annotations

from pathlib import Path

from softnpu.cli.environment import sdk_prefix

ROOT = Path(__file__).resolve().parents[2]
# The headers of the SDK, those that are generated among them.
INCLUDE = sdk_prefix() / "include"
