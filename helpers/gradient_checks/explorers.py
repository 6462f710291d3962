"""Pictures with sliders of how results are judged, and of what each check can see."""

from functools import cache

from helpers.gradient_checks import dot_products, errors, probes
from helpers.gradient_checks import matrix as matrices
from helpers.gradient_checks.pictures.adjoint import AdjointPicture
from helpers.gradient_checks.pictures.errors import StepPicture, TolerancePicture
from helpers.gradient_checks.pictures.matrix import MatrixPicture
from helpers.gradient_checks.pictures.probes import ProbePicture
from helpers.pictures.canvas import Picture
from helpers.widgets.explorer import Explorer


def step_size() -> Explorer:
    """One slider over the steps 2**k of a central difference in float32: how far off is it?"""
    picture = StepPicture(errors.convolution_differences(), errors.gelu_differences())
    return Explorer(picture.show, {"k": (min(errors.STEPS), max(errors.STEPS))})


def tolerance() -> Explorer:
    """One slider over sums of 2**j terms: how large is the tolerance, beside an error and beside a term?"""
    return Explorer(TolerancePicture().show, {"j": len(errors.LENGTHS)}, {"j": 8})


def adjoint() -> Explorer:
    """Sliders over a right and six wrong kernels, and over four kinds of data: are the dot products equal?"""
    rules = {"kernel": len(dot_products.MISTAKES) + 1, "data": len(dot_products.DATA)}
    return Explorer(AdjointPicture().show, rules)


def one_hot(**values: int) -> Explorer:
    """Sliders for a kernel of conv2d_grad_weight (0 is right) and the output whose gradient is 1: what does it read?"""
    kernels, shape = probes.kernels(), probes.SHAPE
    rules = {"kernel": len(kernels), "oh": shape.out_h, "ow": shape.out_w}
    start = {"oh": 1, "ow": 2} | values
    return Explorer(ProbePicture(shape, kernels).show, rules, start, play=("oh", "ow"))


def matrix(operation: str = "conv2d_grad_weight", **values: int) -> Explorer:
    """Sliders over the versions of a gradient's kernel and over its wrong kernels: what catches each, what misses it?

    `operation` is conv2d_grad_weight, conv2d_grad_input or conv2d_grad_bias. A version is judged when first shown.
    """
    versions = matrices.versions(operation)

    @cache
    def picture(version: str) -> MatrixPicture:
        return MatrixPicture(version, matrices.matrix(operation, version))

    def draw(version: int, row: int) -> Picture:
        return picture(versions[version - 1]).show(row)

    rows = {i: len(matrices.shown(f"{operation}/{version}")) for i, version in enumerate(versions, 1)}
    return Explorer(draw, {"version": (1, len(versions)), "row": lambda chosen: rows[chosen["version"]]}, values)
