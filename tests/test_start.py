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
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from support.sample import at_night

import start
from start import Stop

ROOT = Path(start.__file__).parent


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project folder, with a space in its path, in place of the real one."""
    folder = tmp_path / "conv grad"
    folder.mkdir()
    for name in ("VENV", "PYTHON", "STAMP", "LOCK", "INSTALLER", "ROOT"):
        monkeypatch.setattr(start, name, folder / getattr(start, name).relative_to(ROOT))
    start.LOCK.write_text("something==1.0\n")
    return folder


@pytest.fixture
def this_python(monkeypatch):
    """The Python that runs these tests takes the place of the one in .venv."""
    monkeypatch.setattr(start, "PYTHON", Path(sys.executable))


def is_clear(message, why, todo=""):
    """Whether a message has one line for the reason and one for the remedy; a traceback would be more."""
    return re.fullmatch(f"Stopped: .*{why}.*\\nWhat to do: .*{todo}.*", message.strip())


def test_an_old_python_is_refused(tmp_path):
    ast.parse((ROOT / "start.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    old = "import runpy, sys; sys.version_info = (3, 6, 15); runpy.run_path('start.py', run_name='__main__')"
    options = {"cwd": ROOT, "env": {**os.environ, "PATH": str(tmp_path)}, "capture_output": True, "text": True}
    for todo in ("install Python", "python3.12 start.py"):
        done = subprocess.run([sys.executable, "-c", old], timeout=300, **options)
        assert done.returncode == 1
        assert is_clear(done.stderr, "3.11", todo)
        (tmp_path / "python3.12").touch(mode=0o755)


def make_python(version):
    """Write a .venv/bin/python that only prints a version."""
    start.PYTHON.parent.mkdir(parents=True, exist_ok=True)
    start.PYTHON.write_text(f"#!/bin/sh\necho {version}\n")
    start.PYTHON.chmod(0o755)


@pytest.fixture
def steps(project, monkeypatch):
    """The steps of the set-up that ran; none of them installs anything."""
    done, really_run = [], start.run

    def run(command, env):
        if "--clear" in command:
            done.append("venv")
            return make_python("3.11")
        if "matplotlib" in command[2]:
            done.append("fonts")
        return really_run(command, env)

    monkeypatch.setattr(start, "run", run)
    monkeypatch.setattr(start, "install", lambda env: done.append("packages"))
    return done


def test_set_up_runs_once_and_again_after_a_change(steps):
    changes = [lambda: make_python("3.99"), start.PYTHON.unlink, lambda: start.LOCK.write_text("something==2.0\n")]
    for change in [lambda: None, *changes]:
        change()
        start.set_up({})
        start.set_up({})
        assert steps == ["venv", "packages", "fonts"]
        steps.clear()


def test_an_unfinished_set_up_leaves_no_stamp(steps, monkeypatch):
    monkeypatch.setattr(start, "install", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        start.set_up({})
    assert not start.STAMP.exists()


def test_a_full_disk_is_noticed_first(steps, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=200_000_000))
    with pytest.raises(Stop, match=r"0\.2 GB"):
        start.set_up({})
    assert steps == []


PIN = f"convgrad-probe==1.0 --hash=sha256:{'0' * 64}\n"


def offline(**more):
    """An environment in which pip and uv ask this machine only, and give up soon."""
    env = {name: value for name, value in start.environment().items() if not name.startswith(("PIP_", "UV_"))}
    return {**env, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1", "UV_OFFLINE": "1", **more}


def test_no_network(project, this_python):
    start.INSTALLER.write_text(PIN)
    with pytest.raises(Stop, match="no connection"):
        start.install(offline(PIP_INDEX_URL="http://127.0.0.1:9/simple"))  # where nothing listens


FETCH = {
    "pip": lambda env: start.run([start.PYTHON, *start.PIP, start.LOCK], env),
    "uv": lambda env: start.run([start.PYTHON, *start.UV, start.LOCK, "--target", start.VENV], env),
    "--software": lambda env: start.fetch_swiftshader(start.VENV / "swiftshader", env),
}


@pytest.mark.parametrize("tool", FETCH)
def test_a_changed_package_is_refused(tool, project, this_python, monkeypatch):
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


def test_uv_gets_the_settings_of_pip(tmp_path, this_python):
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = http://a\nproxy = http://b\nextra-index-url = http://c\n  http://d\n")
    env = offline(PIP_CONFIG_FILE=str(config), PIP_PROXY="http://mine", PIP_CERT="/c.pem")
    indexes = {"UV_INDEX_URL": "http://a", "UV_EXTRA_INDEX_URL": "http://c http://d"}
    assert start.uv_settings(env).items() >= {**indexes, "ALL_PROXY": "http://mine", "SSL_CERT_FILE": "/c.pem"}.items()


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
    monkeypatch.setattr(start, "apt_install", lambda env, *packages: env.pop("VK_DRIVER_FILES"))
    env = {**start.environment(), "VK_DRIVER_FILES": "/nonexistent"}
    monkeypatch.setattr(start, "IS_ROOT", False)
    with pytest.raises(Stop, match=r"OpenGL.*\n.*apt-get install mesa-vulkan-drivers.*--software"):
        start.ensure_adapter(env, None)
    monkeypatch.setattr(start, "IS_ROOT", True)
    start.ensure_adapter(env, None)
    assert "via Vulkan" in capsys.readouterr().out


@pytest.mark.parametrize(("seconds", "why"), [(0.4, "did not answer"), (30, "adapter failed")])
def test_a_broken_driver(seconds, why, this_python, monkeypatch):
    monkeypatch.setattr(start, "PROBE", "import time; time.sleep(60)" if seconds < 1 else "import os; os.abort()")
    with pytest.raises(Stop, match=why):
        start.adapters(start.environment(), seconds)


def test_the_software_driver_is_for_linux_only(project, monkeypatch):
    driver = start.VENV / "swiftshader" / start.SWIFTSHADER_FILES[-1]
    driver.parent.mkdir(parents=True)
    driver.touch()
    monkeypatch.setattr(start.platform, "machine", lambda: "x86_64")
    env = {"LD_LIBRARY_PATH": "/mine"}
    for system in ("linux", "win32"):
        monkeypatch.setattr(start, "sys", SimpleNamespace(platform=system))
        with nullcontext() if system == "linux" else pytest.raises(Stop, match="Linux"):
            start.software_adapter(env)
    assert env == {"VK_DRIVER_FILES": str(driver), "LD_LIBRARY_PATH": f"{driver.parent}{os.pathsep}/mine"}


@pytest.mark.parametrize("adapter", ["", "Abacus"])
def test_the_doctor_reports_also_without_a_working_gpu(adapter):
    env = start.environment() | ({"WGPUPY_WGPU_ADAPTER_NAME": adapter} if adapter else {})
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
