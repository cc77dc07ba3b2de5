// Takers of what callbacks of plug-ins make.
#ifndef TIM_PLUGIN_SINKS_H_
#define TIM_PLUGIN_SINKS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/status.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"
#include "ir/part_def.h"
#include "plugin/loaded_plugin.h"
#include "plugin/views.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// The first thing that a sink was given and does not fit.
struct SinkFailure {
  Status status;

  /// Keeps the failure; its code for the plug-in.  What `take` throws is one,
  /// too.
  template <typename Take>
  TimCode Keep(const Take& take) noexcept {
    Status taken = GuardedCall(take);
    const auto code = static_cast<TimCode>(taken.code());
    if (!taken.ok() && status.ok()) status = std::move(taken);
    return code;
  }
};

}  // namespace tim::plugin

struct TimLayouts {
  const tim::ir::KernelNode* node = nullptr;
  std::vector<tim::ir::LayoutTuple> tuples;
  tim::plugin::SinkFailure failure;
};

struct TimLowering {
  const tim::ir::KernelNode* node = nullptr;
  const tim::ir::DeviceInfo* info = nullptr;
  std::shared_ptr<const tim::plugin::LoadedPlugin> plugin;
  std::string kernel;  ///< For messages.
  bool opencl = false;
  tim::ir::Lowering lowering;
  std::vector<tim::ir::LoweredOperand> operands;  ///< By their number.
  tim::plugin::SinkFailure failure;
};

struct TimClaims {
  const TimGraph* graph = nullptr;
  tim::ir::PartClaims claims;
  tim::plugin::SinkFailure failure;
};

/// A graph that is edited: a copy, or the body of an operator.
struct TimEdits {
  tim::ir::Graph graph;
  const tim::ir::OpRegistry* registry = nullptr;
  const TimGraph* view = nullptr;  ///< Of the graph before; null: of none.
  bool is_body = false;            ///< set_output() and edit_input() work.
  std::vector<tim::ir::NodeId> added;
  std::vector<tim::ir::ValueId> outputs;  ///< Of a body, kNone where not set.
  tim::plugin::SinkFailure failure;
};

struct TimInference {
  tim::ir::InferContext* context = nullptr;
  std::vector<bool> known;  ///< Per output.
  tim::plugin::SinkFailure failure;
};

namespace tim::plugin {

const TimSinkFns& Sinks();

/// The status of a callback that had a sink: `called` where it failed, with
/// what the sink has to say; else the sink's failure, which breaks the
/// plug-in's contract, as it should have returned it.
Status CallbackStatus(const LoadedPlugin& plugin, const char* name,
                      const Status& called, const SinkFailure& failure);

/// Functions of Sinks() that take what kernels do.
TimCode AddLayoutsTo(TimLayouts*, const TimTensorDesc* const* inputs,
                     uint32_t input_count, const TimTensorDesc* const* outputs,
                     uint32_t output_count);
TimCode AddScratchTo(TimLowering*, uint64_t bytes, uint32_t first_step,
                     uint32_t last_step, uint32_t* operand);
TimCode AddPackedTo(TimLowering*, const char* id, const uint32_t* inputs,
                    uint32_t input_count, uint64_t bytes, TimPackFn,
                    void* state, void (*drop)(void* state), uint32_t* operand);
TimCode InputOperandOf(TimLowering*, uint32_t input, uint32_t* operand);
TimCode OutputOperandOf(TimLowering*, uint32_t output, uint32_t* operand);
TimCode AddStepTo(TimLowering*, const char* name, TimBytes payload,
                  const uint32_t* operands, const uint8_t* written,
                  uint32_t operand_count);
TimCode AddOpenClStepTo(TimLowering*, const TimOpenClStep*,
                        const uint8_t* written);
TimCode AddInPlaceTo(TimLowering*, uint32_t input, uint32_t output);

/// Functions of Sinks() that edit graphs.
TimCode AddConstantTo(TimEdits*, const TimTensorDesc*, TimBytes, int32_t*);
TimCode AddNodeTo(TimEdits*, const char* op, const char* name,
                  const int32_t* inputs, uint32_t input_count,
                  uint32_t output_count, int32_t* outputs, uint32_t* node);
TimCode SetAttributeOf(TimEdits*, uint32_t node, const char* name,
                       const TimAttribute*);
TimCode ReplaceUsesIn(TimEdits*, int32_t from, int32_t to);
TimCode RemoveNodeFrom(TimEdits*, const TimNode*);
TimCode SetOutputOf(TimEdits*, uint32_t index, int32_t value);
int32_t EditInputOf(TimEdits*, uint32_t index);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_SINKS_H_
