"""A sample of the random layers, and what the command says where a number is wrong."""

import random_problems

from helpers.convolution import reference
from helpers.gpu import passes


def test_a_sample_of_random_layers_is_right(capsys, monkeypatch):
    monkeypatch.setattr(random_problems, "KEPT", 4)
    assert random_problems.main(["--count", "40"]) == 0
    assert "Right: 40 problems on 10 random layers" in capsys.readouterr().out
    left = 4 * 2  # versions, of the layers after the eighth; most have two kernels
    assert 0 < passes.module.cache_info().currsize <= 3 * left, "the kernels of ten thousand layers would fill memory"


def test_a_wrong_number_is_noticed_and_its_layer_is_printed(capsys, monkeypatch):
    right = reference.conv2d_grad_weight
    monkeypatch.setattr(reference, "conv2d_grad_weight", lambda *data, **steps: right(*data, **steps) * (1 + 1e-3))
    assert random_problems.main(["--count", "20"]) == 1
    said = capsys.readouterr().out
    assert "grad_weight" in said
    assert "Right" not in said
    assert "batch=1," in said
