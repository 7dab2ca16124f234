"""Tables of Kungsholmskille with named cards."""

from env.trick_tables import play as play_game

TWO = "BL L1 L5 L9 KA | BP L2 L6 L10 SV"
THREE = f"{TWO} | KR L3 L7 L11 HU"
FOUR = f"{THREE} | L4 L8 L12 VH GO"
ALL_BUD = "0 bud, 1 bud, 2 bud, 3 bud"
NO_EXCHANGE = "0 discard, 1 discard, 2 discard, 3 discard"
ALL_STAY = "0 knock, 1 stay, 2 stay, 3 stay"
TO_PLAY = f"{ALL_STAY}, {NO_EXCHANGE}, 0 knock"
JUNK = ("BL BL BP BP", "KR KR L1 L1", "L2 L2 L3 L3")


def play(hands=FOUR, script="", talon="", **more):
    """A table of this game after its first deal's cards and decisions."""
    return play_game("kungsholmskille", hands, script, talon, **more)


def before_showing(last, *folders, leader=0, **more):
    """A table at the showing, with the given last cards by seat: "L9 L5 L7".

    The leader is forehand and wins all four tricks with two killes and two göks; the others have to
    play four low cards under them.
    """
    cards, junk = last.split(), iter(JUNK)
    players = len(cards)
    strong = "KI KI GO GO"
    hands = [f"{strong if s == leader else next(junk)} {card}" for s, card in enumerate(cards)]
    table = play(" | ".join(hands), dealer=(leader - 1) % players, **more)
    others = [(leader + step) % players for step in range(1, players)]
    table.act(f"{leader} knock")
    table.act(", ".join(f"{seat} {'fold' if seat in folders else 'stay'}" for seat in others))
    for seat in [leader, *(seat for seat in others if seat not in folders)]:
        table.act(f"{seat} discard")
    table.act(f"{leader} knock")
    for card in strong.split():
        table.act(f"{leader} {card}")
        while table.seat != leader:
            table.act(f"{table.seat} {table.legal}")
    assert table.phase == "show"
    return table
