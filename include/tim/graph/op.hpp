// Operations.
#ifndef TIM_GRAPH_OP_HPP_
#define TIM_GRAPH_OP_HPP_

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "tim/graph/c.h"
#include "tim/graph/c_extension.h"
#include "tim/graph/common.hpp"
#include "tim/graph/logical_tensor.hpp"

namespace tim {
namespace graph {

/// One operation: kind, operands in the order of adding, and attributes.  It
/// may go as soon as a graph or a partition has it.
class op : public handle<tim_graph_op_t> {
 public:
  enum class kind {
    Abs = tim_graph_op_abs,
    AbsBackward = tim_graph_op_abs_backward,
    Add = tim_graph_op_add,
    AvgPool = tim_graph_op_avg_pool,
    AvgPoolBackward = tim_graph_op_avg_pool_backward,
    BatchNormTrainingBackward = tim_graph_op_batch_norm_backward,
    BatchNormForwardTraining = tim_graph_op_batch_norm_forward_training,
    BatchNormInference = tim_graph_op_batch_norm_inference,
    BiasAdd = tim_graph_op_bias_add,
    BiasAddBackward = tim_graph_op_bias_add_backward,
    Clamp = tim_graph_op_clamp,
    ClampBackward = tim_graph_op_clamp_backward,
    Concat = tim_graph_op_concat,
    Convolution = tim_graph_op_convolution,
    ConvolutionBackwardData = tim_graph_op_convolution_backward_data,
    ConvolutionBackwardWeights = tim_graph_op_convolution_backward_weights,
    ConvTranspose = tim_graph_op_conv_transpose,
    ConvTransposeBackwardData = tim_graph_op_conv_transpose_backward_data,
    ConvTransposeBackwardWeights = tim_graph_op_conv_transpose_backward_weights,
    Dequantize = tim_graph_op_dequantize,
    Divide = tim_graph_op_divide,
    DynamicDequantize = tim_graph_op_dynamic_dequantize,
    DynamicQuantize = tim_graph_op_dynamic_quantize,
    Elu = tim_graph_op_elu,
    EluBackward = tim_graph_op_elu_backward,
    End = tim_graph_op_end,
    Exp = tim_graph_op_exp,
    GELU = tim_graph_op_gelu,
    GELUBackward = tim_graph_op_gelu_backward,
    HardSwish = tim_graph_op_hard_swish,
    HardSwishBackward = tim_graph_op_hard_swish_backward,
    Interpolate = tim_graph_op_interpolate,
    InterpolateBackward = tim_graph_op_interpolate_backward,
    LayerNorm = tim_graph_op_layer_norm,
    LayerNormBackward = tim_graph_op_layer_norm_backward,
    LeakyReLU = tim_graph_op_leaky_relu,
    Log = tim_graph_op_log,
    LogSoftmax = tim_graph_op_log_softmax,
    LogSoftmaxBackward = tim_graph_op_log_softmax_backward,
    MatMul = tim_graph_op_matmul,
    Maximum = tim_graph_op_maximum,
    MaxPool = tim_graph_op_max_pool,
    MaxPoolBackward = tim_graph_op_max_pool_backward,
    Minimum = tim_graph_op_minimum,
    Mish = tim_graph_op_mish,
    MishBackward = tim_graph_op_mish_backward,
    Multiply = tim_graph_op_multiply,
    PReLU = tim_graph_op_prelu,
    PReLUBackward = tim_graph_op_prelu_backward,
    Quantize = tim_graph_op_quantize,
    Reciprocal = tim_graph_op_reciprocal,
    ReduceL1 = tim_graph_op_reduce_l1,
    ReduceL2 = tim_graph_op_reduce_l2,
    ReduceMax = tim_graph_op_reduce_max,
    ReduceMean = tim_graph_op_reduce_mean,
    ReduceMin = tim_graph_op_reduce_min,
    ReduceProd = tim_graph_op_reduce_prod,
    ReduceSum = tim_graph_op_reduce_sum,
    ReLU = tim_graph_op_relu,
    ReLUBackward = tim_graph_op_relu_backward,
    Reorder = tim_graph_op_reorder,
    Round = tim_graph_op_round,
    Sigmoid = tim_graph_op_sigmoid,
    SigmoidBackward = tim_graph_op_sigmoid_backward,
    SoftMax = tim_graph_op_softmax,
    SoftMaxBackward = tim_graph_op_softmax_backward,
    SoftPlus = tim_graph_op_softplus,
    SoftPlusBackward = tim_graph_op_softplus_backward,
    Sqrt = tim_graph_op_sqrt,
    SqrtBackward = tim_graph_op_sqrt_backward,
    Square = tim_graph_op_square,
    SquaredDifference = tim_graph_op_squared_difference,
    StaticReshape = tim_graph_op_static_reshape,
    StaticTranspose = tim_graph_op_static_transpose,
    Subtract = tim_graph_op_subtract,
    Tanh = tim_graph_op_tanh,
    TanhBackward = tim_graph_op_tanh_backward,
    TypeCast = tim_graph_op_type_cast,
    Wildcard = tim_graph_op_wildcard,
    HardSigmoid = tim_graph_op_hard_sigmoid,
    HardSigmoidBackward = tim_graph_op_hard_sigmoid_backward,
    Select = tim_graph_op_select,
    Pow = tim_graph_op_pow,
    GroupNorm = tim_graph_op_group_norm,
    GenIndex = tim_graph_op_gen_index,
    GreaterEqual = tim_graph_op_greater_equal,
    RMSNorm = tim_graph_op_rms_norm,
    Dropout = tim_graph_op_dropout,
    /// None: the number behind the last one.
    LastSymbol = tim_graph_op_last_symbol,
  };

