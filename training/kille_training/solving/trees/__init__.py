"""Game trees of any game: sequence form, solvers, values."""
