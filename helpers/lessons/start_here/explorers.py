"""The map to point at, with a link to the lesson that is chosen."""

from ipywidgets import Output

from helpers.data.words import listed
from helpers.lessons.shared.course import Lesson, lessons, right
from helpers.lessons.start_here.picture import CoursePicture
from helpers.widgets.controls import by_pointing
from helpers.widgets.explorer import Explorer

TRY = {
    "Point at 07: what does it need?": by_pointing({"lesson": 7}),
    "What is the road from CUDA?": {"road": 2},
    "Choose a lesson; open it below.": lambda values: values["lesson"] > 0,
}


class CourseMap(Explorer):
    """The map, and below its sentence what the reader has done of the chosen lesson, with a link to it.

    The sentence is the same for every reader: what they have done stands in the link's line and in the table.
    """

    def __init__(self, known: tuple[Lesson, ...], done: frozenset[str], **values: int) -> None:
        self._known = known
        self._done = done
        self._link = Output()
        picture = CoursePicture(known, done)
        self._roads = picture.roads
        rules = {"road": len(picture.roads), "lesson": len(known)}
        choices = {"road": [road.name for road in picture.roads], "lesson": [lesson.name for lesson in known]}
        super().__init__(picture.show, rules, values, choices=choices, steps=TRY, front=())
        self._words.layout.min_height = "56px"  # three lines: what is below them stays where it is
        (below,) = (child for child in self.children if "convgrad-below" in child._dom_classes)
        below.children = [self._link, *below.children]

    @property
    def link(self) -> str:
        """The line with the link to the lesson that is shown, in Markdown."""
        return self._link.outputs[0]["data"]["text/markdown"]

    def _show(self, values: dict[str, int]) -> None:
        super()._show(values)
        lesson = self._known[values["lesson"]]
        page = self._roads[values["road"]].page
        line = f"**[Open {lesson.name}]({lesson.file})**"
        if lesson.puzzles:
            done = [f"`{puzzle}`" for puzzle in lesson.puzzles if puzzle in self._done]
            line += f" · {len(done)} of {len(lesson.puzzles)} right"
            if done:
                line += f": {listed(done)}"
        if page:
            line = f"**[Open the page for those who know CUDA]({page})** · {line}"
        self._link.outputs = ({"output_type": "display_data", "data": {"text/markdown": line}, "metadata": {}},)


def course(**values: int) -> Explorer:
    """The map: roads and lessons to point at or to choose. Ticks and lights are for what was written last."""
    known = lessons()
    return CourseMap(known, right(known), **values)
