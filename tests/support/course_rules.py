"""Counts and rules of a lesson in its new form: `python tests/support/course_rules.py` prints those of all lessons.

With the beginnings of file names behind it, such as `02 07`, it prints what these lessons break, their pictures too.

Only an eye can judge:
- whether the first screen (1280 x 720, nothing scrolled) holds picture, steps and player;
- whether colors and names are the same in all pictures, and what is drawn is worth pointing at;
- answers that are words, or whole numbers nearer to 0 than 3, which stand everywhere, and what only a picture shows;
- the picture of a run that is rewound, which would have to be trained first;
- whether a sentence helps a newcomer, and whether only the next lesson answers the recap's question.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from unittest.mock import patch

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 2)]

from support import speakers
from support.notebook_gate import DETAILS, FOR_CUDA, NOTEBOOKS, Cell, Lesson, lessons_of

from helpers.lessons.exercises import ALL_PUZZLES, FAULTS, MARKINGS, QUESTIONS
from helpers.lessons.shared.notebook_cells import EXERCISE
from helpers.pictures.parts import Grid

IN_NEW_FORM = (
    "start_here",
    "if_you_know_cuda",
    "00_meet_the_gpu",
    "01_convolution_as_correlation",
    "02_weight_gradient",
    "03_input_gradient",
    "04_bias_gradient",
    "05_trusting_a_gradient",
    "06_fused_gemm_backward",
    "07_train_lenet",
    "08_the_speed_ladder",
    "09_many_gpus",
    "appendix_a_simulator",
    "appendix_b_dilation_and_groups",
    "appendix_c_launcher",
    "appendix_d_past_the_library",
    "appendix_e_order_of_a_sum",
)

MOST_MINUTES, MOST_WORDS, WORDS_BEFORE_A_LINE, MOST_BETWEEN, LEAST_KERNELS = 60, 2_500, 700, 280, 3
CELL, WITH_EQUATION, RECAP = 125, 180, 260  # the most words of a text cell
READ, QUESTION, PICTURE, SMALL, WHOLE = 1 / 180, 1.5, 3, 5, 12  # minutes of a word, a question, ...
SMALL_LINES = 6  # the most lines to write of a small kernel
NEAR, LEAST_TELLING = 10, 3  # cells between a question and its answer; the least whole number that is looked for
STATED = re.compile(r"\*\*How long\.\*\* About (\d+) minutes")
NUMBER = re.compile(r"(?<![\w.])-?(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)(?:\.\d+)?(?!\w|[.,]\d)")
COUNTED = dict(enumerate(["three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 3))
NO_PROSE = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)", re.DOTALL)  # equations, and where links lead
ELSEWHERE = {  # words near a question in which the number of its answer means another thing
    "output_by_hand": ("5 columns", "5 × 5", "the filter has 5"),
    "products_of_an_output": (" 54        }",),
    "output_size": ("6 of them", "6 input channels"),
    "outputs_of_a_corner": ("four digits", "4 digits", "binding 4"),
    "padding_tests_of_a_thread": ("1, 3, 3)       9 of 9",),
    "windows_with_stride": ("[[3, 4]", "4 × 6 pixels"),
    "transactions": ("all 24 outputs",),
    "three_dot_products": ("24., 25.]",),
    "ones_lost_in_tree": ("128, 64, ..., 1", "`partial[128]`", "thread 128"),
}


# --- What is read of a notebook ---------------------------------------------------------------------------------


def words(cell: Cell) -> int:
    """The words of a text cell, without its hints."""
    return 0 if cell.is_code else len(DETAILS.sub("", cell.source).split())


def tasks(lesson: Lesson) -> list[tuple[Cell, str]]:
    """The names of the questions and kernels that there are to do, each with its cell."""
    named = []
    for cell in lesson.code:
        named += [(cell, name) for _, name in EXERCISE.findall(cell.source)]
    return named


def kernels(lesson: Lesson) -> list[tuple[Cell, str]]:
    """Kernels, or lines of a test, that the reader writes, each where it comes first."""
    first = {name: cell for cell, name in reversed(tasks(lesson)) if name in ALL_PUZZLES}
    return sorted(((cell, name) for name, cell in first.items()), key=lambda pair: pair[0].number)


def lines_to_write(name: str) -> int:
    """The number of lines of a kernel that the reader writes."""
    puzzle = ALL_PUZZLES[name]
    return sum(line.endswith(puzzle.mark) for line in puzzle.official.source.split("\n"))


def is_blank_page(lesson: Lesson, cell: Cell) -> bool:
    """Return True for a cell below a heading of a blank page, which is the next day's."""
    text = "\n".join(above.source for above in lesson.cells[: cell.number] if not above.is_code)
    return "blank page" in text.rpartition("\n#")[2].partition("\n")[0].lower()


