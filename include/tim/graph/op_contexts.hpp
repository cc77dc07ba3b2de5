// Arguments of the callbacks of an operation of an application's own.
//
// Header-only over tim/graph/c_extension.h.
#ifndef TIM_GRAPH_OP_CONTEXTS_HPP_
#define TIM_GRAPH_OP_CONTEXTS_HPP_

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tim/graph/c_extension.h"
#include "tim/graph/common.hpp"
#include "tim/graph/logical_tensor.hpp"
#include "tim/graph/op.hpp"

namespace tim {
namespace graph {

enum class attribute_type {
  f32 = tim_graph_attribute_f32,
  f32_list = tim_graph_attribute_f32_list,
  s64 = tim_graph_attribute_s64,
  s64_list = tim_graph_attribute_s64_list,
  boolean = tim_graph_attribute_bool,
  string = tim_graph_attribute_string,
};

/// A value of one of these types, or none.
class attribute_value {
 public:
  attribute_value() = default;
  attribute_value(bool value)  // NOLINT
      : type_(attribute_type::boolean), boolean_(value ? 1 : 0) {
    exists_ = true;
  }
  template <typename T,
            typename std::enable_if<std::is_integral<T>::value &&
                                        !std::is_same<T, bool>::value,
                                    int>::type = 0>
  attribute_value(T value)  // NOLINT
      : type_(attribute_type::s64), ints_(1, static_cast<std::int64_t>(value)) {
    exists_ = true;
  }
  template <typename T, typename std::enable_if<
                            std::is_floating_point<T>::value, int>::type = 0>
  attribute_value(T value)  // NOLINT
      : type_(attribute_type::f32), floats_(1, static_cast<float>(value)) {
    exists_ = true;
  }
  attribute_value(const char* value)  // NOLINT
      : attribute_value(std::string(value)) {}
  attribute_value(std::string value)  // NOLINT
      : type_(attribute_type::string), text_(std::move(value)) {
    exists_ = true;
  }
  attribute_value(std::vector<std::int64_t> value)  // NOLINT
      : type_(attribute_type::s64_list), ints_(std::move(value)) {
    exists_ = true;
  }
  attribute_value(std::vector<float> value)  // NOLINT
      : type_(attribute_type::f32_list), floats_(std::move(value)) {
    exists_ = true;
  }

  bool exists() const { return exists_; }
  attribute_type type() const { return type_; }
  /// Points into this object.
  tim_graph_attribute_value_t to_c() const {
    tim_graph_attribute_value_t value;
    value.type = static_cast<tim_graph_attribute_type_t>(type_);
    value.count = 1;
    value.data = &boolean_;
    if (type_ == attribute_type::string) {
      value.count = text_.size();
      value.data = text_.c_str();
    } else if (type_ == attribute_type::s64 ||
               type_ == attribute_type::s64_list) {
      value.count = ints_.size();
      value.data = ints_.data();
    } else if (type_ == attribute_type::f32 ||
               type_ == attribute_type::f32_list) {
      value.count = floats_.size();
      value.data = floats_.data();
    }
    return value;
  }

 private:
  bool exists_ = false;
  attribute_type type_ = attribute_type::f32;
  std::uint8_t boolean_ = 0;
  std::vector<std::int64_t> ints_;
  std::vector<float> floats_;
  std::string text_;
};

/// Operands and attributes of the op that a callback is called for.  Only as
/// long as the callback runs.
class op_context {
 public:
  explicit op_context(tim_graph_op_context_t context) : context_(context) {}

  /// Count, at least that of the parameters; absent ones are of no type.
  std::size_t num_inputs() const {
    std::size_t num = 0;
    check(tim_graph_op_context_get_input_num(context_, &num));
    return num;
  }
  std::size_t num_outputs() const {
    std::size_t num = 0;
    check(tim_graph_op_context_get_output_num(context_, &num));
    return num;
  }
  logical_tensor input(std::size_t index) const {
    tim_graph_logical_tensor_t tensor;
    check(tim_graph_op_context_get_input(context_, index, &tensor));
    return logical_tensor(tensor);
  }
  logical_tensor output(std::size_t index) const {
    tim_graph_logical_tensor_t tensor;
    check(tim_graph_op_context_get_output(context_, index, &tensor));
    return logical_tensor(tensor);
  }
  /// -1: not known.
  int input_ndims(std::size_t index) const {
    tim_graph_logical_tensor_t tensor;
    check(tim_graph_op_context_get_input(context_, index, &tensor));
    return tensor.ndims;
  }
  bool has_input(std::size_t index) const {
    return index < num_inputs() &&
           input(index).get_data_type() != logical_tensor::data_type::undef;
  }

  /// T: float, int64_t, bool, std::string, or a vector of the first two.
  template <typename T>
  T get_attr(const std::string& name) const {
    T value = T();
    read(name, &value);
    return value;
  }

  /// Says why; returns `code`.
  status fail(status code, const std::string& text) const {
    tim_graph_op_context_set_message(context_, text.c_str());
    return code;
  }

 protected:
  static void check(tim_graph_status_t code) {
    error::wrap_c_api(code, "a callback of an operation");
  }
  tim_graph_op_context_t get() const { return context_; }

