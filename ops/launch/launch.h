// Makes the Lowering of operators that are one kernel launch.
#ifndef TIM_OPS_LAUNCH_LAUNCH_H_
#define TIM_OPS_LAUNCH_LAUNCH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/kernel_def.h"
#include "kernels/requantize.h"

namespace tim::ops {

/// Name that kernels/elements.clh gives a type ("U8"), null where kernels do
/// not take it.
const char* KernelTypeName(ir::DataType type);

/// Kernels count elements in memory, and up to a vector beyond the last, in
/// `int`: ok, or why not.
Status CheckElementCount(const ir::TensorDesc& desc);

/// Ok, or "float64 has no kernel" for the first operand that kernels cannot
/// take: 4-bit and wide types, and per-channel quantization except on the
/// inputs listed in `per_channel_inputs`.
Status CheckKernelOperands(const ir::KernelNode& node,
                           std::initializer_list<int> per_channel_inputs = {});

/// Whether two elements of a kind differ only in bits: the OpenCL unsigned
/// type of an element's size ("uchar" for int8); null for 4-bit types.
const char* BitsTypeName(ir::DataType type);

/// One launch, built in the order of the kernel's parameters, each by its name:
///   Launch("ops/relu.cl", "relu").Type("IN0", d0).Input("x", node, 0)
///       .Output("y", node, 0).Int("n", n).Global(n).Build()
/// Another name, kind or order than those of the parameters, a missing or
/// surplus argument, and an option that the text does not read are errors of
/// Build() and AppendTo(), see kernels::BindArguments().
class Launch {
 public:
  Launch(std::string source, std::string function);

  Launch& Option(std::string option);  ///< "-DTILE=4"
  /// "-DFUNCTION=TIM_RELU", and the header that defines this macro.
  Launch& Formula(const std::string& name, const ir::Pointwise& formula);
  /// "-DIN0=U8": the operand type in terms of kernels/elements.clh.
  Launch& Type(const std::string& name, const ir::TensorDesc& desc);
  /// "-DTIM_WRAP" and "-DTIM_TO_ZERO" where the policy asks for them.
  Launch& Policy(kernels::RequantizePolicy policy);
  Launch& Policy(const ir::AttributeMap& attributes);

  /// A tensor parameter: `__global T* x, int x_offset` in the kernel.
  Launch& Input(std::string name, const ir::KernelNode& node, int index);
  Launch& Output(std::string name, const ir::KernelNode& node, int index);
  /// Output 0 may lie where the input does, if they lie alike: the kernel keeps
  /// what Lowering::in_place asks for.
  Launch& InPlace(const ir::KernelNode& node, int input);
  /// A packed constant of `element_bytes` per element; returns *this.
  Launch& Packed(std::string name, ir::PackedConstant packed,
                 int element_bytes);
  /// Scratch memory that this launch writes and reads.
  Launch& Scratch(std::string name, int64_t bytes, int element_bytes);
  /// Scratch memory that an earlier launch of the same lowering wrote: its
  /// index in Lowering::scratch.
  Launch& EarlierScratch(std::string name, int index, int element_bytes);
  Launch& Int(std::string name, int64_t value);  ///< `int`
  Launch& Long(std::string name, int64_t value);
  Launch& Float(std::string name, float value);
  /// Fields by their names, in any order.  A whole number is an `int`.
  using Fields =
      std::vector<std::pair<std::string, std::variant<int64_t, float>>>;
  /// A parameter whose type is a struct.
  Launch& Struct(std::string name, const Fields& fields);
  /// AddInputNumbers() and AddOutputNumbers() as parameters.
  Launch& InputQuantization(const std::string& name,
                            const ir::TensorDesc& desc);
  Launch& OutputQuantization(const std::string& name,
                             const ir::TensorDesc& desc);

  /// Lowering::applied: how many more operators of the node's epilogue the
  /// launch applies.
  Launch& Applies(int operators);

  Launch& Global(int64_t x, int64_t y = 1, int64_t z = 1);
  Launch& Local(int64_t x, int64_t y = 1, int64_t z = 1);
  /// KernelLaunch::spatial_partition.
  Launch& PartitionSpatially(bool partition = true);
  /// One dimension of at least `count` items in work-groups of 32; the kernel
  /// guards the tail.  PoCL compiles a kernel again for each local size that it
  /// meets (0.1 to 0.4 s), so one size serves all shapes.
  Launch& Items(int64_t count);
  /// Global for work-items that make a tile each, in explicit vectors.  On CPU
  /// devices x is rounded up (the kernel must guard it) to one of two
  /// work-group sizes, as PoCL compiles a kernel anew for each.
  Launch& Tiles(const ir::DeviceInfo& device, int64_t x, int64_t y = 1,
                int64_t z = 1);

  /// The lowering with this launch as its only step.
  Result<ir::Lowering> Build();
  /// Adds this launch to a lowering of several steps.
  Status AppendTo(ir::Lowering* lowering);

 private:
  int32_t Narrowed(const std::string& name, int64_t value);
  Launch& Parameters(const Fields& fields);
  template <typename T>  // of ir::KernelArg
  Launch& Argument(std::string name, T value);
  Launch& Operand(std::string name, ir::LoweredOperand operand, bool written,
                  int element_bytes);

  ir::KernelLaunch launch_;
  std::vector<ir::LoweredOperand> operands_;
  std::vector<bool> written_;
  std::vector<ir::ScratchSpec> scratch_;
  std::vector<int> earlier_scratch_;
  std::vector<ir::PackedConstant> packed_;
  std::vector<ir::InPlacePair> in_place_;
  int applied_ = 0;
  Status status_;
};

/// `float x_scale, int x_zero` of an input x.
void AddInputNumbers(const std::string& name, const ir::TensorDesc& desc,
                     Launch::Fields* fields);
/// `float y_scale, float y_inverse, int y_zero` of an output y.
void AddOutputNumbers(const std::string& name, const ir::TensorDesc& desc,
                      Launch::Fields* fields);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_LAUNCH_H_
