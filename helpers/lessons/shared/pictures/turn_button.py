"""A button with which one chooses whose turn is next."""

from helpers.lessons.shared.sums import Order
from helpers.pictures.canvas import BLUE, GRAY, Box, Picture
from helpers.pictures.parts import Grid


def turn_button(picture: Picture, thread: int, place: Box, does: str, turns: Order, every: list[Order]) -> None:
    """A button that gives a thread the next turn, gray where it has had all of its turns.

    `every` has all beginnings of orders, by their numbers; where one is whole, the next one begins.
    """
    is_whole = len(turns) == 4
    begun = () if is_whole else turns
    clicked = (*begun, thread)
    color = BLUE
    if clicked not in every:
        clicked = begun
        color = GRAY
    size = place.width, place.height
    order = every.index(clicked)
    grid = Grid(picture, [[0]], place.x, place.y, size, numbers=False)
    grid.touch(f"thread {thread}", "order", start=order, clicked=True)
    grid.tinted([(0, 0)], color, 2)
    picture.bold(*place.middle, f"thread {thread}{does}", 15, color, "middle")
