"""Who is better, by how much and how surely: statistics of tournaments.

Pure functions on arrays: everything here takes `Observations`, or arrays made from them, and knows
nothing of how the tables were played. Whatever draws lots takes a seed and gives the same numbers
for the same seed.
"""
