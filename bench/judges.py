"""What compare says of the outputs that engines give for the same inputs."""

import numpy as np

import numpy_codes
from agreement import Agreement

NUMPY = "numpy"


class Differences:
    """Of float32 networks: the greatest from a peer's, of every engine."""

    def __init__(self, network, peers):
        self.peers = peers
        self.worst = {}

    def add(self, inputs, outputs):
        """Those of one turn, by engine; each an array of one or more."""
        for name, found in outputs.items():
            for peer in self.peers:
                for ours, theirs in zip(found, outputs[peer]):
                    worst = np.abs(ours - theirs).max() / np.abs(theirs).max()
                    before = self.worst.get(name, 0.0)
                    self.worst[name] = max(before, float(worst))

    def figures(self, name):
        return {"max_difference": self.worst[name]}

    def base_figures(self, name):
        return {"base_difference": self.worst[name]}


class Agreements:
    """Of quantized networks, whose float32 outputs stand for codes."""

    def __init__(self, network, peers):
        self.network = network
        *_, coded, _ = network["layers"]
        (self.scale,) = coded["codes"]["scales"]
        self.zero_point = coded["codes"]["zero_point"]
        self.peers = peers
        self.found = {}

    def add(self, inputs, outputs):
        if not self.found:
            self.add_numpy(inputs[0], outputs)
        codes = {name: self.codes(found) for name, found in outputs.items()}
        for name, found in codes.items():
            for peer in self.peers:
                agreement = self.found.setdefault((name, peer), Agreement())
                for ours, theirs in zip(found, codes[peer]):
                    agreement.add(ours, theirs)

    def add_numpy(self, x, outputs):
        """Of one input, which takes long."""
        theirs = numpy_codes.run(self.network, x).reshape(-1).tolist()
        for name, found in outputs.items():
            agreement = self.found[name, NUMPY] = Agreement()
            agreement.add(self.codes(found[:1])[0], theirs)

    def codes(self, outputs):
        """A list for every output."""
        rounded = np.rint(outputs / np.float64(self.scale)) + self.zero_point
        return rounded.reshape(len(outputs), -1).astype(int).tolist()

    def figures(self, name):
        """With each peer and NumPy; and of the first peer with the others."""
        first, *others = self.peers
        return {
            "agreement": self.agreements(name, [*self.peers, NUMPY]),
            "peers_agreement": self.agreements(first, others),
        }

    def base_figures(self, name):
        peers = [*self.peers, NUMPY]
        return {"base_agreement": self.agreements(name, peers)}

    def agreements(self, name, peers):
        return {peer: self.found[name, peer].figures() for peer in peers}
