#include "compiler/module.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"

namespace tim::compiler {

bool FitInPlace(const Module& module, const ir::Node& node,
                const ir::InPlacePair& pair) {
  const ir::ValueId from = node.inputs[pair.input];
  const ir::ValueId to = node.outputs[pair.output];
  if (from == ir::kNone || to == ir::kNone ||
      module.graph.value(from).producer == ir::kNone ||
      module.locations[from] != module.locations[to]) {
    return false;
  }
  const auto from_bytes = ir::ByteSize(module.graph.value(from).desc);
  const auto to_bytes = ir::ByteSize(module.graph.value(to).desc);
  return from_bytes.ok() && to_bytes.ok() && *from_bytes == *to_bytes;
}

Result<ir::KernelProblem> Analyze(const Module& module,
                                  const ir::KernelDef& kernel,
                                  const ir::KernelNode& node, int device) {
  for (const RefusedKernel& refused : module.options.refused) {
    if (refused.device == device && refused.kernel == kernel.name &&
        (refused.node.empty() || refused.node == node.node->name)) {
      return Unimplemented("it cannot run here: ", refused.reason);
    }
  }
  return ir::Analyze(kernel, node, module.device(device));
}

ir::KernelNode ViewOf(const Module& module, const ir::Graph& graph,
                      const ir::Node& node) {
  ir::KernelNode view = ir::MakeKernelNode(graph, node);
  view.many_shapes = module.options.many_shapes;
  return view;
}

std::string Describe(const ir::Graph& graph, const ir::Node& node) {
  std::string text = StrCat("operation ", node.name);
  if (!graph.name().empty()) text += StrCat(" of graph '", graph.name(), "'");
  return text;
}

Status Doubt(const Module& module, const ir::Graph& graph, const ir::Node& node,
             const std::string& text) {
  if (module.options.was_compiled || !module.options.refused.empty()) {
    return OkStatus();
  }
  if (!module.options.lenient) {
    return InvalidArgument(text, " (TIMCL_LENIENT=0)");
  }
  const std::string warning = StrCat(Describe(graph, node), ": ", text);
  std::set<std::string>* known = module.options.known_doubts;
  if (known != nullptr && !known->insert(warning).second) return OkStatus();
  TIM_LOG(kWarning, warning, DescribeOperands(graph, node));
  return OkStatus();
}

std::string DescribeOperands(const ir::Graph& graph, const ir::Node& node) {
  constexpr size_t kShown = 16;
  std::string text;
  const auto add = [&](const char* what, const std::vector<ir::ValueId>& ids) {
    for (size_t i = 0; i < ids.size() && i < kShown; ++i) {
      text += StrCat("\n  ", what, " ", i, ": ");
      text += ids[i] == ir::kNone ? "not bound"
                                  : StrCat(graph.value(ids[i]).name, " ",
                                           graph.value(ids[i]).desc.ToString());
    }
    if (ids.size() <= kShown) return;
    text += StrCat("\n  and ", ids.size() - kShown, " more ", what, "s");
  };
  add("input", node.inputs);
  add("output", node.outputs);
  return text;
}

int64_t BytesOf(const ir::TensorDesc& desc) {
  const Result<int64_t> bytes = ir::ByteSize(desc);
  return bytes.ok() ? *bytes : 0;
}

bool IsPinned(const Module& module, ir::NodeId id) {
  return module.graph.node(id).device >= 0;
}

namespace {

// The graph's inputs of open shapes that a value is made of: "input x [?,8]".
std::vector<std::string> OpenInputs(const ir::Graph& graph, ir::ValueId id) {
  std::vector<std::string> open;
  std::vector<ir::ValueId> reached = {id};
  std::set<ir::ValueId> seen = {id};
  for (size_t i = 0; i < reached.size(); ++i) {
    const ir::Value& value = graph.value(reached[i]);
    if (value.producer != ir::kNone) {
      for (const ir::ValueId input : graph.node(value.producer).inputs) {
        if (input != ir::kNone && seen.insert(input).second) {
          reached.push_back(input);
        }
      }
    } else if (!value.desc.shape.IsStatic()) {
      open.push_back(
          StrCat("input ", value.name, " ", value.desc.shape.ToString()));
    }
  }
  return open;
}

}  // namespace

Status CheckStaticShapes(const ir::Graph& graph) {
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    if (value.desc.shape.IsStatic()) continue;
    if (value.producer == ir::kNone && value.uses.empty()) continue;
    const std::string text =
        StrCat("tensor ", value.name, ": the shape ",
               value.desc.shape.ToString(), " is not known at compile time");
    const std::vector<std::string> open = OpenInputs(graph, id);
    if (open.empty()) {
      return FailedPrecondition(text, "; an operator leaves it to its data");
    }
    return FailedPrecondition(text, ", as ", StrJoin(open, ", "),
                              open.size() == 1 ? " leaves" : " leave",
                              " it open; give full shapes there");
  }
  return OkStatus();
}

bool HasRankedOperands(const ir::Graph& graph, const ir::Node& node) {
  const auto is_ranked = [&](ir::ValueId id) {
    return id == ir::kNone || graph.value(id).desc.shape.ranked();
  };
  return std::all_of(node.inputs.begin(), node.inputs.end(), is_ranked) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), is_ranked);
}

bool HasStaticOperands(const ir::Graph& graph, const ir::Node& node) {
  const auto is_static = [&](ir::ValueId id) {
    return id == ir::kNone || graph.value(id).desc.shape.IsStatic();
  };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), is_static) ||
      !std::all_of(node.outputs.begin(), node.outputs.end(), is_static)) {
    return false;
  }
  if (!node.composite) return true;
  const ir::Graph& body = node.composite->body;
  const std::vector<ir::NodeId> ids = body.NodeIds();
  return std::all_of(ids.begin(), ids.end(), [&](ir::NodeId id) {
    return HasStaticOperands(body, body.node(id));
  });
}

}  // namespace tim::compiler
