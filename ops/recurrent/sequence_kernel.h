// Launches that kernels of sequences share: weights as kernels read them,
// products with the input of all steps, and what the loop over time takes.
// Kernels: ops/recurrent/sequence.cl, sequence_loop.clh.
#ifndef TIM_OPS_RECURRENT_SEQUENCE_KERNEL_H_
#define TIM_OPS_RECURRENT_SEQUENCE_KERNEL_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/launch/launch.h"
#include "ops/recurrent/sequence.h"

namespace tim::ops {

/// A loop whose work-item makes 16 units of several sequences, for CPUs, or one
/// unit of one sequence, in work-groups that share the units.
enum class LoopForm : uint8_t { kVectors, kGroups };

/// Ok, or why kernels of the form cannot run the node: `rows` vectors of at
/// most `units` products.  Inputs that are not in `read`, those whose elements
/// kernels read as they are, may have any type and quantization where they are
/// constant.
Status CheckLoopKernel(const ir::KernelNode& node, const ir::DeviceInfo& device,
                       LoopForm form, std::initializer_list<int> read,
                       int64_t rows, int64_t units);

/// From the operator's estimate.
double LoopCost(const ir::KernelNode& node, const ir::DeviceInfo& device,
                LoopForm form);

/// The kernels of an operator in both forms: `name` and `name`_simt.
template <typename Problem>
void AddLoopKernels(const std::string& op, const std::string& name,
                    Result<Problem> (*analyze)(const ir::KernelNode&,
                                               const ir::DeviceInfo&, LoopForm),
                    Result<ir::Lowering> (*lower)(const Problem&,
                                                  const ir::KernelNode&,
                                                  const ir::DeviceInfo&),
                    ir::OpRegistry* registry) {
  for (const LoopForm form : {LoopForm::kVectors, LoopForm::kGroups}) {
    registry->Add(ir::TypedKernel<Problem>{
        .op = "tim." + op,
        .name = form == LoopForm::kGroups ? name + "_simt" : name,
        .analyze =
            [=](const ir::KernelNode& node, const ir::DeviceInfo& device) {
              return analyze(node, device, form);
            },
        .cost =
            [=](const Problem&, const ir::KernelNode& node,
                const ir::DeviceInfo& device) {
              return LoopCost(node, device, form);
            },
        .lower = lower});
  }
}

/// What the launches of a node share.
class LoopLowering {
 public:
  LoopLowering(const ir::KernelNode& node, const ir::DeviceInfo& device,
               LoopForm form);

  /// Weights [depth, units] and a bias, packed for kernels: at Compile where
  /// they are constant.
  struct Matrix {
    std::optional<ir::PackedConstant> packed;
    int scratch = -1;
    int64_t depth = 0;
    int64_t units = 0;
  };
  Result<Matrix> Pack(int weights, int bias, ir::Lowering* lowering) const;
  static void AddMatrix(std::string name, const Matrix& matrix, Launch* launch);

  /// Products of all rows of input `index`: where they are in
  /// Lowering::scratch.
  Result<int> Products(int index, const Matrix& matrix,
                       const SequenceShape& sequence,
                       ir::Lowering* lowering) const;

  /// Operands of sequence_loop.clh.
  struct Loop {
    SequenceShape sequence;
    int64_t units = 0;
    int state = -1;  ///< Input; -1 or absent: zeros.
    int out = -1;    ///< Output of all stored steps; -1 or absent: none.
    int last = -1;   ///< Output of the last state, likewise.
    bool reversed = false;
    bool every_step = true;  ///< Else `out` is the last state, too.
    int64_t out_width = 0;
    int64_t out_column = 0;
    int vectors = 2;  ///< Rows of memory for each sequence.
    int gates = 1;    ///< Products of a state.
    /// Options of the launches of a step, where it is launches: each needs all
    /// units of the one before.
    std::vector<std::string> parts = {""};
  };
  /// The launch of ops/recurrent/`name`.cl, or `name`_simt.cl.
  Launch NewLoop(std::string name) const;
  /// Adds the last parameters, types and work size, and the launch, or those of
  /// each step.
  Status AppendLoop(const Loop& loop, Launch* launch,
                    ir::Lowering* lowering) const;

  /// "-DACTIVATION=TIM_TANH" and its parameters.
  static void AddFunction(const std::string& name, const StepFunction& function,
                          Launch* launch);

 private:
  bool IsDivided(const Loop& loop) const;
  int64_t RowsOf(int64_t batch) const;
  /// The states before the first step to new scratch memory.
  Status AppendStates(const Loop& loop, int64_t rows,
                      ir::Lowering* lowering) const;
  void AddForm(int64_t rows, Launch* launch) const;

  const ir::KernelNode& node_;
  const ir::DeviceInfo& device_;
  LoopForm form_;
};

}  // namespace tim::ops

#endif  // TIM_OPS_RECURRENT_SEQUENCE_KERNEL_H_
