"""Training, measuring and showing agents on kille-env: what the `kille` command does."""
