// Operations of an application's own.
//
// Header-only over tim/graph/c_extension.h.
#ifndef TIM_GRAPH_OP_DEFINITION_HPP_
#define TIM_GRAPH_OP_DEFINITION_HPP_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tim/graph/c_extension.h"
#include "tim/graph/common.hpp"
#include "tim/graph/logical_tensor.hpp"
#include "tim/graph/op.hpp"
#include "tim/graph/op_contexts.hpp"

namespace tim {
namespace graph {

/// An operand; without types it has any of f32, bf16, f16, s32, s64, s8, u8 and
/// boolean.  Optional ones stand behind all others.
struct op_param {
  std::string name;
  std::vector<logical_tensor::data_type> types = {};
  bool optional = false;
};

/// One that is not required has a default; a string may have choices.
struct op_attribute {
  std::string name;
  attribute_type type = attribute_type::f32;
  bool required = false;
  attribute_value default_value = {};
  std::vector<std::string> choices = {};
};

/// OpenCL C 1.2.  Parameters of the kernel: `__global const T*` of the inputs
/// (a null pointer where one is absent), `__global T*` of the outputs, scalars.
/// bf16 is ushort, boolean uchar.
struct opencl_kernel {
  std::string source = {};
  std::string function = {};  ///< Its name.
  std::string options = {};
  /// Sets sizes, adds options and scalars, or says unimplemented.  Without it
  /// there is a work-item for each element of output 0.
  std::function<status(kernel_context&)> launch = nullptr;
};

/// A kind of operation.  Callbacks may be called by any thread, several at a
/// time and as often as the library likes; they depend on their context alone.
/// Exceptions of theirs are failures with their texts.  status::unimplemented:
/// not for these operands, so that the next way to run the op is taken: kernel,
/// then decompose, then host.
struct op_definition {
  std::string domain = {};
  std::string name = {};
  int version = 1;
  std::vector<op_param> inputs = {}, outputs = {};
  /// The last parameter repeats.
  bool variadic_inputs = false, variadic_outputs = false;
  std::vector<op_attribute> attributes = {};
  /// Names of parameters that have one type, and equal lists of types.
  std::vector<std::vector<std::string>> same_types = {};
  /// Text of the operation; then none of what follows is given, and no
  /// attributes.
  std::string expression = {};
  /// Required with host and kernel, unless there is `decompose`.
  std::function<status(infer_context&)> infer_shapes = nullptr;
  /// Ops of the library, and extended ones that were registered before.
  std::function<status(build_context&)> decompose = nullptr;
  std::function<status(host_context&)> host = nullptr;
  opencl_kernel kernel = {};
};

/// Calls the functions of a definition from C; nothing is thrown.
struct op_callbacks {
  template <typename Context>
  static tim_graph_status_t call(
      const std::function<status(Context&)>& function,
      tim_graph_op_context_t c_context) noexcept {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
    try {
      Context context(c_context);
      return static_cast<tim_graph_status_t>(function(context));
    } catch (const error& thrown) {
      tim_graph_op_context_set_message(c_context, thrown.what());
      return thrown.status == tim_graph_success ? tim_graph_runtime_error
                                                : thrown.status;
    } catch (const std::exception& thrown) {
      tim_graph_op_context_set_message(c_context, thrown.what());
    } catch (...) {
      tim_graph_op_context_set_message(c_context, "it throws");
    }
    return tim_graph_runtime_error;
#else
    Context context(c_context);
    return static_cast<tim_graph_status_t>(function(context));
#endif
  }
  static const op_definition& of(void* user) {
    return *static_cast<const op_definition*>(user);
  }
  static tim_graph_status_t infer_shapes(void* user,
                                         tim_graph_op_context_t context) {
    return call(of(user).infer_shapes, context);
  }
  static tim_graph_status_t decompose(void* user,
                                      tim_graph_op_context_t context) {
    return call(of(user).decompose, context);
  }
  static tim_graph_status_t host(void* user, tim_graph_op_context_t context) {
    return call(of(user).host, context);
  }
  static tim_graph_status_t launch(void* user, tim_graph_op_context_t context) {
    return call(of(user).kernel.launch, context);
  }
};

/// The lists of a definition as C has them, pointing into it.
class op_definition_in_c {
 public:
  explicit op_definition_in_c(const op_definition& from)
      : inputs_(params(from.inputs)), outputs_(params(from.outputs)) {
    types_.reserve(from.inputs.size() + from.outputs.size());
    set_types(from.inputs, &inputs_);
    set_types(from.outputs, &outputs_);
    set_attributes(from);
    set_same_types(from);
  }