def shows_a_picture(cell: Cell) -> bool:
    """Return True for a cell with an image among its outputs."""
    kinds = chain.from_iterable(output.get("data", {}) for output in cell.outputs)
    return any("image/" in kind for kind in kinds)


def minutes(lesson: Lesson) -> int:
    """The time of a lesson without its blank page, by the one formula; a corrected fault is a small kernel."""
    doing = {cell.number for cell, _ in tasks(lesson)}
    pictures = [cell for cell in lesson.code if cell.number not in doing and shows_a_picture(cell)]
    written = [lines_to_write(name) for cell, name in kernels(lesson) if not is_blank_page(lesson, cell)]
    names = {name for _, name in tasks(lesson)}
    asked = names - {*ALL_PUZZLES} - {*FAULTS}
    corrected = names & {*FAULTS}
    time = sum(map(words, lesson.cells)) * READ + len(asked) * QUESTION + len(pictures) * PICTURE
    return round(time + len(corrected) * SMALL + sum(SMALL if lines <= SMALL_LINES else WHOLE for lines in written))


def before_first_line(lesson: Lesson) -> int | None:
    """The words that are read before the first line of a kernel is written; None where none is."""
    places = [cell.number for cell, _ in kernels(lesson)]
    return sum(words(cell) for cell in lesson.cells[: places[0]]) if places else None


def ways(lesson: Lesson) -> list[tuple[int, Cell]]:
    """The words from one thing to do to the next, to the first one and to the end, with the cell where a way ends."""
    doing = {cell.number for cell, _ in tasks(lesson)}
    ended = []
    read = 0
    for cell in lesson.cells:
        read += words(cell)
        if cell.number in doing:
            ended.append((read, cell))
            read = 0
    return [*ended, (read, lesson.cells[-1])]


