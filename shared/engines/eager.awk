# An engine for all games: it brings cards to the foundations, and turns cards up, as soon as it can.
# Run it with "gawk -f eager.awk", or with "mawk -W interactive -f eager.awk", because mawk waits for more input otherwise.

function field(name,    text) {
    text = substr(position, index(position, "; " name " ") + length(name) + 3)
    return substr(text, 1, index(text, ";") - 1)
}

function worth(move,    parts, cards, count, size) {
    split(move, parts, " ")
    count = split(piles[parts[1]], cards, " ")
    size = parts[3] ? substr(parts[3], 2) : 1
    if ((board, move) in made || parts[1] ~ /^0/) return 0 # nothing new, or off a foundation
    if (parts[2] == "0") return 3
    return parts[2] && cards[count - size] == "??" ? 2 : 1
}

function choose(    all, moves, count, i, best, most) {
    board = field("board")
    split("", piles)
    for (i = split(board, all, ", "); i; i--) piles[substr(all[i], 1, index(all[i], ":") - 1)] = substr(all[i], index(all[i], ":") + 2)
    count = split(field("moves"), moves, ", ")
    best = "resign"
    most = -1
    for (i = 1; i <= count; i++) if (worth(moves[i]) > most) { best = moves[i]; most = worth(best) }
    made[board, best]
    return best
}

/^samedeal/ { print "id name eager\nready 1" }
/^position/ { position = $0 }
/^go/ { print "bestmove " choose() }
/^quit/ { exit }
{ fflush() }
