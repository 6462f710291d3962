"""Files that are written whole, or not at all."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it has, at any moment, its old content or all of the new one.

    Its rights are those that ``open(path, "wb")`` gives: a new file follows the umask, and one that was there keeps
    its mode, its owner and its group. A symbolic link stays, and the file that it names is written.

    Raises
    ------
    OSError
        The file cannot be written; it is as it was, and nothing is left beside it.
    UnicodeEncodeError
        The file system's encoding lacks a letter of the path; nothing was written.
    """
    target = os.path.realpath(path)
    unfinished = Path(f"{os.path.dirname(target)}/{secrets.token_hex(8)}.part")
    try:
        with unfinished.open("xb") as file:  # unlike `tempfile`, which lets only this user read
            file.write(content)
        _take_rights(unfinished, target)
        os.replace(unfinished, target)
    except BaseException:  # an interrupt, too
        with suppress(OSError):
            unfinished.unlink()
        raise


def _take_rights(new: Path, old: str) -> None:
    """Give a file the owner, the group and the mode of the one that it replaces, if there is one.

    An ordinary user may not give a file to another owner, and some file systems have no owners and no modes.
    """
    try:
        before = os.stat(old)
    except FileNotFoundError:
        return
    if hasattr(os, "chown"):  # not on Windows
        with suppress(OSError):
            os.chown(new, before.st_uid, before.st_gid)
    with suppress(OSError):
        new.chmod(S_IMODE(before.st_mode))
