"""Stored notebooks keep the gate's rules, and both the gate and nbval turn red when something is wrong.

That the notebooks still compute what they show is nbval's part: `pytest --nbval notebooks`.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4
from nbval_runs import PROJECT, Outcome, nbval, red
from notebook_gate import IGNORE, NOTEBOOKS, RULES, Lesson, broken_rules, texts

STORED = sorted(NOTEBOOKS.glob("*.ipynb"))

# --- The gate --------------------------------------------------------------------------


def test_there_are_notebooks() -> None:
    assert STORED


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_notebook_keeps_the_rules(path: Path) -> None:
    broken = broken_rules(Lesson.read(path))
    assert not broken, "\n".join(broken)


def lesson() -> NotebookNode:
    """A notebook that keeps every rule; its last code cell is the third."""
    picture = {"image/png": "iVBO", "text/plain": "A square of 4 white pixels."}
    return v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# A lesson\n\nYou will need a GPU."),
            v4.new_code_cell(f"{IGNORE}\nfrom helpers import banner\n\nbanner()", execution_count=1),
            v4.new_markdown_cell("## Numbers\n\nAdd two of them, as in [this file](test_notebooks.py)."),
            v4.new_code_cell(
                "1 + 1", execution_count=2, outputs=[v4.new_output("execute_result", {"text/plain": "2"})]
            ),
            v4.new_markdown_cell("<details><summary>A hint</summary>\n\nLook at it.\n\n</details>"),
            v4.new_code_cell("draw(4)", execution_count=3, outputs=[v4.new_output("display_data", picture)]),
        ]
    )


def breaches(notebook: NotebookNode) -> set[str]:
    """Names of the rules that a notebook beside this file breaks."""
    return {line.split(": ")[1] for line in broken_rules(Lesson(Path(__file__), notebook))}


def test_gate_accepts_a_good_notebook() -> None:
    assert breaches(lesson()) == set()


def shows(text: str) -> Callable[[NotebookNode], None]:
    """The notebook's sum prints `text`."""
    return lambda nb: nb.cells[3].outputs.append(v4.new_output("stream", name="stdout", text=text))


def says(text: str) -> Callable[[NotebookNode], None]:
    """The notebook's hint has `text` below it."""
    return lambda nb: nb.cells[4].update(source=nb.cells[4].source + "\n\n" + text)


def code(text: str) -> Callable[[NotebookNode], None]:
    """The notebook's sum is written `text`."""
    return lambda nb: nb.cells[3].update(source=text)


BREACHES = [
    ("counts", lambda nb: nb.cells[3].update(execution_count=None)),
    ("counts", lambda nb: nb.cells[3].update(execution_count=7)),
    ("errors", lambda nb: nb.cells[3].outputs.append(v4.new_output("error", ename="KeyError", evalue="1"))),
    ("stderr", lambda nb: nb.cells[3].outputs.append(v4.new_output("stream", name="stderr", text="Warning"))),
    ("widget_state", lambda nb: nb.metadata.update(widgets={})),
    ("widget_state", lambda nb: nb.cells[5].outputs[0].data.update({"application/vnd.jupyter.widget-view+json": {}})),
    ("machine_facts", shows("<Kernel at 0x7f3a12bc>")),
    ("machine_facts", shows("loaded /opt/lessons/kernel.wgsl")),
    ("machine_facts", shows(r"loaded C:\lessons")),
    ("machine_facts", shows("llvmpipe (LLVM 15.0.6, 256 bits)")),
    ("machine_facts", shows("NVIDIA H200 via Vulkan")),
    ("machine_facts", shows("0.12 ms")),
    ("machine_facts", shows("7 µs")),
    ("machine_facts", shows("2.7 TFLOP/s")),
    ("machine_facts", shows("largest error 1.2e-07")),
    ("machine_facts", shows('<img alt="A digit." src="data:image/png;base64,iVBO">')),
    ("ignored_cells", code(f"1 + 1  {IGNORE}")),
    ("ignored_cells", code("# NBVAL_SKIP\n1 + 1")),
    ("ignored_cells", code("# PYTEST_VALIDATE_IGNORE_OUTPUT\n1 + 1")),
    ("ignored_cells", lambda nb: nb.cells[3].metadata.update(tags=["nbval-skip"])),
    ("ignored_cells", lambda nb: nb.cells.extend(v4.new_code_cell(IGNORE) for _ in range(3))),
    ("headings", says("# Another lesson")),
    ("headings", says("#### Too deep")),
    ("headings", lambda nb: nb.cells[0].update(source="No heading here.")),
    ("setup_cell", lambda nb: nb.cells[1].update(source="from helpers import banner\n\nbanner()")),
    ("setup_cell", lambda nb: nb.cells[1].update(source=f"{IGNORE}\nimport numpy")),
    ("setup_cell", code("import numpy")),
    ("lengths", code("a = 1\n" * 21)),
    ("lengths", lambda nb: [nb.cells[i].update(source="a = 1\n" * 5) for i in (3, 5)]),
    ("sentence_before_code", lambda nb: nb.cells.pop(2)),
    ("sentence_before_code", lambda nb: nb.cells[2].update(source="## Numbers")),
    ("plain_python", code("1 + 1;")),
    ("plain_python", code("%time 1 + 1")),
    ("redrawn_outputs", code("interact(draw, size=4)")),
    ("redrawn_outputs", code("from ipywidgets import interact_manual as again")),
    ("redrawn_outputs", code("widgets.Output()")),
    ("redrawn_outputs", code("clear_output(wait=True)")),
    ("redrawn_outputs", code("display(1, display_id=True)")),
    ("pictures_in_words", lambda nb: nb.cells[5].outputs[0].data.pop("text/plain")),
    (
        "pictures_in_words",
        lambda nb: nb.cells[5].outputs[0].data.update({"text/plain": "<Figure size 640x480 with 1 Axes>"}),
    ),
    ("pictures_in_words", shows("<img src='x.png'>")),
    ("pictures_in_words", says("![](test_notebooks.py)")),
    ("size", lambda nb: nb.cells[5].outputs[0].data.update({"image/png": "A" * 3_000_000})),
    ("characters", code("a\N{NO-BREAK SPACE}= 1")),
    ("characters", says("Zero\N{ZERO WIDTH SPACE}width")),
    ("characters", says("\N{ROCKET}")),
    ("links", says("[gone](gone.md#top)")),
    ("links", says('<img alt="A digit" src="gone.png">')),
    ("details", says("<details>")),
    ("details", says("<summary>")),
]