  tim_graph_op_definition_t get(const op_definition& from, void* user) const {
    tim_graph_op_definition_t to = tim_graph_op_definition_t();
    to.domain = from.domain.c_str();
    to.name = from.name.c_str();
    to.version = from.version;
    to.num_inputs = inputs_.size();
    to.inputs = inputs_.data();
    to.num_outputs = outputs_.size();
    to.outputs = outputs_.data();
    to.variadic_inputs = from.variadic_inputs ? 1 : 0;
    to.variadic_outputs = from.variadic_outputs ? 1 : 0;
    to.num_attributes = attributes_.size();
    to.attributes = attributes_.data();
    to.num_same_types = same_types_.size();
    to.same_types = same_types_.data();
    to.expression = from.expression.c_str();
    if (from.infer_shapes) to.infer_shapes = &op_callbacks::infer_shapes;
    if (from.decompose) to.decompose = &op_callbacks::decompose;
    if (from.host) to.host = &op_callbacks::host;
    to.kernel.source = from.kernel.source.c_str();
    to.kernel.function = from.kernel.function.c_str();
    to.kernel.options = from.kernel.options.c_str();
    if (from.kernel.launch) to.kernel.launch = &op_callbacks::launch;
    to.user = user;
    return to;
  }

 private:
  using params_in_c = std::vector<tim_graph_op_param_t>;
  using names = std::vector<const char*>;

  static params_in_c params(const std::vector<op_param>& from) {
    params_in_c to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i].name = from[i].name.c_str();
      to[i].optional = from[i].optional ? 1 : 0;
    }
    return to;
  }
  void set_types(const std::vector<op_param>& from, params_in_c* to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      types_.emplace_back();
      for (const logical_tensor::data_type type : from[i].types) {
        types_.back().push_back(static_cast<tim_graph_data_type_t>(type));
      }
      (*to)[i].num_types = types_.back().size();
      (*to)[i].types = types_.back().data();
    }
  }
  static names names_of(const std::vector<std::string>& from) {
    names to;
    for (const std::string& name : from) to.push_back(name.c_str());
    return to;
  }
  void set_attributes(const op_definition& from) {
    const std::size_t count = from.attributes.size();
    attributes_.resize(count);
    values_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const op_attribute& attribute = from.attributes[i];
      tim_graph_op_attribute_t& to = attributes_[i];
      choices_.push_back(names_of(attribute.choices));
      values_[i] = attribute.default_value.to_c();
      to.name = attribute.name.c_str();
      to.type = static_cast<tim_graph_attribute_type_t>(attribute.type);
      to.required = attribute.required ? 1 : 0;
      to.default_value =
          attribute.default_value.exists() ? &values_[i] : nullptr;
      to.num_choices = choices_[i].size();
      to.choices = choices_[i].data();
    }
  }
  void set_same_types(const op_definition& from) {
    for (const std::vector<std::string>& group : from.same_types) {
      groups_.push_back(names_of(group));
      same_types_.push_back({groups_.back().size(), groups_.back().data()});
    }
  }

  params_in_c inputs_, outputs_;
  std::vector<std::vector<tim_graph_data_type_t>> types_;
  std::vector<tim_graph_op_attribute_t> attributes_;
  std::vector<tim_graph_attribute_value_t> values_;
  std::vector<names> choices_;
  std::vector<names> groups_;
  std::vector<tim_graph_name_list_t> same_types_;
};

/// The kind is the same until the process ends.  invalid_arguments says what is
/// wrong with the definition, or that it is there already.
inline op::kind register_op(const op_definition& definition) {
  std::unique_ptr<op_definition> kept(new op_definition(definition));
  const op_definition_in_c lists(*kept);
  const tim_graph_op_definition_t in_c = lists.get(*kept, kept.get());
  tim_graph_op_kind_t kind = tim_graph_op_last_symbol;
  error::wrap_c_api(tim_graph_register_op(&in_c, &kind),
                    "could not register an operation");
  kept.release();
  return static_cast<op::kind>(kind);
}

/// An operation that a text describes, of version 1.
inline op::kind register_expression(const std::string& domain,
                                    const std::string& name,
                                    const std::string& text) {
  tim_graph_op_kind_t kind = tim_graph_op_last_symbol;
  error::wrap_c_api(tim_graph_register_expression(domain.c_str(), name.c_str(),
                                                  text.c_str(), &kind),
                    "could not register an expression");
  return static_cast<op::kind>(kind);
}

/// op::kind::LastSymbol where it is unknown.  Version 0: the newest.
inline op::kind find_op(const std::string& domain, const std::string& name,
                        int version = 0) {
  tim_graph_op_kind_t kind = tim_graph_op_last_symbol;
  error::wrap_c_api(
      tim_graph_find_op(domain.c_str(), name.c_str(), version, &kind),
      "could not find an operation");
  return static_cast<op::kind>(kind);
}

struct op_support {
  bool supported = false;
  std::string device = {};  ///< "host", "opencl: <name>"; empty: none.
  /// Why it is not supported; of one that is, the rule that its known dims
  /// break, or why there is no device.
  std::string reason = {};
};

/// Answers for attributes, types and known dims, without a graph.
inline op_support query_support(const op& asked, engine::kind kind) {
  tim_graph_op_support_t answer;
  error::wrap_c_api(
      tim_graph_query_support(
          asked.get(), static_cast<tim_graph_engine_kind_t>(kind), &answer),
      "could not query the support of an op");
  op_support support;
  support.supported = answer.supported != 0;
  support.device = answer.device;
  support.reason = answer.reason;
  return support;
}

}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_OP_DEFINITION_HPP_
