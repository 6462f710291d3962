"""Pictures with sliders of appendix A: lanes in lockstep, a sum in three orders, and notes beside a memory's words."""

from helpers.lessons.simulator.detector import earlier_racing
from helpers.lessons.simulator.pictures.lanes import LanesPicture
from helpers.lessons.simulator.pictures.orders import OrdersPicture
from helpers.lessons.simulator.pictures.shadow import ShadowPicture
from helpers.lessons.simulator.runs import LANES, LOCKSTEP, NUMBERS, ORDERS, WATCHED, accesses, counting, sum_in_order
from helpers.widgets.controls import Trials, Values, by_playing, by_pointing
from helpers.widgets.explorer import Explorer, Rule

WITHOUT, NEIGHBORS = 1, 2  # in WATCHED


def lanes() -> Explorer:
    """A slider over the statements of a small kernel that eight lanes run in lockstep."""
    run = counting()
    last = len(run) - 1

    def is_off(values: Values) -> bool:
        return values["lane"] not in run[values["step"]].active

    steps: Trials = {
        "Press play: which lane needs the most iterations?": by_playing({"step": last}),
        "Go to a statement that one lane runs alone.": lambda v: len(run[v["step"]].active) == 1,
        "Click an empty slot: why is its lane switched off?": by_pointing(is_off),
    }
    rules: dict[str, Rule] = {"step": last + 1, "lane": LANES}
    return Explorer(LanesPicture().show, rules, {"lane": 6}, front=["step"], play="step", steps=steps)


def orders() -> Explorer:
    """A tree that adds four numbers: with barriers or without, in lockstep or one thread after the other."""

    def is_total(values: Values, barrier: int, is_right: bool) -> bool:
        if values["barrier"] != barrier:
            return False
        total = sum_in_order(bool(barrier), values["order"])[values["step"]].total
        return total is not None and (total == sum(NUMBERS)) == is_right

    steps: Trials = {
        "Set barrier to 0, and press play: is the total right?": by_playing(
            lambda v: v["order"] == LOCKSTEP and is_total(v, 0, True)
        ),
        "Choose an order that makes the total wrong.": lambda v: is_total(v, 0, False),
        "Set barrier to 1: does that order still do harm?": lambda v: v["order"] != LOCKSTEP and is_total(v, 1, True),
    }
    rules: dict[str, Rule] = {
        "barrier": 2,
        "order": len(ORDERS),
        "step": lambda v: len(sum_in_order(bool(v["barrier"]), v["order"])),
    }
    return Explorer(OrdersPicture().show, rules, {"barrier": 1}, play="step", choices={"order": ORDERS}, steps=steps)


def shadow() -> Explorer:
    """Notes beside the words of a memory, access by access: who wrote each, who read it, and in which epoch."""

    def is_first_race(values: Values) -> bool:
        return values["kernel"] == WITHOUT and values["step"] == _first_race(WITHOUT)

    def is_missed(values: Values) -> bool:
        return values["kernel"] == NEIGHBORS and values["step"] > _first_race(NEIGHBORS)

    steps: Trials = {
        "Press play: which notes does a barrier make old?": by_playing(
            {"kernel": 0, "step": len(accesses(WATCHED[0])) - 1}
        ),
        "Take the barriers away. Stop at the first race.": is_first_race,
        "Choose “neighbors”: which race is missed?": is_missed,
    }
    rules: dict[str, Rule] = {
        "kernel": len(WATCHED),
        "step": lambda v: len(accesses(WATCHED[v["kernel"]])),
        "word": len(NUMBERS),
    }
    names = [kernel.name for kernel in WATCHED]
    front = ["kernel", "step"]
    return Explorer(ShadowPicture().show, rules, front=front, play="step", choices={"kernel": names}, steps=steps)


def _first_race(kernel: int) -> int:
    """The first step of a kernel that is a race with an earlier one."""
    steps = accesses(WATCHED[kernel])
    for i, step in enumerate(steps):
        earlier = [before.access for before in steps[:i] if before.access]
        if step.access and earlier_racing([*earlier, step.access], len(earlier)):
            return i
    raise ValueError(f"{WATCHED[kernel].name}: no two accesses race")
