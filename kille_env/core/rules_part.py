"""The rules as features, which the option `observe_rules` puts behind an observation.

The layout comes from the switches of a game, so it is the same for all of its rules:

- a name: one feature for each value (one-hot); yes or no: one feature;
- a number with a narrow range: its distance from the least one;
- any other number: itself, at most `EXACT`, and its logarithm, `STEPS` for each doubling;
- a switch that can be null: one more feature, 1 if it is;
- the pack: one feature for each type of card, 1 if it is played with.
"""

from collections.abc import Sequence
from math import log2

import numpy as np

from kille_env.core.parts import Part, lay_out
from kille_env.core.rules import EPISODES, Rules
from kille_env.core.switches import PackSwitch, Switch

EXACT, STEPS, LARGEST = 20, 8, 240
"""Largest number that is told exactly; steps of the logarithm for a doubling, and its largest."""
NARROW = 255
"""Widest range of a number that is told exactly."""


def rules_parts(switches: Sequence[Switch]) -> tuple[Part, ...]:
    """Return the layout of the rules, a part or more for each switch, by themselves."""
    episode = Part("rules.episode", len(EPISODES), f"{', '.join(EPISODES)} (one-hot)")
    return lay_out(episode, *(part for switch in switches for part in _parts(switch)))


def rules_features(switches: Sequence[Switch], rules: Rules) -> np.ndarray:
    """Return the features of rules, uint8 [K]."""
    features = [int(rules["episode"] == episode) for episode in EPISODES]
    for switch in switches:
        features += _features(switch, rules.number(switch.name))
    return np.array(features, dtype=np.uint8)


def _parts(switch: Switch) -> list[Part]:
    name = f"rules.{switch.name}"
    if isinstance(switch, PackSwitch):
        return [Part(name, len(switch.pack.codes), f"{switch.meaning}: whether each type is")]
    if switch.values:
        if isinstance(switch.values[0], bool):
            return [Part(name, 1, switch.meaning)]
        values = ", ".join(map(str, switch.values))
        return [Part(name, len(switch.values), f"{switch.meaning}: {values} (one-hot)")]
    width = switch.maximum - switch.minimum
    if width <= NARROW:
        parts = [Part(name, 1, f"{switch.meaning}, from {switch.minimum}", max(width, 1))]
    else:
        log = f"{name}_log"
        parts = [
            Part(name, 1, f"{switch.meaning}, at most {EXACT}", EXACT),
            Part(log, 1, f"{STEPS} log2(1 + x) of this number x", LARGEST),
        ]
    return [*parts, *([Part(f"{name}_null", 1, "whether it is null")] if switch.nullable else [])]


def _features(switch: Switch, number: int) -> list[int]:
    if isinstance(switch, PackSwitch):
        pack = switch.pack
        played = {pack.code(card) for card in range(pack.size) if not number >> card & 1}
        return [int(code in played) for code in pack.codes]
    if switch.values:
        one = isinstance(switch.values[0], bool)
        return [number] if one else [int(number == code) for code in range(len(switch.values))]
    null = switch.nullable and number < 0
    value = 0 if null else number
    if switch.maximum - switch.minimum <= NARROW:
        features = [0 if null else value - switch.minimum]
    else:
        features = [min(value, EXACT), min(round(STEPS * log2(1 + value)), LARGEST)]
    return [*features, *([int(null)] if switch.nullable else [])]
