"""A button with which one chooses whose turn is next."""

from helpers.lessons.shared.sums import Order
from helpers.pictures.canvas import BLUE, GRAY, Box, Picture
from helpers.pictures.parts import Grid


def turn_button(picture: Picture, thread: int, place: Box, does: str, turns: Order, every: list[Order]) -> None:
    """A button that gives a thread the next turn, gray where it has had all of its turns.

    `every` has all orders, by their numbers; where one is whole, the next one begins.
    """
    is_whole = len(turns) == len(every[0])
    begun = () if is_whole else turns
    clicked = (*begun, thread)
    order = first_that_begins(clicked, every)
    color = BLUE
    if order is None:
        clicked = begun
        order = first_that_begins(begun, every)
        color = GRAY
    size = place.width, place.height
    name = f"thread {thread}"
    button = Grid(picture, [[0]], place.x, place.y, size, numbers=False)
    button.touch(name, "order", start=order, clicked=True, turn=len(clicked))
    button.tinted([(0, 0)], color, 2)
    picture.bold(*place.middle, f"{name}{does}", 15, color, "middle")


def first_that_begins(turns: Order, every: list[Order]) -> int | None:
    """The number of the first order that begins with these turns; None where none does."""
    for i, order in enumerate(every):
        if order[: len(turns)] == turns:
            return i
    return None
