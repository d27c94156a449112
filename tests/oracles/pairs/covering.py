# SPDX-License-Identifier: Apache-2.0
"""Covering arrays of strength two: few cases in which every two levels of every two factors meet.

Greedy, one case after the other (Cohen, Dalal, Fredman and Patton 1997, IEEE Trans. Softw. Eng. 23, 437-444): each begins with a
pair that has not met and gives every other factor, in random order, the level that meets most of what is left; the best of
several tries is kept. Levels that may not meet (conflicts) are respected in every case.
"""
import itertools
import random

TRIES = 12  # cases tried for each that is kept
ORDERS = 60  # orders of the factors tried before a pair is given up


def covering_array(levels, conflicts, seed=1, kept=()):
    """levels: {factor: [level, ...]}; conflicts: [{factor: {indices of levels}}], which may not all hold in one case; kept: cases
    that stay. (cases as {factor: index of its level}, pairs that no case can hold)"""
    rng = random.Random(seed)
    names = list(levels)
    bans = [ban for ban in conflicts if all(ban.values())]
    n_bans = {n: sum(n in ban for ban in bans) for n in names}

    def allowed(case, name, index):
        """Whether no conflict holds once `name` has this level."""
        for ban in bans:
            if index in ban.get(name, ()) and all(n == name or case.get(n) in at for n, at in ban.items()):
                return False
        return True

    def completed(start, left):
        """A case with what `start` holds; None where none was found."""
        case = dict(start)
        order = [n for n in names if n not in case]
        rng.shuffle(order)
        # Factors with many conflicts first, such as the kind of a table: they decide what the others may be.
        order.sort(key=lambda n: -n_bans[n])
        for name in order:
            choices = [i for i in range(len(levels[name])) if allowed(case, name, i)]
            if not choices:
                return None
            gains = [sum((frozenset(((name, i), other)) in left) for other in case.items()) for i in choices]
            best = max(gains)
            case[name] = rng.choice([i for i, gain in zip(choices, gains) if gain == best])
        return case

    def pairs_of(case):
        return {frozenset(pair) for pair in itertools.combinations(case.items(), 2)}

    left = {frozenset(((a, i), (b, j))) for a, b in itertools.combinations(names, 2)
            for i in range(len(levels[a])) for j in range(len(levels[b]))}
    position = {name: k for k, name in enumerate(names)}
    ordered = sorted(left, key=lambda pair: sorted((position[n], i) for n, i in pair))
    rng.shuffle(ordered)
    cases, impossible = list(kept), []
    for case in kept:
        left -= pairs_of(case)
    for pair in ordered:
        if pair not in left:
            continue
        start = dict(pair)
        tries = []
        if all(allowed({n: i for n, i in start.items() if n != name}, name, index) for name, index in start.items()):
            for _ in range(ORDERS):
                case = completed(start, left)
                if case:
                    tries.append((len(pairs_of(case) & left), len(tries), case))
                if len(tries) == TRIES:
                    break
        if not tries:
            impossible.append(pair)
            left.discard(pair)
            continue
        best = max(tries)[2]
        left -= pairs_of(best)
        cases.append(best)
    return cases, impossible
