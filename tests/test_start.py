"""start.py: what it does on a good machine, and what it says on each kind of bad one. No test here needs a network.

Which programs each command runs, and why it stops, is in `messages/start.txt`.
"""

import ast
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from support.sample import at_night

import start
from helpers.gpu.adapter import SETTINGS
from helpers.set_up import (
    adapter,
    browser,
    checks,
    jupyterlab,
    packages,
    paths,
    programs,
    swiftshader,
    system_packages,
    venv,
)
from helpers.set_up.stops import Stop

ROOT = paths.ROOT


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project folder, with a space in its path, in place of the real one."""
    folder = tmp_path / "conv grad"
    folder.mkdir()
    for name in ("VENV", "PYTHON", "STAMP", "LOCK", "INSTALLER", "ROOT"):
        monkeypatch.setattr(paths, name, folder / getattr(paths, name).relative_to(ROOT))
    paths.LOCK.write_text("something==1.0\n")
    return folder


@pytest.fixture
def this_python(monkeypatch):
    """The Python that runs these tests takes the place of the one in .venv."""
    monkeypatch.setattr(paths, "PYTHON", Path(sys.executable))


def is_clear(message, why, todo=""):
    """Tell whether a message has one line for the reason and one for the remedy; a traceback would be more."""
    return re.fullmatch(f"Stopped: .*{why}.*\\nWhat to do: .*{todo}.*", message.strip())


def test_an_old_python_is_refused(tmp_path):
    ast.parse((ROOT / "start.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    old = "import runpy, sys; sys.version_info = (3, 6, 15); runpy.run_path('start.py', run_name='__main__')"
    options = {"cwd": ROOT, "env": {**os.environ, "PATH": str(tmp_path)}, "capture_output": True, "text": True}
    newer = tmp_path / "python3.12"
    for status, todo in ((127, "install Python"), (0, "python3.12 start.py")):  # pyenv's file may find no such Python
        newer.write_text(f"#!/bin/sh\nexit {status}\n")
        newer.chmod(0o755)
        done = subprocess.run([sys.executable, "-c", old], timeout=300, **options)
        assert done.returncode == 1
        assert is_clear(done.stderr, "3.11", todo)


def make_python(version):
    """Write a .venv/bin/python that only prints a version."""
    paths.PYTHON.parent.mkdir(parents=True, exist_ok=True)
    paths.PYTHON.write_text(f"#!/bin/sh\necho {version}\n")
    paths.PYTHON.chmod(0o755)


@pytest.fixture
def steps(project, monkeypatch):
    """The steps of the set-up that ran; none of them installs anything."""
    done, really_run = [], programs.run

    def run(command, env):
        if "--clear" in command:
            done.append("venv")
            return make_python("3.11")
        if "matplotlib" in command[2]:
            done.append("fonts")
        return really_run(command, env)

    monkeypatch.setattr(programs, "run", run)
    monkeypatch.setattr(packages, "install", lambda env: done.append("packages"))
    return done


def test_set_up_runs_once_and_again_after_a_change(steps):
    changes = [lambda: make_python("3.99"), paths.PYTHON.unlink, lambda: paths.LOCK.write_text("something==2.0\n")]
    for change in [lambda: None, *changes]:
        change()
        venv.set_up({})
        venv.set_up({})
        assert steps == ["venv", "packages", "fonts"]
        steps.clear()


def test_an_unfinished_set_up_leaves_no_stamp(steps, monkeypatch):
    monkeypatch.setattr(packages, "install", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        venv.set_up({})
    assert not paths.STAMP.exists()


def test_a_full_disk_is_noticed_first(steps, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=200_000_000))
    with pytest.raises(Stop, match=r"0\.2 GB"):
        venv.set_up({})
    assert steps == []


def test_an_unfinished_venv_counts_as_free_space(project, monkeypatch):
    paths.VENV.mkdir()
    unfinished = paths.VENV / "package"
    unfinished.touch()
    os.truncate(unfinished, 600_000_000)  # takes no space itself
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000_000))
    checks.check_free_space()
    unfinished.unlink()
    with pytest.raises(Stop, match=r"1\.0 GB"):
        checks.check_free_space()


def test_a_folder_that_venv_refuses_is_named(steps, tmp_path, monkeypatch):
    folder = tmp_path / f"a{os.pathsep}b"
    monkeypatch.setattr(paths, "VENV", folder / ".venv")
    with pytest.raises(Stop, match=f"contains '{os.pathsep}'.*\nWhat to do: rename or move the folder"):
        venv.set_up({})
    assert steps == []


def test_a_folder_that_cannot_be_written_stops_before_anything_runs(steps, monkeypatch):
    monkeypatch.setattr(paths, "STAMP", paths.LOCK / "stamp")  # root may write in every folder, but not below a file
    with pytest.raises(OSError, match="stamp"):
        venv.set_up({})
    assert steps == []


def test_jupyterlab_opens_where_the_folder_cannot_be_written(project, monkeypatch):
    monkeypatch.setattr(paths, "VENV", paths.LOCK / ".venv")  # below a file: not even root may write there
    env, opened = {}, []

    def popen(command, **options):
        opened.append(Path(env["JUPYTERLAB_WORKSPACES_DIR"], jupyterlab.WORKSPACE).exists())
        return SimpleNamespace(wait=lambda: 0)

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(jupyterlab.signal, "signal", lambda *words: None)
    assert start.lab(start.arguments([]), env) == 0
    assert opened == [True]
    assert not Path(env["JUPYTERLAB_WORKSPACES_DIR"]).exists()


@pytest.mark.parametrize("name", programs.DROPPED)
def test_variables_of_python_that_break_venv_are_left_out(name, monkeypatch):
    monkeypatch.setenv(f"PYTHON{name}", "1")
    monkeypatch.setenv("UV_SYSTEM_PYTHON", "1")
    assert {f"PYTHON{name}", "UV_SYSTEM_PYTHON"}.isdisjoint(programs.environment())


HASH = "0" * 64
PIN = f"convgrad-probe==1.0 --hash=sha256:{HASH}\n"


def offline(**more):
    """An environment in which pip and uv ask this machine only, and give up soon."""
    env = {name: value for name, value in programs.environment().items() if not name.startswith(("PIP_", "UV_"))}
    return {**env, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1", "UV_OFFLINE": "1", **more}


class Index(BaseHTTPRequestHandler):
    """A package index that has one page, for the package of PIN: without any file that fits."""

    def do_GET(self):
        has_page = self.path in ("/simple/uv/", "/simple/convgrad-probe/")
        self.send_response(200 if has_page else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *words):
        pass


@pytest.fixture
def index():
    """The address of an index on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    Thread(target=server.serve_forever, args=(0.01,)).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}, "127.0.0.1:9 does not answer.*\n.*internet"),
        (
            {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0"},
            "127.0.0.1:9 does not answer.*\n.*internet",
        ),
        ({"PIP_INDEX_URL": "INDEX/empty"}, "does not have the package uv.*\n.*PIP_INDEX_URL"),
        (
            {"PIP_INDEX_URL": "INDEX/simple"},
            "found no file for .*-bit Python .*No matching.*\n.*or a 64-bit Python 3.13",
        ),
        ({"PIP_INDEX_URL": "INDEX/simple", "PIP_NO_INDEX": "1"}, "setting no-index forbids.*\n.*PIP_NO_INDEX"),
        (
            {"PIP_INDEX_URL": "https://127.0.0.1:9", "PIP_CERT": "/none.pem"},
            "file /none.pem cannot be read.*\n.*PIP_CERT",
        ),
    ],
)
def test_why_pip_failed_is_found_by_trying(settings, cause, project, this_python, index):
    paths.INSTALLER.write_text(PIN)
    settings = {name: value.replace("INDEX", index) for name, value in settings.items()}
    with pytest.raises(Stop, match=f"^Stopped: .*{cause}"):
        packages.install(offline(**settings))


