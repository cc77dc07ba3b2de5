"""Engines in turns, and what their times say of each other; the standard
library only."""

import statistics


def order(names, turn):
    """Every name once; each is first, and behind every other, in some turn."""
    first = turn % len(names)
    turned = names[first:] + names[:first]
    return turned if turn // len(names) % 2 == 0 else turned[::-1]


def median_ratio(ours, theirs):
    """Median over the turns of the ratio of both engines' medians in a turn, so
    that a machine that changes its speed between turns does not count."""
    if len(ours) != len(theirs) or not ours:
        raise ValueError("%d and %d turns" % (len(ours), len(theirs)))
    return statistics.median(
        statistics.median(a) / statistics.median(b)
        for a, b in zip(ours, theirs)
    )
