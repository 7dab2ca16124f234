"""The methods, one in each file; `kille_training.learn.method` says what they offer."""
