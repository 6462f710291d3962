"""A small notebook that keeps every rule, written as a text, and others that are edits of it."""

import re
from pathlib import Path

from nbformat import v4
from support.course_rules import broken
from support.notebook_gate import IGNORED, NOTEBOOKS, Lesson

good = Path(__file__).with_name("good_lesson.md").read_text(encoding="utf-8").replace("HINT", "word " * 300)
CODE = re.compile(r"^```python\n(.*?)\n```\n(?:> (.*?)( \(a picture\))?\n)?", re.MULTILINE | re.DOTALL)


def lesson(text: str, stem: str = "02_weight_gradient") -> Lesson:
    """The notebook of a text: Markdown and code take turns; a line of stars parts two cells of Markdown."""
    notebook = v4.new_notebook()
    prose, *others = CODE.split(text)
    for source, shown, picture, after in [(None, None, None, prose), *zip(*[iter(others)] * 4, strict=True)]:
        data = {"text/plain": shown} | ({"image/png": "iVBO"} if picture else {})
        outputs = [v4.new_output("display_data", data)] if shown else []
        notebook.cells += [] if source is None else [v4.new_code_cell(source, outputs=outputs)]
        notebook.cells += [v4.new_markdown_cell(part.strip()) for part in after.split("\n***\n") if part.strip()]
    for count, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        cell.update(execution_count=count)
        cell.metadata.update({"tags": IGNORED} if "adapter_info()" in cell.source else {})
    return Lesson(NOTEBOOKS / f"{stem}.ipynb", notebook)


def before(place: str, added: str) -> str:
    """The good lesson with Markdown, or cells of code, in front of the cell with these words."""
    at = good.index("```python\n" + place) if "```python\n" + place in good else good.index(place)
    return f"{good[:at]}\n***\n{added}\n***\n{good[at:]}"


def code(source: str, shown: str = "") -> str:
    """A cell of code, and what it shows."""
    return f"\n```python\n{source}\n```\n" + f"> {shown}\n" * bool(shown)


def judged(text: str, *stem: str) -> str:
    """What breaks the rules, without the minutes, which are counted apart."""
    return (
        "\n".join(said for said in broken(lesson(text, *stem)) if not said.startswith("time")) or "it keeps every rule"
    )
