#define TWIN_FACTOR 3
#include "tests/support/twins/twin.h"
#include "tests/support/twins/twins.h"

namespace tim::testing {

std::shared_ptr<vx::Operation> AddTwinOfThree(vx::Graph* graph) {
  return graph->CreateOperation<Twin>();
}

}  // namespace tim::testing
