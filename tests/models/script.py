"""The turns of the 02:14 question, as a model would say them."""

from __future__ import annotations

from models.model_server import Says

SEARCH = Says((("search_deploy", {"what": "checkout"}),), text="Looking for suspects.")
DIFF = Says((("get_diff", {"what": "4471"}),), text="Reading its diff.")
HEADLINE = "payments-api deploy 4471 caused the checkout incident"
ANSWER = Says(
    (
        (
            "answer",
            {
                "headline": HEADLINE,
                "claims": [
                    {
                        "text": "Deploy 4471 finished 01:44 UTC, 22 min before onset",
                        "evidence": ["o1"],
                    },
                    {
                        "text": "It changed 12 files; `retry.budget: 5s → 1s` in config/retry.yaml",
                        "evidence": ["o2"],
                    },
                ],
                "unknowns": [],
                "confidence": "high",
            },
        ),
    )
)
GOOD = (SEARCH, DIFF, ANSWER)
SILENT = (Says(text="hm"), Says(text="hm"))
