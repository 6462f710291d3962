"""The `wgsl` that this folder imports: it hands over to the project's package of that name, one folder up."""

import sys
from importlib import import_module

import helpers  # noqa: F401  puts the project's folder first

del sys.modules[__name__]
import_module(__name__)  # takes this module's place
