"""Packages of the operating system, which start.py may install where it runs as root on Debian or Ubuntu."""

import os
import shutil
from pathlib import Path

from helpers.set_up import programs

IS_ROOT = os.name == "posix" and os.geteuid() == 0
SUDO = "" if IS_ROOT else "sudo "
OS_RELEASE = Path("/etc/os-release")  # names the Linux distribution


def can_apt() -> bool:
    """Tell whether Debian packages can be installed here."""
    return IS_ROOT and bool(shutil.which("apt-get"))


def is_ubuntu() -> bool:
    """Tell whether this is Ubuntu, whose package chromium is a snap."""
    return "ubuntu" in OS_RELEASE.read_text(encoding="utf-8")


def apt_install(env: dict, *packages: str) -> None:
    """Install Debian packages, even if the update before it fails: one unreachable source is no obstacle."""
    programs.say(f"  running apt-get install {' '.join(packages)}")
    script = 'apt-get update; apt-get install -y --no-install-recommends "$@"'
    programs.run(["sh", "-c", script, "apt-get", *packages], env)
