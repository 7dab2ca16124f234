"""A player described for people."""

from dataclasses import dataclass

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class About:
    """A player described for people; `kille_agents.metadata` is for programs.

    Attributes:
        name: What `load_policy` and the command line call it.
        what: What it is, or does.
        made: How it was made.
        strength: How strong it is: a figure and the command that measures it, or "not measured".
    """

    name: str
    what: str
    made: str
    strength: str = NOT_MEASURED

    def lines(self) -> list[str]:
        """Returns the description as lines."""
        return [
            self.name,
            f"  what      {self.what}",
            f"  made      {self.made}",
            f"  strength  {self.strength}",
        ]
