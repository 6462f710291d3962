"""The message of a text or a call is the one stored beside it, where a person has read it (`support/messages.py`)."""

import re

from support import messages, speakers
from support.messages import every, said

CALLS = sorted(path.stem for path in messages.FOLDER.glob("*.txt") if not hasattr(speakers, path.stem))


@every("refused", *CALLS)
def test_a_message_is_the_stored_one(family, heading, text, message):
    assert said(family, heading, text) == message


def test_nothing_is_accepted_and_no_tensor_is_made_before_the_arguments_are_checked():
    for _, heading, text, message in messages.stored("refused"):
        assert re.match(r"\w+Error: ", message), text
        assert "explorers" in heading or "tensors were made" not in message, text


def test_what_is_not_an_explanation_is_seen(tmp_path, monkeypatch):
    """A row with another message is red, and the command writes the one that is said now."""
    monkeypatch.setattr(messages, "FOLDER", tmp_path)
    rows = "# Numbers\n\n[x = 2]\n> x + y\n> (x\n. - 3)\n    old\n"
    messages.path("refused").write_text(rows)
    assert [row[2:] for row in messages.stored("refused")] == [("x + y", ""), ("(x\n- 3)", "old")]
    messages.write("refused")
    (_, _, _, first), (*_, second) = messages.stored("refused")
    assert (first, second) == ("NameError: name 'y' is not defined", "-1")
    assert messages.path("refused").read_text().startswith("# Numbers\n\n[x = 2]\n> x + y\n    NameError")
