"""Jobs on many items: in this process, in monitored processes, or on a Ray cluster."""
