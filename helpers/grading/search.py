"""The search for the one change that makes a wrong text right, in any language: in tiers, the likely ones first."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from helpers.grading.change import Change, Mended, Repair, one_of

MOST_LINES = 3  # in which a change mends the text
Edit = TypeVar("Edit")


class Search(Generic[Edit]):
    """Tries the candidates of each tier, until one has any that mends the text, or the work is used up."""

    def tiers(self) -> Iterator[Iterable[Edit]]:
        """Yield the candidates in the order in which they are tried."""
        raise NotImplementedError

    def mended_in(self, tier: Iterable[Edit]) -> dict[int, list[Mended]]:
        """Return the changes of a tier that mend the text, by their lines; no further ones where those are too many."""
        raise NotImplementedError

    def in_common(self, mended: Sequence[Mended]) -> Change | None:
        """Return what the changes of one line have in common; None where that says nothing."""
        return one_of(mended)

    def found(self) -> Repair | None:
        """Return the changes that mend the text: all of the first tier that has any, one for each line.

        One in several lines counts only where none in a single line is found.
        """
        in_several = None
        for tier in self.tiers():
            lines = self.mended_in(tier)
            if len(lines) > MOST_LINES:
                return None
            changes = [self.in_common(lines[line]) for line in sorted(lines)]
            if None in changes:
                return None
            if not changes:
                continue
            repair = Repair(tuple(changes))
            if not any(changed.others for changed in repair.changes):
                return repair
            in_several = in_several or repair
        return in_several
