// Partitions of hand-made ops, engines and tensors for tests of what compiles
// and executes them.
#ifndef TIM_TESTS_GRAPH_API_PARTITION_SUPPORT_H_
#define TIM_TESTS_GRAPH_API_PARTITION_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/compile.h"
#include "graph_api/compiled_partition.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "graph_api/op_def.h"
#include "graph_api/stream.h"
#include "graph_api/tensor.h"

namespace tim::graph::testing {

/// Strided without gaps; with layout any or undef no strides are set.
LogicalTensor Described(
    size_t id, const Dims& dims, tim_graph_data_type_t type = tim_graph_f32,
    tim_graph_layout_type_t layout = tim_graph_layout_type_strided);
LogicalTensor OfUnknownRank(
    size_t id, tim_graph_data_type_t type = tim_graph_f32,
    tim_graph_layout_type_t layout = tim_graph_layout_type_any);
LogicalTensor WithStrides(LogicalTensor tensor, const Dims& strides);
LogicalTensor WithProperty(LogicalTensor tensor,
                           tim_graph_tensor_property_t property);

/// Records for these tests, so that they depend on no family: "ReLU" and "Add"
/// (in place), "MatMul" of matrices, "ReduceSum" over the last axis (with and
/// without elements), "StaticTranspose" of matrices, "TypeCast".
const OpDef& TestOp(const std::string& name);
Op MakeOp(size_t id, const std::string& kind, std::vector<LogicalTensor> inputs,
          std::vector<LogicalTensor> outputs);

/// Ops with their ports.
class TestPartition {
 public:
  TestPartition(std::vector<Op> ops, std::vector<LogicalTensor> inputs,
                std::vector<LogicalTensor> outputs)
      : ops_(std::move(ops)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {}

  CompileSource source() const;
  /// With the descriptions of its ports.
  CompileResult CompileFor(const std::shared_ptr<tim_graph_engine>& on) const {
    return Compile(source(), inputs_, outputs_, on);
  }

 private:
  std::vector<Op> ops_;
  std::vector<LogicalTensor> inputs_;
  std::vector<LogicalTensor> outputs_;
};

/// A cpu engine on the host device.
std::shared_ptr<tim_graph_engine> HostEngine(
    std::shared_ptr<const Allocator> allocator = nullptr);
/// A cpu engine on the first OpenCL device; null where there is none.
std::shared_ptr<tim_graph_engine> OpenClEngine();

/// Tensors of host memory, which they do not own, for one execute after the
/// other.
class Tensors {
 public:
  explicit Tensors(std::shared_ptr<tim_graph_engine> engine)
      : engine_(std::move(engine)) {}
  void Add(const LogicalTensor& description, const void* memory);
  void AddScalar(const LogicalTensor& description, float value);
  const std::vector<const_tim_graph_tensor_t>& list() const { return list_; }

 private:
  std::shared_ptr<tim_graph_engine> engine_;
  std::vector<std::shared_ptr<tim_graph_tensor>> tensors_;
  std::vector<const_tim_graph_tensor_t> list_;
};

/// One execute of input and output memory, in the order of the ports.
Status ExecuteOn(const CompiledPartition& compiled, Stream& stream,
                 const std::vector<const void*>& inputs,
                 const std::vector<void*>& outputs, bool check = false);

}  // namespace tim::graph::testing

#endif  // TIM_TESTS_GRAPH_API_PARTITION_SUPPORT_H_