@pytest.mark.parametrize(("rule", "breach"), BREACHES, ids=[f"{rule}-{i}" for i, (rule, _) in enumerate(BREACHES)])
def test_gate_sees_a_breach(rule: str, breach: Callable[[NotebookNode], object]) -> None:
    notebook = lesson()
    breach(notebook)
    assert rule in breaches(notebook)


def test_every_rule_of_the_gate_is_tried() -> None:
    assert {rule for rule, _ in BREACHES} == {rule.__name__ for rule in RULES}


def test_a_kernel_in_a_cell_does_not_count_as_code() -> None:
    notebook = lesson()
    notebook.cells[3].source = 'kernel = """\n' + "@compute fn main() {}\n" * 30 + '"""\nrun(kernel)'
    assert breaches(notebook) == set()


# --- nbval ------------------------------------------------------------------------------

LESSON = NOTEBOOKS / "02_weight_gradient.ipynb"
KERNELS = {  # each kernel that is to be broken, and the lesson that must notice
    PROJECT / "kernels/conv2d_grad_weight/1_thread_per_weight.wgsl": LESSON,
    PROJECT / "kernels/conv2d_grad_weight/2_workgroup_per_weight.wgsl": LESSON,
    PROJECT / "kernels/gemm_bias_act_backward/1_four_passes.wgsl": NOTEBOOKS / "06_fused_gemm_backward.ipynb",
}
RIGHT, WRONG = "var sum = 0.0;", "var sum = 1.0;"  # a constant of them all


def copy(tree: Path, lesson: Path = LESSON) -> Path:
    """Copy what the lesson needs to `tree`; the path of its notebook there, named like `tree`."""
    for part in "helpers", "kernels":
        shutil.copytree(PROJECT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / "notebooks").mkdir()
    return Path(shutil.copy(lesson, tree / "notebooks" / f"{tree.name}.ipynb"))


def run_again(path: Path) -> None:
    """A reader who runs all cells twice in one kernel; the second time, one stored output is not as it was."""
    notebook, again = (nbformat.read(path, as_version=4) for _ in range(2))
    Lesson(path, again).code[changed_cell()].outputs[0].data["text/plain"] += "0"
    notebook.cells += [NotebookNode(cell, id=f"again-{i}") for i, cell in enumerate(again.cells)]
    nbformat.write(notebook, path)


def changed_cell() -> int:
    """The last code cell with a result that nbval compares, counted from 0."""
    code = Lesson.read(LESSON).code
    results = [i for i, cell in enumerate(code) if cell.outputs and "data" in cell.outputs[0] and not cell.ignored]
    return results[-1]


def change_kernel(path: Path, rung: Path) -> None:
    """Another constant in one kernel, and the lesson only as far as it speaks of that kernel."""
    kernel = path.parents[1] / rung.relative_to(PROJECT)
    kernel.write_text(kernel.read_text(encoding="utf-8").replace(RIGHT, WRONG), encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    named = [i for i, cell in enumerate(notebook.cells) if rung.stem in cell.source]
    del notebook.cells[max(named) + 1 :]
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Outcome]]:
    """Copies of the project with one thing changed, and what nbval says about the lesson in each of them."""
    folder = tmp_path_factory.mktemp("copies")
    run_again(copy(folder / "again"))
    for kernel, lesson in KERNELS.items():
        change_kernel(copy(folder / kernel.stem, lesson), kernel)
    return nbval(folder)


def test_only_a_changed_output_is_red(copies: dict[str, list[Outcome]]) -> None:
    cells = len(Lesson.read(LESSON).code)
    assert len(copies["again"]) == 2 * cells
    assert red(copies["again"]) == {cells + changed_cell()}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.stem)
def test_a_changed_kernel_is_red_where_it_computes(copies: dict[str, list[Outcome]], kernel: Path) -> None:
    code = Lesson.read(KERNELS[kernel]).code
    listings = {i for i, cell in enumerate(code) if any(RIGHT in text for o in cell.outputs for text in texts(o))}
    assert red(copies[kernel.stem]) - listings
