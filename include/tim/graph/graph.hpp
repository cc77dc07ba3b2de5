// The partition front: describe operations and logical tensors, let the library
// cut the graph into partitions, compile a partition for shapes and an engine,
// execute it with tensors on a stream.
//
// Header-only over tim/graph/c.h.  Failures are thrown as tim::graph::error.
#ifndef TIM_GRAPH_GRAPH_HPP_
#define TIM_GRAPH_GRAPH_HPP_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tim/graph/c.h"
#include "tim/graph/common.hpp"
#include "tim/graph/logical_tensor.hpp"
#include "tim/graph/op.hpp"

namespace tim {
namespace graph {

struct partition_options;  // tim/graph/extension.hpp

// Options of tim/graph/residency.hpp, which defines the members that take them.
enum class residency : int;
struct compile_options;
struct execute_options;

/// A logical tensor with memory.
class tensor : public handle<tim_graph_tensor_t> {
 public:
  using handle::handle;
  tensor() = default;
  /// \param data Memory of the caller; null until an execute is legal.
  tensor(const logical_tensor& lt, const engine& aengine, void* data) {
    tim_graph_tensor_t made = nullptr;
    error::wrap_c_api(
        tim_graph_tensor_create(&made, &lt.data_, aengine.get(), data),
        "could not create a tensor");
    reset(made);
  }
  /// Memory of the library, by the engine's allocator, until the last copy.
  tensor(const logical_tensor& lt, const engine& aengine)
      : tensor(lt, aengine, TIM_GRAPH_MEMORY_ALLOCATE) {}

  /// The value is copied.
  static tensor make_scalar_tensor(const logical_tensor& lt, void* scalar) {
    tim_graph_tensor_t made = nullptr;
    error::wrap_c_api(tim_graph_tensor_create_scalar(&made, &lt.data_, scalar),
                      "could not create a scalar tensor");
    return tensor(made);
  }

  void* get_data_handle() const {
    void* data = nullptr;
    error::wrap_c_api(tim_graph_tensor_get_data_handle(get(), &data),
                      "could not get the data handle of a tensor");
    return data;
  }
  void set_data_handle(void* data) {
    error::wrap_c_api(tim_graph_tensor_set_data_handle(get(), data),
                      "could not set the data handle of a tensor");
  }

  /// Empty for scalar tensors.
  engine get_engine() const {
    tim_graph_engine_t found = nullptr;
    error::wrap_c_api(tim_graph_tensor_get_engine(get(), &found),
                      "could not get the engine of a tensor");
    return engine(found, true);
  }

  logical_tensor get_logical_tensor() const {
    tim_graph_logical_tensor_t lt;
    error::wrap_c_api(tim_graph_tensor_get_logical_tensor(get(), &lt),
                      "could not get the logical tensor of a tensor");
    return logical_tensor(lt);
  }
};

/// A partition for shapes, layouts and an engine.  Any thread.
class compiled_partition : public handle<tim_graph_compiled_partition_t> {
 public:
  compiled_partition() = default;
  /// Takes ownership.
  compiled_partition(tim_graph_compiled_partition_t compiled) {  // NOLINT
    reset(compiled);
  }

  /// The port with its final dims and layout.  Of an unknown id: one with id
  /// SIZE_MAX.
  logical_tensor query_logical_tensor(std::size_t tid) const {
    tim_graph_logical_tensor_t lt;
    error::wrap_c_api(
        tim_graph_compiled_partition_query_logical_tensor(get(), tid, &lt),
        "could not query a logical tensor");
    return logical_tensor(lt);
  }

  /// Ids of inputs and outputs that may share their memory.
  std::vector<std::pair<std::size_t, std::size_t>> get_inplace_ports() const {
    std::size_t count = 0;
    const tim_graph_inplace_pair_t* pairs = nullptr;
    error::wrap_c_api(
        tim_graph_compiled_partition_get_inplace_ports(get(), &count, &pairs),
        "could not get the in-place ports of a compiled partition");
    std::vector<std::pair<std::size_t, std::size_t>> ports;
    for (std::size_t i = 0; i < count; ++i) {
      ports.emplace_back(pairs[i].input_id, pairs[i].output_id);
    }
    return ports;
  }

  /// Memory that one run needs besides its tensors.
  logical_tensor get_scratchpad_logical_tensor() const {
    tim_graph_logical_tensor_t lt;
    error::wrap_c_api(
        tim_graph_compiled_partition_get_scratchpad_logical_tensor(get(), &lt),
        "could not get the scratchpad of a compiled partition");
    return logical_tensor(lt);
  }

