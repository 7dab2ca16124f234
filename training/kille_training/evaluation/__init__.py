"""Measure the earnings of a policy: over duplicate deals, and exactly.

`api` is the way in. `duplicate` plays, `exact` measures in trees, and `results` prints. `worth` is
the value of single choices, which `replay` shows of recorded matches.
"""
