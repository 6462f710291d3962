"""The stepper's explorer: sliders over steps and threads, and a field that says where to stop."""

import html

import ipywidgets

from helpers.data.turns import in_turn
from helpers.widgets.controls import Trials, Values
from helpers.widgets.explorer import Explorer
from helpers.widgets.stepper.picture import StepperPicture
from helpers.widgets.stepper.stops import Stop, Stops

MESSAGE = "margin: 0; line-height: 1.35; min-height: 2.7em"  # as high with one line as with two
ROW = {"align_items": "center", "width": "840px", "max_width": "100%", "padding": "0 16px", "grid_gap": "10px"}


class StepperExplorer(Explorer):
    """Sliders over the steps of a run and over its threads; "next stop" goes on to where a condition holds.

    The condition stands in a field: a variable and a value, as in "sum is 12", or an element that is written, as in
    "total[0] is written".
    """

    def __init__(self, picture: StepperPicture, values: dict[str, int], stop: str, steps: Trials) -> None:
        rules = {"step": len(picture.replay.events), "thread": picture.replay.count}
        super().__init__(picture.show, rules, values, play="step", steps=steps)
        self.stops = Stops(picture.replay)
        self._condition = condition_field(stop, self.stops.suggested)
        self._next = ipywidgets.Button(description="next stop", tooltip="go on to the next step where this happens")
        self._next.layout.width = "auto"
        self._message = ipywidgets.HTML(layout={"flex": "1 1 0", "min_width": "260px", "margin": "0"})
        row = ipywidgets.HBox([self._condition, self._next, self._message], layout=ROW)
        row.add_class("convgrad-stop")
        self.children = (*self.children[:-1], row, self.children[-1])
        self._condition.observe(lambda _: self._used(self._show_condition), "value")
        self._next.on_click(lambda _: self.next_stop())
        self._show_condition()

    @property
    def stop_message(self) -> str:
        """The stop's current message."""
        return self._shown_message

    def stop_when(self, condition: str) -> str:
        """Write a condition into the field; returns the message about it."""
        self._condition.value = condition
        return self.stop_message

    @in_turn
    def next_stop(self) -> str:
        """Go on to the next step at which the condition holds; returns the message about it."""
        stop = self._stop()
        message = self._condition_message() if stop is None else self._go_to_next(stop)
        self._show_message(message)
        return message

    def _go_to_next(self, stop: Stop) -> str:
        """Go to the next step at which a stop is reached, if there is one; returns the message about it."""
        thread = self.values["thread"]
        now = self.values["step"]
        reached = self.stops.events(stop, thread)
        later = [step for step in reached if step > now]
        if later:
            self.set(step=later[0])
            return f"{self.stops.reached(stop, thread)}: stop {reached.index(later[0]) + 1} of {len(reached)}."
        if reached:
            where = self._condition_message()
            return f"No stop comes after step {now}. {where} Go back with the step slider to see it again."
        return self._condition_message()

    def _reach(self, values: Values, by: str = "") -> str:
        sentence = super()._reach(values, by)
        self._show_condition()
        return sentence

    def _stop(self) -> Stop | None:
        """The condition in the field; None where it cannot be read."""
        try:
            return self.stops.read(self._condition.value)
        except ValueError:
            return None

    def _condition_message(self) -> str:
        """Say where the condition holds for this thread, or why it cannot be read."""
        condition = self._condition.value
        if not condition.strip():
            suggested = self.stops.suggested
            return f"Write where to stop, for example {suggested[0]}." if suggested else ""
        try:
            return self.stops.message(self.stops.read(condition), self.values["thread"])
        except ValueError as error:
            return str(error)

    def _show_condition(self) -> None:
        self._show_message(self._condition_message())

    def _show_message(self, message: str) -> None:
        self._shown_message = message
        self._message.value = f'<p aria-live="polite" style="{MESSAGE}">{html.escape(message)}</p>'


def condition_field(condition: str, suggested: list[str]) -> ipywidgets.Combobox:
    """A field to write a condition into, with suggestions."""
    return ipywidgets.Combobox(
        description="stop when",
        value=condition,
        options=suggested,
        placeholder=next(iter(suggested), ""),
        continuous_update=False,
        layout={"width": "300px", "margin": "0"},
        style={"description_width": "84px"},
    )
