// One action of a plan, as plain data: what to do, not with which handles.  Of
// the process it knows nothing but the operators in a composite's body.
#ifndef TIM_IR_STEP_H_
#define TIM_IR_STEP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/attribute.h"
#include "ir/control.h"
#include "ir/data_type.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

/// A kernel argument that is an operand of the step: passed as a buffer and a
/// following `int` with its offset in elements.
struct TensorArg {
  int operand = 0;  ///< Index in Step::operands.
  /// Bytes per element that the offset counts in.
  int element_bytes = 4;
  bool operator==(const TensorArg&) const = default;
};
/// `bytes` of local memory.
struct LocalArg {
  int64_t bytes = 0;
  std::string name = {};  ///< For messages, of a user's kernel: "local 0".
  bool operator==(const LocalArg&) const = default;
};
/// A struct by value, a parameter of a type that the kernel's text defines.
struct StructArg {
  struct Field {
    std::string name;  ///< For checks only, as KernelLaunch::names.
    std::variant<int32_t, float> value = {};
    bool operator==(const Field&) const = default;
  };
  std::string type;           ///< "conv_sizes"
  std::vector<Field> fields;  ///< All of the type, in its order.
  bool operator==(const StructArg&) const = default;
};
inline constexpr size_t kMostStructFields = 64;

/// An operand of a user's kernel, one parameter: a pointer to the dense
/// operand, or an image of it.
struct UserTensorArg {
  int operand = 0;  ///< Index in Step::operands; kAbsentOperand: it has none.
  DataType type = DataType::kUnknown;
  std::vector<int64_t> dims;  ///< Images: x, y, the others fold into layers.
  bool written = false;
  bool kept = false;      ///< Of what is written: the rest stays as it was.
  std::string name;       ///< For messages: "input 0", "output 1", "scratch 0".
  bool zeroed = false;    ///< Of what is written: set to zeros before.
  bool readable = false;  ///< Of what is written: the parameter may be const.
  bool open = false;      ///< Of what is written: it may stay incomplete.
  /// Whether it has a content that the kernel may read.
  bool filled() const { return !written || kept || zeroed; }
  bool operator==(const UserTensorArg&) const = default;
};
inline constexpr int kAbsentOperand = -1;

/// A scalar of a user's kernel; it takes the type of the parameter.
struct UserScalarArg {
  /// A bool is an integer.
  using Value = std::variant<int64_t, uint64_t, double>;
  Value value;
  std::string type;  ///< As the user knows it: "float", "int32_t", "bool".
  std::string name;  ///< For messages: "scalar 2".
  std::vector<Value> more = {};  ///< The further elements of a vector.
  bool operator==(const UserScalarArg&) const = default;
};
/// The bits of the fields of a struct.
std::vector<int32_t> WordsOf(const StructArg& argument);

/// An argument of a built-in kernel.
using KernelArg = std::variant<TensorArg, LocalArg, int32_t, uint32_t, int64_t,
                               float, StructArg>;
/// An argument of a user's kernel.
using UserArg = std::variant<UserTensorArg, UserScalarArg, LocalArg>;

/// The work-items of a launch.
struct NdRange {
  int dimensions = 1;
  std::array<int64_t, 3> global = {1, 1, 1};
  /// All 0: the runtime chooses; 0 beside other sizes means 1.
  std::array<int64_t, 3> local = {0, 0, 0};
  bool operator==(const NdRange&) const = default;
};

/// Launches a kernel of the library.
struct KernelLaunch {
  /// Name of an embedded text, "ops/normalization/softmax.cl".
  std::string source;
  /// Names of embedded .clh texts that stand before `source`: formulas that its
  /// options name.  Each holds for the program once, by its guard TIM_ONCE_...
  std::vector<std::string> headers;
  /// The program of a kernel that the library does not embed, as benches have
  /// them: `source` is then what messages call it.  Else empty.
  std::string text;
  std::string function;
  std::string options;  ///< "-DT=float": part of the program's identity.
  std::vector<KernelArg> arguments;
  /// The kernel's names of the parameters, one per argument, for checks only
  /// (kernels::BindArguments): a TensorArg "x" is the parameters x and
  /// x_offset.  Empty: unknown, of a kernel that is not embedded.
  std::vector<std::string> names;
  NdRange range;
  /// Dimensions 0 and 1 are positions in an image, 2 is channels of all images,
  /// and cores should share the positions (a core does all channels of some),
  /// not the channels: a core then finds in its cache what it made before.
  bool spatial_partition = false;
  bool operator==(const KernelLaunch&) const = default;
};

