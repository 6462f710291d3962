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
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

# This file parses on Python 3.6 too, so that an old Python can print this message instead of a syntax error.
if sys.version_info < (3, 11):  # noqa: UP036
    todo = "install Python 3.13, then run this command again"
    for name in (f"python3.{minor}" for minor in range(11, 16)):
        # A file of this name may only pass the call on, and to nothing, as pyenv's does: so it is tried.
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        if shutil.which(name) and subprocess.call([shutil.which(name), "-c", ""], **quiet) == 0:
            todo = f"run {name} start.py"
    version = platform.python_version()
    sys.exit(f"Stopped: convgrad needs Python 3.11 or newer; this is Python {version}.\nWhat to do: {todo}.")

sys.path.insert(0, str(Path(__file__).resolve().parent))  # with PYTHONSAFEPATH, Python leaves it out

from helpers.set_up import adapter, browser, checks, jupyterlab, paths, programs, swiftshader, venv
from helpers.set_up.stops import Stop, stop_for


def lab(args: argparse.Namespace, env: dict) -> int:
    """Open JupyterLab on the map of the lessons, and wait until it is stopped."""
    return jupyterlab.serve(jupyterlab.options(args.port, args.no_browser), env)


def test(args: argparse.Namespace, env: dict) -> int:
    """Run every check and every test, or only pytest if arguments for it are given; then print the time they took."""
    browser.ensure_browser(env)
    if args.all:
        env["CONVGRAD_ALL_TESTS"] = "yes"
    begin = time.monotonic()
    lines = lines_of_tests(args)
    failed = [line for line in lines if call_python(line, env) != 0]
    verdict = "FAILED" if failed else "Passed"
    names = ", ".join(check_name(line) for line in failed or lines)
    programs.say(f"{verdict}: {names} ({time.monotonic() - begin:.0f} s)")
    return 1 if failed else 0


def doctor(args: argparse.Namespace, env: dict) -> int:
    """Print a short report on this machine's GPU and packages."""
    return call_python(["helpers.gpu.doctor"], env)


def site(args: argparse.Namespace, env: dict) -> int:
    """Make the lessons' folder for a web server."""
    return call_python(["browser.site"], env)


def bench(args: argparse.Namespace, env: dict) -> int:
    """Time the kernels; `python -m helpers.bench --help` lists the arguments."""
    return call_python(["helpers.bench", *args.others], env)


COMMANDS = {"lab": lab, "test": test, "doctor": doctor, "bench": bench, "site": site}
PASS_ON = ("test", "bench")  # take other arguments: those of pytest and of helpers.bench


def call_python(line: list, env: dict) -> int:
    """Run a module, with its arguments, by the Python in .venv; its exit status."""
    return subprocess.call([paths.PYTHON, "-m", *line], cwd=paths.ROOT, env=env)


def lines_of_tests(args: argparse.Namespace) -> list:
    """The checks that `test` runs: each a module and its arguments."""
    if args.site:
        return [["pytest", "--import-mode=importlib", "browser/tests", *args.others]]
    if args.others:
        return [["pytest", *args.others]]
    # All tests of one file go to one worker, and those that open lessons are one file: one JupyterLab is enough.
    parallel = ["-n", str(cores()), "--dist", "loadfile", "--no-loadscope-reorder"]
    nbval = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120"]
    pytest = ["pytest", *parallel, *nbval, "--durations=25", "tests", "notebooks"]
    return [["ruff", "check"], ["ruff", "format", "--check"], pytest]


def check_name(line: list) -> str:
    """The name of a check in the last line: ruff's has its command."""
    return " ".join(line[:2]) if line[0] == "ruff" else line[0]


def cores() -> int:
    """The processor's cores that this process may use: in a container, or under `taskset`, fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def arguments(words: list[str]) -> argparse.Namespace:
    """The command and its options, from the words of the command line."""
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
        checks.check_port(args.port)
    env = programs.environment()
    venv.set_up(env)
    if args.software:
        swiftshader.software_adapter(env)
    if args.command != "site":  # it runs no kernel
        adapter.ensure_adapter(env, args.adapter)
    return COMMANDS[args.command](args, env)


def main() -> int:
    """Run the command that was asked for; a reason to stop is printed, and the exit status is 1."""
    args = arguments(sys.argv[1:])
    try:
        return start(args)
    except Stop as stop:
        print(stop, file=sys.stderr)
    except OSError as error:
        print(stop_for(error), file=sys.stderr)
    except KeyboardInterrupt:
        print("", Stop("you pressed Ctrl-C", "to continue, run this command again"), sep="\n", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
