"""Random walks through the queue's scripts, each beside a model.

The walks of the gate have the same seeds each time, so that a failure comes from a change; those of `make soak` have new ones.
"""

import os
import random

import pytest
from service import PROGRAMS, run


@pytest.mark.parametrize(("steps", "seed"), [
    pytest.param(20_000, 1, marks=pytest.mark.long), pytest.param(2_000_000, None, marks=pytest.mark.soak)])
def test_the_queue_does_what_its_model_does(option, figures, steps, seed):
    """`--count` is the number of steps; `--seed`, or SEED, is that of the first walk."""
    if os.environ.get("SEED"):
        seed = int(os.environ["SEED"])
    elif seed is None:
        seed = random.SystemRandom().randrange(1 << 32)
    environment = os.environ | {"SEED": str(option("seed", seed))}
    told = run(PROGRAMS / "queue-walk", option("count", steps), environment=environment, seconds=None)
    figures(told.decode().strip().removeprefix("passed queue-walk: "))
