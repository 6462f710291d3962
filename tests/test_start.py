"""start.py: what it does on a good machine, and what it says on each kind of bad one. No test here needs a network."""

import ast
import errno
import importlib
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

import start
from start import Stop

Patch, Captured = pytest.MonkeyPatch, pytest.CaptureFixture
ROOT = Path(start.__file__).parent


@pytest.fixture
def project(tmp_path: Path, monkeypatch: Patch) -> Path:
    """An empty project folder, with a space in its path, in place of the real one."""
    folder = tmp_path / "conv grad"
    folder.mkdir()
    for name in ("VENV", "PYTHON", "STAMP", "LOCK", "INSTALLER", "ROOT"):
        monkeypatch.setattr(start, name, folder / getattr(start, name).relative_to(ROOT))
    start.LOCK.write_text("something==1.0\n")
    return folder


@pytest.fixture
def this_python(monkeypatch: Patch) -> None:
    """The Python that runs these tests takes the place of the one in .venv."""
    monkeypatch.setattr(start, "PYTHON", Path(sys.executable))


def is_clear(message: str, why: str, todo: str = "") -> bool:
    """Whether a message has one line for the reason and one for the remedy; a traceback would be more."""
    return bool(re.fullmatch(f"Stopped: .*{why}.*\\nWhat to do: .*{todo}.*", message.strip()))


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    ast.parse((ROOT / "start.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    old = "import runpy, sys; sys.version_info = (3, 6, 15); runpy.run_path('start.py', run_name='__main__')"
    options = {"cwd": ROOT, "env": {**os.environ, "PATH": str(tmp_path)}, "capture_output": True, "text": True}
    for todo in ("install Python", "python3.12 start.py"):
        done = subprocess.run([sys.executable, "-c", old], timeout=60, **options)
        assert done.returncode == 1
        assert is_clear(done.stderr, "3.11", todo)
        (tmp_path / "python3.12").touch(mode=0o755)


def test_no_venv_module(monkeypatch: Patch) -> None:
    start.check_venv_module()
    monkeypatch.setattr(start.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else "there")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    with pytest.raises(Stop, match=r"no venv module.*\n.*apt-get install python3-venv"):
        start.check_venv_module()


def make_python(version: str) -> None:
    """Write a .venv/bin/python that only prints a version."""
    start.PYTHON.parent.mkdir(parents=True, exist_ok=True)
    start.PYTHON.write_text(f"#!/bin/sh\necho {version}\n")
    start.PYTHON.chmod(0o755)


@pytest.fixture
def steps(project: Path, monkeypatch: Patch) -> list[str]:
    """The steps of the set-up that ran; none of them installs anything."""
    done, really_run = [], start.run

    def run(command: list, env: dict) -> str | None:
        if "--clear" in command:
            done.append("venv")
            return make_python("3.11")
        if "matplotlib" in command[2]:
            done.append("fonts")
        return really_run(command, env)

    monkeypatch.setattr(start, "run", run)
    monkeypatch.setattr(start, "install", lambda env: done.append("packages"))
    return done


def test_set_up_runs_once_and_again_after_a_change(steps: list[str]) -> None:
    changes = [lambda: make_python("3.99"), start.PYTHON.unlink, lambda: start.LOCK.write_text("something==2.0\n")]
    for change in [lambda: None, *changes]:
        change()
        start.set_up({})
        start.set_up({})
        assert steps == ["venv", "packages", "fonts"]
        steps.clear()


def test_an_unfinished_set_up_leaves_no_stamp(steps: list[str], monkeypatch: Patch) -> None:
    monkeypatch.setattr(start, "install", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        start.set_up({})
    assert not start.STAMP.exists()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=200_000_000))
    with pytest.raises(Stop, match=r"0\.2 GB"):
        start.set_up({})
    assert steps == ["venv"]


PIN = f"convgrad-probe==1.0 --hash=sha256:{'0' * 64}\n"


def offline(**more: str) -> dict:
    """An environment in which pip and uv ask this machine only, and give up soon."""
    env = {name: value for name, value in start.environment().items() if not name.startswith(("PIP_", "UV_"))}
    return {**env, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1", "UV_OFFLINE": "1", **more}


def test_no_network(project: Path, this_python: None) -> None:
    start.INSTALLER.write_text(PIN)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # it does not listen, so a connection is refused
        index = f"http://127.0.0.1:{unused.getsockname()[1]}/simple"
        with pytest.raises(Stop, match="no connection"):
            start.install(offline(PIP_INDEX_URL=index))


FETCH = {
    "pip": lambda env: start.run([start.PYTHON, *start.PIP, start.LOCK], env),
    "uv": lambda env: start.run([start.PYTHON, *start.UV, start.LOCK, "--target", start.VENV], env),
    "--software": lambda env: start.fetch_swiftshader(start.VENV / "swiftshader", env),
}


@pytest.mark.parametrize("tool", FETCH)
def test_a_changed_package_is_refused(tool: str, project: Path, this_python: None, monkeypatch: Patch) -> None:
    if tool == "uv":
        pytest.importorskip("uv", reason="start.py installs uv")
    folder = str(project.parent)  # pip splits its settings at spaces
    with zipfile.ZipFile(Path(folder, "convgrad_probe-1.0-py3-none-any.whl"), "w") as wheel:
        about = "Metadata-Version: 2.1\nName: convgrad-probe\nVersion: 1.0\n"
        wheel.writestr("convgrad_probe-1.0.dist-info/METADATA", about)
    start.LOCK.write_text(PIN)
    monkeypatch.setattr(start, "SWIFTSHADER", PIN)
    env = offline(PIP_NO_INDEX="1", PIP_FIND_LINKS=folder, UV_NO_INDEX="1", UV_FIND_LINKS=folder)
    with pytest.raises(Stop, match="`python -m uv pip` failed: sha256" if tool == "uv" else "differs"):
        FETCH[tool](env)


def test_pip_installs_what_uv_cannot(monkeypatch: Patch) -> None:
    monkeypatch.setattr(start, "uv_settings", lambda env: {})
    for effects in ([None, None], [None, Stop("no luck", "try again"), None]):  # of the first, second and third command
        monkeypatch.setattr(start, "run", Mock(side_effect=effects))
        start.install({})
        commands = [call.args[0] for call in start.run.call_args_list]
        done = [f"{command[2]} {command[-1].name}" for command in commands if "--require-hashes" in command]
        assert done == ["pip installer.lock", "uv requirements.lock", "pip requirements.lock"][: len(effects)]


def test_uv_gets_the_settings_of_pip(tmp_path: Path, this_python: None) -> None:
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = http://a\nproxy = http://b\nextra-index-url = http://c\n  http://d\n")
    env = offline(PIP_CONFIG_FILE=str(config), PIP_PROXY="http://mine", PIP_CERT="/c.pem")
    indexes = {"UV_INDEX_URL": "http://a", "UV_EXTRA_INDEX_URL": "http://c http://d"}
    assert start.uv_settings(env).items() >= {**indexes, "ALL_PROXY": "http://mine", "SSL_CERT_FILE": "/c.pem"}.items()


FAILURES = {
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device": "disk is full",
    "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate": "certificate",
    "W: Failed to fetch http://x/InRelease  Temporary failure resolving 'x'": "no connection",
    "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool: Read timed out.": "no connection",
    "ERROR: No matching distribution found for wgpu==0.32.0": "not available for Python",
    "one\nERROR: something new\n": "failed: ERROR: something new",
    "": "no output",
}


ERRORS = {
    OSError(errno.ENOSPC, "No space left on device"): "disk is full",
    PermissionError(errno.EACCES, "Permission denied", "/x/.venv"): "Permission denied: '/x/.venv'",
    KeyboardInterrupt(): "Ctrl-C",
    **{start.explain(["pip", "install"], output): why for output, why in FAILURES.items()},
}


def test_every_failure_is_explained_without_a_traceback(monkeypatch: Patch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "argv", ["start.py"])
    for error, why in ERRORS.items():
        monkeypatch.setattr(start, "start", Mock(side_effect=error))
        assert start.main() == 1
        assert is_clear(capsys.readouterr().err, why)


def test_a_port_is_checked_first() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        busy = server.getsockname()[1]
        for port in (busy, 0, 80, 65536):
            with pytest.raises(Stop, match=str(port)):
                start.start(start.arguments(["--port", str(port)]))
    start.check_port(busy)


def test_an_unknown_argument_is_refused(capsys: Captured) -> None:
    for words in (["--no-browse"], ["doctor", "-k"], ["open"]):
        with pytest.raises(SystemExit):
            start.arguments(words)
        assert words[-1] in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="the system's driver can be hidden only on Linux")
def test_opengl_alone_is_not_enough(this_python: None, monkeypatch: Patch, capsys: Captured) -> None:
    for name in ("WGPUPY_WGPU_ADAPTER_NAME", "WGPU_BACKEND_TYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(start, "IS_ROOT", False)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    env = {**start.environment(), "VK_DRIVER_FILES": "/nonexistent"}
    with pytest.raises(Stop, match=r"OpenGL.*\n.*apt-get install mesa-vulkan-drivers.*--software"):
        start.ensure_adapter(env, None)
    monkeypatch.setattr(start, "IS_ROOT", True)
    monkeypatch.setattr(start, "apt_install", lambda env, *packages: env.pop("VK_DRIVER_FILES"))
    start.ensure_adapter(env, None)
    assert "via Vulkan" in capsys.readouterr().out


def test_an_adapter_is_chosen(monkeypatch: Patch, capsys: Captured) -> None:
    monkeypatch.setattr(start, "adapters", lambda env: ("A via OpenGL", ["A via OpenGL", "B via Vulkan"]))
    env = {}
    start.ensure_adapter(env, None)
    assert env["WGPUPY_WGPU_ADAPTER_NAME"] == "B via Vulkan"
    assert capsys.readouterr().out == "Adapter: B via Vulkan\n"
    start.ensure_adapter(env, "OpenGL")
    assert env["WGPUPY_WGPU_ADAPTER_NAME"] == "OpenGL"
    assert "A via OpenGL (kernels may fail" in capsys.readouterr().out
    monkeypatch.setattr(start, "adapters", lambda env: ("", ["B via Vulkan"]))
    for env, option in (({}, "Abacus"), ({"WGPUPY_WGPU_ADAPTER_NAME": "Abacus"}, None)):
        with pytest.raises(Stop, match=r"'Abacus'.*\n.*B via Vulkan"):
            start.ensure_adapter(env, option)


@pytest.mark.parametrize(("seconds", "why"), [(0.4, "did not answer"), (30, "adapter failed")])
def test_a_broken_driver(seconds: float, why: str, this_python: None, monkeypatch: Patch) -> None:
    monkeypatch.setattr(start, "PROBE", "import time; time.sleep(60)" if seconds < 1 else "import os; os.abort()")
    with pytest.raises(Stop, match=why):
        start.adapters(start.environment(), seconds)


ADVICE = [("linux", "dnf", "dnf install"), ("linux", "", "lavapipe"), ("darwin", "", "Metal"), ("win32", "", "GPU")]


@pytest.mark.parametrize(("system", "tool", "todo"), ADVICE)
def test_each_system_has_its_own_advice(system: str, tool: str, todo: str, monkeypatch: Patch) -> None:
    monkeypatch.setattr(start, "sys", SimpleNamespace(platform=system))
    monkeypatch.setattr(start, "os", SimpleNamespace(name="nt" if system == "win32" else "posix"))
    monkeypatch.setattr(shutil, "which", {tool: tool}.get)
    assert todo in start.advice()


def test_the_software_driver_is_for_linux_only(project: Path, monkeypatch: Patch) -> None:
    driver = start.VENV / "swiftshader" / start.SWIFTSHADER_FILES[-1]
    driver.parent.mkdir(parents=True)
    driver.touch()
    monkeypatch.setattr(start, "platform", SimpleNamespace(machine=lambda: "x86_64"))
    monkeypatch.setattr(start, "sys", SimpleNamespace(platform="linux"))
    env = {"LD_LIBRARY_PATH": "/mine"}
    start.software_adapter(env)
    assert env == {"VK_DRIVER_FILES": str(driver), "LD_LIBRARY_PATH": f"{driver.parent}{os.pathsep}/mine"}
    monkeypatch.setattr(start.sys, "platform", "win32")
    with pytest.raises(Stop, match="Linux"):
        start.software_adapter({})


def test_a_browser_from_snap_is_not_used(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "snap").touch(mode=0o755)
    (tmp_path / "chromium").symlink_to("snap")
    assert start.find_browser() is None
    (tmp_path / "google-chrome").touch(mode=0o755)
    assert start.find_browser() == str(tmp_path / "google-chrome")


INSTALLED = {"debian": "apt-get chromium", "ubuntu": "install --with-deps chromium", "": "install chromium"}


@pytest.mark.parametrize(("system", "asked"), INSTALLED.items())
def test_a_missing_browser_is_installed(system: str, asked: str, monkeypatch: Patch) -> None:
    done = []
    monkeypatch.setattr(start, "OS_RELEASE", Mock(read_text=lambda encoding: f"ID={system}\n"))
    monkeypatch.setattr(start, "can_apt", lambda: system != "")
    monkeypatch.setattr(start, "apt_install", lambda env, *packages: done.append(f"apt-get {packages[0]}"))
    monkeypatch.setattr(start, "run", lambda command, env: done.append(" ".join(command[3:])) or "/play/chromium\n")
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if done else None)
    env = {}
    start.ensure_browser(env)
    assert done[-1] == asked
    assert env["CONVGRAD_BROWSER"].endswith("/chromium")


@pytest.fixture
def called(this_python: None, monkeypatch: Patch) -> SimpleNamespace:
    """Records the programs that would run; a program whose name is in `fail` fails."""
    record = SimpleNamespace(lines=[], fail="nothing", wait=lambda: 0)

    def call(command: list, **options: object) -> int:
        record.lines.append(" ".join(map(str, command[2:])))
        return int(record.fail in record.lines[-1])

    monkeypatch.setattr(subprocess, "call", call)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: call(command) or record)
    monkeypatch.setattr(start.signal, "signal", lambda *_: None)
    monkeypatch.setattr(start, "ensure_browser", lambda env: None)
    return record


