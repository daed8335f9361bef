"""Reduces a row of numbers by picire. Verdicts come from whoever started it: a candidate is a line of
numbers, the answer is `fail` or another word. The last line is `left` and what is left.

    picire_peer.py default|backward SIZE

`default` is picire as it comes, `backward` takes away only, from the end, in balanced parts.
"""
import sys

import picire
from picire.config_iterators import backward, skip
from picire.config_splitters import BalancedSplit

SETTINGS = {
    "default": {},
    "backward": {
        "split": BalancedSplit(),
        "subset_first": False,
        "subset_iterator": skip,
        "complement_iterator": backward,
    },
}


def test(config, _):
    print(*config, flush=True)
    answer = sys.stdin.readline().strip()
    return picire.Outcome.FAIL if answer == "fail" else picire.Outcome.PASS


def main():
    reduce = picire.DD(test, **SETTINGS[sys.argv[1]])
    print("left", *reduce(list(range(int(sys.argv[2])))), flush=True)


main()
