"""The WebGPU adapter: the one that is used, and Mesa's software driver where there is none."""

import json
import os
import shutil
import subprocess
import sys

from helpers.set_up import paths, system_packages
from helpers.set_up.programs import say
from helpers.set_up.stops import AGAIN, Stop

PROBE = """
import json, wgpu
from helpers import gpu
try:
    picked, problem = gpu.adapter().summary, ""
except gpu.GpuError as error:
    picked, problem = "", str(error)
print(json.dumps([picked, problem, [adapter.summary for adapter in wgpu.gpu.enumerate_adapters_sync()]]))
"""
SETTINGS = "CONVGRAD_GPU", "WGPUPY_WGPU_ADAPTER_NAME", "WGPU_BACKEND_TYPE"  # as in helpers/gpu/adapter.py
BACKENDS = ("via Vulkan", "via Metal", "via D3D12")  # wgpu falls back to OpenGL silently, but kernels may fail on it
SOFTWARE_VULKAN = {  # how to install Mesa's driver and the Vulkan loader
    "apt-get": "apt-get install mesa-vulkan-drivers libvulkan1",
    "dnf": "dnf install mesa-vulkan-drivers vulkan-loader",
}


def ensure_adapter(env: dict, wanted: str | None) -> None:
    """Find a usable adapter, or install a software adapter where possible, and write the choice into `env`."""
    if wanted:  # the option counts, and not the variables
        for name in SETTINGS:
            env.pop(name, None)
        env["WGPUPY_WGPU_ADAPTER_NAME"] = wanted
    picked, problem, seen = adapters(env)
    if any(env.get(name) for name in SETTINGS):
        if problem:
            raise Stop(problem, f"choose another adapter, {AGAIN}" if seen else advice())
    elif not first_usable([picked]):
        picked = first_usable(seen) or install_adapter(env)
        env["WGPUPY_WGPU_ADAPTER_NAME"] = picked
    warning = "" if first_usable([picked]) else " (kernels may fail on OpenGL)"
    say(f"Adapter: {picked}{warning}")


def adapters(env: dict, seconds: float = 60) -> tuple[str, str, list[str]]:
    """The adapter that is chosen or why there is none, and all that wgpu finds, as in "llvmpipe (CPU) via Vulkan".

    A separate process asks, because a broken graphics driver may hang or crash.
    """
    options = {"cwd": paths.ROOT, "env": env, "capture_output": True, "text": True, "timeout": seconds}
    todo = "reinstall the graphics driver, or on Linux add --software to use another one"
    try:
        asked = subprocess.run([paths.PYTHON, "-c", PROBE], **options)
    except subprocess.TimeoutExpired:
        raise Stop(f"the graphics driver did not answer within {seconds:.0f} s", todo) from None
    if asked.returncode:
        last = asked.stderr.strip().splitlines()[-1:] or [f"exit status {asked.returncode}"]
        raise Stop(f"the search for an adapter failed: {last[0]}", f"delete .venv, {AGAIN}; if that fails, {todo}")
    return tuple(json.loads(asked.stdout.splitlines()[-1]))


def first_usable(summaries: list[str]) -> str:
    """The first of these adapters on which kernels run; an empty text where there is none."""
    return next((summary for summary in summaries if summary.endswith(BACKENDS)), "")


def install_adapter(env: dict) -> str:
    """Install Mesa's software driver if this is root on Debian or Ubuntu; otherwise stop and say how to do it."""
    if system_packages.can_apt():
        say("No Vulkan driver was found. Installing Mesa's software driver, which runs kernels on the processor.")
        system_packages.apt_install(env, "mesa-vulkan-drivers", "libvulkan1")
    usable = first_usable(adapters(env)[2])
    if not usable:
        raise Stop("no WebGPU adapter: no Vulkan, Metal or D3D12 driver was found (OpenGL is not enough)", advice())
    return usable


def advice() -> str:
    """The way to get an adapter on this system."""
    if sys.platform == "darwin":
        return "use a Mac that lists Metal in its System Information; most virtual machines do not offer it"
    if os.name == "nt":
        return f"install the driver from the manufacturer of your GPU, {AGAIN}"
    tool = next(filter(shutil.which, SOFTWARE_VULKAN), None)
    command = "install Mesa's Vulkan driver, lavapipe"
    if tool:
        command = f"run `{system_packages.SUDO}{SOFTWARE_VULKAN[tool]}`"
    return f"{command}, {AGAIN}; or, without root, run `python3 start.py --software`"
