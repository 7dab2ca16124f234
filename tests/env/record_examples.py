"""A record written by hand."""


def example() -> dict:
    """The match of the notation's page, by hand, with only some keys of the results."""
    return {
        "format": "kille-record/1",
        "game": "byteskille",
        "rules": {"preset": "svensk", "episode": "match"},
        "num_players": 4,
        "names": ["rule_of_thumb", "ppo", "uniform", "uniform"],
        "seed": 17,
        "first_dealer": 3,
        "start": {},
        "deals": [
            {
                "deck": ["L2", "L9", "L5", "L7"],
                "actions": [[0, "swap"], [1, "stand"], [2, "swap"], [3, "stand"], [1, "decline"]],
                "result": {"out": [1], "left": [0, 2, 3]},
            },
            {
                "deck": ["L8", "HU", "L5"],
                "actions": [[2, "swap"], [0, "stand"]],
                "result": {"chopped": [2], "out": [0, 2], "winner": 3},
            },
        ],
        "returns": [-2, -2, -2, 6],
        "truncated": False,
    }
