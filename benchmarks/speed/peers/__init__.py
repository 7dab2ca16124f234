"""Measures other libraries beside this suite: the same kind of work, in turns, within one run."""
