"""Random walks through the queue's scripts, each beside a model."""

import os

import pytest
from service import PROGRAMS, run


@pytest.mark.alone
@pytest.mark.parametrize("steps", [
    pytest.param(200_000, marks=pytest.mark.long), pytest.param(2_000_000, marks=pytest.mark.soak)])
def test_the_queue_does_what_its_model_does(option, figures, steps):
    """`--count` is the number of steps, and `--seed` that of the first walk."""
    seed = option("seed", None)
    environment = os.environ | ({"SEED": str(seed)} if seed is not None else {})
    told = run(PROGRAMS / "queue-walk", option("count", steps), environment=environment, seconds=None)
    figures(told.decode().strip().removeprefix("passed queue-walk: "))
