"""The learning methods, one per file; `kille_training.learn.method` is their protocol."""
