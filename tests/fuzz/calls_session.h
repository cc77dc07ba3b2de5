// A client of tim::graph that calls what bytes tell it to.
#ifndef TIM_TESTS_FUZZ_CALLS_SESSION_H_
#define TIM_TESTS_FUZZ_CALLS_SESSION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tim/graph/c.h"
#include "tim/graph/c_extension.h"
#include "tim/graph/c_memory.h"

namespace tim::testing {

/// Calls that succeeded, of all sessions of the process.
struct CallCounts {
  int64_t calls = 0;
  int64_t refused = 0;
  int64_t partitions = 0;
  int64_t compiles = 0;
  int64_t executes = 0;
};
CallCounts& CountsOfCalls();

/// Ends the process, and says what is wrong.
[[noreturn]] void FailCalls(const char* what);

/// Calls functions of the C boundary, in an order and with arguments that bytes
/// choose: objects that are missing, of other engines, or destroyed while
/// others use them; descriptions that contradict each other; allocators that
/// fail. Ends the process where a status and what it says of the results
/// differ, where a failure has no message, or where memory of its allocators is
/// left.
///
/// Handles of tensors are such as a client may give: null, the library's, or
/// memory of at least the tensor's size.
class CallsSession {
 public:
  explicit CallsSession(std::span<const uint8_t> bytes);
  CallsSession(const CallsSession&) = delete;
  CallsSession& operator=(const CallsSession&) = delete;
  /// Destroys what is left.
  ~CallsSession();

  /// Until the bytes are used up.
  void Run();

 private:
  static constexpr size_t kSlots = 4;
  static constexpr size_t kTensorIds = 8;

  /// Objects of a type; null at first and where they were destroyed.
  template <typename Handle>
  using Slots = std::array<Handle, kSlots>;

  /// Ports that a compile was given.
  struct Ids {
    std::vector<size_t> inputs = {};
    std::vector<size_t> outputs = {};
  };

  uint8_t Next();
  size_t Slot() { return Next() % kSlots; }
  int64_t Extent();
  tim_graph_engine_kind_t Kind();
  tim_graph_logical_tensor_t& AnyDescription() {
    return descriptions_[Next() % kTensorIds];
  }

  /// Judges a status; true for success.
  bool Judge(tim_graph_status_t status);
  /// The same of a call that makes an object in a slot, whose old one goes.
  template <typename Handle, typename Call>
  bool Make(Handle* slot, tim_graph_status_t (*destroy)(Handle), Call call);
  template <typename Handle>
  void Drop(Handle* slot, tim_graph_status_t (*destroy)(Handle));

  void MakeEngine();
  void MakeStream();
  void Describe();
  /// Strided f32 of {1, 4, 4, 4}.
  void SetKnownDims(size_t id);
  void MakeOp();
  void MakeKnownOp();
  /// The op in its slot: reads tensors with ids below `end`, and makes those
  /// from there on, as many as there are.
  tim_graph_op_t MakeKnownOp(size_t end);
  void SetAttribute(tim_graph_op_t op);
  void MakeGraph();
  void MakeNetwork();
  void UseGraph();
  void TakePartitions(tim_graph_graph_t graph);
  void UsePartition();
  void Compile();
  void UseCompiled();
  void Execute();
  void MakeTensor();
  void UseTensor();
  void Transfer();
  void Settings();
  void Ask();
  void DropOne();
  void DropAll();

  std::vector<tim_graph_logical_tensor_t> PortsOf(
      tim_graph_partition_t partition, bool inputs);
  tim_graph_tensor_t TensorOfPort(tim_graph_compiled_partition_t compiled,
                                  size_t id, tim_graph_engine_t engine);

  std::span<const uint8_t> bytes_;
  std::array<tim_graph_logical_tensor_t, kTensorIds> descriptions_ = {};
  Slots<tim_graph_engine_t> engines_ = {};
  Slots<tim_graph_stream_t> streams_ = {};
  Slots<tim_graph_op_t> ops_ = {};
  Slots<tim_graph_graph_t> graphs_ = {};
  Slots<tim_graph_partition_t> partitions_ = {};
  Slots<tim_graph_compiled_partition_t> compiled_ = {};
  Slots<tim_graph_tensor_t> tensors_ = {};
  Slots<Ids> ids_ = {};  ///< Of the compiled partition in the same slot.
  size_t next_op_ = 0;
};

template <typename Handle>
void CallsSession::Drop(Handle* slot, tim_graph_status_t (*destroy)(Handle)) {
  const Handle object = std::exchange(*slot, nullptr);
  if (!Judge(destroy(object)) && object != nullptr) {
    FailCalls("an object cannot be destroyed");
  }
}

template <typename Handle, typename Call>
bool CallsSession::Make(Handle* slot, tim_graph_status_t (*destroy)(Handle),
                        Call call) {
  Handle made = nullptr;
  const bool succeeded = Judge(call(&made));
  if (succeeded != (made != nullptr)) {
    FailCalls("an object and its status differ");
  }
  if (!succeeded) return false;
  Drop(slot, destroy);
  *slot = made;
  return true;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_FUZZ_CALLS_SESSION_H_
