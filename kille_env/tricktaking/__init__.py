"""What the trick-taking games share."""
