"""Byteskille's rules in plain English, as they hold at a table."""

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.cards.words import describe_pack
from kille_env.core.spec import Rules
from kille_env.games.byteskille.words import MEANINGS
from kille_env.words.manual import explain_actions, is_single, manual, seats_at, section
from kille_env.words.text import chips, plain_letters


def describe_rules(rules: Rules, num_players: int) -> str:
    """Returns the rules of a table as text; see `Game.describe_rules`."""
    return manual(
        _opening(rules, num_players),
        section("Cards", [*describe_pack(highest=Kind.GO), _kille_in_short()]),
        section("A deal", _deal(rules, num_players)),
        section("What the card does that you demand", _answers(rules, num_players)),
        section("The talon", _talon(rules, num_players)),
        section("The rank of a kille", _kille(rules, num_players)),
        section("Calling with a gok", _call(rules, num_players)),
        section("Asking for better cards", _question(rules, num_players)),
        _two_left(rules, num_players),
        section("Showdown: who is out", _showdown(rules)),
        section("Money", (_single if is_single(rules) else _pot)(rules, num_players)),
        _buying_in(rules, num_players),
        section("What you see", _seen()),
        explain_actions(_actions(rules, num_players)),
    )


# What applies at this table


def _two_only(rules: Rules, num_players: int) -> bool:
    """Whether every deal is one of two players, by the rules of the English article."""
    return num_players == 2 and rules["two_player"] == "wiki"


def _asks(rules: Rules, num_players: int) -> bool:
    """Whether forehand can ever ask for better cards."""
    few = num_players <= 3 or not is_single(rules)
    return rules["fraga"] == "forced" and few and rules.number("max_redeals") > 0


def _calls(rules: Rules, num_players: int) -> bool:
    """Whether anybody can ever lay a gok open: two players by the article see it at once."""
    return rules["gok_call"] != "off" and not _two_only(rules, num_players)


def _buys(rules: Rules, num_players: int) -> bool:
    """Whether anybody can ever buy in."""
    fewest = {"none": 99, "svensk": 3, "wiki2": 4, "wiki3": 2 if rules["reentry_one_left"] else 3}
    return not is_single(rules) and num_players >= fewest[str(rules["reentry"])]


def _actions(rules: Rules, num_players: int) -> dict[str, str]:
    """The actions that can occur here, with their meanings."""
    words = ["stand", "swap"]
    if _calls(rules, num_players):
        words += ["call", "wait"] if rules["gok_call"] == "any_time" else ["call"]
    if _asks(rules, num_players):
        words += ["ask", "yes", "no"]
        words += ["defer"] if num_players > 2 else []
    words += ["buy", "decline"] if _buys(rules, num_players) else []
    return {word: plain_letters(MEANINGS[word].rpartition("”: ")[2]) for word in words}


# Sections


def _opening(rules: Rules, num_players: int) -> str:
    aim = "Everybody has one card; whoever has the lowest when the cards are turned up is out"
    if is_single(rules):
        aim += " and pays. You play a single deal."
    else:
        aim += ". The last player who is in takes the pot."
    return f"Byteskille is a Swedish card game. {seats_at(num_players)} {aim}"


def _kille_in_short() -> str:
    code = KILLE_PACK.codes[Kind.KI]
    return (
        f"{code} kille (harlequin) has no fixed place: it ranks either low, below all others, or "
        "high, at the top; see below."
    )


def _deal(rules: Rules, num_players: int) -> list[str]:
    size = f"The other {KILLE_PACK.size - num_players} cards" if is_single(rules) else "The rest"
    return [
        "Each player gets one card, face down, and looks at their own card only. "
        f"{size} form the talon (the stock).",
        "Forehand, the nearest player to the dealer's left, decides first; then it goes on "
        "clockwise, and the dealer decides last.",
        "On your turn you stand, and keep your card, or you swap: you demand the card of the "
        "nearest player to your left who is in the deal. That player has no say: their card "
        "decides what happens.",
        "After the dealer's turn, or as soon as a gok ends the round, all cards are turned up.",
    ]


def _answers(rules: Rules, num_players: int) -> list[str]:
    return [
        "BL, BP, KR, a lilja (L1 to L12) or KI: the two cards change hands, face down; only a KI "
        "lies face up from then on. The player who had to give decides next, with the new card.",
        "VH or KA: it is shown and nothing is swapped. You must go on and demand the card of the "
        "player after its holder; after the dealer comes the talon. The holder has no turn of "
        "their own left in this deal.",
        "HU: it is shown and you are chopped: nothing is swapped, and you are out when the cards "
        f"are turned up.{'' if _two_only(rules, num_players) else _next_turn('HU')}",
        _svin(rules, num_players),
        "GO: it is shown, nothing is swapped, and the round is over at once.",
    ]


