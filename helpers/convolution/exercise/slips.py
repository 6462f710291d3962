"""The mistakes that learners make in several kernels of convolutions."""

from helpers.grading.puzzle import Slip

WEIGHT_AT = "((co * params.Ci + ci) * params.kH + kh) * params.kW + kw"

WITHOUT_CI = (
    Slip(
        "Ci and ci are left out in the weight's offset",
        WEIGHT_AT,
        "(co * params.kH + kh) * params.kW + kw",
        "how many weights does one filter have?",
    ),
    Slip(
        "ci is left out in the weight's offset",
        WEIGHT_AT,
        WEIGHT_AT.replace(" + ci", ""),
        "at which offset of a filter do the weights of channel ci = 1 begin?",
    ),
    Slip(
        "co is not multiplied by Ci in the weight's offset",
        WEIGHT_AT,
        WEIGHT_AT.replace("co * params.Ci", "co"),
        "how many channels does one filter have?",
    ),
)


def divided(number_of: str, count: str) -> Slip:
    """The sum is divided by a number of things, which `count` computes."""
    mistake = f"the sum is divided by the number of {number_of}"
    return Slip(mistake, "= sum;", f"= sum / f32({count});", "where in the equation is a division?")


def unguarded(element: str, limit: str) -> Slip:
    """No thread returns: `limit` is the test for one without `element`, such as "an output"."""
    mistake = f"the guard is missing, or lets threads without {element} go on"
    question = f"which number does the first thread without {element} have?"
    return Slip(mistake, f"if ({limit}) {{ return; }}", "", question)
