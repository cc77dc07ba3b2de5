// What the compiler ends in: steps with operands, waits and memory offsets.
// It holds no handle and no pointer into the process (but to the bytes of
// constants), so it can be dumped, compared and stored.
#ifndef TIM_IR_PLAN_H_
#define TIM_IR_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/partition.h"
#include "ir/step.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

enum class SlotKind : uint8_t {
  kArena,       ///< Range of an arena of one run.
  kConstant,    ///< Range of Plan::constants[index].
  kInput,       ///< Memory of graph input `index`, bound per run: of the
                ///< device PlanTensor::device; of the host, a device with
                ///< unified memory imports it.
  kOutput,      ///< The same for graph output `index`.
  kStateRead,   ///< State `index` as it was before the run.
  kStateWrite,  ///< State `index` as it is after the run.
};

/// A piece of memory that operands refer to.
struct Slot {
  SlotKind kind = SlotKind::kArena;
  int device = 0;
  int index = 0;       ///< Arena, block of constants, input, output or state.
  int64_t offset = 0;  ///< In what it is a piece of, in bytes.
  int64_t bytes = 0;
  /// Arena slots of one allocation may lie in each other (a Concat's inputs in
  /// its output); -1: it is alone.
  int allocation = -1;
  bool operator==(const Slot&) const = default;
};

/// Streams of a device in one plan.
inline constexpr int kMostStreams = 16;

struct Step {
  std::string label;  ///< Instance names of the nodes it runs.
  int device = 0;
  Action action;
  std::vector<int> operands;  ///< Slots, in the order the action counts them.
  std::vector<bool> written;  ///< Per operand.
  /// Earlier steps of other queues that must have finished.
  std::vector<int> waits;
  std::string kernel = {};  ///< Of a kernel's step: KernelDef::name.
  /// Steps of one device and stream are a queue: they run in order.
  int stream = 0;  ///< Less than kMostStreams.
  bool operator==(const Step&) const = default;
};

/// Steps that run one after the other, without waits.
inline bool InOneQueue(const Step& a, const Step& b) {
  return a.device == b.device && a.stream == b.stream;
}

/// Steps first .. first + count - 1, which their device enqueues as one.
struct Chain {
  int first = 0;
  int count = 1;
  bool operator==(const Chain&) const = default;
};
/// Arenas, blocks and other buffers that the steps of a chain work in: kernels
/// take a kilobyte of arguments at least, a pointer per buffer.
inline constexpr size_t kMaxChainBuffers = 96;

struct Arena {
  int device = 0;
  MemoryKind memory = MemoryKind::kDevice;
  int64_t bytes = 0;
  bool operator==(const Arena&) const = default;
};

struct PlacedConstant {
  std::string id;  ///< Content hash, and how it was packed.
  int64_t offset = 0;
  int64_t bytes = 0;
  bool operator==(const PlacedConstant&) const = default;
};

/// Constants of one device, one behind the other; on the host one constant
/// where the graph has it.
struct ConstantBlock {
  int device = 0;
  int64_t bytes = 0;
  /// A device with unified memory reads it here if it is aligned; for others it
  /// is copied, and the runtime's plan forgets it.
  std::shared_ptr<const std::byte[]> data;
  std::vector<PlacedConstant> constants;
};

struct PlanTensor {
  std::string name;
  TensorDesc desc;  ///< On the host dense or strided.
  int device = 0;   ///< Whose memory it is in, in every run.
  bool operator==(const PlanTensor&) const = default;
};

struct PlanState {
  std::string name;
  TensorDesc desc;
  int device = 0;
  bool written = false;   ///< Some step writes it: swap after the run,
  bool in_place = false;  ///< unless it is written where it is: one memory,
                          ///< and no slot reads it as it was before.
  bool operator==(const PlanState&) const = default;
};