FETCH = {
    "pip": lambda env: packages.pip([*packages.PIP, paths.LOCK], env),
    "uv": lambda env: programs.run([paths.PYTHON, "-m", *packages.UV, paths.LOCK, "--target", paths.VENV], env),
    "--software": lambda env: swiftshader.fetch_swiftshader(paths.VENV / "swiftshader", env),
}


@pytest.mark.parametrize("tool", FETCH)
def test_a_changed_package_is_refused(tool, project, this_python, monkeypatch):
    if tool == "uv":
        pytest.importorskip("uv", reason="start.py installs uv")
    folder = str(project.parent)  # pip splits its settings at spaces
    with zipfile.ZipFile(Path(folder, "convgrad_probe-1.0-py3-none-any.whl"), "w") as wheel:
        about = "Metadata-Version: 2.1\nName: convgrad-probe\nVersion: 1.0\n"
        wheel.writestr("convgrad_probe-1.0.dist-info/METADATA", about)
    paths.LOCK.write_text(PIN)
    monkeypatch.setattr(swiftshader, "SWIFTSHADER", PIN)
    env = offline(PIP_NO_INDEX="1", PIP_FIND_LINKS=folder, UV_NO_INDEX="1", UV_FIND_LINKS=folder)
    with pytest.raises(Stop, match="`python -m uv pip` failed: .*sha256" if tool == "uv" else "differs"):
        FETCH[tool](env)


