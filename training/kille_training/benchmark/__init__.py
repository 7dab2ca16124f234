"""The benchmark: learning methods, each one file, at the same tables with the same budget."""
