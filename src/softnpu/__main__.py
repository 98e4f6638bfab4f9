# SPDX-License-Identifier: Apache-2.0
"""``python -m softnpu`` is the ``softnpu`` command."""

from softnpu.cli import main

if __name__ == "__main__":
    main()
