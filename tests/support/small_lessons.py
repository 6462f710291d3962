"""A small notebook that keeps every rule, written as a text, and others that are edits of it."""

import re
from pathlib import Path

from nbformat import NotebookNode, v4
from support.course_rules import broken
from support.notebook_gate import IGNORED, NOTEBOOKS, Lesson

good = Path(__file__).with_name("good_lesson.md").read_text(encoding="utf-8").replace("HINT", "word " * 300)
CODE = re.compile(r"^```python\n(.*?)\n```\n(?:> (.*?)( \(a picture\))?\n)?", re.MULTILINE | re.DOTALL)


def lesson(text: str, stem: str = "02_weight_gradient") -> Lesson:
    """The notebook of a text: Markdown and code take turns; a line of stars parts two cells of Markdown."""
    notebook = v4.new_notebook()
    prose, *others = CODE.split(text)
    notebook.cells += markdown(prose)
    for count, (source, shown, picture, after) in enumerate(zip(*[iter(others)] * 4, strict=True), 1):
        data = {"text/plain": shown} | ({"image/png": "iVBO"} if picture else {})
        outputs = [v4.new_output("display_data", data)] if shown else []
        cell = v4.new_code_cell(source, outputs=outputs, execution_count=count)
        if "adapter_info()" in source:
            cell.metadata.update(tags=IGNORED)
        notebook.cells += [cell, *markdown(after)]
    return Lesson(NOTEBOOKS / f"{stem}.ipynb", notebook)


def markdown(text: str) -> list[NotebookNode]:
    """The cells of Markdown of a text, which lines of stars part."""
    return [v4.new_markdown_cell(part.strip()) for part in text.split("\n***\n") if part.strip()]


def before(place: str, added: str) -> str:
    """The good lesson with Markdown, or cells of code, in front of the cell with these words."""
    at = good.index("```python\n" + place) if "```python\n" + place in good else good.index(place)
    return f"{good[:at]}\n***\n{added}\n***\n{good[at:]}"


def code(source: str, shown: str = "") -> str:
    """A cell of code, and what it shows."""
    cell = f"\n```python\n{source}\n```\n"
    if shown:
        cell += f"> {shown}\n"
    return cell


def judged(text: str, *stem: str) -> str:
    """The breaches of the rules, without the minutes, which are counted apart."""
    breaches = [breach for breach in broken(lesson(text, *stem)) if not breach.startswith("time")]
    return "\n".join(breaches) or "it keeps every rule"
