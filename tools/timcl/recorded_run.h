// The results of every layer of a graph in one run.
#ifndef TIM_TOOLS_TIMCL_RECORDED_RUN_H_
#define TIM_TOOLS_TIMCL_RECORDED_RUN_H_

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "binary/blob.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/tensor_desc.h"
#include "tools/timcl/tensor_data.h"

namespace tim::tool {

/// A tensor that a step wrote.
struct RecordedValue {
  std::string name;
  std::string producer;  ///< Label of the step: "Conv2d#1+Relu#2" where fused.
  ir::TensorDesc desc;   ///< Dense.
  std::vector<std::byte> bytes;
};

struct RecordedRun {
  std::string graph;
  std::string device;
  std::vector<RecordedValue> values;  ///< In the order of their steps.
};

/// The place where a graph runs, and its options.
struct RecordedRunOptions {
  std::string device;  ///< A name as TIMCL_DEVICE has it; "": its own.
  Options options;
  /// Nodes whose results are seen although they could be fused into others.
  std::set<std::string> apart;
};

/// Compiles the graph of `blob`, whatever plan it has, and runs it once, step
/// by step, on `inputs`, which are dense and in the order of those that the
/// graph uses.  No device is in use any more afterwards.
Result<RecordedRun> Record(const binary::Blob& blob, const Tensors& inputs,
                           const RecordedRunOptions& options);

/// The dense bytes of `values` of a graph whose types and shapes are inferred,
/// none of which is an input, a constant or a state, after a run as Record()
/// makes; `apart` does not matter.
Result<std::vector<std::vector<std::byte>>> ContentOf(
    ir::Graph graph, std::shared_ptr<const ir::OpRegistry> operators,
    const std::vector<ir::ValueId>& values, const Tensors& inputs,
    const RecordedRunOptions& options);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_RECORDED_RUN_H_
