// Compiles a partition with content that stands for its constants', and keeps
// only what clients must know before executes bring it.
#include "graph_api/plan_probe.h"

#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "compiler/compiler.h"
#include "graph_api/lower_ops.h"

namespace tim::graph {
namespace {

// Bits of 0.5, with which no operator is an identity.
uint32_t HalfOf(ir::DataType type) {
  struct Row {
    ir::DataType type;
    uint32_t bits;
  };
  constexpr Row kRows[] = {{ir::DataType::kFloat32, 0x3f000000},
                           {ir::DataType::kFloat16, 0x3800},
                           {ir::DataType::kBFloat16, 0x3f00}};
  for (const Row& row : kRows) {
    if (row.type == type) return row.bits;
  }
  return 0;
}

// Floating-point numbers are 0.5, integers 0, as most zero points are.
Result<std::shared_ptr<const ir::ConstantData>> StandIn(
    const LogicalTensor& tensor) {
  const ir::TensorDesc desc = InnerDesc(tensor);
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
  std::vector<std::byte> content(static_cast<size_t>(bytes));
  const uint32_t half = HalfOf(desc.type);
  const auto size = static_cast<size_t>(ir::Info(desc.type).bits / 8);
  if (half != 0) {
    for (size_t i = 0; i < content.size(); i += size) {
      std::memcpy(&content[i], &half, size);
    }
  }
  return ir::MakeConstant(content);
}

}  // namespace

Result<ProbedPlan> ProbePlan(const PlanSource& source,
                             std::span<const size_t> constants) {
  KnownInputs known;
  for (const size_t input : constants) {
    const LogicalTensor& tensor = source.inputs[input];
    TIM_ASSIGN_OR_RETURN(known[tensor.id], StandIn(tensor));
  }
  TIM_ASSIGN_OR_RETURN(
      LoweredOps lowered,
      LowerOps(source.name, source.ops, source.inputs, source.outputs, known));
  TIM_ASSIGN_OR_RETURN(PortedGraph ported,
                       AddPorts(std::move(lowered), source.input_places,
                                source.output_places, *source.engine));
  TIM_ASSIGN_OR_RETURN(
      const ir::Plan plan,
      compiler::Compile(std::move(ported.graph),
                        *source.engine->surroundings().operators,
                        ported.options));
  ProbedPlan probed{.arenas = plan.arenas,
                    .outputs = OutputsOf(plan, ported.output_orders),
                    .ports = std::move(ported.outputs)};
  return probed;
}

}  // namespace tim::graph
