# SPDX-License-Identifier: Apache-2.0
"""Makes the pages of the site that are not written by hand; ``mkdocs build`` calls it."""
