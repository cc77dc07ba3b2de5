// The C boundary: graphs, and partitions that they or single ops give.
#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "graph_api/dump.h"
#include "graph_api/error.h"
#include "graph_api/graph.h"
#include "graph_api/options.h"
#include "graph_api/partition.h"
#include "graph_api/partitioning.h"
#include "tim/graph/c.h"
#include "tim/graph/c_extension.h"

namespace tim::graph {
namespace {

constexpr int kUnset = -1;
constinit std::atomic<int> default_fpmath_mode = kUnset;

// A client's, else TIMCL_DEFAULT_FPMATH_MODE's.
tim_graph_fpmath_mode_t DefaultFpmathMode() {
  const int mode = default_fpmath_mode;
  return mode == kUnset ? GetGraphOptions().fpmath_mode
                        : static_cast<tim_graph_fpmath_mode_t>(mode);
}

Status CheckMode(tim_graph_fpmath_mode_t mode) {
  const int number = static_cast<int>(mode);
  if (number >= tim_graph_fpmath_mode_strict &&
      number <= tim_graph_fpmath_mode_tf32) {
    return OkStatus();
  }
  return InvalidArgument("there is no fpmath mode ", number,
                         "; there are strict (0) to tf32 (4)");
}

Status CheckKind(tim_graph_engine_kind_t kind) {
  if (kind == tim_graph_cpu || kind == tim_graph_gpu) return OkStatus();
  return InvalidArgument("the engine kind is '",
                         tim_graph_engine_kind2str(kind),
                         "', expected cpu or gpu");
}

tim_graph_status_t Create(tim_graph_graph_t* graph, const GraphTraits& traits) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(graph, "graph"));
    TIM_RETURN_IF_ERROR(CheckKind(traits.kind));
    TIM_RETURN_IF_ERROR(CheckMode(traits.fpmath_mode));
    *graph = new tim_graph_graph{Graph(traits)};
    return OkStatus();
  });
}

// `call()` on what is not null; `broken` is the answer where a rule of graphs
// or ops is broken.
template <typename Call>
tim_graph_status_t AnswerGraph(tim_graph_graph_t graph,
                               tim_graph_status_t broken, const Call& call) {
  Status status = RequireNotNull(graph, "graph");
  if (!status.ok()) return Answer(status);
  status = GuardedCall([&]() -> Status { return call(graph->graph); });
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return Answer(broken, status);
    case StatusCode::kFailedPrecondition:
      return Answer(tim_graph_invalid_graph, status);
    default:
      return Answer(status);
  }
}

// Limits are those of TIMCL_GRAPH_PARTITION.
PartitionOptions OptionsOf(tim_graph_partition_policy_t policy) {
  PartitionOptions options;
  if (policy == tim_graph_partition_policy_fusion) {
    options = GetGraphOptions().partition;
  }
  options.policy = policy;
  return options;
}

Status FilterAndDump(Graph& graph, const PartitionOptions& options) {
  TIM_RETURN_IF_ERROR(graph.Filter(options));
  if ((DumpModes() & tim_graph_dump_mode_graph) == 0) return OkStatus();
  const Status dumped =
      DumpPartitioning(GetGraphOptions().dump_dir, graph.ops(), graph.traits(),
                       graph.partitions());
  if (!dumped.ok()) TIM_LOG(kWarning, "no dump: ", dumped.message());
  return OkStatus();
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_get_default_fpmath_mode(
    tim_graph_fpmath_mode_t* mode) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(mode, "mode"));
    *mode = DefaultFpmathMode();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_set_default_fpmath_mode(
    tim_graph_fpmath_mode_t mode) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(CheckMode(mode));
    default_fpmath_mode = mode;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_graph_create(tim_graph_graph_t* graph,
                                          tim_graph_engine_kind_t engine_kind) {
  return Create(graph,
                {.kind = engine_kind, .fpmath_mode = DefaultFpmathMode()});
}

tim_graph_status_t tim_graph_graph_create_with_fpmath_mode(
    tim_graph_graph_t* graph, tim_graph_engine_kind_t engine_kind,
    tim_graph_fpmath_mode_t mode) {
  return Create(graph, {.kind = engine_kind, .fpmath_mode = mode});
}