PIP_CONF = """[global]
index-url = http://a
proxy = http://b
extra-index-url = http://c
  http://d
user = true
[install]
index-url = http://e
target = /x
[download]
index-url = http://f
"""
PIP_VARIABLES = {
    "PIP_PROXY": "http://mine",
    "PIP_CERT": "/c.pem",
    "PIP_QUIET": "3",
    "PIP_DRY_RUN": "1",
    "PIP_PREFIX": "",
}


@pytest.fixture
def environments(monkeypatch):
    """The environments of pip and uv, which install nothing; `pip config` runs."""
    collected = []
    really_run = programs.run

    def run(command, env):
        if "config" in command:
            return really_run(command, env)
        collected.append(env)

    monkeypatch.setattr(programs, "run", run)
    return collected


def test_pip_and_uv_get_the_settings_for_downloads_and_no_others(tmp_path, this_python, environments, capsys):
    config = tmp_path / "pip.conf"
    config.write_text(PIP_CONF)
    packages.install(offline(PIP_CONFIG_FILE=str(config), **PIP_VARIABLES))
    pip, uv = environments
    extra = "http://c http://d"
    due = {"INDEX_URL": "http://e", "EXTRA_INDEX_URL": extra, "PROXY": "http://mine", "CERT": "/c.pem", "RETRIES": "1"}
    downloads = {f"PIP_{name}": value for name, value in due.items()}
    assert pip.items() >= {"PIP_CONFIG_FILE": os.devnull, **downloads}.items()
    assert pip.keys().isdisjoint({"PIP_USER", "PIP_TARGET", "PIP_QUIET", "PIP_DRY_RUN", "PIP_PREFIX"})
    indexes = {"UV_INDEX_URL": "http://e", "UV_EXTRA_INDEX_URL": extra}
    assert uv.items() >= {**indexes, "ALL_PROXY": "http://mine", "SSL_CERT_FILE": "/c.pem"}.items()
    printed = capsys.readouterr().out
    assert {"dry-run", "quiet", "target", "user"} <= {*re.findall(r"[\w-]+", printed)}
    assert "prefix" not in printed


def test_a_port_is_checked_first():
    with socket.create_server(("127.0.0.1", 0)) as server:
        for port in map(str, (server.getsockname()[1], 80, 65536)):
            with pytest.raises(Stop, match=port):
                start.start(start.arguments(["--port", port]))


