"""Plant faults in Python files of `helpers` and `wgsl`, one at a time, and see which test notices each.

    python tests/seeded_faults.py [--seed 1] [--count 60] [--in FOLDER ...] [--list > FILE | --from FILE]
                                  [--tree FOLDER] [--tests ...]

A fault is a comparison, a number that is one too large, a dropped check, or two arguments that are swapped. It is told
by its function's name and its line, not by its file: `--list` prints the faults of a seed, and `--from` plants those of
a list, with `--tree` in another checkout, wherever a function of that name has that line. They are planted in a copy.
With `--in`, as in `--in helpers/gpu`, all faults are in files of these folders.
There run, until one fails, the tests that name the changed module, or else what imports it, and after them those of its
room; or those that are given. What fails without the fault is left out. `no test` and `over the limit` are neither
caught nor survived.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from itertools import chain, islice, zip_longest
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.python_faults import Fault, faults_of, functions_of, parses

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".pytest_cache", ".ruff_cache", "node_modules", "my")
FAILED = re.compile(r"^(\S+\.py::.+) (?:FAILED|ERROR) +\[ *\d+%\]$|^ERROR (\S+\.py)(?: - .*)?$", re.MULTILINE)
NO_TESTS = 5  # the exit status of pytest
ITSELF = "pytest itself"  # it ends with an error, but no test does
Places = dict[tuple[str, str], list[tuple[Path, int]]]  # of a function's name and a line, its files and numbers


def sources(tree: Path) -> list[Path]:
    return sorted([*(tree / "helpers").rglob("*.py"), *(tree / "wgsl").rglob("*.py")])


def places(tree: Path) -> Places:
    """Return where each line of each function stands, by the function's name and the line."""
    where = defaultdict(list)
    for path in sources(tree):
        source = path.read_text(encoding="utf-8")
        lines = source.split("\n")
        for function in functions_of(source):
            for number in range(function.lineno, function.end_lineno + 1):
                where[function.name, lines[number - 1].strip()].append((path, number))
    return where


def chosen(tree: Path, seed: int, count: int, folders: list[str]) -> list[Fault]:
    """Return so many faults, of each kind as many, each in a line that its function's name tells from all others.

    They are in files of the folders, or anywhere if there are none.
    """
    where = places(tree)
    by_kind = defaultdict(list)
    for path in sources(tree):
        if folders and not any(path.is_relative_to(tree / folder) for folder in folders):
            continue
        for fault in sorted(set(faults_of(path.read_text(encoding="utf-8")))):
            if len(where[fault.function, fault.line]) == 1:
                by_kind[fault.kind].append(fault)
    random = Random(seed)
    shuffled = [random.sample(by_kind[kind], len(by_kind[kind])) for kind in sorted(by_kind)]
    in_turns = chain.from_iterable(zip_longest(*shuffled))
    plantable = (fault for fault in in_turns if fault and parses(planted(fault, where)))
    return list(islice(plantable, count))


def planted(fault: Fault, where: Places) -> str:
    """Return the text of the file in which a fault is planted."""
    ((path, number),) = where[fault.function, fault.line]
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[number - 1] = lines[number - 1].replace(fault.line, fault.changed)
    return "\n".join(lines)


def as_toml(fault: Fault) -> str:
    rows = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fault._asdict().items()]
    return "\n".join(["[[faults]]", *rows, ""])


def tests_of(tree: Path, changed: Path) -> list[str]:
    """Return the test files for a change of a module: first those that name it, then those of its room."""
    return list(dict.fromkeys([*naming_tests(tree, changed), *tests_of_room(tree, changed)]))


def tests_of_room(tree: Path, changed: Path) -> list[str]:
    """Return the test files that may notice a fault without naming its module.

    They use it through its package, by the name of an exercise, or in a message that is stored. All of a room would be
    too many for `helpers`: of a lesson they are those that name the lesson, and the explorers'.
    """
    top, *folders = changed.relative_to(tree).parts[:-1]
    tests = tree / "tests"
    files = []
    if top == "wgsl":
        files = sorted((tests / "wgsl").glob("test_*.py"))
    elif folders[:1] == ["lessons"] and len(folders) > 1:
        lesson = f"helpers.lessons.{folders[1]}"
        files = [path for path in sorted(tests.rglob("test_*.py")) if names(path.read_text(encoding="utf-8"), lesson)]
        files.append(tests / "test_explorers.py")
    files.append(tests / "test_messages.py")
    return [str(path.relative_to(tree)) for path in files if path.exists()]


