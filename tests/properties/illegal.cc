// Nodes that Compile must refuse.
#include "tests/properties/properties.h"

namespace tim::testing {

Status IllegalNodesAreRefused(const Described& described) {
  if (!described.cases.illegal) return InvalidArgument("no illegal cases");
  for (const IllegalCase& illegal : described.cases.illegal()) {
    const auto made = MakeNode(illegal.node, described.registry);
    if (made.ok()) {
      return InvalidArgument("taken, but expected to be refused with '",
                             illegal.word, "':\n", Dump(illegal.node));
    }
    if (made.status().message().find(illegal.word) != std::string::npos) {
      continue;
    }
    return InvalidArgument("refused with '", made.status().message(),
                           "', expected '", illegal.word, "':\n",
                           Dump(illegal.node));
  }
  return OkStatus();
}

}  // namespace tim::testing
