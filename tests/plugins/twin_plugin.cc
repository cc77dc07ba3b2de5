// A shared library with an operator of its own, TWIN_FACTOR times its input.
#include "tests/support/twins/twin.h"

/// Adds one, bound to `x` and `y`.
extern "C" void AddTwin(tim::vx::Graph* graph,
                        const std::shared_ptr<tim::vx::Tensor>* x,
                        const std::shared_ptr<tim::vx::Tensor>* y) {
  graph->CreateOperation<Twin>()->BindInput(*x).BindOutput(*y);
}
