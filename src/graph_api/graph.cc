// Collects ops, and checks how their tensors connect them.
#include "graph_api/graph.h"

#include <algorithm>
#include <string>
#include <utility>

#include "graph_api/logical_tensor.h"

namespace tim::graph {
namespace {

std::string NameOf(const Op& op) {
  return StrCat("op ", op.id, " '", op.name, "'");
}

bool AreSame(const std::vector<LogicalTensor>& a,
             const std::vector<LogicalTensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const LogicalTensor& one, const LogicalTensor& other) {
                      return graph::AreSame(one, other);
                    });
}

// Names do not count.
bool AreSame(const Op& a, const Op& b) {
  return a.kind == b.kind && a.attributes == b.attributes &&
         a.named == b.named && AreSame(a.inputs, b.inputs) &&
         AreSame(a.outputs, b.outputs);
}

/// Producers of tensors, and what ops say of them.
class Connections {
 public:
  explicit Connections(const std::vector<Op>& ops) : ops_(ops) {}

  Status Connect() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      for (const LogicalTensor& tensor : ops_[i].outputs) {
        TIM_RETURN_IF_ERROR(Describe(i, tensor));
        const auto [known, is_first] = producers_.emplace(tensor.id, i);
        if (!is_first) {
          return InvalidArgument("tensor ", tensor.id, " is made by ",
                                 NameOf(ops_[known->second]), " and by ",
                                 NameOf(ops_[i]),
                                 "; give each output an id of its own");
        }
      }
      for (const LogicalTensor& tensor : ops_[i].inputs) {
        TIM_RETURN_IF_ERROR(Describe(i, tensor));
      }
    }
    return CheckAcyclic();
  }

 private:
  struct Description {
    size_t op;
    const LogicalTensor* tensor;
  };

  Status Describe(size_t op, const LogicalTensor& tensor) {
    const auto [known, is_first] =
        descriptions_.emplace(tensor.id, Description{op, &tensor});
    if (is_first || graph::AreSame(*known->second.tensor, tensor)) {
      return OkStatus();
    }
    return InvalidArgument(
        "tensor ", tensor.id, " is ", ToString(*known->second.tensor), " for ",
        NameOf(ops_[known->second.op]), " and ", ToString(tensor), " for ",
        NameOf(ops_[op]),
        "; type, dims, property, layout and strides must be equal wherever an "
        "id is used");
  }

  // Takes away ops that wait for none until no more can be.
  Status CheckAcyclic() const {
    std::vector<std::vector<size_t>> readers(ops_.size());
    std::vector<size_t> waits_for(ops_.size(), 0);
    for (size_t i = 0; i < ops_.size(); ++i) {
      for (const LogicalTensor& tensor : ops_[i].inputs) {
        const auto producer = producers_.find(tensor.id);
        if (producer == producers_.end()) continue;
        readers[producer->second].push_back(i);
        ++waits_for[i];
      }
    }
    std::vector<size_t> ready;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (waits_for[i] == 0) ready.push_back(i);
    }
    for (size_t next = 0; next < ready.size(); ++next) {
      for (const size_t reader : readers[ready[next]]) {
        if (--waits_for[reader] == 0) ready.push_back(reader);
      }
    }
    if (ready.size() == ops_.size()) return OkStatus();
    return InvalidArgument("the graph has a cycle: ", Cycle(waits_for),
                           "; break it, or leave an op outside");
  }

  // "op 1 'a' reads op 2 'b' reads op 1 'a'".  Every op that waits reads one
  // that waits, so that going back comes round.
  std::string Cycle(const std::vector<size_t>& waits_for) const {
    constexpr size_t kMostNamed = 8;
    size_t op = 0;
    while (waits_for[op] == 0) ++op;
    std::vector<size_t> path;
    std::vector<bool> seen(ops_.size(), false);
    while (!seen[op]) {
      seen[op] = true;
      path.push_back(op);
      for (const LogicalTensor& tensor : ops_[op].inputs) {
        const auto producer = producers_.find(tensor.id);
        if (producer == producers_.end()) continue;
        if (waits_for[producer->second] == 0) continue;
        op = producer->second;
        break;
      }
    }
    const auto begin = std::find(path.begin(), path.end(), op);
    std::string text;
    for (auto at = begin; at != path.end(); ++at) {
      if (static_cast<size_t>(at - begin) == kMostNamed) {
        return StrCat(text, "... (", path.end() - begin, " ops)");
      }
      text += StrCat(NameOf(ops_[*at]), " reads ");
    }
    return text + NameOf(ops_[op]);
  }

  const std::vector<Op>& ops_;
  std::unordered_map<size_t, Description> descriptions_;
  std::unordered_map<size_t, size_t> producers_;
};

}  // namespace

Status Graph::SetFpmathMode(tim_graph_fpmath_mode_t mode, bool applies_to_int) {
  if (finalized_) {
    return FailedPrecondition(
        "the graph is finalized: set its fpmath mode before finalize()");
  }
  traits_.fpmath_mode = mode;
  traits_.fpmath_applies_to_int = applies_to_int;
  return OkStatus();
}

Status Graph::AddOp(const OpTable& table, Op op) {
  if (finalized_) {
    return FailedPrecondition("op ", op.id, " '", op.name,
                              "': the graph is finalized and takes no more "
                              "ops; add them before finalize()");
  }
  TIM_RETURN_IF_ERROR(CheckOp(table, &op));
  const auto [known, is_first] = index_of_id_.emplace(op.id, ops_.size());
  if (is_first) {
    ops_.push_back(std::move(op));
    return OkStatus();
  }
  const Op& other = ops_[known->second];
  if (AreSame(other, op)) return OkStatus();
  return InvalidArgument(NameOf(op), " of kind ", op.def->name,
                         ": the graph has another op with this id, ",
                         NameOf(other), " of kind ", other.def->name,
                         "; give each op an id of its own");
}

Status Graph::Finalize() {
  if (finalized_) return OkStatus();
  TIM_RETURN_IF_ERROR(Connections(ops_).Connect());
  finalized_ = true;
  return OkStatus();
}

Status Graph::Filter(const PartitionOptions& options) {
  if (!finalized_) {
    return FailedPrecondition(
        "the graph is not finalized: call finalize() before it is "
        "partitioned");
  }
  TIM_ASSIGN_OR_RETURN(partitions_, MakePartitions(ops_, traits_, options));
  return OkStatus();
}

}  // namespace tim::graph
