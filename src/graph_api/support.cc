// Asks compiler and devices about one op.
#include "graph_api/support.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "compiler/compiler.h"
#include "graph_api/engine.h"
#include "graph_api/lower_ops.h"
#include "graph_api/op_def.h"
#include "graph_api/partitioning.h"
#include "graph_api/runnable.h"
#include "ir/plan.h"
#include "ops/registered.h"

namespace tim::graph {
namespace {

std::string NameOf(const ir::DeviceInfo& info) {
  return info.kind == "host" ? info.kind : StrCat(info.kind, ": ", info.name);
}

std::vector<PortPlace> PlacesOf(const std::vector<LogicalTensor>& ports,
                                tim_graph_engine_kind_t kind) {
  std::vector<PortPlace> places;
  for (const LogicalTensor& tensor : ports) {
    PortPlace& place = places.emplace_back();
    place.id = tensor.id;
    const bool on_host =
        kind == tim_graph_cpu ||
        tensor.property == tim_graph_tensor_property_host_scalar;
    place.port.device = on_host ? 0 : 1;
  }
  return places;
}

bool HasKnownInputs(const Op& op) {
  return std::all_of(op.inputs.begin(), op.inputs.end(), HasKnownDims);
}

// Plan of an op whose inputs' dims are known; nothing is built.
Result<ir::Plan> PlanOf(const Op& op, const Engine& engine) {
  const std::vector<LogicalTensor> inputs = PortsOf({op}).inputs;
  TIM_ASSIGN_OR_RETURN(LoweredOps lowered,
                       LowerOps(op.name, {op}, inputs, op.outputs));
  TIM_ASSIGN_OR_RETURN(
      PortedGraph ported,
      AddPorts(std::move(lowered), PlacesOf(inputs, engine.kind()),
               PlacesOf(op.outputs, engine.kind()), engine));
  return compiler::Compile(std::move(ported.graph), ops::KnownOperators(),
                           ported.options);
}

// The device that does most: the engine's own where it does anything.
std::string DeviceOf(const ir::Plan& plan, const Engine& engine) {
  const auto is_host = [&](const ir::Step& step) { return step.device == 0; };
  const bool host_alone =
      !plan.steps.empty() &&
      std::all_of(plan.steps.begin(), plan.steps.end(), is_host);
  return host_alone ? "host" : NameOf(engine.device()->info());
}

Status CheckOn(const Op& op, const Engine& engine) {
  if (!HasKnownInputs(op)) {
    if (engine.device()->info().kind != "host") return OkStatus();
    return Unimplemented(op.def->name, " has a kernel of OpenCL alone, and ",
                         tim_graph_engine_kind2str(engine.kind()),
                         " engines compute on the host");
  }
  const Result<ir::Plan> plan = PlanOf(op, engine);
  if (plan.ok() || plan.status().code() != StatusCode::kUnimplemented) {
    return OkStatus();
  }
  return plan.status();
}

OpSupport Query(Op op, tim_graph_engine_kind_t kind) {
  OpSupport answer;
  Status status = CheckOp(BuiltinOps(), &op);
  if (status.ok()) status = CheckSupported(op, kind);
  if (!status.ok()) {
    answer.reason = status.message();
    return answer;
  }
  answer.supported = true;
  Result<EngineParts> parts = SelectEngine(kind, 0, nullptr);
  if (!parts.ok()) {
    answer.reason = parts.status().message();
    return answer;
  }
  const Engine engine(*std::move(parts));
  answer.device = NameOf(engine.device()->info());
  if (!HasKnownInputs(op)) return answer;
  const Result<ir::Plan> plan = PlanOf(op, engine);
  if (plan.ok()) {
    answer.device = DeviceOf(*plan, engine);
  } else {
    answer.device.clear();
    answer.reason = plan.status().message();
  }
  return answer;
}

}  // namespace

Status CheckRuns(const Op& op, tim_graph_engine_kind_t kind) {
  Result<EngineParts> parts = SelectEngine(kind, 0, nullptr);
  if (!parts.ok()) {
    return Unimplemented("no engine of kind ", tim_graph_engine_kind2str(kind),
                         " can run ", op.def->name, ": ",
                         parts.status().message());
  }
  return CheckOn(op, Engine(*std::move(parts)));
}

OpSupport QuerySupport(Op op, tim_graph_engine_kind_t kind) {
  OpSupport answer;
  const Status status = GuardedCall([&] {
    answer = Query(std::move(op), kind);
    return OkStatus();
  });
  if (!status.ok()) return {.supported = false, .reason = status.message()};
  return answer;
}

}  // namespace tim::graph
