"""Test the record of recent questions: separate for each caller, and within a bound on memory."""

from __future__ import annotations

from epsilond.app.questions import question as memories
from epsilond.app.questions.question import PosedQuestions


def test_one_callers_question_is_not_anothers() -> None:
    asked = PosedQuestions()
    assert not asked.remember("key:ada", "question")
    assert asked.remember("key:ada", "question")
    assert asked.remember("key:ada", b"question")
    assert not asked.remember("key:bob", "question")
    assert not asked.remember("key:ada", "another")


def test_a_name_and_a_question_are_not_mixed_up() -> None:
    asked = PosedQuestions()
    asked.remember("key:ab", "c")
    assert not asked.remember("key:a", "bc")


def test_it_keeps_within_its_bytes_and_forgets_who_asked_least_recently() -> None:
    most = 10 * (memories.CALLER_BYTES + 3 * memories.DIGEST_ENTRY_BYTES)
    asked = PosedQuestions(most)
    for name in range(40):
        for question in range(3):
            asked.remember(f"address:{name}", str(question))
            assert asked.bytes <= most
        asked.remember("address:0", "again")
    assert asked.remember("address:0", "again")
    assert asked.remember("address:39", "2")
    assert not asked.remember("address:1", "2")


def test_one_caller_has_so_many_questions() -> None:
    asked = PosedQuestions()
    for question in range(3 * memories.MOST_DIGESTS):
        asked.remember("key:ada", str(question))
    assert asked.bytes == memories.CALLER_BYTES + memories.MOST_DIGESTS * memories.DIGEST_ENTRY_BYTES
    assert not asked.remember("key:ada", "0")
    assert asked.remember("key:ada", str(3 * memories.MOST_DIGESTS - 1))


def test_the_sizes_are_no_guesses_below_what_is_held() -> None:
    import tracemalloc

    asked = PosedQuestions()
    tracemalloc.start()
    for name in range(100):
        for question in range(50):
            asked.remember(f"address:{name}", f"{question}")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held <= 1.25 * asked.bytes