def naming_tests(tree: Path, changed: Path) -> list[str]:
    """Return the test files that name a module; where none does, those that name what imports it, and so on."""
    paths = [*sources(tree), *(tree / "tests").rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    near, last = {module_of(tree, changed)}, set()
    while near != last:
        naming = [path for path in paths if names_any(texts[path], near)]
        files = [path.relative_to(tree) for path in naming]
        tests = sorted(str(file) for file in files if file.parts[0] == "tests" and file.name.startswith("test_"))
        if tests:
            return tests
        near, last = near | {module_of(tree, path) for path in naming}, near
    return []


def module_of(tree: Path, path: Path) -> str:
    """Return a module's name, of a file of the tests as they import it."""
    name = ".".join(path.relative_to(tree).with_suffix("").parts)
    return name.removeprefix("tests.").removesuffix(".__init__")


def names_any(text: str, modules: set[str]) -> bool:
    """Return True where a text names one of the modules."""
    return any(names(text, module) for module in modules)


def names(text: str, module: str) -> bool:
    """Return True where a text names a module, or imports it from its package."""
    if re.search(rf"(?<![\w.]){re.escape(module)}\b", text):
        return True
    package, _, stem = module.rpartition(".")
    imported = re.search(rf"from {re.escape(package)} import (\([^)]*|.*)\b{stem}\b", text)
    return bool(package and imported)


def first_failure(tree: Path, tests: list[str], aside: set[str], limit: float) -> str | None:
    """Return the first test that fails, "" where none does, or None where the tests take too long."""
    command = [sys.executable, "-m", "pytest", "-x", "-v", "--tb=no", "-p", "no:cacheprovider"]
    command += [f"--deselect={name}" for name in sorted(aside)]
    command += [test for test in tests if test not in aside]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=tree, stdout=output, stderr=output, env=environment, process_group=0)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
        output.seek(0)
        failed = FAILED.search(output.read())
    if failed:
        return failed[1] or failed[2]
    return "" if code in (0, NO_TESTS) else ITSELF


def noticed(tree: Path, path: Path, broken: str, tests: list[str], aside: set[str], limit: float) -> tuple[str, str]:
    """Return what becomes of a file's broken text, and the test that notices it, if one does.

    Tests that fail without it are put aside.
    """
    right = path.read_text(encoding="utf-8")
    while set(tests) - aside:
        path.write_text(broken, encoding="utf-8")
        failed = first_failure(tree, tests, aside, limit)
        path.write_text(right, encoding="utf-8")
        if not failed:
            return ("over the limit" if failed is None else "survived"), ""
        if failed in aside:
            break
        again = tests if failed == ITSELF else [failed]
        if first_failure(tree, again, aside, limit) == "":
            return "caught", failed
        aside.add(failed)
    return "no test", ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--in", nargs="+", dest="folders", default=[], help="the folders of all faults")
    parser.add_argument("--limit", type=float, default=300, help="seconds that the tests of one fault may take")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout; otherwise this one")
    parser.add_argument("--tests", nargs="+", help="the test files to run, whatever they name")
    parser.add_argument("--list", action="store_true", help="print the faults as TOML, and plant none")
    parser.add_argument("--from", dest="file", type=Path, help="plant the faults of such a list")
    options = parser.parse_args()
    if options.file:
        faults = [Fault(**table) for table in tomllib.loads(options.file.read_text(encoding="utf-8"))["faults"]]
    else:
        faults = chosen(options.tree, options.seed, options.count, options.folders)
    if options.list:
        print("\n".join(map(as_toml, faults)))
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        shutil.copytree(options.tree, tree, ignore=LEFT_OUT)
        plant_each(faults, tree, options)


def plant_each(faults: list[Fault], tree: Path, options: argparse.Namespace) -> None:
    """Plant faults in a copy one after the other, and print a row of each, and how many were noticed."""
    where = places(tree)
    aside, outcomes = set(), Counter()
    for fault in faults:
        at = where.get((fault.function, fault.line), [])
        place, outcome, test = fault.function, f"in {len(at)} places", ""
        if len(at) == 1:
            ((path, number),) = at
            place = f"{path.relative_to(tree)}:{number}"
            tests = options.tests or tests_of(tree, path)
            outcome, test = noticed(tree, path, planted(fault, where), tests, aside, options.limit)
        outcomes[outcome] += 1
        print(f"{place}: {fault.kind}: `{fault.line}` -> `{fault.changed}`: {outcome} {test}".rstrip(), flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))


if __name__ == "__main__":
    main()
