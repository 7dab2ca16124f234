"""What every game says and shows: texts, manuals, and what pictures are drawn from."""
