// Random tests of a custom operator: kernels against a host reference.
#ifndef TIM_VX_CUSTOM_OP_CHECK_H_
#define TIM_VX_CUSTOM_OP_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/export.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops/custom_base.h"
#include "tim/vx/tensor.h"
#include "tim/vx/types.h"

namespace tim {
namespace vx {
namespace check {

/// How far a result may be from the reference.
struct Tolerance {
  /// Bound of float types: |actual - expected| is at most `absolute` +
  /// `relative` * |expected|, or `ulps` units in the last place of `expected`
  /// in the output's type.  NaN equals NaN, an infinity itself only.
  double ulps = 4;
  double absolute = 0;
  double relative = 0;
  /// Bound of integer types: |actual - expected| in codes.
  int64_t codes = 0;
};

/// Extents of a dimension: from `least`, at least 1, to `most`.
struct ExtentRange {
  uint32_t least = 1;
  uint32_t most = 33;
};

/// Range of what an input may be.
struct InputRange {
  /// Case number n takes the type of number n modulo their count: lists of
  /// several inputs that are equally long go together.
  std::vector<DataType> types = {DataType::FLOAT32};
  /// Quantizations of integer types, one at random; none: not quantized.
  std::vector<Quantization> quantizations;
  uint32_t least_rank = 1;
  uint32_t most_rank = 4;  ///< At most 8.
  /// By dimension, fastest-varying first; the last one counts for further
  /// dimensions, none: 1 to 33.
  std::vector<ExtentRange> extents;
  /// Real values; where the type cannot hold them, what it saturates to.
  double least_value = -8;
  double most_value = 8;
  /// The number of an input before this one, whose type, shape and quantization
  /// this one has; -1: none.
  int32_t like = -1;
  /// Absent in some cases; see CustomOpBase::SetInputOptional().
  bool optional = false;
};

/// Description of an output; its shape is the operator's business.
struct OutputRange {
  /// UNKNOWN: as the operator's SetupTypes() says, else that of input 0, with
  /// its quantization.
  DataType type = DataType::UNKNOWN;
  Quantization quantization;
  Tolerance tolerance;
  /// The output is a VARIABLE: before each run it holds values from
  /// `least_value` to `most_value`, the same each time, which the reference
  /// finds in the memory of its output.  What neither writes stays.
  bool variable = false;
  double least_value = -8;
  double most_value = 8;
};

/// The tensors of one case.  An absent input has the type UNKNOWN.
struct Operands {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;  ///< In fit(): without shapes.
};

struct CheckedOperator {
  /// Required: makes the operation in `graph`, by CreateOperation(), for
  /// operands like these, and binds nothing.
  std::function<std::shared_ptr<ops::CustomOpBase>(Graph* graph,
                                                   const Operands& operands)>
      create;
  std::vector<InputRange> inputs;
  std::vector<OutputRange> outputs;
  /// Optional: makes operands that were drawn, or have shrunk, ones that the
  /// operator takes, shapes that depend on others for one.  False: there is no
  /// way.  A pure function.
  std::function<bool(Operands* operands)> fit;
  /// Computes the outputs from the inputs; dense memory, every element that is
  /// of no VARIABLE is to be written, absent inputs are null.  None: HostEval()
  /// of the operator.
  std::function<void(const std::vector<ops::HostInput>& inputs,
                     const std::vector<ops::HostOutput>& outputs)>
      reference;
};

/// Which kernels are tried with other local sizes than the operator's: only
/// numbers that divide the global ones, whose product is at most 256.  Those
/// that a device refuses are left out.
enum class LocalSizes {
  kWhereOpen,  ///< Kernels for which SetupEnqueue() leaves them all 0.
  kAll,        ///< All: for kernels that take any, by get_local_size().
  kOwn,        ///< None.
};

struct CheckOptions {
  /// The same seed tries the same cases, on every machine.
  uint64_t seed = 1;
  uint32_t cases = 16;
  LocalSizes local_sizes = LocalSizes::kWhereOpen;
  /// Numbers of platform::IDevice::Enumerate(); none: all that there are.  The
  /// host is one where there is a reference besides HostEval().  TIMCL_DEVICE,
  /// where it is set, wins.
  std::vector<uint32_t> devices;
  /// Shapes are drawn so that no input has more elements, where the ranges
  /// allow it.
  uint64_t most_elements = 4096;
  /// Runs of each case, all of which must agree with the reference.
  uint32_t runs = 2;
  /// Most further cases that are tried to make a failing one smaller.
  uint32_t shrink_steps = 64;
};

enum class FaultKind {
  kWrongValue,      ///< An element of an output is not the reference's.
  kUnwritten,       ///< An element of an output is not written.
  kWritesOutside,   ///< Of a tensor.
  kReadsOutside,    ///< Of a tensor, or the result is another each time.
  kReadsUnwritten,  ///< An output or a scratch tensor before it is written.
  kWritesInput,     ///< One that the kernel says is const.
  kFails,           ///< Compile() or Run() fails for another reason.
  kReference,       ///< The reference throws, or leaves an element unwritten.
};

/// "wrong value".
TIM_VX_API const char* ToString(FaultKind kind);

/// A case that fails, made as small as it could be.
struct Fault {
  FaultKind kind = FaultKind::kFails;
  uint32_t device = 0;  ///< Its number.
  std::string device_name;
  /// "output 0"; empty where the fault is of none.
  std::string operand;
  int64_t element = -1;  ///< From 0; -1: none.  Outside: before or behind.
  /// Coordinates of an element inside, fastest-varying dimension first.
  std::vector<uint32_t> position;
  /// The element's numbers, as text; of kWrongValue only.
  std::string actual;
  std::string expected;

  Operands operands;  ///< With the outputs' shapes, where known.
  /// Per kernel of the operator, in order: the work-group that it was launched
  /// with, empty where the runtime chose.
  std::vector<std::vector<std::size_t>> local_sizes;
  uint32_t case_number = 0;  ///< That failed first, from 0.
  /// All of it in words, several lines.
  std::string text;
  /// C++14 against the SDK: runs the kernels as the operator launched them, on
  /// this data and this device, guarded, and prints what is wrong.  It needs
  /// nothing of the operator's sources.  Its exit status is 1 where the fault
  /// is there, 0 where it is gone.  Empty where no kernel was at fault.
  std::string program;
};

struct CheckResult {
  /// Something was checked and nothing is wrong.
  bool passed() const { return mistake.empty() && faults.empty(); }

  std::vector<Fault> faults;  ///< At most one per device.
  /// Why nothing could be checked; it says what to change.
  std::string mistake;
  uint32_t cases = 0;        ///< That were tried, over all devices.
  uint32_t local_cases = 0;  ///< Cases among these with other local sizes.
  std::string text;          ///< All of it in words.
};

/// Tries the operator on random tensors, on one device after the other, and
/// compares with the reference.  Kernels run guarded (see TIMCL_GUARD),
/// whatever the environment says, and outputs hold other bytes before each run.
/// Makes graphs of its own.  Any thread; nothing is thrown, what the functions
/// of `checked` throw is a fault or a mistake.
///
/// A device ends with its first fault.  Not covered: a tensor that is both an
/// input and a VARIABLE output, and what guards do not see.
TIM_VX_API CheckResult
CheckCustomOp(const CheckedOperator& checked,
              const CheckOptions& options = CheckOptions());

}  // namespace check
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_CUSTOM_OP_CHECK_H_