  enum class attr {
    undef = tim_graph_op_attr_undef,
    alpha = tim_graph_op_attr_alpha,
    beta = tim_graph_op_attr_beta,
    epsilon = tim_graph_op_attr_epsilon,
    max = tim_graph_op_attr_max,
    min = tim_graph_op_attr_min,
    momentum = tim_graph_op_attr_momentum,
    scales = tim_graph_op_attr_scales,
    axis = tim_graph_op_attr_axis,
    begin_norm_axis = tim_graph_op_attr_begin_norm_axis,
    groups = tim_graph_op_attr_groups,
    axes = tim_graph_op_attr_axes,
    dilations = tim_graph_op_attr_dilations,
    dst_shape = tim_graph_op_attr_dst_shape,
    kernel = tim_graph_op_attr_kernel,
    order = tim_graph_op_attr_order,
    output_padding = tim_graph_op_attr_output_padding,
    pads_begin = tim_graph_op_attr_pads_begin,
    pads_end = tim_graph_op_attr_pads_end,
    shape = tim_graph_op_attr_shape,
    sizes = tim_graph_op_attr_sizes,
    src_shape = tim_graph_op_attr_src_shape,
    strides = tim_graph_op_attr_strides,
    weights_shape = tim_graph_op_attr_weights_shape,
    zps = tim_graph_op_attr_zps,
    group_shape = tim_graph_op_attr_group_shape,
    exclude_pad = tim_graph_op_attr_exclude_pad,
    keep_dims = tim_graph_op_attr_keep_dims,
    keep_stats = tim_graph_op_attr_keep_stats,
    per_channel_broadcast = tim_graph_op_attr_per_channel_broadcast,
    special_zero = tim_graph_op_attr_special_zero,
    transpose_a = tim_graph_op_attr_transpose_a,
    transpose_b = tim_graph_op_attr_transpose_b,
    use_affine = tim_graph_op_attr_use_affine,
    use_dst = tim_graph_op_attr_use_dst,
    auto_broadcast = tim_graph_op_attr_auto_broadcast,
    auto_pad = tim_graph_op_attr_auto_pad,
    coordinate_transformation_mode =
        tim_graph_op_attr_coordinate_transformation_mode,
    data_format = tim_graph_op_attr_data_format,
    mode = tim_graph_op_attr_mode,
    qtype = tim_graph_op_attr_qtype,
    rounding_type = tim_graph_op_attr_rounding_type,
    weights_format = tim_graph_op_attr_weights_format,
    accumulation_mode = tim_graph_op_attr_accumulation_mode,
    end = tim_graph_op_attr_end,
  };

  using handle::handle;
  op() = default;
  /// \param verbose_name Empty: "<Kind>_<id>".
  op(std::size_t id, kind akind, const std::string& verbose_name = "") {
    tim_graph_op_t made = nullptr;
    error::wrap_c_api(
        tim_graph_op_create(&made, id, static_cast<tim_graph_op_kind_t>(akind),
                            verbose_name.c_str()),
        "could not create an op");
    reset(made);
  }
  op(std::size_t id, kind akind, const std::vector<logical_tensor>& inputs,
     const std::vector<logical_tensor>& outputs,
     const std::string& verbose_name = "")
      : op(id, akind, verbose_name) {
    add_inputs(inputs);
    add_outputs(outputs);
  }

