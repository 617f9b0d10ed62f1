#!/usr/bin/env python3
"""An engine for all games: it brings cards to the foundations, and turns cards up, as soon as it can."""

import sys

made = set()  # each move that was made, with its board


def worth(move, board, piles):
    source, _, rest = move.partition(" ")
    target, _, size = rest.partition(" x")
    cards = piles.get(source, "").split()
    left = cards[: len(cards) - int(size or 1)]
    if (board, move) in made or source.startswith("0"):
        return 0  # nothing new, or off a foundation
    if target == "0":
        return 3
    return 2 if target and left and left[-1] == "??" else 1


def choose(position):
    fields = dict(field.split(" ", 1) for field in position.split("; "))
    piles = dict(pile.split(": ") for pile in fields["board"].split(", "))
    moves = [move for move in fields["moves"].split(", ") if move]
    best = max(moves, key=lambda move: worth(move, fields["board"], piles), default="resign")
    made.add((fields["board"], best))
    return best


for line in map(str.strip, sys.stdin):
    if line.startswith("samedeal"):
        print("id name eager", "ready 1", sep="\n", flush=True)
    elif line.startswith("position"):
        position = line
    elif line.startswith("go"):
        print("bestmove", choose(position), flush=True)
    elif line == "quit":
        break
