# SPDX-License-Identifier: Apache-2.0
"""Generates what follows from the descriptions of the operators.

The build runs it over `operators/` (``python -m codegen``, beside the package, which does not
exist by then); ``softnpu build --operator`` runs it over a description of a user's.
"""