def _svin(rules: Rules, num_players: int) -> str:
    if _two_only(rules, num_players):
        return "SV: it is shown and you are chopped, as by HU; no exchange is undone."
    which = "All exchanges of this deal are"
    if rules["pig_scope"] == "card":
        which = "All exchanges of your card in this deal are"
    rank = "goes back to the rank that it had" if rules["undo_restores"] else "keeps its rank"
    return (
        f"SV: it is shown and chops your card. {which} undone, the last one first, and the player "
        "to whom your card was dealt is chopped, and will be out; that may be you. Players who get "
        f"a card back do not decide again. A kille in an exchange that is undone {rank}."
        f"{_next_turn('SV')}"
    )


def _next_turn(card: str) -> str:
    return f" The player after the holder of the {card} decides next."


def _talon(rules: Rules, num_players: int) -> list[str]:
    passed = "laid aside, and you draw the next card"
    if not rules["stock_redraw"]:
        passed = "laid aside, and you keep the card that you have"
    then = "has had their turn and does not decide any more"
    if rules["dealer_after_inn"]:
        then = "still has a turn of their own, unless a gok has ended the round"
    return [
        "The dealer has nobody to swap with and swaps with the top card of the talon. So does a "
        "player whom the dealer's VH or KA has sent on; the dealer then " + then + ".",
        f"A VH or KA drawn is shown and {passed}. A HU or SV drawn chops, and a GO drawn ends the "
        "round, as they do in a hand.",
        "Any other card is taken and the old one laid aside. Nobody else sees them, but for a KI.",
    ]


def _kille(rules: Rules, num_players: int) -> list[str]:
    beside = "as high as a GO" if rules["high_kille"] == "equal_gok" else "above a GO"
    from_talon = "A KI drawn from the talon ranks high."
    ranks = f"Low means below all other cards; high means {beside}."
    if _two_only(rules, num_players):
        return [from_talon, ranks]
    return [
        f"A KI that stays with the player to whom it was dealt ranks {rules['dealt_kille']}.",
        "A KI that is swapped for another card ranks low.",
        f"Two KI that are swapped for each other both rank {rules['meeting']}.",
        from_talon,
        ranks,
    ]


def _call(rules: Rules, num_players: int) -> list[str]:
    if not _calls(rules, num_players):
        return ["You cannot lay a gok open yourself; it works when it is demanded."]
    lines = ["On your own turn you may call with a GO: you lay it open and the round is over."]
    if rules["gok_call"] == "any_time":
        lines.append(
            "If you hold a hidden GO you are also asked before each turn of another player: call, "
            "or wait and keep it hidden. Nobody else notices that you are asked."
        )
    return lines


def _question(rules: Rules, num_players: int) -> list[str]:
    if not _asks(rules, num_players):
        return ["Nobody can ask for other cards."]
    most = rules.number("max_redeals")
    lines = ["If two players are in, forehand may ask the dealer for better cards before deciding."]
    if num_players == 2:
        lines = ["Forehand may ask the dealer for better cards before deciding."]
    elif num_players == 3 and is_single(rules):
        lines = ["Forehand may ask the dealer for better cards before deciding. " + _three(rules)]
    else:
        lines.append(f"If three players are in, it is the same. {_three(rules)}")
    if num_players == 2 or not is_single(rules):
        lines.append("With two, the dealer says yes or no.")
    lines.append(
        "Yes: the same dealer deals all cards again, and forehand may ask again, until "
        f"{most} of these questions have been granted in a deal. No: the cards are played."
    )
    return lines


def _three(rules: Rules) -> str:
    may = "says yes or no" if rules["fraga3_dealer_accept"] else "says no"
    return f"With three, the dealer {may}, or leaves the answer to the third player."


def _two_left(rules: Rules, num_players: int) -> str:
    if rules["two_player"] != "wiki" or (num_players > 2 and is_single(rules)):
        return ""
    return section(
        "With two players in the deal",
        [
            "If one of them is dealt a KI, the same dealer deals again at once.",
            "Otherwise, if one of them is dealt a GO, the cards are turned up at once.",
            "Whoever meets a SV or HU by swapping, in a hand or in the talon, is chopped, and the "
            "cards are turned up at once; no exchange is undone.",
        ],
    )