@pytest.mark.parametrize(("cores", "workers"), [(None, 2), (1, 2), (2, 2), (8, 8)])
def test_every_core_gets_a_worker(cores: int | None, workers: int, called: SimpleNamespace, monkeypatch: Patch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    env = {}
    assert start.test(start.arguments(["test", "--all"]), env) == 0
    assert f"pytest -n {workers} --dist loadfile" in called.lines[2]
    assert env == {"CONVGRAD_ALL_TESTS": "yes"}


@pytest.mark.parametrize("fail", ["nothing", "ruff check", "ruff format", "pytest"])
def test_one_failing_check_fails_the_test(fail: str, called: SimpleNamespace, capsys: Captured) -> None:
    called.fail = fail
    assert start.test(start.arguments(["test"]), {}) == (fail != "nothing")
    assert called.lines[:2] == ["ruff check", "ruff format --check"]
    assert re.fullmatch(r"pytest .*--nbval --nbval-current-env .* tests notebooks", called.lines[2])
    line = "Passed: ruff check, ruff format, pytest (" if fail == "nothing" else f"FAILED: {fail} ("
    assert capsys.readouterr().out.startswith(line)
    called.lines.clear()
    args = start.arguments(["test", "-k", "reference", "--adapter", "llvmpipe"])
    assert start.test(args, {}) == (fail == "pytest")
    assert (called.lines, args.adapter) == (["pytest -k reference"], "llvmpipe")


def test_jupyterlab_opens_the_first_lesson(project: Path, called: SimpleNamespace) -> None:
    (project / "notebooks").mkdir()
    for name in ("03_c.ipynb", "01_a.ipynb", "02_b.ipynb", "00 notes.txt", "Untitled.ipynb"):
        (project / "notebooks" / name).touch()
    assert start.lab(start.arguments(["--port", "9000", "--no-browser"]), {}) == 0
    (line,) = called.lines
    options = (f"root_dir={project}", "/lab/tree/notebooks/01_a.ipynb", "port=9000", "port_retries=0", "--no-browser")
    assert [option for option in options if option not in line] == []
    assert ("--allow-root" in line) == start.IS_ROOT


@pytest.mark.parametrize("adapter", ["", "Abacus"])
def test_the_doctor_reports_also_without_a_working_gpu(adapter: str) -> None:
    env = start.environment() | ({"WGPUPY_WGPU_ADAPTER_NAME": adapter} if adapter else {})
    doctor = [sys.executable, "-m", "helpers.gpu.doctor"]
    done = subprocess.run(doctor, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == bool(adapter)
    assert adapter in done.stdout
    assert "packages wgpu" in done.stdout


@pytest.mark.parametrize("name", ["requirements", "installer"])
def test_a_lock_pins_and_hashes_everything_and_names_no_host(name: str) -> None:
    lock = re.sub(r"^#.*\n", "", (ROOT / f"{name}.lock").read_text(encoding="utf-8"))
    assert not re.search(r"://|file:|--(extra-)?index|--find-links|@ ", lock)
    hashed = re.compile(r"[\w.-]+==[\w.]+( ; .*)? \\\n +--hash=sha256:[0-9a-f]{64}")
    assert [entry for entry in re.split(r"\n(?=\w)", lock.strip()) if not hashed.match(entry)] == []
    asked = (ROOT / "requirements.txt").read_text(encoding="utf-8") if name == "requirements" else "uv"
    assert set() < {*re.findall(r"^[\w-]+", asked, re.MULTILINE)} <= {*re.findall(r"^([\w-]+)==", lock, re.MULTILINE)}


def test_jupyterlab_holds_no_message_of_a_kernel_back(monkeypatch):
    module, _, name = start.JUPYTERLAB[-1].partition("=")[2].rpartition(".")
    connection = getattr(importlib.import_module(module), name)
    monkeypatch.setattr(connection.__base__, "connect", lambda self: "connected")
    settings = []
    monkeypatch.setattr(connection, "websocket_handler", SimpleNamespace(set_nodelay=settings.append))
    assert connection.__new__(connection).connect() == "connected"
    assert settings == [True]