/// Launches a user's kernel, which never runs before Run().
struct UserLaunch {
  std::string text;  ///< The program.
  std::string name;  ///< What messages call it: "user.HSwish#3".
  std::string function;
  std::string options;  ///< "-DT=float": part of the program's identity.
  /// "F(x) (x + 1)": each a #define before `text`, with options of the
  /// identity.
  std::vector<std::string> defines;
  std::vector<UserArg> arguments;
  NdRange range;
  /// Which of its operator's kernels, from 0, in their order.
  int part = 0;
  /// Of a text that includes files, which may change: launches of one edition
  /// share what was built, those of 0 share it with none.
  uint64_t edition = 0;
  bool operator==(const UserLaunch&) const = default;
};

/// An operand of a HostCall.
struct CallOperand {
  TensorDesc desc;
  /// Of an input, as shape inference sees it: the same in every run, of rank 0.
  bool constant = false;
  bool scalar = false;
  bool operator==(const CallOperand&) const = default;
};

/// Runs OpSchema::eval, or a composite's body, on the device that the step
/// names, which has `runs_eval` and finds the operators in the registry that it
/// is given.  Operands: inputs, then outputs; absent ones have no slot.
struct HostCall {
  std::string op;           ///< "tim.Softmax@1"; of a composite "tim.RNNCell".
  std::string name;         ///< Instance name for messages: "Softmax#3".
  AttributeMap attributes;  ///< No graphs.
  /// Of a composite: its graph, with operators of a registry that outlives what
  /// is prepared of the call.  Else null.
  std::shared_ptr<const Graph> body;
  std::vector<std::optional<CallOperand>> inputs;
  std::vector<std::optional<CallOperand>> outputs;
  /// Bodies are equal that have the same dump and the same constants.
  bool operator==(const HostCall& other) const;
};

/// Operand 0 to operand 1, `bytes` bytes; the two may be of two devices, one
/// of which is the host.  The step's device does it.
struct Copy {
  int64_t bytes = 0;
  bool operator==(const Copy&) const = default;
};

/// C = A * B of float32 matrices by the device's library, the operands of the
/// step; fields as in BLAS for row-major matrices.
struct Gemm {
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t lda = 0;
  int64_t ldb = 0;
  int64_t ldc = 0;
  int64_t batches = 1;
  /// Elements from one batch to the next; 0: all share the matrix.
  int64_t a_step = 0;
  int64_t b_step = 0;
  int64_t c_step = 0;
  bool operator==(const Gemm&) const = default;
};

/// Runs what a device that is no part of the library makes of `name` and
/// `payload`, which are the whole of it.
struct DeviceCall {
  std::string name;
  std::string payload;  ///< Bytes, without pointers; at most kMaxPayloadBytes.
  bool operator==(const DeviceCall&) const = default;
};
inline constexpr size_t kMaxPayloadBytes = size_t{1} << 20;

/// Runs a graph that the device compiles by itself.  Operands: the inputs of
/// `part`, then its outputs; constants are in it.
struct GraphCall {
  /// Its operators are of a registry that outlives what is prepared of the
  /// call; all values have types and known extents, and layouts of operands
  /// are those of their memory.
  std::shared_ptr<const Graph> part;
  std::string name;  ///< For messages: "part.acme.0".
  /// Key and value each, as the device knows them.
  std::vector<std::pair<std::string, std::string>> options;
  /// Parts are equal that have the same dump and the same constants.
  bool operator==(const GraphCall& other) const;
};

struct Plan;

/// Runs plans for the devices that the step's plan is for: the runtime does,
/// when all earlier steps of the step's device are done.  Operands: inputs,
/// then outputs, of the step's device, as are the ports of the plans; only what
/// the plans of conditions give, one byte, is the host's.
struct ControlCall {
  ControlKind kind = ControlKind::kIf;
  /// kIf: of input 0, which gives it to the host, of `then` and of `else`.
  /// kWhile: of the condition, and of the body, whose last output is the
  /// condition after it.
  std::vector<std::shared_ptr<const Plan>> plans;
  int64_t max_trips = -1;  ///< Of kWhile; -1: no limit.
  int scans = 0;           ///< Of kWhile: the last outputs.
  /// Plans are equal that have the same dump and the same constants.
  bool operator==(const ControlCall& other) const;
};

using Action = std::variant<KernelLaunch, UserLaunch, HostCall, Copy, Gemm,
                            DeviceCall, GraphCall, ControlCall>;

/// One line; programs given as text are named by the hash of the text.
std::string ToString(const Action& action);

/// The text that the action is built from, or null where that is embedded, or
/// nothing is built.
const std::string* TextOf(const Action& action);

/// "program <hash>" and the lines of `text`, for dumps.
std::string ProgramText(const std::string& text);

/// All that a graph is, as text: equal for graphs that compute the same with
/// the same names.  Constants are in it by their hashes.
std::string ContentOf(const Graph& graph);

}  // namespace tim::ir

#endif  // TIM_IR_STEP_H_
