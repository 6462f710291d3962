"""The tables that tests read: a malformed row is refused with its file, its key and the rule."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support import paths, problem_lists, random_wgsl, right_variants, wgsl_cases, wgsl_programs


def listed(file: Path) -> object:
    return problem_lists.listed("choices", file)


def by_name(file: Path) -> object:
    return problem_lists.by_name("mutants", file)


def variants(file: Path) -> object:
    return list(right_variants.right_variants(file))


CHOICE = 'choices.rows = [{ operation = "sum", problem = %s, adapter = "software", version = "2_tree" }]'
CASE = "operators = [{ types = 'ff', result = 'f32', expression = 'a / b', %s }]"
MALFORMED = {
    "no TOML": (by_name, "mutants = ", "table.toml: Invalid value"),
    "a row without a column": (
        listed,
        'choices.rows = [{ operation = "sum", adapter = "software", version = "2_tree" }]',
        "table.toml, [choices], row 1: problem is missing: a table has operation, problem, adapter, version",
    ),
    "a kind of problem that does not exist": (
        listed,
        CHOICE % "{ Sum = [1] }",
        "table.toml, [choices], row 1: problem: Sum = [1]: a problem begins with its kind and a list",
    ),
    "a problem that is a number": (
        by_name,
        "mutants.sums = [3]",
        "table.toml, [mutants]: sums, number 1 = 3: a problem begins with its kind and a list",
    ),
    "a problem with a size of 0": (
        by_name,
        "mutants.sums = [{ SumShape = [5] }, { SumShape = [0] }]",
        "table.toml, [mutants]: sums, number 2: SumShape = [0]: ",
    ),
    "a problem with an unknown value": (
        by_name,
        "mutants.sums = [{ SumShape = [5], groups = 2 }]",
        "table.toml, [mutants]: sums, number 1: SumShape = [5]: ",
    ),
    "no list of problems": (
        by_name,
        "mutants.sums = 5",
        "table.toml, [mutants]: sums = 5: it must be a list of problems",
    ),
    "a program that is a number": (
        wgsl_programs.sections,
        "right = ['let a = 1;', 3]",
        "table.toml, right, number 2 is not a table: a table has module, and may have main",
    ),
    "a program with an unknown key": (
        wgsl_programs.sections,
        "right = [{ module = 'const a = 1;', body = 'let b = a;' }]",
        "table.toml, right, number 1: body is unknown: a table has module, and may have main",
    ),
    "a case without a result": (
        wgsl_cases.read,
        "operators = [{ types = 'ff', expression = 'a / b' }]",
        "table.toml, operators, row 1: result is missing: a table has types, result, expression",
    ),
    "a bound that does not exist": (
        wgsl_cases.read,
        CASE % "bound = 'tangent'",
        "table.toml, operators, row 1: bound = 'tangent': it must be acosh, ",
    ),
    "a bound of a name that is none": (
        wgsl_cases.read,
        CASE % "bound = { tan = 4 }",
        "table.toml, operators, row 1: bound = {'tan': 4}: it must be acosh, ",
    ),
    "a bound that is a number": (
        wgsl_cases.read,
        CASE % "bound = 4",
        "table.toml, operators, row 1: bound = 4: it must be text or a table",
    ),
    "a variant without a description": (
        variants,
        "[[map]]\nmain = '  output[0] = 1;'",
        "table.toml, [[map]], number 1: differs is missing: a table has differs, and may have takes, names, edits",
    ),
    "an edit without its new text": (
        variants,
        "[[map]]\ndiffers = 'other numbers'\nedits = [{ old = '3.0' }]",
        "table.toml, [[map]], number 1: edits: new is missing: a table has old, new",
    ),
    "steps without an end": (
        variants,
        "[[map]]\ndiffers = 'other numbers'\nsteps = [2]",
        "table.toml, [[map]], number 1: steps = [2]: it must be two numbers, the first step and the last one",
    ),
    "WGSL where Python is asked for": (
        variants,
        "[[combine_means]]\ndiffers = 'other names'\nmain = 'output[i] = 1;'",
        "table.toml, [[combine_means]], number 1: python is missing: a table has differs, python",
    ),
    "a step that is no list": (
        paths.read,
        "typing = [['keys', 'Enter'], 'restart']",
        "table.toml, 'typing', step 2 = 'restart': a step is a list that begins with a part or a method of Cell",
    ),
    "a step that nothing does": (
        paths.read,
        "typing = [['role=status', 'has_text', 'right']]",
        "table.toml, 'typing', step 1 = ['role=status', 'has_text', 'right']: behind a part stands a method of Cell, ",
    ),
    "a part with which nothing is done": (
        paths.read,
        "typing = [['role=status']]",
        "table.toml, 'typing', step 1 = ['role=status']: behind a part stands a method of Cell, ",
    ),
    "a rule without alternatives": (
        random_wgsl.grammar,
        "[unary]\ngiven = ['T']",
        "table.toml, [unary]: alternatives is missing: a table has alternatives, and may have given",
    ),
    "an alternative where something else is given": (
        random_wgsl.grammar,
        "[unary]\ngiven = ['T']\nalternatives = ['-a', { N = '2', text = '~a' }]",
        "table.toml, [unary], alternative 2: N is unknown: a table has text, and may have times, needs, T",
    ),
    "an alternative that counts half": (
        random_wgsl.grammar,
        "[unary]\nalternatives = [{ times = 0.5, text = '~a' }]",
        "table.toml, [unary], alternative 1: times = 0.5: it must be a whole number",
    ),
    "an alternative that needs what no writer has": (
        random_wgsl.grammar,
        "[unary]\nalternatives = [{ needs = 'luck', text = '~a' }]",
        "table.toml, [unary], alternative 1: needs = 'luck': it must be a property of Writer",
    ),
}


@pytest.mark.parametrize(("read", "text", "message"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_row_is_refused(read: Callable[[Path], object], text: str, message: str, tmp_path: Path):
    file = tmp_path / "table.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        read(file)
