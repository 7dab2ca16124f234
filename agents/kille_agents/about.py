"""What a player is, in words for people."""

from dataclasses import dataclass

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class About:
    """A player in words; what a *saved* player was made for says `kille_agents.metadata.Card`.

    Attributes:
        name: What `load_policy` and the command line call him.
        what: What he is, or does.
        made: How he was made.
        strength: How strong he is: a figure and the command that measures it, or "not measured".
    """

    name: str
    what: str
    made: str
    strength: str = NOT_MEASURED

    def lines(self) -> list[str]:
        """Returns the card as lines."""
        return [
            self.name,
            f"  what      {self.what}",
            f"  made      {self.made}",
            f"  strength  {self.strength}",
        ]