tim_graph_status_t tim_graph_graph_destroy(tim_graph_graph_t graph) {
  return Answer([&] {
    delete graph;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_graph_set_fpmath_mode(tim_graph_graph_t graph,
                                                   tim_graph_fpmath_mode_t mode,
                                                   int apply_to_int) {
  return AnswerGraph(graph, tim_graph_invalid_arguments,
                     [&](Graph& of) -> Status {
                       TIM_RETURN_IF_ERROR(CheckMode(mode));
                       return of.SetFpmathMode(mode, apply_to_int != 0);
                     });
}

tim_graph_status_t tim_graph_graph_get_fpmath_mode(
    tim_graph_graph_t graph, tim_graph_fpmath_mode_t* mode, int* apply_to_int) {
  return AnswerGraph(
      graph, tim_graph_invalid_arguments, [&](const Graph& of) -> Status {
        TIM_RETURN_IF_ERROR(RequireNotNull(mode, "mode"));
        TIM_RETURN_IF_ERROR(RequireNotNull(apply_to_int, "apply_to_int"));
        *mode = of.traits().fpmath_mode;
        *apply_to_int = of.traits().fpmath_applies_to_int ? 1 : 0;
        return OkStatus();
      });
}

tim_graph_status_t tim_graph_add_op(tim_graph_graph_t graph,
                                    tim_graph_op_t op) {
  if (op == nullptr) return Answer(RequireNotNull(op, "op"));
  return AnswerGraph(graph, tim_graph_invalid_graph_op,
                     [&](Graph& of) { return of.AddOp(BuiltinOps(), op->op); });
}

tim_graph_status_t tim_graph_graph_finalize(tim_graph_graph_t graph) {
  return AnswerGraph(graph, tim_graph_invalid_graph,
                     [](Graph& of) { return of.Finalize(); });
}

tim_graph_status_t tim_graph_graph_is_finalized(tim_graph_graph_t graph,
                                                uint8_t* finalized) {
  return AnswerGraph(graph, tim_graph_invalid_arguments,
                     [&](const Graph& of) -> Status {
                       TIM_RETURN_IF_ERROR(RequireNotNull(finalized, "answer"));
                       *finalized = of.finalized() ? 1 : 0;
                       return OkStatus();
                     });
}

tim_graph_status_t tim_graph_graph_filter(tim_graph_graph_t graph,
                                          tim_graph_partition_policy_t policy) {
  return AnswerGraph(graph, tim_graph_invalid_arguments, [&](Graph& of) {
    return FilterAndDump(of, OptionsOf(policy));
  });
}

tim_graph_status_t tim_graph_graph_filter_with_options(
    tim_graph_graph_t graph, const tim_graph_partition_options_t* options) {
  return AnswerGraph(
      graph, tim_graph_invalid_arguments, [&](Graph& of) -> Status {
        TIM_RETURN_IF_ERROR(RequireNotNull(options, "options"));
        return FilterAndDump(of, {.policy = options->policy,
                                  .max_ops = options->max_ops,
                                  .min_ops = options->min_ops,
                                  .max_partitions = options->max_partitions,
                                  .max_anchors = options->max_anchors});
      });
}

tim_graph_status_t tim_graph_graph_get_partition_num(
    const_tim_graph_graph_t graph, size_t* num) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(graph, "graph"));
    TIM_RETURN_IF_ERROR(RequireNotNull(num, "number"));
    *num = graph->graph.partitions().size();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_graph_get_partitions(
    tim_graph_graph_t graph, size_t num, tim_graph_partition_t* partitions) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(graph, "graph"));
    const Partitions& own = graph->graph.partitions();
    if (num < own.size()) {
      return InvalidArgument("there is room for ", num,
                             " partitions, the graph has ", own.size());
    }
    if (own.empty()) return OkStatus();
    TIM_RETURN_IF_ERROR(RequireNotNull(partitions, "list of partitions"));
    std::vector<std::unique_ptr<tim_graph_partition>> made;
    for (const auto& partition : own) {
      made.push_back(std::make_unique<tim_graph_partition>());
      made.back()->partition = partition;
    }
    for (auto& partition : made) *partitions++ = partition.release();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_partition_create_with_op(
    tim_graph_partition_t* partition, const_tim_graph_op_t op,
    tim_graph_engine_kind_t ekind) {
  Status status = GuardedCall([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(partition, "partition"));
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    return CheckKind(ekind);
  });
  if (!status.ok()) return Answer(status);
  status = GuardedCall([&]() -> Status {
    Op copy = op->op;
    TIM_RETURN_IF_ERROR(CheckOp(BuiltinOps(), &copy));
    auto made = std::make_unique<tim_graph_partition>();
    made->partition = PartitionOfOp(std::move(copy), ekind);
    *partition = made.release();
    return OkStatus();
  });
  return status.code() == StatusCode::kInvalidArgument
             ? Answer(tim_graph_invalid_graph_op, status)
             : Answer(status);
}
