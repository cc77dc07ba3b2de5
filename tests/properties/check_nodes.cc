// Random nodes against a property; a failure is made smaller before it is told.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

#include "tests/properties/properties.h"
#include "tests/support/long_tests.h"

namespace tim::testing {
namespace {

struct Trial {
  uint32_t seed = 0;
  int size = 0;
  Status status;
  std::string node;  ///< Its dump.
};

uint32_t OffsetOf(const std::string& op) {
  uint32_t offset = 0;
  for (const char c : op) offset = offset * 31 + static_cast<uint8_t>(c);
  return offset;
}

Trial Try(const Described& described, Property property, uint32_t seed,
          int size, int types) {
  CaseRng rng(seed, size,
              {.limit = types, .offset = OffsetOf(described.cases.op)});
  const NodeCase node = described.cases.legal(rng);
  return {seed, size, property(described, node, rng), Dump(node)};
}

// The first failure of a smaller size, which a few seeds are tried for.
Trial Shrink(const Described& described, Property property, Trial failed,
             int types) {
  constexpr uint32_t kSeeds = 6;
  for (int size = 0; size < failed.size; ++size) {
    for (uint32_t i = 0; i < kSeeds; ++i) {
      Trial trial = Try(described, property, failed.seed + i, size, types);
      if (!trial.status.ok()) return trial;
    }
  }
  return failed;
}

int NumberFrom(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

RandomNodes NodesOfThisRun() {
  return {.seed = static_cast<uint32_t>(NumberFrom("TIMCL_TEST_SEED", 1)),
          .count = RunsLongTests() ? 200 : 20,
          .size = NumberFrom("TIMCL_TEST_SIZE", CaseRng::kFullSize)};
}

RandomNodes NodesWithPrograms() {
  constexpr int kTypes = 4;
  constexpr int kNodes = 4;
  RandomNodes nodes = NodesOfThisRun();
  if (RunsLongTests()) return nodes;
  nodes.types = kTypes;
  nodes.count = kNodes;
  return nodes;
}

Status CheckNodes(const Described& described, Property property,
                  const RandomNodes& nodes) {
  for (int i = 0; i < nodes.count; ++i) {
    const uint32_t seed = nodes.seed + static_cast<uint32_t>(i);
    Trial trial = Try(described, property, seed, nodes.size, nodes.types);
    if (trial.status.ok()) continue;
    trial = Shrink(described, property, std::move(trial), nodes.types);
    return Status(trial.status.code(),
                  StrCat(trial.status.message(), "\n", trial.node,
                         "  repeat it with TIMCL_TEST_SEED=", trial.seed,
                         " TIMCL_TEST_SIZE=", trial.size,
                         RunsLongTests() ? " TIMCL_TEST_LONG=1" : ""));
  }
  return OkStatus();
}

}  // namespace tim::testing
