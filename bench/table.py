"""Tables of figures, printed row by row and written as JSON."""

import json

CELL = " %16s"


class Table:
    """`columns`: key in a result -> heading."""

    def __init__(self, name, columns):
        self.columns, self.results = columns, []
        self._print(name, columns.values())

    def add(self, name, result):
        self.results.append(result)
        self._print(name, ["%.3f" % result[key] for key in self.columns])

    def write(self, path):
        with open(path, "w") as file:
            json.dump(self.results, file, indent=2)

    @staticmethod
    def _print(name, cells):
        row = "%-14s" % name + "".join(CELL % cell for cell in cells)
        print(row, flush=True)
