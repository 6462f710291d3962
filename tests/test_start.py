"""start.py: what it does on a good machine, and what it says on each kind of bad one. Nothing here needs a network."""

import ast
import errno
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import start
from start import Stop

ROOT = Path(start.__file__).parent


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder, with a space in its path, that start.py takes for its own."""
    folder = tmp_path / "conv grad"
    folder.mkdir()
    names = {
        "VENV": ".venv",
        "PYTHON": ".venv/bin/python",
        "STAMP": ".venv/convgrad.stamp",
        "LOCK": "requirements.lock",
    }
    for name, path in names.items():
        monkeypatch.setattr(start, name, folder / path)
    monkeypatch.setattr(start, "ROOT", folder)
    start.LOCK.write_text("something==1.0\n")
    return folder


@pytest.fixture
def this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python that runs these tests stands for the one in .venv."""
    monkeypatch.setattr(start, "PYTHON", Path(sys.executable))


def start_py(*words: str, **environment: str) -> subprocess.CompletedProcess:
    """Run start.py as a user does, from another folder."""
    command = [sys.executable, str(ROOT / "start.py"), *words]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=Path.home(), env=env, capture_output=True, text=True, timeout=60)


def assert_two_lines(told: str, why: str, todo: str) -> None:
    """A failure is told in one line, and what to do in another; a traceback would be more."""
    lines = told.strip().splitlines()
    assert len(lines) == 2
    assert re.match(f"Stopped: .*{why}", lines[0])
    assert re.match(f"What to do: .*{todo}", lines[1])


# --- Python ---------------------------------------------------------------------------------------------


