"""The stepper's explorer: sliders over steps and threads, and a field that says where to stop."""

import html
from contextlib import suppress

import ipywidgets

from helpers.data.turns import in_turn
from helpers.widgets.controls import Trials, Values
from helpers.widgets.explorer import Explorer
from helpers.widgets.stepper.picture import StepperPicture
from helpers.widgets.stepper.stops import Stops

SAID = "margin: 0; line-height: 1.35; min-height: 2.7em"  # as high with one line as with two
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
        suggested = self.stops.suggested
        self._stop = ipywidgets.Combobox(
            description="stop when", value=stop, options=suggested, placeholder=next(iter(suggested), ""),
            continuous_update=False, layout={"width": "300px", "margin": "0"}, style={"description_width": "84px"},
        )  # fmt: skip
        self._next = ipywidgets.Button(description="next stop", tooltip="go on to the next step where this happens")
        self._next.layout.width = "auto"
        self._told = ipywidgets.HTML(layout={"flex": "1 1 0", "min_width": "260px", "margin": "0"})
        row = ipywidgets.HBox([self._stop, self._next, self._told], layout=ROW)
        row.add_class("convgrad-stop")
        self.children = (*self.children[:-1], row, self.children[-1])
        self._stop.observe(lambda _: self._used(lambda: self._say(self._when())), "value")
        self._next.on_click(lambda _: self.next_stop())
        self._say(self._when())

    @property
    def told(self) -> str:
        """The stop's current message."""
        return self._now

    def _reach(self, values: Values, by: str = "") -> str:
        sentence = super()._reach(values, by)
        self._say(self._when())
        return sentence

    def stop_when(self, condition: str) -> str:
        """Write a condition into the field; returns what is said of it."""
        self._stop.value = condition
        return self.told

    @in_turn
    def next_stop(self) -> str:
        """Go on to the next step at which the condition holds; returns what is said of it."""
        thread = self.values["thread"]
        now = self.values["step"]
        told = self._when()
        with suppress(ValueError):
            stop = self.stops.read(self._stop.value)
            found = self.stops.events(stop, thread)
            after = [step for step in found if step > now]
            if after:
                self.set(step=after[0])
                count = f"stop {found.index(after[0]) + 1} of {len(found)}"
                told = f"{self.stops.reached(stop, thread)}: {count}."
            elif found:
                told = f"No stop comes after step {now}. {told} Go back with the step slider to see it again."
        self._say(told)
        return told

    def _when(self) -> str:
        """Say where the condition holds for this thread, or why it cannot be read."""
        if not self._stop.value.strip():
            return "" if not self.stops.suggested else f"Write where to stop, for example {self.stops.suggested[0]}."
        try:
            return self.stops.said(self.stops.read(self._stop.value), self.values["thread"])
        except ValueError as error:
            return str(error)

    def _say(self, told: str) -> None:
        self._now = told
        self._told.value = f'<p aria-live="polite" style="{SAID}">{html.escape(told)}</p>'
