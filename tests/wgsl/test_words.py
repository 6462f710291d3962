"""Sentences are made last: no code of the package reads one, and without them it finds the same."""

from pathlib import Path

import pytest
from support.keys import instead_of_sentences, key, sentence_makers
from support.messages import stored
from support.sample import sample
from support.sentences import readings
from support.speakers import found, mistaken

import wgsl
from helpers.gpu import passes
from wgsl import Kernel, WgslError
from wgsl.simulator.findings import Finding
from wgsl.types.kinds import limit_passed

ROOT = Path(wgsl.__file__).parents[1]


def test_nothing_reads_a_sentence():
    assert readings(ROOT, ["wgsl"], besides=["wgsl/words"]) == []


def facts(finding: Finding) -> tuple:
    """What a finding has beside its sentences."""
    place = finding.line, finding.column, finding.other_line, finding.source_line
    about = finding.variable, finding.access, finding.index, finding.size, finding.threads, finding.barrier
    return finding.kind, *place, *about, finding.invocations, finding.count, finding.may_end


def run(groups: str, body: str) -> list[tuple]:
    return [facts(finding) for finding in found(groups, body).findings]


def compiled(place: str, text: str) -> tuple:
    """What a compile error has beside its sentences, and what the checker says of the same text, and where."""
    kernel = Kernel(mistaken(place, text))
    problems = [(problem.line, problem.column, problem.kind) for problem in wgsl.check(kernel)]
    try:
        passes.pipeline(kernel, "main")
    except WgslError as error:
        return type(error), error.kind, error.line, error.column, error.length, error.excerpt, error.says, problems
    return (problems,)


@pytest.mark.parametrize(("family", "tried", "count"), [("findings", run, 60), ("compile_errors", compiled, 120)])
def test_with_keys_for_sentences_the_same_is_found_at_the_same_places(family, tried, count):
    rows = sample([row[1:3] for row in stored(family)], count)
    said = [tried(*row) for row in rows]
    with instead_of_sentences():
        assert [tried(*row) for row in rows] == said


def test_keys_do_take_the_place_of_sentences():
    assert len(sentence_makers()) > 50
    (_, heading, text, message), *_ = stored("findings")
    (_, place, line, error), *_ = stored("compile_errors")
    with instead_of_sentences():
        finding, *_ = found(heading, text).findings
        assert (finding.message, finding.quoted) == ("Race", "int")
        with pytest.raises(WgslError) as caught:
            passes.pipeline(Kernel(mistaken(place, line)), "main")
        assert (str(caught.value), caught.value.reason) == ("WgslError", "expected")
        assert caught.value.kind == "expected"
        assert limit_passed((512, 1, 1), 0) == key("too many threads")
    assert str(found(heading, text)) == message
    assert error.startswith("your kernel does not compile, line 13")