  /// Tensors in the order of compile().  An empty scratchpad: the library's.
  void execute(stream& astream, const std::vector<tensor>& inputs,
               const std::vector<tensor>& outputs,
               const tensor& scratchpad = tensor()) const {
    auto c_inputs = to_c(inputs);
    auto c_outputs = to_c(outputs);
    error::wrap_c_api(
        tim_graph_compiled_partition_execute_v2(
            get(), astream.get(), c_inputs.size(), c_inputs.data(),
            c_outputs.size(), c_outputs.data(), scratchpad.get(true)),
        "could not execute a compiled partition");
  }
  /// Outputs without memory get it; needs tim/graph/residency.hpp.
  void execute(stream& astream, const std::vector<tensor>& inputs,
               const std::vector<tensor>& outputs, const tensor& scratchpad,
               const execute_options& options) const;
  template <typename options_type>
  typename std::enable_if<
      std::is_same<options_type, execute_options>::value>::type
  execute(stream& astream, const std::vector<tensor>& inputs,
          const std::vector<tensor>& outputs,
          const options_type& options) const {
    execute(astream, inputs, outputs, tensor(), options);
  }
  /// Never automatic for a port; needs tim/graph/residency.hpp.
  residency get_residency(std::size_t id) const;

 private:
  static std::vector<const_tim_graph_tensor_t> to_c(
      const std::vector<tensor>& tensors) {
    std::vector<const_tim_graph_tensor_t> list;
    list.reserve(tensors.size());
    for (const tensor& one : tensors) list.push_back(one.get());
    return list;
  }
};

/// Operations that are compiled as one.  Needs no graph; any thread.
class partition : public handle<tim_graph_partition_t> {
 public:
  enum class policy {
    fusion = tim_graph_partition_policy_fusion,
    debug = tim_graph_partition_policy_debug,
  };

  partition() = default;
  /// Takes ownership.
  partition(tim_graph_partition_t owned) { reset(owned); }  // NOLINT
  /// A partition of that op alone.
  partition(const op& aop, engine::kind kind) {
    tim_graph_partition_t made = nullptr;
    error::wrap_c_api(
        tim_graph_partition_create_with_op(
            &made, aop.get(), static_cast<tim_graph_engine_kind_t>(kind)),
        "could not create a partition of an op");
    reset(made);
  }

  std::size_t get_ops_num() const {
    std::size_t count = 0;
    error::wrap_c_api(tim_graph_partition_get_op_num(get(), &count),
                      "could not get the number of ops of a partition");
    return count;
  }
  /// Ids in topological order.
  std::vector<std::size_t> get_ops() const {
    std::vector<std::size_t> ids(get_ops_num());
    error::wrap_c_api(
        tim_graph_partition_get_ops(get(), ids.size(), ids.data()),
        "could not get the ops of a partition");
    return ids;
  }
  std::size_t get_id() const {
    std::size_t id = 0;
    error::wrap_c_api(tim_graph_partition_get_id(get(), &id),
                      "could not get the id of a partition");
    return id;
  }
  bool is_supported() const {
    std::uint8_t supported = 0;
    error::wrap_c_api(tim_graph_partition_is_supported(get(), &supported),
                      "could not tell whether a partition is supported");
    return supported != 0;
  }
  engine::kind get_engine_kind() const {
    tim_graph_engine_kind_t kind = tim_graph_any_engine;
    error::wrap_c_api(tim_graph_partition_get_engine_kind(get(), &kind),
                      "could not get the engine kind of a partition");
    return static_cast<engine::kind>(kind);
  }

  std::vector<logical_tensor> get_input_ports() const {
    std::size_t count = 0;
    error::wrap_c_api(tim_graph_partition_get_input_ports_num(get(), &count),
                      "could not get the number of input ports");
    std::vector<tim_graph_logical_tensor_t> ports(count);
    error::wrap_c_api(
        tim_graph_partition_get_input_ports(get(), count, ports.data()),
        "could not get input ports");
    return from_c(ports);
  }
  std::vector<logical_tensor> get_output_ports() const {
    std::size_t count = 0;
    error::wrap_c_api(tim_graph_partition_get_output_ports_num(get(), &count),
                      "could not get the number of output ports");
    std::vector<tim_graph_logical_tensor_t> ports(count);
    error::wrap_c_api(
        tim_graph_partition_get_output_ports(get(), count, ports.data()),
        "could not get output ports");
    return from_c(ports);
  }

  /// Arguments are matched to ports by id, in any order.
  compiled_partition compile(const std::vector<logical_tensor>& inputs,
                             const std::vector<logical_tensor>& outputs,
                             const engine& aengine) const {
    tim_graph_compiled_partition_t made = nullptr;
    error::wrap_c_api(tim_graph_compiled_partition_create(&made, get()),
                      "could not create a compiled partition");
    compiled_partition compiled(made);
    auto c_inputs = to_c(inputs);
    auto c_outputs = to_c(outputs);
    error::wrap_c_api(tim_graph_partition_compile(
                          get(), made, c_inputs.size(), c_inputs.data(),
                          c_outputs.size(), c_outputs.data(), aengine.get()),
                      "could not compile a partition");
    return compiled;
  }
  /// Ports lie where the options want them; needs tim/graph/residency.hpp.
  compiled_partition compile(const std::vector<logical_tensor>& inputs,
                             const std::vector<logical_tensor>& outputs,
                             const engine& aengine,
                             const compile_options& options) const;

