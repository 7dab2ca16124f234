"""Policies and their decisions, the loop that plays tables, and the credit of seats."""