/// What the memory planner found, in bytes: of all arenas, which a run has from
/// its first step to its last, and of what eval steps allocate besides.
struct MemoryReport {
  int64_t no_reuse_sum = 0;  ///< Every value at an address of its own.
  int64_t lower_bound = 0;   ///< Most bytes live at any one step.
  int64_t peak = 0;          ///< Sum of the arenas.
  /// Most that eval steps hold at a time, by OpSchema::memory_estimate.
  int64_t eval_scratch = 0;
  bool operator==(const MemoryReport&) const = default;
};

/// Why a kernel and its layouts were taken for a node, and others not.
struct Decision {
  std::string node;
  std::string chosen;  ///< "opencl:conv2d_nchw16c_f32 (blocked …) -> …, 12 us"
  std::vector<std::string> refused;  ///< "kernel: reason"
  bool operator==(const Decision&) const = default;
};

/// What folding a node of constants may cost.  A node beyond a limit is kept
/// and runs like any other.
struct FoldLimits {
  /// Its results have at most `growth` times the bytes of its inputs, or at
  /// most `small_bytes`.
  double growth = 4;
  double small_bytes = 1 << 20;
  /// Estimated arithmetic operations, and elements of its results.
  double operations = 1e8;
  bool operator==(const FoldLimits&) const = default;
};

/// What shaped the plan besides graph, operators and devices.
struct PlanOptions {
  bool strict = false;  ///< A host step beside another device is an error.
  FoldLimits fold = {};
  bool operator==(const PlanOptions&) const = default;
};

/// Names and figures for people and tools, which no run needs: they are not
/// stored, and a plan from a file has none.
struct PlanNotes {
  /// A tensor that is left after fusion.
  struct Value {
    std::string name;
    TensorDesc desc;  ///< Its layout is that of its bytes.
  };
  /// The tensor that an operand of a step is, or is a part of from `offset`
  /// bytes on.
  struct Operand {
    int value = -1;  ///< Index in `values`; -1: scratch or packed weights.
    int64_t offset = 0;
  };
  /// Work of a node in one run, as its operator estimates it.
  struct Work {
    std::string op;         ///< "Conv2d": a custom operator's own name, too.
    double operations = 0;  ///< Arithmetic ones; a multiply-add is two.
    double bytes = 0;       ///< Read and written, each operand once.
  };
  std::vector<Value> values;
  std::vector<std::vector<Operand>> operands;  ///< [step][operand].
  std::map<std::string, Work> work;            ///< Keys are Step::label.
  Partition partition = {};
};

struct Plan {
  std::string graph;
  PlanOptions options;
  std::vector<DeviceInfo> devices;  ///< devices[0] is the host.
  std::vector<Slot> slots;
  std::vector<Arena> arenas;
  std::vector<ConstantBlock> constants;
  std::vector<PlanTensor> inputs;
  std::vector<PlanTensor> outputs;
  std::vector<PlanState> states;
  std::vector<Step> steps;  ///< In an order that respects all dependences.
  /// Ascending and apart.  In a chain only the first step waits for steps of
  /// other devices, and those wait for its last step only.
  std::vector<Chain> chains;
  MemoryReport memory;
  std::vector<Decision> decisions;
  PlanNotes notes;
};

/// Everything but the bytes of constants, one line each; the texts of users'
/// programs at the end.
std::string Dump(const Plan& plan);

/// Whether the plan keeps all that runtime and devices rely on, whatever it was
/// made of: indices name what there is, pieces lie in what they are pieces of,
/// descriptions and sizes are sound and fit their slots, steps use memory of
/// their device, wait for earlier steps and write what may be written, chains
/// are what Plan::chains says, values that live at the same time do not
/// overlap, and constants have their bytes.  kInvalidArgument names what is
/// wrong.  It takes n log n time in the size of the plan.
///
/// That a step's program does what the step says, and that operators take their
/// operands, is not seen here: devices check it where they prepare steps.
Status Verify(const Plan& plan);

}  // namespace tim::ir

#endif  // TIM_IR_PLAN_H_
