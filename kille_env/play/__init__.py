"""Tables and who plays them: what a policy is and is asked, the loop that plays, and its credit."""
