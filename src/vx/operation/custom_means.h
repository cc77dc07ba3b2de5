// What a custom operator's kernels have besides operands and scalars.
#ifndef TIM_VX_OPERATION_CUSTOM_MEANS_H_
#define TIM_VX_OPERATION_CUSTOM_MEANS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/constant.h"
#include "ir/tensor_desc.h"
#include "tim/vx/ops/custom_base.h"

namespace tim::vx {

struct CustomTable {
  ir::TensorDesc desc;
  std::shared_ptr<const ir::ConstantData> data;
};

struct CustomScratch {
  ir::TensorDesc desc;
  bool zeroed = false;
};

/// A kernel of an operator; empty `args`: everything.
struct CustomKernel {
  std::string function;
  std::vector<size_t> global;
  std::vector<size_t> local;
  std::vector<ops::KernelArg> args;
};

/// Requests of a check of the operator to its next Compile(), and what it sees.
struct CustomWatch {
  /// Local sizes for the kernel of this number in place of the operator's, as
  /// many as global ones; an empty answer: the operator's stay.
  std::function<std::vector<size_t>(const CustomKernel& kernel, size_t number)>
      local_sizes;
  std::string text;                   ///< OpenCL C.
  std::string options;                ///< As SetupParams() gave them.
  std::vector<ops::Param> scalars;    ///< As the kernels get them.
  std::vector<CustomKernel> kernels;  ///< All, with their arguments.
};

/// What the functions of a CustomOpBase have set.
class CustomMeans {
 public:
  CustomMeans() = default;
  /// What belongs to the class: a constructor need not set it again.
  CustomMeans(const CustomMeans& original);
  CustomMeans(CustomMeans&&) = default;
  CustomMeans& operator=(CustomMeans&&) = default;

  bool IsOptional(size_t input) const {
    return input < optional.size() && optional[input];
  }
  /// Forgets what the functions of a Compile() have set, and gives them the
  /// param_list that they had the last time, unless it has changed since.
  void Begin(std::vector<ops::Param>* param_list);
  /// All functions of the Compile() have returned.
  void End(const std::vector<ops::Param>& param_list);

  std::vector<bool> optional;       ///< By input; may be shorter.
  std::vector<CustomTable> tables;  ///< Of the constructor, then the others.
  size_t own_tables = 0;            ///< Of the constructor.
  bool begun = false;               ///< The constructor is over.

  std::vector<CustomScratch> scratch;
  std::vector<int64_t> locals;        ///< Bytes.
  std::vector<bool> zeroed;           ///< By output; may be shorter.
  std::vector<CustomKernel> kernels;  ///< Behind that of func_name_.
  std::optional<std::vector<ops::KernelArg>> first_args;

  std::shared_ptr<CustomWatch> watch;  ///< Null but in a check.

 private:
  std::vector<ops::Param> given_;  // to SetupParams()
  std::vector<ops::Param> left_;   // when all have returned
};

}  // namespace tim::vx

#endif  // TIM_VX_OPERATION_CUSTOM_MEANS_H_
