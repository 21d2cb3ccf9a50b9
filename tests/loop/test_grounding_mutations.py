"""True sentences with one fact changed: what share of the lies does the goal check catch?"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from bot.loop.claims import claim_problems
from bot.loop.grounds import Grounds
from bot.loop.scratchpad import Observation, Origin, Scratchpad, Step
from bot.loop.wire import Finish, Turn
from support.scripted import asked
from support.worlds import SERVICES, Sentence, World, make_world
from tools.records import Confidence

WORLDS = int(os.environ.get("ONCALL_TEST_WORLDS", "60"))
CATALOG = {name: name for name in (*SERVICES, "orders")}


def grounds_of(world: World) -> Grounds:
    observations = tuple(
        Observation(
            id=f"o{n}",
            call_id=f"c{n}",
            tool="t",
            arguments={},
            origin=Origin.RAN,
            result=result,
            shown=result.text,
        )
        for n, result in enumerate(world.results, 1)
    )
    question = asked("hello").model_copy(update={"catalog": CATALOG})
    step = Step(1, Turn(finish=Finish.TOOL_USE, model="m"), observations)
    return Grounds(Scratchpad.begin(question, "m").with_step(step))


def invented(kind: str, value: object, rng: random.Random) -> object:
    """A value of the kind that occurs nowhere in the world."""
    match kind:
        case "deploy":
            return rng.randint(20_000, 30_000)
        case "service":
            return "orders-archive" if value != "orders-archive" else "orders"
        case "person":
            return "nobody-here"
        case "time":
            assert isinstance(value, datetime)
            return value + timedelta(minutes=rng.randint(1, 9))
        case "span":
            assert isinstance(value, int)
            return value + rng.randint(1, 9)
        case "sha":
            return "deadbeef0" * 4 + "abcd"
        case "version":
            return f"99.{rng.randint(1, 9)}.7"
        case "path":
            return f"config/never-{rng.randint(1, 99)}.yaml"
        case "setting":
            return f"never.set: 1 → {rng.randint(1_000, 2_000)}"
        case _:
            return rng.randint(20_000, 30_000)


def lies(sentence: Sentence, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Each with what was done to it: a value of another row, an invented one, a denial."""
    about = about_what(sentence)
    for name, piece in sentence.pieces.items():
        pool = [v for v in sentence.pools.get(name, ()) if v != piece.value]
        if pool:
            swap: dict[str, object] = {name: rng.choice(pool)}
            yield f"{about}swapped {piece.kind}", sentence.say(rng, swap)
    name, piece = rng.choice(sorted(sentence.pieces.items()))
    false: dict[str, object] = {name: invented(piece.kind, piece.value, rng)}
    if sentence.template != "There is no {number}":  # of another number it would be as true
        yield f"{about}invented {piece.kind}", sentence.say(rng, false)
    said = sentence.say(rng)
    for word in (" finished ", " changed ", " most likely caused ", " was ", " set ", " added "):
        if word in said:
            yield f"{about}denied", said.replace(word, f" never{word}", 1)
            break


def about_what(sentence: Sentence) -> str:
    if " not " in sentence.template or " no " in sentence.template:
        return "negated, "
    return "causal, " if "caused" in sentence.template else ""


def test_at_least_995_of_1000_lies_are_caught_and_the_truth_is_not() -> None:
    caught: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    rejected, true = [], 0
    misses = []
    for seed in range(WORLDS):
        world = make_world(seed)
        grounds, rng = grounds_of(world), random.Random(seed)
        causal_ok = world.ranked.confidence is not Confidence.NONE
        for sentence in world.sentences:
            said = sentence.say(rng)
            true += 1
            problems = claim_problems(said, sentence.evidence, grounds)
            if problems and causal_ok:
                rejected.append(f"{said}: {problems}")
            for how, lie in lies(sentence, rng):
                if claim_problems(lie, sentence.evidence, grounds):
                    caught[how] += 1
                else:
                    missed[how] += 1
                    misses.append(f"{how}: {lie}  (true: {said})")
    total = caught.total() + missed.total()
    swapped = sum(n for how, n in (caught + missed).items() if "swapped" in how)
    both = caught + missed
    kinds = "\n".join(f"  {how}: {missed[how]} of {n}" for how, n in sorted(both.items()))
    report = (
        f"{total} lies, {swapped} by swapping, {missed.total()} missed; "
        f"{true} truths, {len(rejected)} rejected; missed by kind\n{kinds}"
    )
    print(report, *misses, *rejected, sep="\n")
    assert swapped * 2 >= total
    assert caught.total() >= 0.995 * total, "\n".join([report, *misses[:30]])
    assert len(rejected) <= 0.005 * true, "\n".join(rejected[:30])
    assert set(caught) >= {
        "denied",
        "swapped time",
        "swapped deploy",
        "invented path",
        "causal, denied",
        "causal, swapped deploy",
        "negated, swapped deploy",
        "negated, swapped path",
    }
