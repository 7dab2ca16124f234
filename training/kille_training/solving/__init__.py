"""Exact solving: flat game trees, regret minimisation over them, exact NashConv."""
