"""Where work units are played: here, in processes, on a Ray cluster."""
