// Nodes that compute the same from the same become one, as constants with the
// same content do.
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/effects.h"
#include "compiler/passes/passes.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using ir::ValueId;

bool IsSameValue(const Value& a, const Value& b) {
  return a.desc == b.desc && a.is_scalar == b.is_scalar;
}

// Random and ordered effects are those of each node by itself.
bool MayMerge(const Node& node) {
  return node.schema != nullptr && !HasEffects(node);
}

class Merger {
 public:
  explicit Merger(Graph* graph) : graph_(*graph) {}

  Status Run() {
    MergeConstants();
    TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                         graph_.TopologicalOrder());
    for (const ir::NodeId id : order) Visit(id);
    return OkStatus();
  }

 private:
  void MergeConstants() {
    std::unordered_multimap<uint64_t, ValueId> seen;
    for (const ValueId id : graph_.ValueIds()) {
      const Value& value = graph_.value(id);
      if (value.role != ir::Role::kConstant || value.constant == nullptr) {
        continue;
      }
      const uint64_t key = value.constant->hash.low;
      const auto [first, last] = seen.equal_range(key);
      auto it = first;
      while (it != last && !IsSameConstant(graph_.value(it->second), value)) {
        ++it;
      }
      if (it == last) {
        seen.emplace(key, id);
      } else {
        graph_.ReplaceUses(id, it->second);
      }
    }
  }

  static bool IsSameConstant(const Value& a, const Value& b) {
    return IsSameValue(a, b) && a.constant->hash == b.constant->hash &&
           a.constant->bytes.size() == b.constant->bytes.size();
  }

  void Visit(ir::NodeId id) {
    const Node& node = graph_.node(id);
    if (!MayMerge(node)) return;
    std::string key = StrCat(reinterpret_cast<uintptr_t>(node.schema), " ",
                             StrJoin(node.inputs, ","));
    const auto [first, last] = seen_.equal_range(key);
    for (auto it = first; it != last; ++it) {
      if (!IsSameNode(graph_.node(it->second), node)) continue;
      Replace(id, it->second);
      return;
    }
    seen_.emplace(std::move(key), id);
  }

  // Operators that consist of others have the same bodies for the same inputs.
  bool IsSameNode(const Node& a, const Node& b) const {
    const bool same_body =
        a.composite == b.composite || (a.schema && a.schema->decompose);
    if (!same_body || a.schema != b.schema || a.device != b.device ||
        a.inputs != b.inputs || a.attributes != b.attributes ||
        a.outputs.size() != b.outputs.size()) {
      return false;
    }
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      if ((a.outputs[i] == ir::kNone) != (b.outputs[i] == ir::kNone)) {
        return false;
      }
      if (a.outputs[i] != ir::kNone &&
          !IsSameValue(graph_.value(a.outputs[i]),
                       graph_.value(b.outputs[i]))) {
        return false;
      }
    }
    return true;
  }

  // Outputs of the graph keep their names.
  void Replace(ir::NodeId id, ir::NodeId kept) {
    const std::vector<ValueId> from = graph_.node(id).outputs;
    const std::vector<ValueId> to = graph_.node(kept).outputs;
    graph_.RemoveNode(id);
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i] == ir::kNone) continue;
      if (graph_.IsOutput(from[i]) && !graph_.IsOutput(to[i])) {
        graph_.value(to[i]).name = graph_.value(from[i]).name;
      }
      graph_.ReplaceUses(from[i], to[i]);
    }
  }

  Graph& graph_;
  std::unordered_multimap<std::string, ir::NodeId> seen_;
};

}  // namespace

Status MergeEqual(Module& module) { return Merger(&module.graph).Run(); }

}  // namespace tim::compiler
