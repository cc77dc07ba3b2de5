"""How far two engines agree on a quantized network; the standard library
only."""


def first_greatest(codes):
    return max(range(len(codes)), key=codes.__getitem__)


class Agreement:
    """Of the outputs that were added, pair by pair, as lists of codes."""

    def __init__(self):
        self.codes = self.equal_codes = self.largest = 0
        self.outputs = self.equal_tops = 0

    def add(self, ours, theirs):
        if len(ours) != len(theirs) or not ours:
            raise ValueError("%d and %d codes" % (len(ours), len(theirs)))
        differences = [abs(a - b) for a, b in zip(ours, theirs)]
        self.codes += len(differences)
        self.equal_codes += differences.count(0)
        self.largest = max(self.largest, *differences)
        self.outputs += 1
        self.equal_tops += first_greatest(ours) == first_greatest(theirs)

    def figures(self):
        """Shares of the codes that are equal, and of the outputs whose greatest
        code, the first where several are, is at the same place."""
        return {
            "outputs": self.outputs,
            "equal": self.equal_codes / self.codes,
            "largest": self.largest,
            "top1": self.equal_tops / self.outputs,
        }
