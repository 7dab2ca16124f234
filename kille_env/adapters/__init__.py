"""One outside API a file: the games as other libraries expect them. No rules are in here.

    aec           PettingZoo: every seat an agent, one asked after the other
    gym           Gymnasium: one seat against given policies
    vector        the same for many tables at once, as a native vector environment
    sb3           Stable-Baselines3: one learner in a seat of each table, or in every seat
    sb3_buffer    the rollout buffer for the latter
    registration  Gymnasium's and PettingZoo's own registries
    streams       what the one-seat forms share: tables at which one seat is the outside's
    opponents     who sits in the other seats
    spaces        observation and action spaces of a game

What they return is fresh: nothing that was handed out changes later.
"""
