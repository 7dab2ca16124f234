"""Measures how fast the suite is on this machine: `python benchmarks/bench.py`.

Every figure is the median of several runs in one process, with its spread; a shared machine moves
between two runs, so compare ratios within one table rather than two tables.
"""