def _showdown(rules: Rules) -> list[str]:
    compared = "Among the others"
    if not rules["lowest_excludes_chopped"]:
        compared = "Among all others, the cards of the chopped included"
    return [
        "Whoever is chopped is out, and so is whoever holds a KI that ranks low.",
        f"{compared}, the player with the lowest card is out; if several share it, all of them.",
        "If that would be everybody: with a chopped player, only the chopped and the low KI are "
        "out; if that is still everybody, or nobody is chopped, nobody is out.",
    ]


def _single(rules: Rules, num_players: int) -> list[str]:
    stake = rules.number("stake")
    lines = [
        f"There is no pot. Each player who is out pays {chips(stake)}, and those who stay share "
        f"what was paid equally: if one of the {num_players} is out, each of the others gains "
        f"{chips(stake / (num_players - 1))}. If nobody is out, nobody pays."
    ]
    if _asks(rules, num_players) or _two_only(rules, num_players):
        most = rules.number("max_deals")
        lines.append(f"Once {most} deals have been thrown in, it ends and nobody pays.")
    return lines


def _pot(rules: Rules, num_players: int) -> list[str]:
    stake, pots = chips(rules.number("stake")), rules.number("pots")
    ante = f"For each pot every player pays {stake} once, before its first deal."
    if rules["ante"] == "deal":
        ante = f"Before each deal every player who is in pays {stake} into the pot."
    length = "The match ends when the pot is won."
    if pots > 1:
        length = f"The match ends when {pots} pots are won; for each, everybody is in again."
    return [
        ante,
        "Whoever is out sits out the following deals. The last player in takes the whole pot.",
        f"{_next_dealer(rules, num_players)} {length}",
        f"After {rules.number('max_deals')} deals, those that were dealt again included, the match "
        "is cut off, and those who are in share the pot equally in whole chips.",
        "Your result is all that you have taken minus all that you have paid.",
    ]


def _next_dealer(rules: Rules, num_players: int) -> str:
    """Who deals next; when players bought in, it matters who counts."""
    when = "after buying in" if rules["next_dealer"] == "after" else "before anybody buys in"
    counted = f", {when}" if _buys(rules, num_players) else ""
    return f"The next dealer is the nearest player to the dealer's left who is in{counted}."


def _buying_in(rules: Rules, num_players: int) -> str:
    if not _buys(rules, num_players):
        return ""
    ways = {"svensk": _two_occasions, "wiki2": _two_occasions, "wiki3": _after_each}
    lines = ways[str(rules["reentry"])](rules)
    if rules["ante"] == "deal":
        plus = "comes on top of" if rules["reentry_plus_ante"] else "is included in"
        lines.append(f"The next deal's payment {plus} the price.")
    lines.append(
        "Those who may buy in are asked openly, one after another, clockwise from the dealer's "
        "left. Half of an odd pot is rounded up."
    )
    return section("Buying in again", lines)


def _two_occasions(rules: Rules) -> list[str]:
    wiki = rules["reentry"] == "wiki2"
    first = "exactly three" if wiki else "three or two"
    second = "the whole pot" if wiki and rules["wiki2_second"] == "full" else "half the pot"
    who = "everybody who is out and bought in the first time"
    if not wiki and rules["second_includes_new"]:
        who = "everybody who is out and did not decline the first time"
    return [
        f"The first time that a deal leaves {first} players in, everybody who is out may buy in "
        f"for {chips(2 * rules.number('stake'))}.",
        f"If somebody did, the next time that a deal leaves two players in, {who} may buy in for "
        f"{second}.",
    ]


def _after_each(rules: Rules) -> list[str]:
    when = "After each deal that leaves at least two players in"
    if rules["reentry_one_left"]:
        when = "After each deal, also one that leaves a single player in"
    return [
        f"{when}, those who have just gone out may buy in. It costs {chips(rules.number('stake'))} "
        "the first time, half the pot the second and the whole pot the third, by your own count "
        "in this pot; then never again. Whoever declines stays out of this pot.",
    ]


def _seen() -> list[str]:
    return [
        "Everybody sees who stands and swaps, with whom, every card that is shown, every kille "
        "that moves, and who is chopped. At the showdown all cards in hands are seen.",
        "After an exchange both players know both cards. So if you had to give your card and got a "
        "higher one, the other player holds the lower one, and standing is nearly always safe.",
    ]
