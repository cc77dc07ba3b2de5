// What the compiler ends in: steps with operands, waits and memory offsets.
// It holds no handle, so it can be dumped, compared and stored.
#ifndef TIM_IR_PLAN_H_
#define TIM_IR_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/step.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

enum class SlotKind : uint8_t {
  kArena,       ///< Range of an arena of one run.
  kConstant,    ///< Range of Plan::constants[index].
  kInput,       ///< Host memory of graph input `index`, bound per run; on a
                ///< device with unified memory imported by it.
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

struct Step {
  std::string label;  ///< Instance names of the nodes it runs.
  int device = 0;
  Action action;
  std::vector<int> operands;  ///< Slots, in the order the action counts them.
  std::vector<bool> written;  ///< Per operand.
  /// Earlier steps on other devices that must have finished.
  std::vector<int> waits;
};

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
  TensorDesc desc;  ///< Dense.
};

struct PlanState {
  std::string name;
  TensorDesc desc;
  int device = 0;
  bool written = false;   ///< Some step writes it: swap after the run,
  bool in_place = false;  ///< unless it is written where it is: one memory,
                          ///< and no slot reads it as it was before.
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
};

struct Plan {
  std::string graph;
  std::vector<DeviceInfo> devices;  ///< devices[0] is the host.
  std::vector<Slot> slots;
  std::vector<Arena> arenas;
  std::vector<ConstantBlock> constants;
  std::vector<PlanTensor> inputs;
  std::vector<PlanTensor> outputs;
  std::vector<PlanState> states;
  std::vector<Step> steps;  ///< In an order that respects all dependences.
  MemoryReport memory;
  std::vector<Decision> decisions;
};

/// Everything but the bytes of constants, one line each; the texts of users'
/// programs at the end.
std::string Dump(const Plan& plan);

/// Checks operand indices, slot ranges, the order of steps, waits between
/// devices, and that no two values live at the same time overlap.
Status Verify(const Plan& plan);

}  // namespace tim::ir

#endif  // TIM_IR_PLAN_H_