def sentences(cell: Cell) -> list[str]:
    """The lines that can be read without opening a fold: prose without code and equations, and stored text."""
    if cell.is_code:
        shown = (output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        return [*chain.from_iterable(map(str.splitlines, shown))]
    return NO_PROSE.sub(" ", DETAILS.sub("", cell.words)).splitlines()


# --- The rules ----------------------------------------------------------------------------------------------------

Rule = Callable[[Lesson], Iterator[str]]


def time(lesson: Lesson) -> Iterator[str]:
    """At most 60 minutes by the one formula, and the first cell says how many."""
    counted = minutes(lesson)
    stated = STATED.search(lesson.cells[0].source)
    if counted > MOST_MINUTES:
        yield f"{counted} minutes, at most {MOST_MINUTES}"
    if not stated or int(stated[1]) != counted:
        yield f"{counted} minutes by the formula, and the first cell says {stated[1] if stated else 'nothing'}"


def length(lesson: Lesson) -> Iterator[str]:
    """At most 2,500 words without hints."""
    count = sum(map(words, lesson.cells))
    if count > MOST_WORDS:
        yield f"{count:,} words, at most {MOST_WORDS:,}"


def first_line(lesson: Lesson) -> Iterator[str]:
    """The first line of a kernel is written, and graded, before word 700."""
    read = before_first_line(lesson)
    if read is None or read >= WORDS_BEFORE_A_LINE:
        after = "never" if read is None else f"after {read:,} words"
        yield f"the first line is written {after}, at most {WORDS_BEFORE_A_LINE}"


def graded_kernels(lesson: Lesson) -> Iterator[str]:
    """At least three kernels, or lines of a test, are graded; two in an appendix."""
    least = 2 if lesson.path.stem.startswith("appendix") else LEAST_KERNELS
    count = len(kernels(lesson))
    if count < least:
        yield f"{count} graded kernels, at least {least}"


def way(lesson: Lesson) -> Iterator[str]:
    """At most 280 words from one question or kernel to the next, to the first and to the end."""
    for read, cell in ways(lesson):
        if read > MOST_BETWEEN:
            yield f"{read} words lead to {cell}, at most {MOST_BETWEEN}"


def text_cells(lesson: Lesson) -> Iterator[str]:
    """A text cell has at most 125 words, with an equation 180; recap and further reading 260."""
    for cell in lesson.prose:
        is_end = re.search("^## (Recap|Further reading)", cell.source, re.MULTILINE)
        most = RECAP if is_end else WITH_EQUATION if "$$" in cell.source else CELL
        if words(cell) > most:
            yield f"{cell} has {words(cell)} words, at most {most}"


def answers(lesson: Lesson) -> Iterator[str]:
    """No answer within ten cells of its question: neither its numbers in a sentence nor stored, nor its cells."""
    for asking, name in tasks(lesson):
        for cell in lesson.cells:
            if 0 < abs(cell.number - asking.number) <= NEAR:
                lines = [line for line in sentences(cell) if tells(line, name)]
                yield from (f"{cell} has the answer to {name}: {line[:90]!r}" for line in lines)


def tells(line: str, name: str) -> bool:
    """Return True for a line that states the answer to a question."""
    for other in ELSEWHERE.get(name, ()):
        line = line.replace(other, "")
    if name in MARKINGS:
        cells = (MARKINGS[name].names[cell] for cell in MARKINGS[name].right)
        return all(re.search(rf"(?<!\w){re.escape(cell)}(?!\w)", line) for cell in cells)
    right = QUESTIONS[name].right if name in QUESTIONS else ""
    numbers = [float(number.replace(",", "")) for number in NUMBER.findall(line)]
    if isinstance(right, tuple):
        return any(tuple(numbers[i : i + len(right)]) == right for i in range(len(numbers)))
    if isinstance(right, str) or (right % 1 == 0 and abs(right) < LEAST_TELLING):
        return False
    if right % 1:  # 4.61 states an answer of 4.6
        decimals = len(str(right).partition(".")[2])
        numbers = [round(number, decimals) for number in numbers]
    return right in numbers or COUNTED.get(right, "-") in re.findall(r"\w+", line.lower())


def edits(lesson: Lesson) -> Iterator[str]:
    """No kernel exists only as a chain of `.edit(`: a text that can be read is written out."""
    made = set()  # names of kernels that an edit made
    for cell in lesson.code:
        for node in cell.syntax:
            match node:
                case ast.Call(func=ast.Attribute(attr="edit", value=ast.Call(func=ast.Attribute(attr="edit")))):
                    yield f"{cell} edits a kernel that an edit made"
                case ast.Call(func=ast.Attribute(attr="edit", value=ast.Name(id=name))) if name in made:
                    yield f"{cell} edits {name}, which an edit made"
        made |= {
            node.targets[0].id
            for node in cell.syntax
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and ".edit(" in ast.unparse(node)
        }


def recap(lesson: Lesson) -> Iterator[str]:
    """The recap ends in a question, which only the next lesson answers."""
    recaps = [cell for cell in lesson.prose if re.search("^## Recap", cell.source, re.MULTILINE)]
    for cell in recaps:
        text = cell.source.partition("## Recap")[2].partition("\n## ")[0]
        lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\[←|!\[", line)]
        if not lines[-1].rstrip("*_ ").endswith("?"):
            yield f"{cell} ends with {lines[-1][-40:]!r}"
    if not recaps:
        yield "there is no recap"


def pictures(lesson: Lesson) -> Iterator[str]:
    """Every grid in a picture with controls can be pointed at, and every such picture says what to try."""
    grids, make = [], Grid.__init__

    def noted(grid: Grid, *arguments: object, **named: object) -> None:
        grids.append(grid)
        make(grid, *arguments, **named)

    with patch.object(Grid, "__init__", noted):
        for cell, explorer in speakers.shown(lesson, speakers.showing(lesson)):
            if not explorer.steps.done:
                yield f"{cell} has a picture that says nothing to try"
            grids.clear()
            explorer.picture._drawn = None  # so that all of it is drawn again, and noted
            explorer.set()
            drawn = {(grid.x, grid.y): grid.caption for grid in grids if grid.picture is explorer.picture}
            touched = {(part.grid.x, part.grid.y) for part in explorer.picture.touchable.values()}
            for place in drawn.keys() - touched:
                yield f"{cell} has a grid that cannot be pointed at: {drawn[place] or 'without a title'}"


OF_THE_MAP: tuple[Rule, ...] = length, text_cells, pictures
OF_THE_PAGE_FOR_CUDA: tuple[Rule, ...] = *OF_THE_MAP, time, way
OF_AN_APPENDIX: tuple[Rule, ...] = *OF_THE_MAP, answers, graded_kernels, time, way
RULES: tuple[Rule, ...] = *OF_AN_APPENDIX, first_line, edits, recap


def broken(lesson: Lesson, without: tuple[Rule, ...] = ()) -> list[str]:
    """The breaches of the rules that hold for a notebook: rule, place, number and limit."""
    breaches = []
    for rule in rules_for(lesson):
        if rule not in without:
            breaches += [f"{rule.__name__}: {breach}" for breach in rule(lesson)]
    return breaches


def rules_for(lesson: Lesson) -> tuple[Rule, ...]:
    """The rules that hold for a notebook."""
    if lesson.path.stem == "start_here":
        return OF_THE_MAP
    if lesson.path.name == FOR_CUDA.name:
        return OF_THE_PAGE_FOR_CUDA
    if lesson.path.stem.startswith("appendix"):
        return OF_AN_APPENDIX
    return RULES


def row(path: Path) -> str:
    """A line of the table: counted without running anything, so without the rule on pictures."""
    lesson = Lesson.read(path)
    rules = [breach.split(":")[0] for breach in broken(lesson, (pictures,))]
    stated = STATED.search(lesson.cells[0].source)
    numbers = (
        sum(map(words, lesson.cells)),
        minutes(lesson),
        stated[1] if stated else "-",
        before_first_line(lesson) or "never",
        len(tasks(lesson)),
        len(kernels(lesson)),
        max((read for read, _ in ways(lesson)), default="-"),
    )
    breaks = ", ".join(f"{rule} {rules.count(rule)}" for rule in dict.fromkeys(rules))
    return f"{path.stem[:22]:22} " + " ".join(f"{number:>8}" for number in numbers) + f"  {breaks}"


def main(*names: str) -> None:
    """Print the table, or what some lessons break."""
    paths = [NOTEBOOKS / "start_here.ipynb", FOR_CUDA, *lessons_of(NOTEBOOKS)]
    if names:
        chosen = [path for path in paths if path.name.startswith(names)]
        print(*chain.from_iterable([path.stem, *broken(Lesson.read(path))] for path in chosen), sep="\n")
        return
    head = "words", "minutes", "stated", "to line", "to do", "kernels", "way"
    print(f"{'':22} " + " ".join(f"{name:>8}" for name in head) + "  breaks", *map(row, paths), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
