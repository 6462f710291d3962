"""The makers of messages: for each family, a function from a heading and a text to the message."""

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache, partial
from io import StringIO
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from support.grading import edited
from support.kernel_faults import WRONG_KERNELS
from support.legible import SMALLEST, faults, otherwise, pale, words_of
from support.mistakes import HEAD, MAIN, PLACES
from support.notebook_gate import NOTEBOOKS, Cell, Lesson, needed
from support.small_kernels import DECLARED, run

import helpers
from helpers.gpu import passes
from helpers.grading.grader import grade
from helpers.lessons.exercises import PUZZLES
from helpers.lessons.shared.wrong_kernels import WrongKernel
from helpers.operations import checker, operation
from helpers.operations.checker import Given, given
from helpers.operations.operation import Shape
from helpers.widgets.explorer import Explorer
from wgsl import Kernel, WgslError
from wgsl.command import main
from wgsl.simulator.trace import Trace

MADE = re.compile(r"\w*explorers\.(?!rewind|train)(\w+)\(")  # in a cell of a notebook; not of a training
NAMES = {
    "np": np,
    "helpers": helpers,
    "zeros": lambda *shape: np.zeros(shape, np.float32),
    "ones": lambda *shape: np.ones(shape, np.float32),
    "whole": lambda *shape: np.random.default_rng(shape).integers(-4, 5, shape).astype(np.float32),
}


def called(heading: str, call: str) -> str:
    """The result of a call, or its refusal, with the names that the heading makes."""
    names = {**NAMES}
    exec(heading.replace("\n  ", "\n"), names)
    try:
        return str(eval(call, names))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def refused(heading: str, call: str) -> str:
    """The same, and whether a tensor was made on the GPU for it."""
    with (
        patch.object(operation, "empty", wraps=operation.empty) as empty,
        patch.object(operation, "upload", wraps=operation.upload) as upload,
    ):
        message = called(heading, call)
    if empty.called or upload.called:
        message += "\n(after tensors were made)"
    return message


def edits(text: str) -> list[tuple[str, str]]:
    """Pairs of old and new text, in backquotes: `old` -> `new`."""
    return re.findall("`([^`]*)` -> `([^`]*)`", text)


def handed_in(puzzle: str, text: str) -> str:
    """The official kernel of a puzzle with these edits, or the whole text where there are none."""
    return edited(puzzle, *edits(text)) if edits(text) else text


def verdicts(puzzle: str, text: str) -> str:
    return str(grade(PUZZLES[puzzle], handed_in(puzzle, text)))


def answers(heading: str, call: str) -> str:
    """The same, without the listing of a kernel."""
    return re.sub(r"^ *\d+(  .*)?$\n?", "", called(heading, call), flags=re.MULTILINE).rstrip()


# --- Explorers ------------------------------------------------------------------------------------------------


@cache
def lesson(name: str) -> dict[str, Callable[..., Explorer]]:
    """The explorers that a notebook shows, by the name of the function that makes each, to be set to any values."""
    notebook = Lesson.read(NOTEBOOKS / f"{name}.ipynb")
    explorers_by_title = {}
    for cell in showing(notebook):
        title = MADE.search(cell.source)[1]
        if title in explorers_by_title:
            before = sum(other.startswith(title) for other in explorers_by_title)
            title = f"{title}_{before + 1}"
        explorers_by_title[title] = partial(set_to, cache(partial(made_by, notebook, cell)))
    return explorers_by_title


def showing(notebook: Lesson) -> list[Cell]:
    """The cells that make an explorer."""
    return [cell for cell in notebook.code if MADE.search(cell.source)]


def made_by(notebook: Lesson, cell: Cell) -> tuple[Explorer, dict[str, int]]:
    """The explorer of a cell, and its values: what the cell needs is run, when it is first asked for."""
    *_, (_, value) = shown(notebook, [cell])
    return value, value.values | value.arrays


def set_to(made: Callable[[], tuple[Explorer, dict[str, int]]], **values: int) -> Explorer:
    return at(*made(), **values)


def shown(notebook: Lesson, cells: list[Cell]) -> Iterator[tuple[Cell, Explorer]]:
    """The explorers of some cells, and of those that they need, each with its cell: the cells are run."""
    names = {}
    for cell in needed(notebook, cells):
        *statements, last = ast.parse(cell.source).body
        if not isinstance(last, ast.Expr):
            statements, last = [*statements, last], None
        with chdir(NOTEBOOKS), redirect_stdout(StringIO()):
            exec(compile(ast.Module(statements, []), notebook.path.name, "exec"), names)
            value = last and eval(compile(ast.Expression(last.value), notebook.path.name, "eval"), names)
        if isinstance(value, Explorer):
            yield cell, value


