"""A sample of the random layers, and what the command says where a number is wrong."""

import random_problems
from support.sample import ALL

from helpers.operations.convolution import reference


def test_a_sample_of_random_layers_is_right(capsys):
    layers = 10 if ALL else 4
    assert random_problems.main(["--count", str(4 * layers)]) == 0
    assert f"Right: {4 * layers} problems on {layers} random layers" in capsys.readouterr().out


def test_a_wrong_number_is_noticed_and_its_layer_is_printed(capsys, monkeypatch):
    right = reference.conv2d
    monkeypatch.setattr(reference, "conv2d", lambda *data, **steps: right(*data, **steps) * (1 + 1e-3))
    assert random_problems.main(["--count", "20"]) == 1
    printed = capsys.readouterr().out
    assert "output" in printed
    assert "Right" not in printed
    assert "batch=1," in printed
