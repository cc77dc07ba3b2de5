"""Tables of figures, printed row by row, and JSON files of them."""

import json


class Table:
    """`columns`: key of a row -> heading and format of its cells."""

    WIDTH = 16  # of a cell; that of the name is the longest name's

    def __init__(self, name, columns, name_width=14):
        self.name_format = "%%-%ds" % name_width
        self.columns = columns
        self._print(name, [heading for heading, _ in columns.values()])

    def add(self, name, row):
        """Cells of which `row` has no key stay empty."""
        self._print(
            name,
            [
                form % row[key] if key in row else ""
                for key, (_, form) in self.columns.items()
            ],
        )

    def _print(self, name, cells):
        cells = [cell.rjust(self.WIDTH) for cell in cells]
        print(self.name_format % name, *cells, flush=True)


def write_json(path, results):
    """Does nothing where `path` is None."""
    if path:
        with open(path, "w") as file:
            json.dump(results, file, indent=2)