def test_an_old_python_can_parse_it() -> None:
    ast.parse((ROOT / "start.py").read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize(("there", "todo"), [([], "install Python"), (["python3.12"], "run python3.12 start.py")])
def test_an_old_python_is_told(tmp_path: Path, there: list[str], todo: str) -> None:
    for name in there:
        (tmp_path / name).touch(mode=0o755)
    old = "import runpy, sys; sys.version_info = (3, 6, 15); runpy.run_path('start.py', run_name='__main__')"
    command = [sys.executable, "-c", old]
    env = {**os.environ, "PATH": str(tmp_path)}
    told = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert told.returncode == 1
    assert_two_lines(told.stderr, "needs Python >= 3.11", todo)


@pytest.mark.parametrize("lost", ["venv", "ensurepip"])
def test_no_venv_module(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start.check_venv_module()
    monkeypatch.setattr(start.importlib.util, "find_spec", lambda name: None if name == lost else "there")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    with pytest.raises(Stop, match=r"no venv module.*\n.*apt-get install python3-venv"):
        start.check_venv_module()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Stop, match=r"no venv module.*\n.*install a complete Python"):
        start.check_venv_module()


# --- Set-up ---------------------------------------------------------------------------------------------


@pytest.fixture
def tools(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stands for venv and pip: makes a .venv without packages, and notes what was asked for."""
    asked = []
    really_run = start.run

    def run(command: list, env: dict) -> str:
        if command[1] == "-c" and "version" in command[2]:
            return really_run(command, env)
        asked.append("venv" if "venv" in command else "fonts")
        if "venv" in command:
            start.PYTHON.parent.mkdir(parents=True)
            start.PYTHON.symlink_to(sys.executable)
        return ""

    monkeypatch.setattr(start, "run", run)
    monkeypatch.setattr(start, "install", lambda env: asked.append("packages"))
    return asked


ALL = ["venv", "packages", "fonts"]


def test_set_up_is_done_once(tools: list[str]) -> None:
    start.set_up({})
    assert tools == ALL
    start.set_up({})
    assert tools == ALL


def break_off(env: dict) -> None:
    raise KeyboardInterrupt


def upgrade_python() -> None:
    start.PYTHON.unlink()
    start.PYTHON.write_text("#!/bin/sh\necho 3.99\n")
    start.PYTHON.chmod(0o755)


def remove_python() -> None:
    start.PYTHON.unlink()
    start.PYTHON.symlink_to("gone")


@pytest.mark.parametrize(
    "change",
    [
        lambda: start.LOCK.write_text("something==2.0\n"),
        lambda: start.STAMP.unlink(),
        lambda: start.STAMP.write_text(""),
        upgrade_python,
        remove_python,
        lambda: shutil.rmtree(start.VENV),
    ],
    ids=["lock changed", "not finished", "stamp cut", "Python upgraded", "Python removed", "no .venv"],
)
def test_set_up_is_done_again(tools: list[str], change: object) -> None:
    start.set_up({})
    (start.VENV / "left over").touch()
    change()
    start.set_up({})
    assert tools == ALL * 2
    assert not (start.VENV / "left over").exists()
    start.set_up({})
    assert tools == ALL * 2


def test_an_interrupted_set_up_leaves_no_stamp(tools: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(start, "install", break_off)
        with pytest.raises(KeyboardInterrupt):
            start.set_up({})
    assert not start.STAMP.exists()
    start.set_up({})
    assert start.STAMP.exists()


def test_a_moved_folder_keeps_its_set_up(project: Path, tools: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    start.set_up({})
    moved = project.rename(project.with_name("elsewhere"))
    for name in ("ROOT", "VENV", "PYTHON", "STAMP", "LOCK"):
        monkeypatch.setattr(start, name, moved / getattr(start, name).relative_to(project))
    start.set_up({})
    assert tools == ALL


def test_an_almost_full_disk_is_noticed_before_anything_is_made(
    project: Path, tools: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=200_000_000))
    with pytest.raises(Stop, match=f"0.2 GB are free in {project}"):
        start.set_up({})
    assert tools == []


def test_what_would_leak_into_the_venv_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/other")
    monkeypatch.setenv("CONVGRAD_BROWSER", "/usr/bin/chromium")
    assert "PYTHONPATH" not in start.environment()
    assert start.environment()["CONVGRAD_BROWSER"] == "/usr/bin/chromium"


# --- pip ------------------------------------------------------------------------------------------------

WHEEL = "convgrad_probe-1.0-py3-none-any.whl"
PIN = "convgrad-probe==1.0 --hash=sha256:{}\n"


def pip_environment(**more: str) -> dict:
    """An environment in which pip asks this machine only, and soon gives up."""
    env = {name: value for name, value in start.environment().items() if not name.startswith("PIP_")}
    return {**env, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1", **more}


def test_no_network(project: Path, this_python: None) -> None:
    start.LOCK.write_text(PIN.format("0" * 64))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and not listening: a connection is refused
        index = f"http://127.0.0.1:{unused.getsockname()[1]}/simple"
        with pytest.raises(Stop, match=r"no connection to the package index.*\n.*connect to the internet"):
            start.install(pip_environment(PIP_INDEX_URL=index))


def test_a_changed_package_is_refused(project: Path, this_python: None) -> None:
    with zipfile.ZipFile(project.parent / WHEEL, "w") as wheel:
        wheel.writestr(
            "convgrad_probe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: convgrad-probe\nVersion: 1.0"
        )
        wheel.writestr("convgrad_probe-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any")
        wheel.writestr("convgrad_probe-1.0.dist-info/RECORD", "")
    start.LOCK.write_text(PIN.format("0" * 64))
    with pytest.raises(Stop, match="differs from the one that was tested"):
        start.install(pip_environment(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(project.parent)))


def test_every_package_must_have_a_hash(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(start, "lines_of", lambda command, env: asked.extend(command) or [])
    start.install({})
    assert asked[-3:] == ["--require-hashes", "-r", start.LOCK]


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("OSError: [WinError 112] There is not enough space on the disk", "disk is full"),
        ("ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", "certificate"),
        ("W: Failed to fetch http://x/InRelease  Temporary failure resolving 'x'\nE: No such package", "no connection"),
        ("pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool: Read timed out.", "no connection"),
        ("ERROR: No matching distribution found for wgpu==0.32.0", "no build for Python"),
        ("one\nERROR: something new\n", "failed: ERROR: something new"),
        ("", "it printed nothing"),
    ],
)
def test_a_failing_tool_is_explained(output: str, why: str) -> None:
    assert_two_lines(str(start.explain(["pip", "install"], output)), why, "")


def test_a_failing_tool_stops_the_set_up(this_python: None) -> None:
    assert start.run([sys.executable, "-c", "print('fine')"], {}) == "fine\n"
    with pytest.raises(Stop, match="the disk is full"):
        start.run([sys.executable, "-c", "exit('No space left on device')"], {})


@pytest.mark.parametrize(
    ("error", "why", "todo"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full", "free 2 GB"),
        (PermissionError(errno.EACCES, "Permission denied", "/x/.venv"), "Permission denied: '/x/.venv'", "may write"),
        (Stop("no luck", "try again"), "no luck", "try again"),
    ],
)
def test_main_tells_an_error_in_two_lines(
    error: Exception, why: str, todo: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def fail(args: object) -> None:
        raise error

    monkeypatch.setattr(start, "start", fail)
    monkeypatch.setattr(sys, "argv", ["start.py"])
    assert start.main() == 1
    assert_two_lines(capsys.readouterr().err, why, todo)


def test_ctrl_c_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(start, "start", break_off)
    monkeypatch.setattr(sys, "argv", ["start.py"])
    assert start.main() == 1
    assert capsys.readouterr().err == "\nStopped. To go on, run this again.\n"


# --- Arguments ------------------------------------------------------------------------------------------


def test_a_port_in_use_is_told_first() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        told = start_py("--port", str(port))
        assert told.returncode == 1
        assert_two_lines(told.stderr, f"port {port} is in use", "choose another --port")
    start.check_port(port)


@pytest.mark.parametrize("port", [0, 80, 65536])
def test_a_port_out_of_range(port: int) -> None:
    with pytest.raises(Stop, match=rf"--port is {port}.*\n.*1024 to 65535"):
        start.check_port(port)


def test_the_rest_of_the_line_goes_to_pytest() -> None:
    args = start.arguments(["test", "-k", "reference", "--adapter", "llvmpipe", "tests/test_check.py"])
    assert (args.command, args.adapter) == ("test", "llvmpipe")
    assert args.pytest == ["-k", "reference", "tests/test_check.py"]


@pytest.mark.parametrize("words", [["--no-browse"], ["doctor", "-k"], ["open"]])
def test_an_unknown_word_is_refused(words: list[str], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        start.arguments(words)
    assert words[-1] in capsys.readouterr().err.splitlines()[-1]


# --- The adapter ----------------------------------------------------------------------------------------

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only on Linux can the system's driver be hidden")
HIDDEN = {"VK_DRIVER_FILES": "/nonexistent"}


@pytest.fixture
def nobody(this_python: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without root who chose no adapter, on a machine where apt-get is the first package manager found."""
    for name in ("WGPUPY_WGPU_ADAPTER_NAME", "WGPU_BACKEND_TYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(start, "IS_ROOT", False)
    monkeypatch.setattr(start, "SUDO", "sudo ")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")


def test_the_adapter_of_this_machine_is_found(nobody: None, capsys: pytest.CaptureFixture) -> None:
    start.ensure_adapter(start.environment(), None)
    assert re.match("Adapter: .* via (Vulkan|Metal|D3D12)\n", capsys.readouterr().out)


@on_linux
def test_opengl_alone_is_no_adapter(nobody: None) -> None:
    with pytest.raises(Stop, match=r"no WebGPU adapter.*\n.*sudo apt-get install mesa-vulkan-drivers.*--software"):
        start.ensure_adapter({**start.environment(), **HIDDEN}, None)


@on_linux
def test_root_on_debian_gets_a_software_driver(
    nobody: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(start, "IS_ROOT", True)
    monkeypatch.setattr(start, "distribution", lambda: {"debian"})
    asked = []

    def apt_install(env: dict, *packages: str) -> None:
        asked.extend(packages)
        del env["VK_DRIVER_FILES"]

    monkeypatch.setattr(start, "apt_install", apt_install)
    start.ensure_adapter({**start.environment(), **HIDDEN}, None)
    assert asked == ["mesa-vulkan-drivers", "libvulkan1"]
    assert "via Vulkan" in capsys.readouterr().out


def fake_adapters(monkeypatch: pytest.MonkeyPatch, picked: str, seen: list[str]) -> None:
    monkeypatch.setattr(start, "adapters", lambda env: (picked, seen))


def test_vulkan_is_preferred_to_an_opengl_that_wgpu_picked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    fake_adapters(monkeypatch, "A via OpenGL", ["A via OpenGL", "B via Vulkan"])
    env = {}
    start.ensure_adapter(env, None)
    assert env["WGPUPY_WGPU_ADAPTER_NAME"] == "B via Vulkan"
    assert capsys.readouterr().out == "Adapter: B via Vulkan\n"


def test_a_chosen_opengl_is_called_a_fallback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    fake_adapters(monkeypatch, "A via OpenGL", ["A via OpenGL", "B via Vulkan"])
    start.ensure_adapter({}, "OpenGL")
    assert "A via OpenGL (only a fallback" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["Abacus", None], ids=["--adapter", "environment"])
def test_a_chosen_adapter_that_is_not_there(option: str | None, nobody: None) -> None:
    env = start.environment() if option else {**start.environment(), "WGPUPY_WGPU_ADAPTER_NAME": "Abacus"}
    with pytest.raises(Stop, match=r"no adapter matches 'Abacus'.*\n.*take a part of one of these: \w"):
        start.ensure_adapter(env, option)


@pytest.mark.parametrize(
    ("driver", "why"),
    [
        ("import time; time.sleep(60)", "did not answer within 0 s"),
        ("import os; os.abort()", "asking for an adapter failed"),
    ],
)
def test_a_broken_driver(driver: str, why: str, this_python: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "PROBE", driver)
    with pytest.raises(Stop, match=why):
        start.adapters(start.environment(), seconds=0.4 if "sleep" in driver else 30)


@pytest.mark.parametrize(
    ("platform", "tool", "todo"),
    [
        ("linux", "dnf", "sudo dnf install mesa-vulkan-drivers vulkan-loader"),
        ("linux", "pacman", "sudo pacman -S vulkan-swrast"),
        ("linux", "zypper", "sudo zypper install libvulkan_lvp"),
        ("linux", "none", "install Mesa's Vulkan driver"),
        ("darwin", "none", "Metal"),
        ("win32", "none", "install the driver that the maker of your GPU offers"),
    ],
)
def test_each_system_has_its_own_advice(platform: str, tool: str, todo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "sys", SimpleNamespace(platform=platform))
    monkeypatch.setattr(start, "os", SimpleNamespace(name="nt" if platform == "win32" else "posix"))
    monkeypatch.setattr(start, "SUDO", "sudo ")
    monkeypatch.setattr(shutil, "which", lambda name: name if name == tool else None)
    assert todo in start.advice()


def test_software_is_for_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "sys", SimpleNamespace(platform="win32"))
    with pytest.raises(Stop, match="--software is for Linux on x86-64"):
        start.software_adapter({})


def test_a_fetched_software_driver_is_used(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(start.platform, "machine", lambda: "x86_64")
    folder = start.VENV / "swiftshader"
    folder.mkdir(parents=True)
    (folder / "vk_swiftshader_icd.json").touch()
    env = {"LD_LIBRARY_PATH": "/mine"}
    start.software_adapter(env)
    assert env == {
        "VK_DRIVER_FILES": str(folder / "vk_swiftshader_icd.json"),
        "LD_LIBRARY_PATH": f"{folder}{os.pathsep}/mine",
    }


def test_a_changed_software_driver_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(command: list, env: dict) -> str:
        (Path(command[command.index("--dest") + 1]) / "some.whl").write_text("changed")
        return ""

    monkeypatch.setattr(start, "run", download)
    with pytest.raises(Stop, match="differs from the one that was tested"):
        start.fetch_swiftshader(project, {})
    assert not list(project.glob("lib*"))


# --- The browser ----------------------------------------------------------------------------------------


def test_a_snap_is_no_browser_for_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert start.find_browser() is None
    (tmp_path / "snap").touch(mode=0o755)
    (tmp_path / "chromium").symlink_to("snap")
    assert start.find_browser() is None
    (tmp_path / "google-chrome").touch(mode=0o755)
    assert start.find_browser() == str(tmp_path / "google-chrome")


@pytest.mark.parametrize(
    ("apt", "names", "asked"),
    [
        (True, {"debian"}, "apt-get install chromium libatomic1"),
        (True, {"debian", "ubuntu"}, "playwright install --with-deps chromium"),
        (False, set(), "playwright install chromium"),
    ],
    ids=["Debian, root", "Ubuntu, root", "elsewhere"],
)
def test_a_missing_browser_is_installed(apt: bool, names: set, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    monkeypatch.setattr(start, "can_apt", lambda: apt)
    monkeypatch.setattr(start, "distribution", lambda: names)
    monkeypatch.setattr(start, "apt_install", lambda env, *words: done.append(" ".join(["apt-get install", *words])))
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if done else None)

    def run(command: list, env: dict) -> str:
        if command[1] == "-m":
            done.append(" ".join(command[2:]))
        return "/playwright/chromium\n"

    monkeypatch.setattr(start, "run", run)
    env = {}
    start.ensure_browser(env)
    assert done == [asked]
    assert env["CONVGRAD_BROWSER"].endswith("/chromium")


# --- The commands ---------------------------------------------------------------------------------------


@pytest.fixture
def called(this_python: None, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Notes the programs that would be run; those whose name is in `fail` fail."""
    record = SimpleNamespace(lines=[], fail="nothing", wait=lambda: 0)

    def call(command: list, **options: object) -> int:
        record.lines.append(" ".join(map(str, command[2:])))
        return int(record.fail in record.lines[-1])

    monkeypatch.setattr(subprocess, "call", call)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: call(command) or record)
    monkeypatch.setattr(start.signal, "signal", lambda *_: None)
    monkeypatch.setattr(start, "ensure_browser", lambda env: None)
    return record


def test_everything_is_tested(called: SimpleNamespace, capsys: pytest.CaptureFixture) -> None:
    assert start.test(start.arguments(["test"]), {}) == 0
    assert called.lines[:2] == ["ruff check", "ruff format --check"]
    assert re.fullmatch(r"pytest .*--nbval --nbval-current-env .* tests notebooks", called.lines[2])
    assert capsys.readouterr().out.startswith("Passed: ruff check, ruff format, pytest (")


@pytest.mark.parametrize("check", ["ruff check", "ruff format", "pytest"])
def test_one_failing_check_fails_all(check: str, called: SimpleNamespace, capsys: pytest.CaptureFixture) -> None:
    called.fail = check
    assert start.test(start.arguments(["test"]), {}) == 1
    assert len(called.lines) == 3
    assert capsys.readouterr().out.startswith(f"FAILED: {check} (")


def test_words_for_pytest_run_it_alone(called: SimpleNamespace, capsys: pytest.CaptureFixture) -> None:
    assert start.test(start.arguments(["test", "-k", "reference"]), {}) == 0
    assert called.lines == ["pytest -k reference"]
    assert capsys.readouterr().out.startswith("Passed: pytest (")


def test_jupyterlab_opens_the_first_lesson(project: Path, called: SimpleNamespace) -> None:
    (project / "notebooks").mkdir()
    with pytest.raises(Stop, match="there is no lesson"):
        start.lab(start.arguments([]), {})
    for name in ("03_c.ipynb", "01_a.ipynb", "02_b.ipynb", "00 notes.txt", "Untitled.ipynb", "04_d.ipynb"):
        (project / "notebooks" / name).touch()
    assert start.lab(start.arguments(["--port", "9000", "--no-browser"]), {}) == 0
    (line,) = called.lines
    assert f"--ServerApp.root_dir={project}" in line
    assert "/lab/tree/notebooks/01_a.ipynb" in line
    assert "--ServerApp.port=9000 --ServerApp.port_retries=0" in line
    assert "--no-browser" in line
    assert ("--allow-root" in line) == start.IS_ROOT


def doctor(**environment: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "helpers.doctor"]
    env = {**start.environment(), **environment}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


def test_the_doctor_fits_into_a_mail() -> None:
    told = doctor()
    assert told.returncode == 0
    lines = told.stdout.splitlines()
    assert 9 <= len(lines) <= 12
    for key in ("adapter", "backend", "kind", "driver", "fault", "limits", "clock", "system", "packages"):
        assert any(line.startswith(key) for line in lines), key


def test_the_doctor_reports_a_gpu_that_does_not_work() -> None:
    told = doctor(WGPUPY_WGPU_ADAPTER_NAME="Abacus")
    assert told.returncode == 1
    assert re.match("BROKEN   GpuError: .*'Abacus'", told.stdout)
    assert "packages wgpu" in told.stdout


# --- The lock -------------------------------------------------------------------------------------------


def test_the_lock_pins_and_hashes_everything_and_names_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert not re.search(r"://|file:|--(extra-)?index|--find-links|@ ", lock)
    entries = re.split(r"\n(?=\w)", lock.strip())
    unhashed = [
        entry for entry in entries if not re.match(r"[\w.-]+==[\w.]+( ; .*)? \\\n +--hash=sha256:[0-9a-f]{64}", entry)
    ]
    assert not unhashed


def test_the_lock_holds_what_the_requirements_ask_for() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    asked = re.findall(r"^[\w-]+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert asked[:6] == ["jupyterlab", "wgpu", "numpy", "matplotlib", "ipywidgets", "nbval"]
    assert [name for name in asked if not re.search(f"^{name}==", lock, re.MULTILINE)] == []