  void add_input(const logical_tensor& tensor) {
    error::wrap_c_api(tim_graph_op_add_input(get(), &tensor.data_),
                      "could not add an input to an op");
  }
  void add_inputs(const std::vector<logical_tensor>& tensors) {
    for (const logical_tensor& tensor : tensors) add_input(tensor);
  }
  void add_output(const logical_tensor& tensor) {
    error::wrap_c_api(tim_graph_op_add_output(get(), &tensor.data_),
                      "could not add an output to an op");
  }
  void add_outputs(const std::vector<logical_tensor>& tensors) {
    for (const logical_tensor& tensor : tensors) add_output(tensor);
  }

  // For int64_t, float, bool, std::string, std::vector<int64_t> and
  // std::vector<float> alone.  The last value that is set counts.
  template <typename T,
            typename std::enable_if<std::is_same<T, std::int64_t>::value,
                                    int>::type = 0>
  op& set_attr(attr name, const T& value) {
    return set(tim_graph_op_set_attr_s64(get(), to_c(name), &value, 1));
  }
  template <typename T, typename std::enable_if<std::is_same<T, float>::value,
                                                int>::type = 0>
  op& set_attr(attr name, const T& value) {
    return set(tim_graph_op_set_attr_f32(get(), to_c(name), &value, 1));
  }
  template <typename T, typename std::enable_if<std::is_same<T, bool>::value,
                                                int>::type = 0>
  op& set_attr(attr name, const T& value) {
    const std::uint8_t byte = value ? 1 : 0;
    return set(tim_graph_op_set_attr_bool(get(), to_c(name), &byte, 1));
  }
  template <typename T, typename std::enable_if<
                            std::is_same<T, std::string>::value, int>::type = 0>
  op& set_attr(attr name, const T& value) {
    return set(tim_graph_op_set_attr_str(get(), to_c(name), value.c_str(),
                                         value.size()));
  }
  template <typename T, typename std::enable_if<
                            std::is_same<T, std::vector<std::int64_t>>::value,
                            int>::type = 0>
  op& set_attr(attr name, const T& value) {
    return set(tim_graph_op_set_attr_s64(get(), to_c(name), value.data(),
                                         value.size()));
  }
  template <typename T,
            typename std::enable_if<std::is_same<T, std::vector<float>>::value,
                                    int>::type = 0>
  op& set_attr(attr name, const T& value) {
    return set(tim_graph_op_set_attr_f32(get(), to_c(name), value.data(),
                                         value.size()));
  }

  // The same by name, of kinds that were registered and of the library's.
  op& set_attr(const std::string& name, std::int64_t value) {
    return set(tim_graph_op_set_named_attr_s64(get(), name.c_str(), &value, 1));
  }
  op& set_attr(const std::string& name, int value) {
    return set_attr(name, static_cast<std::int64_t>(value));
  }
  op& set_attr(const std::string& name, float value) {
    return set(tim_graph_op_set_named_attr_f32(get(), name.c_str(), &value, 1));
  }
  op& set_attr(const std::string& name, double value) {
    return set_attr(name, static_cast<float>(value));
  }
  op& set_attr(const std::string& name, bool value) {
    const std::uint8_t byte = value ? 1 : 0;
    return set(tim_graph_op_set_named_attr_bool(get(), name.c_str(), &byte, 1));
  }
  op& set_attr(const std::string& name, const std::string& value) {
    return set(tim_graph_op_set_named_attr_str(get(), name.c_str(),
                                               value.c_str(), value.size()));
  }
  op& set_attr(const std::string& name, const char* value) {
    return set_attr(name, std::string(value));
  }
  op& set_attr(const std::string& name,
               const std::vector<std::int64_t>& value) {
    return set(tim_graph_op_set_named_attr_s64(get(), name.c_str(),
                                               value.data(), value.size()));
  }
  op& set_attr(const std::string& name, const std::vector<float>& value) {
    return set(tim_graph_op_set_named_attr_f32(get(), name.c_str(),
                                               value.data(), value.size()));
  }

 private:
  static tim_graph_op_attr_t to_c(attr name) {
    return static_cast<tim_graph_op_attr_t>(name);
  }
  op& set(tim_graph_status_t code) {
    error::wrap_c_api(code, "could not set an attribute of an op");
    return *this;
  }
};

}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_OP_HPP_
