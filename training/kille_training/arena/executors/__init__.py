"""Where work units are played: in this process, in child processes, on a Ray cluster."""
