// Objects of the C boundary, destroyed by their last owner, and a partition to
// execute.
#ifndef TIM_TESTS_GRAPH_API_CLIENT_OBJECTS_H_
#define TIM_TESTS_GRAPH_API_CLIENT_OBJECTS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/compile.h"
#include "tests/graph_api/partition_support.h"
#include "tests/support/status_macros.h"
#include "tim/graph/c.h"

namespace tim::graph::testing {

using EngineHandle = std::shared_ptr<tim_graph_engine>;
using StreamHandle = std::shared_ptr<tim_graph_stream>;
using TensorHandle = std::shared_ptr<tim_graph_tensor>;
using AllocatorHandle = std::shared_ptr<tim_graph_allocator>;

inline EngineHandle Own(tim_graph_engine* engine) {
  return {engine, tim_graph_engine_destroy};
}
inline StreamHandle Own(tim_graph_stream* stream) {
  return {stream, tim_graph_stream_destroy};
}
inline TensorHandle Own(tim_graph_tensor* tensor) {
  return {tensor, tim_graph_tensor_destroy};
}
inline AllocatorHandle Own(tim_graph_allocator* allocator) {
  return {allocator, tim_graph_allocator_destroy};
}

/// What `create(&object, arguments...)` makes.
template <typename Object, typename Create, typename... Arguments>
std::shared_ptr<Object> Made(const Create& create, Arguments... arguments) {
  Object* object = nullptr;
  EXPECT_EQ(create(&object, arguments...), tim_graph_success)
      << tim_graph_last_message();
  return Own(object);
}

inline EngineHandle MakeEngine(tim_graph_engine_kind_t kind, size_t index = 0) {
  return Made<tim_graph_engine>(tim_graph_engine_create, kind, index);
}
inline StreamHandle MakeStream(
    const EngineHandle& engine,
    unsigned flags = tim_graph_stream_default_flags) {
  return Made<tim_graph_stream>(tim_graph_stream_create, engine.get(), flags);
}
inline TensorHandle MakeTensor(const LogicalTensor& description,
                               const EngineHandle& engine,
                               void* handle = TIM_GRAPH_MEMORY_ALLOCATE) {
  return Made<tim_graph_tensor>(tim_graph_tensor_create, &description,
                                engine.get(), handle);
}
inline void* HandleOf(const TensorHandle& tensor) {
  void* handle = nullptr;
  EXPECT_EQ(tim_graph_tensor_get_data_handle(tensor.get(), &handle),
            tim_graph_success);
  return handle;
}

/// Of one op, for the kind of its engine.
inline tim_graph_compiled_partition CompiledOp(
    const std::string& kind, const std::vector<LogicalTensor>& inputs,
    const std::vector<LogicalTensor>& ports, const LogicalTensor& output,
    const EngineHandle& engine) {
  const std::vector<Op> ops = {MakeOp(0, kind, inputs, {output})};
  const std::vector<LogicalTensor> outputs = {output};
  const CompileResult made =
      Compile({.id = 3,
               .kind = engine->kind(),
               .ops = &ops,
               .inputs = &ports,
               .outputs = &outputs},
              ports, outputs, engine->shared_from_this());
  EXPECT_OK(made.status);
  return {made.compiled};
}

/// Tensor 1 is 2 * tensor 0.
inline tim_graph_compiled_partition Twice(const LogicalTensor& in,
                                          const LogicalTensor& out,
                                          const EngineHandle& engine) {
  return CompiledOp("Add", {in, in}, {in}, out, engine);
}

inline tim_graph_status_t Execute(const tim_graph_compiled_partition& compiled,
                                  const StreamHandle& stream,
                                  const std::vector<TensorHandle>& inputs,
                                  const TensorHandle& output) {
  std::vector<const_tim_graph_tensor_t> list;
  for (const TensorHandle& input : inputs) list.push_back(input.get());
  const_tim_graph_tensor_t out = output.get();
  return tim_graph_compiled_partition_execute(
      &compiled, stream.get(), list.size(), list.data(), 1, &out);
}

}  // namespace tim::graph::testing

#endif  // TIM_TESTS_GRAPH_API_CLIENT_OBJECTS_H_
