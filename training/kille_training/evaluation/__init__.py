"""Measure the earnings of a policy: over duplicate deals, and exactly.

Entry point: `api`. `duplicate` plays deals, `exact` measures in trees, and `results` prints.
`worth` values single choices, for `replay` of recorded matches.
"""
