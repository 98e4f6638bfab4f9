# SPDX-License-Identifier: Apache-2.0
"""``import acl`` for scripts started by ``softnpu run``: the module itself becomes softnpu.acl.

This folder is put on PYTHONPATH for such scripts only, so that installing softnpu never hides
another package of that name.
"""

import importlib
import sys

_NAME = importlib.import_module("softnpu.acl").__name__

# The same module objects under both names: second copies would have their own idea of the state.
for _name, _module in list(sys.modules.items()):
    if _name == _NAME or _name.startswith(_NAME + "."):
        sys.modules[_name.removeprefix("softnpu.")] = _module
