"""The name that `gradient_checks` had: lessons that a reader saved then import it."""

import sys

from helpers import gradient_checks

sys.modules[__name__] = gradient_checks
