// Orders nodes by the names that they read and define, and checks those.
#include "models/onnx/subgraphs.h"

#include <queue>
#include <utility>

namespace tim::models::onnx {
namespace {

// Graphs in graphs.
constexpr int kMostDepth = 32;

using Names = std::set<std::string_view>;

// Adds the names that nodes of `graph` read and neither it nor `inner` defines.
Status AddOuterReads(const GraphMessage& graph, Subgraphs* subgraphs, int depth,
                     Names* reads);

// Adds the names that the subgraphs of `node` read from outside.
Status AddCaptured(const NodeMessage& node, Subgraphs* subgraphs, int depth,
                   Names* reads) {
  for (const AttributeMessage& attribute : node.attributes) {
    if (attribute.kind != static_cast<int64_t>(AttributeKind::kGraph)) continue;
    if (depth >= kMostDepth) {
      return InvalidArgument("graphs are nested more than ", kMostDepth,
                             " deep");
    }
    TIM_ASSIGN_OR_RETURN(const GraphMessage* graph, subgraphs->Read(attribute));
    TIM_RETURN_IF_ERROR(AddOuterReads(*graph, subgraphs, depth + 1, reads));
  }
  return OkStatus();
}

Status AddOuterReads(const GraphMessage& graph, Subgraphs* subgraphs, int depth,
                     Names* reads) {
  Names own;
  Names read;
  for (const ValueMessage& input : graph.inputs) own.insert(input.name);
  for (const TensorMessage& tensor : graph.initializers) {
    own.insert(tensor.name);
  }
  for (const SparseMessage& sparse : graph.sparse_initializers) {
    own.insert(sparse.values.name);
  }
  for (const NodeMessage& node : graph.nodes) {
    own.insert(node.outputs.begin(), node.outputs.end());
    read.insert(node.inputs.begin(), node.inputs.end());
    TIM_RETURN_IF_ERROR(AddCaptured(node, subgraphs, depth, &read));
  }
  for (const ValueMessage& output : graph.outputs) read.insert(output.name);
  for (const std::string_view name : read) {
    if (own.count(name) == 0) reads->insert(name);
  }
  return OkStatus();
}

// Nodes by who must run before whom.
class Order {
 public:
  Order(const NodeList& list, Subgraphs* subgraphs)
      : list_(list), subgraphs_(subgraphs) {}

  Result<std::vector<size_t>> Make() {
    TIM_RETURN_IF_ERROR(FindProducers());
    TIM_RETURN_IF_ERROR(FindReads());
    TIM_ASSIGN_OR_RETURN(const std::vector<size_t> sorted, Sort());
    return OnlyNeeded(sorted);
  }

 private:
  size_t count() const { return list_.nodes->size(); }
  std::string Label(size_t i) const { return LabelOf((*list_.nodes)[i], i); }

  Status FindProducers() {
    for (size_t i = 0; i < count(); ++i) {
      for (const std::string_view name : (*list_.nodes)[i].outputs) {
        if (name.empty()) continue;
        const bool is_new = producers_.emplace(name, i).second;
        if (!is_new || list_.given.count(name) != 0) {
          return InvalidArgument("node ", Label(i), ": the name '", name,
                                 "' is defined twice");
        }
      }
    }
    return OkStatus();
  }

  // The node that makes `name`, or -1 where it is given; fails where nobody
  // defines it.
  Result<int64_t> ProducerOf(std::string_view name) const {
    const auto found = producers_.find(name);
    if (found != producers_.end()) return static_cast<int64_t>(found->second);
    if (list_.given.count(name) != 0) return int64_t{-1};
    if (list_.is_known_outside != nullptr && list_.is_known_outside(name)) {
      return int64_t{-1};
    }
    return InvalidArgument("nothing defines the name '", name, "'");
  }

  Status FindReads() {
    before_.resize(count());
    for (size_t i = 0; i < count(); ++i) {
      const NodeMessage& node = (*list_.nodes)[i];
      Names reads(node.inputs.begin(), node.inputs.end());
      Status status = AddCaptured(node, subgraphs_, 0, &reads);
      for (const std::string_view name : reads) {
        if (name.empty() || !status.ok()) continue;
        const auto producer = ProducerOf(name);
        if (!producer.ok()) {
          status = producer.status();
        } else if (*producer >= 0) {
          before_[i].insert(static_cast<size_t>(*producer));
        }
      }
      if (!status.ok()) {
        return status.WithContext(StrCat("node ", Label(i)));
      }
    }
    return OkStatus();
  }

  // All nodes, in the file's order as far as that goes.
  Result<std::vector<size_t>> Sort() const {
    std::vector<size_t> missing(count());
    std::vector<std::vector<size_t>> after(count());
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < count(); ++i) {
      missing[i] = before_[i].size();
      for (const size_t producer : before_[i]) after[producer].push_back(i);
      if (missing[i] == 0) ready.push(i);
    }
    std::vector<size_t> sorted;
    while (!ready.empty()) {
      const size_t next = ready.top();
      ready.pop();
      sorted.push_back(next);
      for (const size_t i : after[next]) {
        if (--missing[i] == 0) ready.push(i);
      }
    }
    for (size_t i = 0; sorted.size() < count() && i < count(); ++i) {
      if (missing[i] != 0) {
        return InvalidArgument("node ", Label(i),
                               ": its operands need its own results (a cycle)");
      }
    }
    return sorted;
  }

  Result<std::vector<size_t>> OnlyNeeded(
      const std::vector<size_t>& sorted) const {
    std::vector<bool> needed(count());
    for (const std::string_view name : list_.outputs) {
      const auto producer = ProducerOf(name);
      if (!producer.ok()) return producer.status().WithContext("an output");
      if (*producer >= 0) needed[static_cast<size_t>(*producer)] = true;
    }
    for (auto i = sorted.rbegin(); i != sorted.rend(); ++i) {
      if (!needed[*i]) continue;
      for (const size_t producer : before_[*i]) needed[producer] = true;
    }
    std::vector<size_t> order;
    for (const size_t i : sorted) {
      if (needed[i]) order.push_back(i);
    }
    return order;
  }

  const NodeList& list_;
  Subgraphs* subgraphs_;
  std::map<std::string_view, size_t> producers_;
  std::vector<std::set<size_t>> before_;
};

}  // namespace

Result<const GraphMessage*> Subgraphs::Read(const AttributeMessage& attribute) {
  std::unique_ptr<const GraphMessage>& graph =
      graphs_[attribute.message.data()];
  if (graph == nullptr) {
    auto read = ReadGraph(attribute.message);
    if (!read.ok()) {
      return read.status().WithContext(
          StrCat("attribute '", attribute.name, "'"));
    }
    graph = std::make_unique<const GraphMessage>(*std::move(read));
  }
  return graph.get();
}

Result<std::vector<size_t>> OrderNodes(const NodeList& list,
                                       Subgraphs* subgraphs) {
  return Order(list, subgraphs).Make();
}

std::string LabelOf(const NodeMessage& node, size_t number) {
  return node.name.empty() ? StrCat("#", number) : StrCat("'", node.name, "'");
}

}  // namespace tim::models::onnx
