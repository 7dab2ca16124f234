"""Training runs, grids of them, and the learning methods."""
