"""The glossary is complete; that its checks can fail is in messages/glossary_rules.txt."""

from support.glossary import ROOT, missing_letters, prose, wrong


def test_every_term_is_complete_and_the_table_of_letters_has_the_sizes_of_every_exercise():
    glossary = prose(ROOT / "notebooks" / "glossary.ipynb")
    assert wrong(glossary) == []
    assert missing_letters(glossary) == []
