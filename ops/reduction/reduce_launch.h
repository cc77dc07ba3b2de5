// The launches of reduce.cl.
#ifndef TIM_OPS_REDUCTION_REDUCE_LAUNCH_H_
#define TIM_OPS_REDUCTION_REDUCE_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/kernel_def.h"
#include "ops/elements/axes.h"
#include "ops/launch/launch.h"
#include "ops/reduction/reduce_axes.h"

namespace tim::ops {

/// What is joined: macros of reduce.cl.
struct ReduceArithmetic {
  const char* join = "ADD";
  const char* value = "REAL";
  ir::DataType sum = ir::DataType::kFloat32;  ///< Or int32, int64.
};

/// How a joined value v becomes an element of the output.
struct ReduceFinish {
  enum class Kind : uint8_t {
    kReal,      ///< v * multiplier
    kMean,      ///< v / count * multiplier
    kCode,      ///< v, saturated
    kCodeMean,  ///< v / count, rounded half to even, saturated
  };
  Kind kind = Kind::kReal;
  int64_t count = 1;
  float multiplier = 1.0f;
  /// Real results become y / scale + zero in integer types.
  float scale = 1.0f;
  int32_t zero = 0;
};

/// Where elements are taken from: an input of the node, or scratch memory of
/// this lowering.
struct ReduceSource {
  ir::TensorDesc desc;  ///< Type and quantization.
  int32_t zero = 0;     ///< Subtracted from codes.
  int scratch = -1;     ///< -1: the input.
  int input = 0;
};

/// Another float32 input, by which elements are multiplied: VALUE=PRODUCT.  Its
/// strides along `count` and `outer` of the first group.
struct ReduceFactor {
  int input = 0;
  bool inner = false;  ///< Neighbours have one each, else they share it.
  int64_t step = 0;
  int64_t outer = 0;
  int64_t images = 1;  ///< Images of `outer` until the factor comes again.
};

/// Float means that squares are taken around: scratch memory with one for each
/// result, and where those of an image lie (axes with one stride).
struct ReduceMeans {
  int scratch = -1;
  std::vector<Axis> axes;
};

/// The options SUM, VALUE and FINISH and RESULT_PARAMETERS of sums.clh.
/// `finish` null: partial results.
void AddSumOptions(ir::DataType sum, const char* value,
                   const ReduceFinish* finish, Launch* launch);
void AddSumArguments(const ir::TensorDesc& input, int32_t input_zero,
                     const ReduceFinish& finish, Launch* launch);

struct ReduceLaunch {
  std::vector<ReduceGroup> groups;
  ReduceArithmetic arithmetic = {};
  ReduceFinish finish = {};
  ReduceSource source = {};
  std::optional<ReduceMeans> means = std::nullopt;
  std::optional<ReduceFactor> factor = std::nullopt;
  /// Of the node; -1: float scratch memory.
  int output = 0;
};

/// Adds the launches, one per group and more for groups of more than
/// kReduceChunk.  Returns the index of the scratch memory that holds the result
/// (-1 where it is an output).
Result<int> AppendReduction(const ir::KernelNode& node,
                            const ir::DeviceInfo& device,
                            const ReduceLaunch& reduction,
                            ir::Lowering* lowering);

}  // namespace tim::ops

#endif  // TIM_OPS_REDUCTION_REDUCE_LAUNCH_H_
