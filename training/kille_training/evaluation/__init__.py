"""What a policy earns: over duplicate deals, and exactly.

`api` is the way in. `duplicate` plays, `exact` measures in trees, and `results` says what came of
it. `worth` is what single choices are worth, which `replay` shows of recorded matches; `collusion`
is what two seats gain together.
"""
