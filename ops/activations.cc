// Relu and Relu6: activations of one input.
#include "ir/op_registry.h"
#include "ops/internal/unary.h"

namespace tim::ops {
namespace {

constexpr char kSource[] = "ops/activations.cl";

// NaN stays NaN, as in activations.clh.
std::vector<UnaryOp> Activations() {
  return {
      {.name = "Relu",
       .function = "RELU",
       .real = [](float x, UnaryParameters) { return x < 0 ? 0.0f : x; },
       .integer = [](int64_t x) { return x < 0 ? 0 : x; }},
      {.name = "Relu6",
       .function = "RELU6",
       .real = [](float x,
                  UnaryParameters) { return x < 0   ? 0.0f
                                            : x > 6 ? 6.0f
                                                    : x; },
       .integer = [](int64_t x) -> int64_t {
         return x < 0 ? 0 : x > 6 ? 6 : x;
       }},
  };
}

}  // namespace

TIM_OPERATOR(activations) {
  for (const UnaryOp& op : Activations()) {
    registry.Add(UnarySchema(op));
    registry.Add(UnaryTableKernel(op.name));
    registry.Add(UnaryKernel(op, kSource));
  }
}

}  // namespace tim::ops
