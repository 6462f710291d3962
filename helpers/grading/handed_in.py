"""What students handed in, read without running anything: files that `helpers.hand_in` made, and notebooks.

Of a notebook, only kernels are read: the text in ``helpers.grade("name", my_kernel)``, which is a literal or the name
of one. Where a name may have got another value in a way that is not followed here, it has none, so that nothing old is
graded.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

from helpers.grading.student_files import FORMAT, renewed

LARGEST_FILE = 20_000_000  # bytes; a lesson with its outputs takes half a million
LONGEST_CELL = 100_000  # characters; a kernel has at most 30,000
EXERCISE = re.compile(
    r"""\b(grade|write|predict|ask|match|mark|find_fault|plant_fault)\(\s*(?:\w+\s*=\s*)?["']([^"']+)["']"""
)
RUN_AS_USUAL = re.compile(r"\A(\s*%%(time|capture|prun)\b.*)+")  # the magics that run the cell as it is without them
HARMLESS = {"pinfo", "pinfo2", "matplotlib"}  # the other magics of a line may assign any name


class Work(NamedTuple):
    """What one student wrote: the text of each puzzle, None where it cannot be read, and the answers by their names.

    `student` is the name that a hand-in has.
    """

    kernels: Mapping[str, str | None]
    answers: Mapping[str, object]
    student: str = ""


class FileError(Exception):
    """A file that is neither a hand-in nor a notebook, and why."""


def work(path: Path) -> Work:
    """What a file holds: a notebook, or else a hand-in. Raises FileError where it is neither."""
    if is_notebook(path):
        return Work(kernels(code_cells(path)), {})
    match _content(path):
        case {"format": str(known), "kernels": dict(texts), "answers": dict(answers), **rest} if known == FORMAT:
            given = {puzzle: text if isinstance(text, str) else None for puzzle, text in texts.items()}
            return Work(given, renewed(answers), str(rest.get("student", "")))
    raise FileError("it is not a file that helpers.hand_in made")


def is_notebook(path: Path) -> bool:
    """Whether a file is a notebook by its name."""
    return path.suffix.lower() == ".ipynb"


def code_cells(path: Path) -> list[str]:
    """The texts of a notebook's code cells. Raises FileError where it is not one."""
    try:
        cells = _content(path)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError):
        raise FileError("it has no cells") from None


def _content(path: Path) -> object:
    """What a file of JSON holds."""
    try:
        if not path.is_file():
            raise FileError("it is not a file")
        if path.stat().st_size > LARGEST_FILE:
            cure = "clear its outputs" if is_notebook(path) else "a hand-in has less than 1 MB: ask for a new one"
            raise FileError(f"it is larger than {LARGEST_FILE / 1e6:g} MB; {cure}")
        return json.loads(path.read_bytes())  # bytes, as they may be UTF-8 or UTF-16
    except OSError as error:
        raise FileError(f"it cannot be opened: {error.strerror}") from None
    except UnicodeDecodeError as error:
        whose = "as Jupyter saves it" if is_notebook(path) else "as helpers.hand_in made it"
        raise FileError(f"it is not UTF-8 (byte {error.start}): ask for the file {whose}") from None
    except (ValueError, RecursionError):
        raise FileError("it is not JSON") from None


def exercises(cells: Iterable[str]) -> list[tuple[str, str]]:
    """Which exercises a lesson has: the function that is called for each, and its name."""
    return [match for cell in cells for match in EXERCISE.findall(cell)]


# --- Kernels in the cells of a notebook ---------------------------------------------------------------------


def kernels(cells: Iterable[str]) -> dict[str, str | None]:
    """The texts that a notebook's code cells grade, the last one for each puzzle; None for one that cannot be read."""
    texts: dict[str, str] = {}
    graded: dict[str, str | None] = {}
    for cell in cells:
        tree = _parsed(cell)
        if tree is None:
            texts.clear()
            graded |= {name: None for function, name in EXERCISE.findall(cell) if function == "grade"}
            continue
        for statement in tree.body:
            nodes = list(ast.walk(statement))
            if any(map(_assigns_unseen, nodes)):
                texts.clear()
            for name in set().union(*map(_binds, nodes)):
                texts.pop(name, None)
            later = any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) for node in nodes)
            known = {} if later else texts
            calls = sorted(filter(_grades, nodes), key=lambda call: (call.lineno, call.col_offset))
            graded |= {name: text for name, text in (_graded(call, known) for call in calls) if name}
            match statement:
                case ast.Assign(targets=targets) if all(isinstance(target, ast.Name) for target in targets):
                    if (text := _text(statement.value, texts)) is not None:
                        texts |= {target.id: text for target in targets}
    return graded


def _parsed(cell: str) -> ast.Module | None:
    """The syntax tree of a cell, with calls in place of IPython's own lines; None where it is not Python."""
    text = RUN_AS_USUAL.sub("", cell)
    if text.lstrip().startswith("%%") or len(text) > LONGEST_CELL:
        return None
    for translated in (str, TransformerManager().transform_cell):
        with warnings.catch_warnings(action="ignore"), suppress(Exception):
            return ast.parse(translated(text))
    return None


def _assigns_unseen(node: ast.AST) -> bool:
    """Whether any name may be assigned here."""
    match node:
        case ast.alias(name="*") | ast.Call(func=ast.Name(id="exec")):
            return True
        case ast.Call(func=ast.Attribute(attr="run_line_magic"), args=[ast.Constant(value=magic), *_]):
            return magic not in HARMLESS
    return False


def _binds(node: ast.AST) -> set[str]:
    """The names that a node binds: what it stores in, imports, defines, or takes as a parameter or from a pattern."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    words = [word for field, word in ast.iter_fields(node) if field in ("name", "asname", "arg", "rest")]
    return {word.partition(".")[0] for word in words if isinstance(word, str) and not isinstance(node, ast.keyword)}


def _grades(node: ast.AST) -> bool:
    """Whether a node is a call of `grade`."""
    called = node.func if isinstance(node, ast.Call) else None
    return getattr(called, "attr", getattr(called, "id", None)) == "grade"


def _graded(call: ast.Call, texts: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The puzzle and the text of a call of `grade`, each None where it cannot be read; a call without one has none."""
    given = dict(zip(("puzzle", "source"), call.args, strict=False)) | {word.arg: word.value for word in call.keywords}
    return _text(given.get("puzzle"), texts) if "source" in given else None, _text(given.get("source"), texts)


def _text(node: ast.expr | None, texts: Mapping[str, str]) -> str | None:
    """The text that a literal or a name stands for."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return texts.get(name)
    return None
