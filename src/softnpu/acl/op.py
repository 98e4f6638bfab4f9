# SPDX-License-Identifier: Apache-2.0
"""Compiled operators, which softnpu does not have: programs may name their folder."""

from softnpu import _core

set_model_dir = _core.aclopSetModelDir

__all__ = ["set_model_dir"]