def at(explorer: Explorer, first: dict[str, int], **values: int) -> Explorer:
    """An explorer with these values, and all others as at first."""
    explorer.set(**first | values)
    return explorer


def explorers(heading: str, state: str) -> str:
    """The sentence of an explorer, of a notebook or made by the heading, and the faults that a reader would see."""
    names = {**NAMES, "at": lambda explorer, **values: at(explorer, {}, **values)}
    if heading.isidentifier() or heading[0].isdigit():
        names |= lesson(heading)
    else:
        exec(heading.replace("\n  ", "\n"), names)
    explorer = eval(state, names)
    lines = [explorer.sentence]
    least = min(word.size for word, _ in words_of(explorer.picture))
    if least < SMALLEST:
        lines.append(f"(the smallest words: {least:.0f} pixels)")
    seen = (*faults(explorer.picture, 0), *pale(explorer.picture), *otherwise(explorer.picture))
    return "\n".join([*lines, *dict.fromkeys(seen)])


# --- Wrong kernels --------------------------------------------------------------------------------------------


def rejected(row: WrongKernel) -> tuple[set[str], str]:
    """The reasons for which the checker rejects a wrong kernel, and its messages with their lines.

    It is tried on one kind of numbers after the other until they have shown all reasons: others would show them again.
    """
    kinds, lines = set(), []

    def enough(kernel: Kernel, shape: Shape) -> Iterator[Given]:
        return takewhile(lambda _: not kinds >= {*row.reasons}, given(kernel, shape))

    with patch.object(checker, "given", enough):
        for reason in checker.reasons(row.wrong, row.shape):
            kinds.add(reason.kind)
            line = f"{reason.kind}, {reason.place}"
            if reason.kind != "wrong numbers":
                line += f": {reason.message}"
            lines.append(line)
    return kinds, "\n".join(dict.fromkeys(lines))


def wrong_kernels(version: str, mistake: str) -> str:
    return rejected(next(row for row in WRONG_KERNELS if str(row) == f"{version}: {mistake}"))[1]


# --- Mistakes in WGSL -----------------------------------------------------------------------------------------


def mistaken(place: str, text: str) -> str:
    """The kernel with a mistake, without the mark of its place."""
    text = text.replace("▸", "").replace("\\u00a0", "\u00a0").replace("\\u0000", "\0")
    if place == "several lines":
        return HEAD + text.replace("MAIN", MAIN)
    above, indent, below = PLACES[place]
    return above + indent + text + below


def compile_errors(place: str, text: str) -> str:
    try:
        passes.pipeline(Kernel(mistaken(place, text)), "main")
    except WgslError as error:
        return str(error)
    return "it compiles"


def command_lines(kernel: str, line: str) -> str:
    """The exit status of `wgsl run`, and what it prints; the kernel is a file of ours or a text."""
    with TemporaryDirectory() as folder, chdir(NOTEBOOKS.parent), redirect_stdout(StringIO()) as printed:
        path = kernel if kernel.endswith(".wgsl") else f"{folder}/KERNEL"
        if not Path(path).exists():
            Path(path).write_text(kernel.replace("\n  ", "\n"))
        np.save(f"{folder}/wide.npy", np.arange(8.0))
        np.save(f"{folder}/eight.npy", np.arange(8, dtype=np.float32))
        try:
            with redirect_stderr(printed):
                status = main(["run", *shlex.split(line.replace("KERNEL", path).replace("FOLDER", folder))])
        except SystemExit as ended:
            status = ended.code
        output = re.sub(r"^usage:.*\n( .*\n)*", "", printed.getvalue())
        if " -" in line:  # the counts are shown where there is nothing else to see
            output = re.sub(r"^\w+ +[\d,.]+  .*\n", "", output, flags=re.MULTILINE)
        return f"exit status {status}\n{output}".replace(f"{folder}/", "").rstrip()


def found(groups: str, body: str) -> Trace:
    """A simulated run of a body of a kernel, in this many workgroups."""
    options = {"max_steps": 300} if "300" in groups else {}
    return run(f"\n{body}", int(groups[0]), DECLARED, **options)


def findings(groups: str, body: str) -> str:
    """The simulator's report of it."""
    return str(found(groups, body))
