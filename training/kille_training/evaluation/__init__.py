"""What a policy earns: over duplicate deals, and exactly."""
