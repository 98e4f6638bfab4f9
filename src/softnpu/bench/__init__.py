# SPDX-License-Identifier: Apache-2.0
"""The benchmark behind ``softnpu bench``: what is timed, how, and how it is told.

Nothing here is imported by ``import softnpu``. PyTorch and matplotlib are optional.
"""