@at_night
@pytest.mark.skipif(sys.platform != "linux", reason="the system's driver can be hidden only on Linux")
def test_opengl_alone_is_not_enough(this_python, monkeypatch, capsys):
    for name in ("WGPUPY_WGPU_ADAPTER_NAME", "WGPU_BACKEND_TYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(system_packages, "apt_install", lambda env, *packages: env.pop("VK_DRIVER_FILES"))
    env = {**programs.environment(), "VK_DRIVER_FILES": "/nonexistent"}
    monkeypatch.setattr(system_packages, "IS_ROOT", False)
    with pytest.raises(Stop, match=r"OpenGL.*\n.*apt-get install mesa-vulkan-drivers.*--software"):
        adapter.ensure_adapter(env, None)
    monkeypatch.setattr(system_packages, "IS_ROOT", True)
    adapter.ensure_adapter(env, None)
    assert "via Vulkan" in capsys.readouterr().out


def test_a_variable_that_names_no_gpu_stops_the_start(this_python):
    env = {name: value for name, value in programs.environment().items() if name not in adapter.SETTINGS}
    with pytest.raises(Stop, match="CONVGRAD_GPU=99: no GPU has this number"):
        adapter.ensure_adapter({**env, "CONVGRAD_GPU": "99"}, None)
    assert adapter.SETTINGS == SETTINGS


def test_a_browser_that_is_not_there_is_named():
    with pytest.raises(Stop, match=r"CONVGRAD_BROWSER=/none: .*\n"):
        browser.ensure_browser({"CONVGRAD_BROWSER": "/none"})


@pytest.mark.parametrize(("seconds", "why"), [(0.4, "did not answer"), (30, "adapter failed")])
def test_a_broken_driver(seconds, why, this_python, monkeypatch):
    monkeypatch.setattr(adapter, "PROBE", "import time; time.sleep(60)" if seconds < 1 else "import os; os.abort()")
    with pytest.raises(Stop, match=why):
        adapter.adapters(programs.environment(), seconds)


def test_the_software_driver_is_for_linux_only(project, monkeypatch):
    driver = paths.VENV / "swiftshader" / swiftshader.FILES[-1]
    driver.parent.mkdir(parents=True)
    driver.touch()
    monkeypatch.setattr(swiftshader.platform, "machine", lambda: "x86_64")
    env = {"LD_LIBRARY_PATH": "/mine"}
    for system in ("linux", "win32"):
        monkeypatch.setattr(swiftshader, "sys", SimpleNamespace(platform=system))
        with nullcontext() if system == "linux" else pytest.raises(Stop, match="Linux"):
            swiftshader.software_adapter(env)
    assert env == {"VK_DRIVER_FILES": str(driver), "LD_LIBRARY_PATH": f"{driver.parent}{os.pathsep}/mine"}


@pytest.mark.parametrize("adapter", ["", "Abacus"])
def test_the_doctor_reports_also_without_a_working_gpu(adapter):
    env = programs.environment() | ({"WGPUPY_WGPU_ADAPTER_NAME": adapter} if adapter else {})
    doctor = [sys.executable, "-m", "helpers.gpu.doctor"]
    done = subprocess.run(doctor, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == bool(adapter)
    assert adapter in done.stdout
    assert "packages wgpu" in done.stdout


@pytest.mark.parametrize("name", ["requirements", "installer"])
def test_a_lock_pins_and_hashes_everything_and_names_no_host(name):
    lock = re.sub(r"^#.*\n", "", (ROOT / f"{name}.lock").read_text(encoding="utf-8"))
    assert not re.search(r"://|file:|--(extra-)?index|--find-links|@ ", lock)
    hashed = re.compile(r"[\w.-]+==[\w.]+( ; .*)? \\\n +--hash=sha256:[0-9a-f]{64}")
    assert [entry for entry in re.split(r"\n(?=\w)", lock.strip()) if not hashed.match(entry)] == []
    asked = (ROOT / "requirements.txt").read_text(encoding="utf-8") if name == "requirements" else "uv"
    assert set() < {*re.findall(r"^[\w-]+", asked, re.MULTILINE)} <= {*re.findall(r"^([\w-]+)==", lock, re.MULTILINE)}
