"""Pages, plots and templates."""
