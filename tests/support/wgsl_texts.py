"""Texts as the simulator's parser reads them, and what the adapter's compiler says of the same text."""

import re

import pytest
import wgpu

from helpers.gpu import compiled
from wgsl import Kernel, WgslError
from wgsl.diagnostics import Lines, Refused, Unsupported
from wgsl.suggestions import wgsl_error
from wgsl.syntax import tree
from wgsl.syntax.parser import parse
from wgsl.types import program
from wgsl.types.declarations import Declarations, check


def expression(text: str) -> tree.Expression:
    """The tree of an expression."""
    return parse(f"const x = {text};").declarations[0].value


def statements(text: str) -> tuple[tree.Statement, ...]:
    """The trees of statements."""
    return parse(f"fn f() {{\n{text}\n}}").declarations[0].body.body


def refused(source: str) -> Refused | Unsupported | None:
    """The error of a text that is refused; None where it is not."""
    try:
        parse(source)
    except (Refused, Unsupported) as error:
        return error
    return None


def compiler_says(source: str) -> str | None:
    """The compiler's error about a text, "" where it is no error of parsing; None where the text compiles."""
    try:
        compiled.module(source)
    except wgpu.GPUError as error:
        return "".join(re.findall("parsing error: (.*)", str(error)))
    return None


def adapter_error(source: str) -> WgslError:
    """The adapter's error about a text."""
    with pytest.raises(WgslError) as caught:
        compiled.pipeline(Kernel(source), "main")
    return caught.value


def assert_same_error(source: str) -> None:
    """Assert that the adapter refuses a text at the same place."""
    error = refused(source)
    assert Lines(source).place(error.at) == compilers_place(source)
    ours = wgsl_error(Kernel(source), error)
    assert type(ours) is WgslError
    assert f"line {ours.line}, column {ours.column}:" in str(ours)


def compilers_place(source: str) -> tuple[int, int]:
    """The line and column that the adapter's compiler gives."""
    place = re.search(r"wgsl:(\d+):(\d+)", str(adapter_error(source).__context__))
    return int(place[1]), int(place[2])


def checked(text: str, entry_point: str = "main", **constants: float) -> program.Program:
    """The program of an entry point, whose overrides have these values."""
    return check(Declarations(parse(text), constants), entry_point)
