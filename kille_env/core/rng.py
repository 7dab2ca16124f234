"""Random numbers as a value in the table.

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014): one 64-bit word that is advanced by a constant and scrambled. A table
keeps three words:

    seed      the table's own, fixed by (seed of the batch, index of the table)
    match_key derived from the seed and the number of the match
    rng       derived from the match key and the number of the deal, advanced by every draw

So the cards of deal `d` of match `m` depend neither on earlier play nor on the other tables: two
players at "the same table" see the same cards for the whole match.
"""

import numpy as np

from kille_env.core.jit import PLAIN, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@kernel
def mix(z):
    """Scramble a 64-bit word; a bijection."""
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@kernel
def derive(key, index):
    """Return the key of stream number `index` below `key`."""
    # The key is mixed first: else stream 1 of a key would be stream 0 of the key one step further.
    return mix(mix(key) + GOLDEN * np.uint64(index + 1))


@kernel
def below(table, bound):
    """Draw a whole number from 0 to `bound` - 1 (the bias is below 2**-26 for a pack of cards)."""
    table["rng"] = table["rng"] + GOLDEN
    # The high half times the bound, shifted: no division and no rejected draws, which would make
    # the number of draws depend on luck.
    return np.int64(((mix(table["rng"]) >> _S32) * np.uint64(bound)) >> _S32)


if PLAIN:  # NumPy's scalars warn when they wrap around, which is the point here
    mix = np.errstate(over="ignore")(mix)
    derive = np.errstate(over="ignore")(derive)
    below = np.errstate(over="ignore")(below)
