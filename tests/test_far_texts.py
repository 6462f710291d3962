"""A wrong kernel that is built in another way than ours: the search finds its line, within the work it may take."""

from pathlib import Path

import pytest
from support.sample import sample

from helpers.data import tables
from helpers.grading import repair
from helpers.grading.grader import grade
from helpers.grading.mirror import Mirror
from helpers.grading.sites import sites
from helpers.grading.test_run import simulated
from helpers.grading.verdict import RIGHT
from helpers.lessons.exercises import PUZZLES
from wgsl import Kernel
from wgsl.simulator.run import compiled

TABLE = tables.parse(Path(__file__).parent / "support" / "far_from_ours.toml")
PUZZLE, TEXT = PUZZLES[TABLE["puzzle"]], TABLE["text"]


def test_the_text_is_right():
    assert {verdict.outcome for verdict in grade(PUZZLE, TEXT)} == {RIGHT}


@pytest.mark.parametrize("row", sample(TABLE["mistakes"], 1), ids=lambda row: row["new"])
def test_the_line_of_a_mistake_is_found(row):
    kernel = Kernel(TEXT).edit(row["old"], row["new"])
    search = repair.KernelSearch(PUZZLE, kernel, [simulated(kernel, case) for case in PUZZLE.cases()])
    (change,) = search.found().changes
    assert kernel.source.split("\n")[change.line - 1].strip() == row["new"]


def test_names_of_rows_and_of_columns_are_paired():
    program = compiled(Kernel(TEXT), "main")
    names = {str(one.name): str(other.name) for one, other in Mirror(sites(program.entry), program).names.items()}
    pairs = {"row": "column", "oh": "ow", "last_oh": "last_ow", "top": "left", "down": "right"}
    assert pairs.items() <= names.items()
    assert {other: one for one, other in pairs.items()}.items() <= names.items()
