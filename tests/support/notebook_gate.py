"""The rules of a stored notebook: what nbval cannot see, read from the file without running it.

Each rule is a function over a `Lesson` that yields what breaks it; its docstring is the rule as a writer reads it.
"""

import ast
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from statistics import median
from urllib.parse import unquote

import nbformat
import numpy as np
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

IGNORED = ["nbval-ignore-output"]  # the tags of a cell whose output nbval does not compare; a reader sees no tag
MARKER = re.compile("NBVAL_|PYTEST_VALIDATE_")  # nbval has more of them, and an older name
MOST_IGNORED = 3  # the setup cell and two timings
MEDIAN_LINES, MOST_LINES = 4, 20
MOST_BYTES = 3_000_000
MOST_ITERATIONS = 2_000  # of a simulated run in a lesson
MOST_WORDS = 1_500  # ten minutes at 150 words a minute, the speed at which people read technical prose
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"  # names a model of a kernel that is gone

# What another machine would write differently. A number as small as 1.2e-07 is what rounding left over.
MACHINE = re.compile(
    r"0x[0-9a-f]{4,}\b"
    r"|(?<![\w.:</])/[\w.-]+/[\w.-]|\b[A-Z]:\\"  # absolute paths
    r"|\b(?:llvmpipe|lavapipe|swiftshader|mesa|nvidia|geforce|radeon|amd|intel|apple m\d)\b"
    r"|\d ?(?:ns|[uµμ]s|ms|seconds?)\b|[GT]FLOP"
    r"|\de-\d"  # 1.2e-07
    r"|data:image/",
    re.IGNORECASE,
)
EMOJI = re.compile("[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"""\]\(<?([^)\s>]+)|(?:src|href)=["']([^"']+)""")
PICTURE_WITHOUT_ALT = re.compile(r"!\[\s*\]\(|<img(?![^>]*\balt=[\"'][^\"'])", re.IGNORECASE)
LINK_TEXT = re.compile(r"(?<!!)\[([^\[\]]*)\]\([^)]|<a\b[^>]*>(.*?)</a>")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
TABLE_HEADER = re.compile(r"^(\|.*\|) *\n\|(?: *:?-+:? *\|)+ *$", re.MULTILINE)
HTML_TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
NOWHERE = {"", "here", "click here", "link", "this link", "this", "more", "read more", "this page"}
DETAILS = re.compile(r"<details>.*?</details>", re.DOTALL)
ASKS = re.compile(r"helpers\.(?:ask|match|grade|write|mark|find_fault|plant_fault)\(")
CARD = "00_meet_the_gpu.ipynb#WGSL-on-one-screen"
WITHOUT_ADAPTER = "appendix_a_simulator.ipynb", "start_here.ipynb"  # lessons that run no kernel on a GPU
FRAMED = re.compile(
    r"explorers\.(weight_gradient|own_filter|network|scatter_and_gather|race|covered|tiles|launch|dispatch|ones"
    r"|shared_batch|spread_filter|one_result|side_by_side|im2col)\("
)  # names the adapter
SENTENCE = re.compile(r"^[^<\s]\S*(\s+\S+){2,}[.!?]\s*$")


@dataclass(frozen=True)
class Lesson:
    """A notebook and where it is."""

    path: Path
    notebook: NotebookNode

    @classmethod
    def read(cls, path: Path) -> "Lesson":
        return cls(path, nbformat.read(path, as_version=4))

    @cached_property
    def cells(self) -> list["Cell"]:
        return [Cell(number, node) for number, node in enumerate(self.notebook.cells, 1)]

    @property
    def code(self) -> list["Cell"]:
        return [cell for cell in self.cells if cell.is_code]

    @property
    def prose(self) -> list["Cell"]:
        return [cell for cell in self.cells if not cell.is_code]

    @property
    def outputs(self) -> list[tuple["Cell", NotebookNode]]:
        """All outputs, each with its cell."""
        pairs = []
        for cell in self.cells:
            pairs += [(cell, output) for output in cell.outputs]
        return pairs


@dataclass
class Cell:
    """One cell with its place in the notebook, counted from 1."""

    number: int
    node: NotebookNode

    def __post_init__(self) -> None:
        self.source: str = self.node.source
        self.is_code = self.node.cell_type == "code"
        self.outputs: list[NotebookNode] = self.node.outputs if self.is_code else []
        self.tags: list[str] = [*self.node.metadata.get("tags", [])]
        self.ignored = self.tags == IGNORED
        self.words = CODE.sub("", self.source)  # Markdown without the code in it

    def __str__(self) -> str:
        return f"cell {self.number} ({self.source.strip().splitlines()[0][:50]!r})"

    @property
    def texts(self) -> list[str]:
        """The parts of its outputs that nbval compares as text."""
        return [*chain.from_iterable(map(texts, self.outputs))]

    @cached_property
    def syntax(self) -> list[ast.AST]:
        """The nodes of the code; none if it is not Python."""
        try:
            return list(ast.walk(ast.parse(self.source)))
        except SyntaxError:
            return []

    @property
    def imports(self) -> set[str]:
        """The names that it imports."""
        return {*chain.from_iterable(map(imported_names, self.syntax))}

    @property
    def length(self) -> int:
        """Lines of code: neither blank ones, nor the text of a kernel."""
        kernels = set()  # the numbers of their lines
        for node in self.syntax:
            if isinstance(node, ast.Constant) and "@compute" in str(node.value):
                kernels |= {*range(node.lineno, node.end_lineno + 1)}
        lines = enumerate(self.source.splitlines(), 1)
        return sum(bool(line.strip()) and i not in kernels for i, line in lines)


def imported_names(node: ast.AST) -> list[str]:
    """The names that a node of a syntax tree imports; none where it is no import."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def texts(output: NotebookNode) -> list[str]:
    """The parts of an output that nbval compares as text."""
    if output.output_type == "stream":
        return [output.text]
    return [text for kind, text in output.get("data", {}).items() if kind.startswith(("text/", "image/svg"))]


def needed(lesson: Lesson, wanted: list[Cell]) -> list[Cell]:
    """These code cells, and those before them that make what they use, or the imports of those that only import it.

    Numbers drawn from `random` depend on those drawn before, so every cell that draws is among them.
    """
    kept, used = [], set()
    for cell in reversed(lesson.code):
        names = [node for node in cell.syntax if isinstance(node, ast.Name)]
        made = {node.id for node in names if node.id == "random" or isinstance(node.ctx, ast.Store)}
        made |= {node.name for node in cell.syntax if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        imports = [node for node in cell.syntax if isinstance(node, ast.Import | ast.ImportFrom)]
        if cell in wanted or made & used:
            kept.insert(0, cell)
            used |= {node.id for node in names}
        elif cell.imports & used:
            source = "\n".join(map(ast.unparse, imports))
            kept.insert(0, Cell(cell.number, NotebookNode(cell.node | {"source": source})))
    return kept


# --- The rules ------------------------------------------------------------------------

Rule = Callable[[Lesson], Iterator[str]]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """List a function among the rules."""
    RULES.append(function)
    return function


def broken_rules(lesson: Lesson) -> list[str]:
    """One line for each breach: notebook, rule, what breaks it, and the rule in words."""
    breaches = []
    for rule in RULES:
        breaches += [f"{lesson.path.name}: {rule.__name__}: {breach}. {rule.__doc__}" for breach in rule(lesson)]
    return breaches


@rule
def counts(lesson):
    """The stored counts are 1, 2, ... n: one run from top to bottom (nbval compares nothing in a cell without)."""
    stored = [cell.node.get("execution_count") for cell in lesson.code]
    if stored != list(range(1, len(stored) + 1)):
        yield f"execution counts are {stored}"


@rule
def errors(lesson):
    """No cell fails or writes to stderr; to show an error, catch it and print its message."""
    for cell, output in lesson.outputs:
        if output.output_type == "error" or output.get("name") == "stderr":
            yield f"{cell} stores {output.get('evalue') or output.text!r}"


@rule
def widget_state(lesson):
    """Nothing stored names a widget's model, which lives only as long as its kernel."""
    if "widgets" in lesson.notebook.metadata:
        yield "metadata.widgets is there"
    views = [cell for cell, output in lesson.outputs if WIDGET_VIEW in output.get("data", {})]
    yield from (f"{cell} stores a widget view" for cell in views)


@rule
def machine_facts(lesson):
    """A compared output is the same on every machine: no address, absolute path, adapter, time or rounding error."""
    for cell, output in lesson.outputs:
        for fact in MACHINE.finditer("" if cell.ignored else "\n".join(texts(output))):
            yield f"{cell} shows {fact[0]!r}"


@rule
def ignored_cells(lesson):
    """Only setup and timings are ignored: at most 3 cells, by the tag "nbval-ignore-output"; no other tags."""
    ignored = [cell for cell in lesson.code if cell.ignored]
    if len(ignored) > MOST_IGNORED:
        yield f"{len(ignored)} cells are ignored: {', '.join(map(str, ignored))}"
    for cell in lesson.code:
        lines = [line for line in cell.source.splitlines() if MARKER.search(line)]
        yield from (f"{cell} has {line!r}" for line in lines)
        if cell.tags not in ([], IGNORED):
            yield f"{cell} has the tags {cell.tags}"


@rule
def headings(lesson):
    """The notebook opens with its one H1, and no heading skips a level."""
    levels = []
    for cell in lesson.prose:
        levels += map(len, re.findall(r"^(#{1,6}) ", cell.words, re.MULTILINE))
    if levels[:1] != [1] or levels.count(1) != 1 or not lesson.cells[0].source.startswith("# "):
        yield f"heading levels are {levels}"
    yield from (f"H{now} follows H{before}" for before, now in pairwise(levels) if now > before + 1)


@rule
def setup_cell(lesson):
    """The first code cell imports, and a later one only what it uses first. Where kernels run, the adapter is shown.

    A picture names it in its frame; else the first cell prints it, and nbval ignores it.
    """
    for i, cell in enumerate(lesson.code):
        if i and cell.imports - {node.id for node in cell.syntax if isinstance(node, ast.Name)}:
            yield f"{cell} imports what it does not use"
        shows = (cell.ignored and "adapter_info()" in cell.source) or FRAMED.search(cell.source)
        if i == 0 and not (cell.imports and (shows or lesson.path.name in WITHOUT_ADAPTER)):
            yield f"{cell} is not a setup cell"


@rule
def lengths(lesson):
    """Code cells are short: at most 20 lines, half of them at most 4 (the text of a kernel does not count)."""
    yield from (f"{cell} has {cell.length} lines" for cell in lesson.code if cell.length > MOST_LINES)
    middle = median(cell.length for cell in lesson.code) if lesson.code else 0
    if middle > MEDIAN_LINES:
        yield f"the median is {middle} lines"


@rule
def sentence_before_code(lesson):
    """A Markdown cell with a sentence, not only a heading, stands before each code cell."""
    introduced = False
    for cell in lesson.cells:
        if cell.is_code and not introduced:
            yield f"nothing introduces {cell}"
        introduced = not cell.is_code and re.search(r"^(?!\s*#).*\w", cell.words, re.MULTILINE)


@rule
def plain_python(lesson):
    """Code is plain Python: no magic, no shell line, no trailing semicolon (nbval fails on it)."""
    for cell in lesson.code:
        if not cell.syntax or cell.source.rstrip().endswith(";"):
            yield str(cell)


@rule
def simulations_end(lesson):
    """A simulated run says after how many iterations it stops, so that a reader's endless loop is answered soon."""
    for cell in lesson.code:
        for call in cell.syntax:
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "simulate":
                most = {word.arg: getattr(word.value, "value", np.inf) for word in call.keywords}
                if not most.get("max_steps", np.inf) <= MOST_ITERATIONS:
                    yield f"{cell} gives no max_steps of at most {MOST_ITERATIONS:,}"


@rule
def pictures_in_words(lesson):
    """Each picture says its content: a sentence beside it in the output (nbval compares it), alt text in Markdown."""
    for cell in lesson.code:
        pictures = sum("image/" in str(output.get("data", {}).keys()) for output in cell.outputs)
        sentences = [text for text in cell.texts if SENTENCE.match(text)]
        if pictures > len(sentences):
            yield f"{cell} shows {pictures} pictures and {len(sentences)} sentences"
    shown = []
    for cell in lesson.cells:
        shown += [(cell, text) for text in cell.texts]
    shown += [(cell, cell.words) for cell in lesson.prose]
    yield from (f"{cell} has a picture without alt text" for cell, text in shown if PICTURE_WITHOUT_ALT.search(text))


@rule
def size(lesson):
    """The file stays below 3 MB."""
    if len(nbformat.writes(lesson.notebook).encode()) >= MOST_BYTES:
        yield f"it has more than {MOST_BYTES:,} bytes"


@rule
def characters(lesson):
    """No invisible characters (controls, zero-width, no-break spaces), and no emoji in the prose."""
    for cell in lesson.cells:
        hidden = {c for c in cell.source if unicodedata.category(c)[0] in "CZ" and c not in " \n"}
        emoji = set(EMOJI.findall(cell.source)) if not cell.is_code else set()
        yield from (f"{cell} has {c!a}" for c in sorted(hidden | emoji))


@rule
def links(lesson):
    """Every relative link leads to a file."""
    for cell in lesson.prose:
        for target in (a or b for a, b in LINK.findall(cell.words)):
            file = unquote(target.split("#")[0])
            if not re.match(r"\w+:", target) and not (lesson.path.parent / file).exists():
                yield f"{cell} links to {target}"


@rule
def spoken(lesson):
    """A screen reader can announce it: a link says where it leads, and each column of a table has a name."""
    for cell in lesson.prose:
        text = FENCE.sub("", cell.source)
        shown = [a or b for a, b in LINK_TEXT.findall(text)]
        yield from (f"{cell} has a link {words!r}" for words in shown if words.strip().lower() in NOWHERE)
        for header in TABLE_HEADER.findall(text):
            unnamed = [name for name in re.split(r"(?<!\\)\|", header.strip().strip("|"))[1:] if not name.strip()]
            yield from (f"{cell} has a column without a name" for _ in unnamed)
        yield from (f"{cell} has a table without <th>" for table in HTML_TABLE.findall(text) if "<th" not in table)


FOR_CUDA = NOTEBOOKS / "if_you_know_cuda.ipynb"  # a page beside the lessons, with pictures and exercises of theirs


def lessons_of(folder: Path) -> list[Path]:
    """The lessons in their order: those with a number, then the appendices."""
    return sorted(folder.glob("[0-9][0-9]_*.ipynb")) + sorted(folder.glob("appendix_[a-z]_*.ipynb"))


def navigation_links(path: Path) -> list[str]:
    """The targets of a lesson's line of links: the lesson before, the glossary, the WGSL card, the next lesson."""
    lessons = lessons_of(path.parent)
    if path not in lessons:
        return []
    at = lessons.index(path)
    before, after = lessons[max(0, at - 1) : at], lessons[at + 1 : at + 2]
    return [*(lesson.name for lesson in before), "glossary.ipynb", CARD, *(lesson.name for lesson in after)]


@rule
def navigation(lesson):
    """A lesson's first and last cell end with the same line of links: see `navigation_links`."""
    wanted = navigation_links(lesson.path)
    for cell in (lesson.cells[0], lesson.cells[-1]) if wanted else ():
        leads_to = [a or b for a, b in LINK.findall(cell.source.rstrip().split("\n")[-1])]
        if leads_to != wanted:
            yield f"{cell} ends with links to {leads_to} instead of {wanted}"


@rule
def questions(lesson):
    """The reader is asked at least every ten minutes: at most 1,500 words of prose without a checked answer."""
    read = 0
    for cell in lesson.cells if navigation_links(lesson.path) else ():
        read += 0 if cell.is_code else len(DETAILS.sub("", cell.words).split())
        if cell.is_code and ASKS.search(cell.source):
            read = 0
        if read > MOST_WORDS:
            yield f"{cell} is {read} words behind the question before it"
            read = 0
