"""The methods, one in each file; `kille_training.benchmark.method` says what they offer."""
