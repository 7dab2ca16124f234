"""Rules, observations and words that trick games share."""
