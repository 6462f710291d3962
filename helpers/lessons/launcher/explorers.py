"""Pictures with sliders of appendix C: a launch's objects in their order, and the bytes of a buffer."""

from helpers.gpu import adapter_info
from helpers.lessons.launcher.pictures import OBJECTS, PLACES, WORDS, BytesPicture, LaunchPicture
from helpers.widgets.controls import by_playing, by_pointing
from helpers.widgets.explorer import Explorer, Rule

TRY_A_LAUNCH = {
    "Press play: what needs what?": by_playing({"step": len(OBJECTS)}),
    "Point at the pipeline.": by_pointing({"step": PLACES["pipeline"] + 1}),
    "Set launch to 2: what is new?": {"launch": 2},
}


TRY_BYTES = {
    "Point at a byte: is it the same number's in both?": by_pointing(lambda v: v["byte"] != 20),
    "Set floats to 3: which bytes are nobody's?": {"floats": 3},
    "Set before to 1: what comes between it and the vector?": {"before": 1},
}


def launch(**values: int) -> Explorer:
    """Sliders over the objects of a launch, in the order in which they are made, and over a second launch."""
    rules: dict[str, Rule] = {"launch": (1, 2), "step": len(OBJECTS) + 1}
    picture = LaunchPicture(adapter_info().name)
    return Explorer(picture.show, rules, {"step": 6, **values}, play="step", steps=TRY_A_LAUNCH)


def buffer_bytes(**values: int) -> Explorer:
    """Sliders over the floats of an array's element, single ones and then a vector, and over the bytes of a buffer."""
    rules: dict[str, Rule] = {"before": 3, "floats": (1, 4), "byte": 4 * WORDS}
    return Explorer(BytesPicture().show, rules, {"floats": 2, "byte": 20, **values}, steps=TRY_BYTES)
