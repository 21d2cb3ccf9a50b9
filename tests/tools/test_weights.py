from __future__ import annotations

from tools.weights import WEIGHTS, Sign, points_by_sign


def test_every_sign_has_one_weight_with_a_reason() -> None:
    assert [weight.sign for weight in WEIGHTS] == list(Sign)
    assert all(weight.why and weight.points for weight in WEIGHTS)


def test_a_sign_that_is_left_out_counts_nothing() -> None:
    points = points_by_sign(WEIGHTS[1:])
    assert points[WEIGHTS[0].sign] == 0.0
    assert points[WEIGHTS[1].sign] == WEIGHTS[1].points
