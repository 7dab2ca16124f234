"""Intervals, sequential tests, ratings, meta-games and crosstables: arrays in, arrays out."""
