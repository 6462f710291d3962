"""The command `python -m helpers.gradebook FOLDER`, which is that of `helpers.classroom.gradebook`."""

import sys

from helpers.classroom.gradebook import main

if __name__ == "__main__":
    sys.exit(main())
