"""Training runs and the learners they use."""
