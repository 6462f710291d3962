"""Compare an array with the right one, and report where it is wrong."""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray
SHOWN = 4  # mismatches that a report keeps


class CheckError(AssertionError):
    """A gradient is wrong; the message says where."""

    def _render_traceback_(self) -> list[str]:
        """The message alone, which IPython shows."""
        return [f"{type(self).__name__}: {self}"]


@dataclass(frozen=True, repr=False)
class Report:
    """The verdict on one array: true if it is right, one line when shown."""

    name: str
    shape: tuple[int, ...]
    count: int = 0  # numbers compared
    wrong: int = 0  # those that are off by more than their tolerance
    error: float = 0.0  # the largest |got - want|
    tolerance_used: float = 0.0  # the largest |got - want| / tolerance
    mismatches: tuple[tuple[tuple, float, float], ...] = ()  # the first few (index, got, want)
    reason: str = ""  # why nothing was compared

    @property
    def ok(self) -> bool:
        """Something was compared, and all of it was right."""
        return self.count > 0 and self.wrong == 0

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        head = f"{self.name:<11}  {self.shape!s:<17}"
        if self.reason:
            return f"{head}  not compared: {self.reason}"
        right = f"{self.count - self.wrong} of {self.count} right"
        used = "more than"  # the tolerance may be 0
        if self.tolerance_used < 100:
            used = f"{self.tolerance_used:.2f} of"
        digits = ".2g"
        if self.error < 1e6 and self.error.is_integer():
            digits = ".6g"  # a whole number, as it is
        return f"{head}  {right:<24}  largest error {self.error:{digits}} ({used} the tolerance)"

    def explain(self) -> str:
        """The count and the first mismatches, one a line."""
        if not self.wrong:
            return repr(self)
        lines = [f"{self.name} {self.shape}: {self.wrong} of {self.count} wrong"]
        for index, got, want in self.mismatches:
            lines.append(f"  at [{', '.join(map(str, index))}]: got {got:.9g}, want {want:.9g}")
        more = self.wrong - len(self.mismatches)
        if more > 0:
            lines.append(f"  and {more} more")
        return "\n".join(lines)

    def require(self) -> "Report":
        """Return this report, or raise the CheckError that explains it."""
        if not self.ok:
            raise CheckError(self.explain())
        return self


class Reports(tuple[Report, ...]):
    """The reports on several arrays: true if all of them are right, one line each when shown."""

    def __bool__(self) -> bool:
        return all(self)

    def __repr__(self) -> str:
        return "\n".join(repr(report) for report in self)

    def require(self) -> "Reports":
        """Return these reports, or raise the CheckError that explains the first wrong array."""
        return Reports(report.require() for report in self)


def compare(name: str, got: Array, want: Array, tolerance: float | Array) -> Report:
    """Compare float32 `got` with float64 `want`, element by element: is |got - want| <= tolerance?

    NaN is right only where NaN is wanted, an infinity only where the same one is.
    """
    got = np.asarray(got)
    want = np.asarray(want, np.float64)
    if got.dtype != np.float32:
        return Report(name, got.shape, reason=f"the dtype is {got.dtype}, it must be float32")
    if got.shape != want.shape:
        return Report(name, got.shape, reason=f"the shape must be {want.shape}")
    if not got.size:
        return Report(name, got.shape, reason="there are no elements")
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(same, 0.0, np.nan_to_num(np.abs(got - want), nan=np.inf, posinf=np.inf))
        used = np.where(same, 0.0, error / tolerance)
    wrong = ~same & ~((error <= tolerance) & np.isfinite(error))
    return Report(
        name,
        got.shape,
        count=got.size,
        wrong=int(wrong.sum()),
        error=float(error.max(initial=0)),
        tolerance_used=float(used.max(initial=0)),
        mismatches=_first_mismatches(got, want, wrong),
    )


def _first_mismatches(got: Array, want: Array, wrong: Array) -> tuple[tuple[tuple, float, float], ...]:
    """The first few places that are wrong, with what was computed and what is right."""
    mismatches = []
    for index in np.argwhere(wrong)[:SHOWN]:
        place = tuple(index.tolist())
        mismatches.append((place, float(got[place]), float(want[place])))
    return tuple(mismatches)
