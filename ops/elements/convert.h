// Launches that move elements between tensors which may differ in type and
// quantization: the host side of ops/elements/convert.clh.
#ifndef TIM_OPS_ELEMENTS_CONVERT_H_
#define TIM_OPS_ELEMENTS_CONVERT_H_

#include <cstdint>
#include <string>

#include "ir/typed_kernel.h"
#include "kernels/elements.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// Whether a kernel can do it, or why not: 4-bit elements, wide types that are
/// not copied, per-channel quantization that is not copied.
Status CheckConvert(const ir::TensorDesc& from, const ir::TensorDesc& to,
                    kernels::ConvertRule rule);

/// Type of kernels/elements.clh that has the size of an element: "U8", "U16",
/// "U32" or "I64".
const char* BitsType(ir::DataType type);

/// The bits of an element like those of `desc` that has this real value.
int64_t RealBits(const ir::TensorDesc& desc, float real);

/// What convert.clh calls the rule: "REAL".
const char* RuleName(kernels::ConvertRule rule);

/// The -D options of convert.clh.
void AddConvertOptions(const ir::TensorDesc& from, const ir::TensorDesc& to,
                       kernels::ConvertRule rule, Launch* launch);
/// The arguments `float x_scale, int x_zero` of an input x that is converted.
void AddConvertInput(const std::string& name, const ir::TensorDesc& from,
                     const ir::TensorDesc& to, kernels::ConvertRule rule,
                     Launch* launch);
/// The arguments TIM_CONVERT_PARAMETERS.
void AddConvertArguments(const ir::TensorDesc& from, const ir::TensorDesc& to,
                         kernels::ConvertRule rule, Launch* launch);

/// How floats become integers: halves to even, or all towards zero.
enum class Rounding : uint8_t { kHalfToEven, kToZero };

/// output[y_start + row * y_stride + i] = input[row * run + i], in elements in
/// memory.
struct ConvertRows {
  int input = 0;
  int64_t run = 0;
  int64_t rows = 1;
  int64_t y_stride = 0;
  int64_t y_start = 0;
  /// kToZero is for outputs without quantization.
  Rounding rounding = Rounding::kHalfToEven;
  bool in_place = false;  ///< The whole of both: they may share memory.
};

/// Adds that launch (ops/elementwise/data_convert.cl) of output 0 to
/// `lowering`.
Status AppendConvertRows(const ir::KernelNode& node, const ConvertRows& rows,
                         const ir::DeviceInfo& device, ir::Lowering* lowering);

/// The kernel of operators that move all elements of input 0 to output 0, flat
/// and dense.
ir::PlainKernel ConvertKernel(std::string op, std::string name,
                              Rounding rounding = Rounding::kHalfToEven);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_CONVERT_H_
