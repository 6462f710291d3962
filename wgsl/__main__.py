"""The command, as ``python -m wgsl``."""

import sys

from wgsl.command import main

if __name__ == "__main__":
    sys.exit(main())
