"""A table for people."""
