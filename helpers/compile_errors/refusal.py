"""The simulator's errors about a text, as the adapter's errors read."""

from helpers.compile_errors import compile_error, error_at
from helpers.compile_errors.message import Complaint, Finding
from helpers.wgsl import Kernel, UnsupportedWgsl, WgslError
from helpers.wgsl.diagnostics import Refused, Unsupported


def wgsl_error(kernel: Kernel, error: Refused | Unsupported) -> WgslError:
    """What to raise for a kernel whose text is refused: place, cause, cure, and the line with a caret."""
    if isinstance(error, Refused):
        return compile_error(kernel, _message(kernel.source, error))
    reason = f"the simulator has no {error.feature}; an adapter may run this kernel"
    complaint = Complaint(kernel.source, "")
    return error_at(kernel, complaint, Finding(reason, error.at), UnsupportedWgsl, "is not simulated")


def _message(source: str, error: Refused) -> str:
    """A refusal as the adapter's compiler writes it, which explains it the same way."""
    begun = source.rfind("\n", 0, error.at) + 1
    number, column = source.count("\n", 0, begun) + 1, error.at - begun + 1
    line = source[begun:].partition("\n")[0]
    before, marked = (part.expandtabs(4) for part in (line[: column - 1], line[: column - 1 + error.length]))
    marks = "^" * max(1, len(marked) - len(before))
    return (
        f"Shader '' parsing error: {error.reason}\n  ┌─ wgsl:{number}:{column}\n  │\n"
        f"{number} │ {line.expandtabs(4)}\n{'':{len(str(number))}} │ {'':{len(before)}}{marks} {error.label}\n"
    )