 private:
  tim_graph_attribute_value_t find(const std::string& name,
                                   attribute_type type) const {
    tim_graph_attribute_value_t value;
    check(tim_graph_op_context_get_attribute(context_, name.c_str(), &value));
    if (static_cast<attribute_type>(value.type) != type) {
      error::fail(tim_graph_invalid_arguments,
                  "attribute '" + name + "' is of another type");
    }
    return value;
  }
  void read(const std::string& name, float* to) const {
    *to = *static_cast<const float*>(find(name, attribute_type::f32).data);
  }
  void read(const std::string& name, std::int64_t* to) const {
    *to =
        *static_cast<const std::int64_t*>(find(name, attribute_type::s64).data);
  }
  void read(const std::string& name, bool* to) const {
    *to = *static_cast<const std::uint8_t*>(
              find(name, attribute_type::boolean).data) != 0;
  }
  void read(const std::string& name, std::string* to) const {
    const auto value = find(name, attribute_type::string);
    to->assign(static_cast<const char*>(value.data), value.count);
  }
  void read(const std::string& name, std::vector<float>* to) const {
    const auto value = find(name, attribute_type::f32_list);
    const float* const data = static_cast<const float*>(value.data);
    to->assign(data, data + value.count);
  }
  void read(const std::string& name, std::vector<std::int64_t>* to) const {
    const auto value = find(name, attribute_type::s64_list);
    const auto* const data = static_cast<const std::int64_t*>(value.data);
    to->assign(data, data + value.count);
  }

  tim_graph_op_context_t context_;
};

/// Dims of inputs may be unknown.
class infer_context : public op_context {
 public:
  using op_context::op_context;
  /// An extent may be TIM_GRAPH_UNKNOWN_DIM.  An output of which nothing is
  /// said has an unknown rank.
  void set_output_dims(std::size_t index, const logical_tensor::dims& dims) {
    check(tim_graph_op_context_set_output_dims(
        get(), index, static_cast<int>(dims.size()), dims.data()));
  }
};

/// Builds an op of others, in the order in which they run.  Their tensors are
/// input(), output(), and those that are made here; ids of ops mean nothing.
class build_context : public op_context {
 public:
  using op_context::op_context;
  /// A tensor between two ops, of unknown rank.
  logical_tensor make_tensor(logical_tensor::data_type type) {
    tim_graph_logical_tensor_t tensor;
    check(tim_graph_op_context_create_tensor(
        get(), static_cast<tim_graph_data_type_t>(type), &tensor));
    return logical_tensor(tensor);
  }
  /// f32; as many values as `dims` have elements.
  logical_tensor make_constant(const std::vector<float>& values,
                               const logical_tensor::dims& dims) {
    return make_constant(tim_graph_f32, values, dims);
  }
  /// s32.
  logical_tensor make_constant(const std::vector<std::int32_t>& values,
                               const logical_tensor::dims& dims) {
    return make_constant(tim_graph_s32, values, dims);
  }
  /// The op is copied.
  void add_op(const op& part) {
    check(tim_graph_op_context_add_op(get(), part.op::get()));
  }

 private:
  template <typename T>
  logical_tensor make_constant(tim_graph_data_type_t type,
                               const std::vector<T>& values,
                               const logical_tensor::dims& dims) {
    std::size_t count = 1;
    for (const std::int64_t extent : dims) {
      count *= static_cast<std::size_t>(extent);
    }
    if (count != values.size()) {
      error::fail(tim_graph_invalid_arguments,
                  "a constant has another number of values than its dims say");
    }
    tim_graph_logical_tensor_t tensor;
    check(tim_graph_op_context_create_constant(
        get(), type, static_cast<int>(dims.size()), dims.data(), values.data(),
        &tensor));
    return logical_tensor(tensor);
  }
};

/// Elements without gaps, the last axis fastest.  f16 and bf16 are 16-bit
/// patterns; a scalar may have dims {1}.
class host_context : public op_context {
 public:
  using op_context::op_context;
  /// Null where it is absent.
  template <typename T>
  const T* input_data(std::size_t index) const {
    if (!has_input(index)) return nullptr;
    const void* data = nullptr;
    check(tim_graph_op_context_get_input_data(get(), index, &data));
    return static_cast<const T*>(data);
  }
  template <typename T>
  T* output_data(std::size_t index) const {
    void* data = nullptr;
    check(tim_graph_op_context_get_output_data(get(), index, &data));
    return static_cast<T*>(data);
  }
};

struct device_facts {
  std::string name;
  std::size_t max_work_group_size;
  std::size_t local_memory_bytes;
  bool has_fp16;
};

/// A kernel that is launched for these operands; their dims are known.
class kernel_context : public op_context {
 public:
  using op_context::op_context;
  device_facts device() const {
    tim_graph_device_facts_t facts;
    check(tim_graph_op_context_get_device(get(), &facts));
    return {facts.name, facts.max_work_group_size, facts.local_memory_bytes,
            facts.has_fp16 != 0};
  }
  /// 1 to 3 numbers of work-items.
  void set_global_size(const std::vector<std::size_t>& sizes) {
    check(tim_graph_op_context_set_global_size(get(), sizes.size(),
                                               sizes.data()));
  }
  /// Divide the global ones; without them the driver chooses.
  void set_local_size(const std::vector<std::size_t>& sizes) {
    check(
        tim_graph_op_context_set_local_size(get(), sizes.size(), sizes.data()));
  }
  /// Options of the compiler: "-DN=4".
  void add_option(const std::string& option) {
    check(tim_graph_op_context_add_option(get(), option.c_str()));
  }
  /// Scalar parameters, behind inputs and outputs.
  void add_scalar(float value) {
    check(tim_graph_op_context_add_scalar_f32(get(), value));
  }
  void add_scalar(std::int64_t value) {
    check(tim_graph_op_context_add_scalar_s64(get(), value));
  }
};

}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_OP_CONTEXTS_HPP_
