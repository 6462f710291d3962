"""``python -m helpers.simulator`` is ``python -m wgsl``, by the name that it had first."""

import sys

from wgsl.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
