"""The reasons for which start.py stops, each with what the user can do about it."""

import errno
from pathlib import Path

AGAIN = "then run this command again"
DISK_FULL = ("the disk is full", f"free 2 GB in this folder and in the folder for temporary files, {AGAIN}")


class Stop(Exception):
    """The reason why start.py cannot continue (`why`), and what the user can do about it (`todo`)."""

    def __init__(self, why: str, todo: str):
        super().__init__(f"Stopped: {why}.\nWhat to do: {todo}.")


class Failed(Stop):
    """A program failed: `output` is what it printed, and the message shows its last lines."""

    def __init__(self, command: list, output: str):
        self.output = output
        name = " ".join(Path(str(word)).name for word in command[:4])
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        self.last = " / ".join(lines[-3:]) or "no output"
        todo = "run this command again; if it fails again, report these lines"
        super().__init__(f"`{name}` failed: {self.last}", todo)


def stop_for(error: OSError) -> Stop:
    """The stop for an error of the operating system that nothing else explains."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Stop(*DISK_FULL)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        todo = "check that you may write to this folder and that no JupyterLab is running from it"
        return Stop(str(error), todo)
    return Stop(str(error), "run this command again; if it fails again, report this line")
