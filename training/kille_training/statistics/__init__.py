"""Intervals, sequential tests, ratings and crosstables: functions from arrays to arrays."""