 private:
  static std::vector<const tim_graph_logical_tensor_t*> to_c(
      const std::vector<logical_tensor>& tensors) {
    std::vector<const tim_graph_logical_tensor_t*> list;
    list.reserve(tensors.size());
    for (const logical_tensor& one : tensors) list.push_back(&one.data_);
    return list;
  }
  static std::vector<logical_tensor> from_c(
      const std::vector<tim_graph_logical_tensor_t>& tensors) {
    std::vector<logical_tensor> list;
    list.reserve(tensors.size());
    for (const tim_graph_logical_tensor_t& one : tensors)
      list.emplace_back(one);
    return list;
  }
};

/// Operations that tensors connect by their ids.  One thread at a time.
class graph : public handle<tim_graph_graph_t> {
 public:
  using handle::handle;
  graph() = default;
  /// With the default mode of the process.
  explicit graph(engine::kind kind) {
    tim_graph_graph_t made = nullptr;
    error::wrap_c_api(tim_graph_graph_create(
                          &made, static_cast<tim_graph_engine_kind_t>(kind)),
                      "could not create a graph");
    reset(made);
  }
  graph(engine::kind kind, fpmath_mode mode) {
    tim_graph_graph_t made = nullptr;
    error::wrap_c_api(tim_graph_graph_create_with_fpmath_mode(
                          &made, static_cast<tim_graph_engine_kind_t>(kind),
                          convert_to_c(mode)),
                      "could not create a graph with an fpmath mode");
    reset(made);
  }

  /// Before finalize().
  void set_fpmath_mode(fpmath_mode mode, bool apply_to_int = false) {
    error::wrap_c_api(tim_graph_graph_set_fpmath_mode(get(), convert_to_c(mode),
                                                      apply_to_int ? 1 : 0),
                      "could not set the fpmath mode of a graph");
  }
  void get_fpmath_mode(fpmath_mode& mode, bool& apply_to_int) const {
    tim_graph_fpmath_mode_t c_mode = tim_graph_fpmath_mode_strict;
    int c_apply_to_int = 0;
    error::wrap_c_api(
        tim_graph_graph_get_fpmath_mode(get(), &c_mode, &c_apply_to_int),
        "could not get the fpmath mode of a graph");
    mode = static_cast<fpmath_mode>(c_mode);
    apply_to_int = c_apply_to_int != 0;
  }

  /// The op is copied.  Throws a failure, too, if `allow_exception`.
  status add_op(const op& aop, bool allow_exception = true) {
    const tim_graph_status_t code = tim_graph_add_op(get(), aop.get());
    if (allow_exception) {
      error::wrap_c_api(code, "could not add an op to a graph");
    }
    return static_cast<status>(code);
  }

  /// Connects the ops; no more can be added.
  void finalize() {
    error::wrap_c_api(tim_graph_graph_finalize(get()),
                      "could not finalize a graph");
  }
  bool is_finalized() const {
    std::uint8_t finalized = 0;
    error::wrap_c_api(tim_graph_graph_is_finalized(get(), &finalized),
                      "could not tell whether a graph is finalized");
    return finalized != 0;
  }

  /// In topological order.  Those got before stay valid.
  std::vector<partition> get_partitions(
      partition::policy policy = partition::policy::fusion) {
    error::wrap_c_api(
        tim_graph_graph_filter(
            get(), static_cast<tim_graph_partition_policy_t>(policy)),
        "could not partition a graph");
    return filtered_partitions();
  }
  /// Defined by tim/graph/extension.hpp.
  std::vector<partition> get_partitions(const partition_options& options);

 private:
  std::vector<partition> filtered_partitions() const {
    std::size_t count = 0;
    error::wrap_c_api(tim_graph_graph_get_partition_num(get(), &count),
                      "could not get the number of partitions");
    std::vector<partition> partitions;
    if (count == 0) return partitions;
    std::vector<tim_graph_partition_t> list(count);
    error::wrap_c_api(tim_graph_graph_get_partitions(get(), count, list.data()),
                      "could not get the partitions of a graph");
    partitions.reserve(count);
    for (tim_graph_partition_t one : list) partitions.emplace_back(one);
    return partitions;
  }
};

}  // namespace graph
}  // namespace tim

#include "tim/graph/settings.hpp"

#endif  // TIM_GRAPH_GRAPH_HPP_
