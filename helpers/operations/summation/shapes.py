"""The size of one long sum."""

from dataclasses import dataclass

from helpers.checks.arguments import keep_sizes


@dataclass(frozen=True)
class SumShape:
    """Sizes of ``total = input.sum()``: `input` is (count,), `total` (1,).

    Raises TypeError where `count` is not an int, ValueError where it is out of range.
    """

    count: int

    def __post_init__(self) -> None:
        keep_sizes(self, "count")

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name: input or total."""
        return {"input": (self.count,), "total": (1,)}[tensor]

    def params(self) -> tuple[int, ...]:
        """The u32 that every kernel of the sum takes."""
        return (self.count,)
