"""The networks, and their types, that the options ask for; the standard library
only."""

import environment


def add_options(parser):
    def words(text):
        return text.split(",")

    parser.add_argument("--networks", type=words, help="default: all")
    parser.add_argument(
        "--types",
        type=words,
        default=environment.TYPES,
        help=",".join(environment.TYPES),
    )


def selected(parser, arguments):
    """Pairs of a network and a type, those in float32 first.  What is not there
    is a mistake where it was asked for by name."""
    types = arguments.types
    quantized = environment.QUANTIZED_NETWORKS.split(",")
    for name in types:
        if name not in environment.TYPES:
            parser.error("no type %s; there are %s" % (name, environment.TYPES))
    for name in arguments.networks or []:
        if "float32" not in types and name not in quantized:
            parser.error("no %s in 8 bits; there are %s" % (name, quantized))
    names = arguments.networks or environment.NETWORKS.split(",")
    floats = [(name, "float32") for name in names if "float32" in types]
    coded = [name for name in names if name in quantized]
    others = [name for name in types if name != "float32"]
    return floats + [(name, each) for name in coded for each in others]
