// A kernel: one variant of an operator for a kind of device.
#ifndef TIM_IR_KERNEL_DEF_H_
#define TIM_IR_KERNEL_DEF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/constant.h"
#include "ir/device_info.h"
#include "ir/graph.h"
#include "ir/index_limit.h"
#include "ir/op_schema.h"
#include "ir/step.h"

namespace tim::ir {

/// A further operator that a fused node applies to the anchor's result.
struct EpilogueStep {
  const Node* node = nullptr;  ///< Its schema and attributes.
  /// Index of each operand in KernelNode::inputs; kRunning = the value that
  /// comes from the step before.
  std::vector<int> operands;
  TensorDesc result;  ///< Of this step.
};
inline constexpr int kRunning = -1;

/// What a KernelDef sees: an operator, its operands and, in a fused node, what
/// follows.  Shapes are static and all descs carry their layouts (dense until
/// layouts are chosen).  The nodes are the graph's, which stays as it is while
/// a function of the KernelDef runs, no longer.
struct KernelNode {
  const Node* node = nullptr;    ///< The node of the graph (may be composite).
  const Node* anchor = nullptr;  ///< The operator itself: schema, attributes.
  std::vector<TensorDesc> inputs;  ///< Of the whole node, anchor's first.
  std::vector<bool> present;       ///< False: optional input not bound.
  /// Bytes of constant inputs (dense), else null.
  std::vector<std::shared_ptr<const ConstantData>> constants;
  std::vector<TensorDesc> outputs;  ///< Of the whole node.
  TensorDesc anchor_output;         ///< Of the anchor; = outputs[0] unfused.
  std::vector<EpilogueStep> epilogue;
  /// The node comes back with other extents: options, which are part of a
  /// program's identity, then take few values and no remainder of an extent.
  bool many_shapes = false;

  const AttributeMap& attributes() const { return anchor->attributes; }
  bool has_input(int i) const {
    return i < static_cast<int>(present.size()) && present[i];
  }
};

/// The view of a node whose operands are values of `graph` (types and shapes
/// inferred).  It points into `node`.
KernelNode MakeKernelNode(const Graph& graph, const Node& node);

/// Layouts of all inputs (absent ones: any) and outputs that go together.
struct LayoutTuple {
  std::vector<Layout> inputs;
  std::vector<Layout> outputs;
  bool operator==(const LayoutTuple&) const = default;
};

/// Scratch memory of one launch sequence, live from step `first` to `last`.
struct ScratchSpec {
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

/// A constant that the kernel reads in a form of its own, made once at Compile.
struct PackedConstant {
  /// Same id and same source constants: the same bytes.
  std::string id;
  std::vector<int> sources;  ///< Indices of constant inputs that it is made of.
  int64_t bytes = 0;
  /// Fills `bytes` zero bytes, aligned as the device's constants are.  Called
  /// after `lower` has returned, on any thread and beside other packings, once
  /// per device for equal ids and sources: it owns or shares what it reads
  /// (KernelNode::constants), and writes nothing else.
  std::function<Status(std::span<std::byte> out)> pack;
};

/// An operand of a lowered action.
struct LoweredOperand {
  enum class Kind : uint8_t { kInput, kOutput, kScratch, kPacked };
  Kind kind = Kind::kInput;
  int index = 0;  ///< In KernelNode::inputs, outputs, or the lists below.
  /// Of a node that is done in pieces: the part of the input or output, in
  /// bytes.  Kernels leave it to the compiler.
  int64_t offset = 0;
  int64_t bytes = -1;  ///< -1: all of it.
  bool operator==(const LoweredOperand&) const = default;
};

struct LoweredStep {
  Action action;
  std::vector<LoweredOperand> operands;  ///< What TensorArg::operand indexes.
  std::vector<bool> written;             ///< Per operand: the step writes it.
};

/// An output that may lie where an input lies.
struct InPlacePair {
  int input = 0;
  int output = 0;
  bool operator==(const InPlacePair&) const = default;
};

/// What a kernel runs for one node.  It owns all that it holds.  The lower pass
/// checks what it names: operands, scratch, lifetimes, sources, pairs.  That a
/// step writes no more than it says, and within its operands, nobody checks.
struct Lowering {
  /// At least one; they run in this order, one after the other, on one device.
  std::vector<LoweredStep> steps;
  /// Its content is undefined when its first step begins.
  std::vector<ScratchSpec> scratch;
  std::vector<PackedConstant> packed;
  /// Taken where both have the same bytes and nothing needs the input later:
  /// a work-item reads an element of the input before it writes that of the
  /// output, and no other one and no later step reads it.
  std::vector<InPlacePair> in_place;
  /// Operators of KernelNode::epilogue that the steps apply: must be all.
  int applied = 0;
};

/// What a kernel found out about a node, of a type that only the kernel knows;
/// never null.
using KernelProblem = std::shared_ptr<const void>;

/// The functions are pure and any thread may call them, several at a time and
/// as often as it likes; they keep no reference to an argument.  The operator's
/// schema has accepted the node, and the node of an epilogue its own.
/// TypedKernel and PlainKernel (ir/typed_kernel.h) make one of functions that
/// name their problem's type.
struct KernelDef {
  /// Schema name that it implements ("tim.Conv2d"), or a composite's name.
  std::string op;
  std::string name;  ///< "conv2d_nchw16c_f32": unique.
  std::string device_kind = "opencl";
  /// Whether it is asked about nodes with an epilogue at all.  Its lowering
  /// then says how many of the operators it applies.
  bool takes_epilogue = false;
  /// The problem, or the reason why it takes no such node: of device, types,
  /// sizes, attributes, epilogue.  Called through ir::Analyze(), with dense
  /// descs, of fused nodes that may never be made too.
  std::function<Result<KernelProblem>(const KernelNode&, const DeviceInfo&)>
      analyze;
  /// Tuples that it takes, each as long as inputs and outputs are; absent ones
  /// have any.  Called with dense descs and what `analyze` made of them.  Null:
  /// everything dense.
  std::function<std::vector<LayoutTuple>(const KernelProblem&,
                                         const KernelNode&, const DeviceInfo&)>
      layouts = nullptr;
  /// Estimated microseconds with the layouts set in the descs: those of one of
  /// the tuples, or all dense (fusion compares kernels so).
  std::function<double(const KernelProblem&, const KernelNode&,
                       const DeviceInfo&)>
      cost;
  /// Steps for the layouts set in the descs, those of one of the tuples.  Once
  /// per node and Compile, where the kernel was chosen (of a node that is done
  /// in pieces, once per piece); a failure is the Compile's.
  std::function<Result<Lowering>(const KernelProblem&, const KernelNode&,
                                 const DeviceInfo&)>
      lower;
};

/// What the kernel makes of the node; its reason against it, or that it takes
/// no fused operators.
Result<KernelProblem> Analyze(const KernelDef& kernel, const KernelNode& node,
                              const DeviceInfo& device);

/// Tuples of layouts that the kernel takes: everything dense where it names
/// none.
std::vector<LayoutTuple> LayoutsOf(const KernelDef& kernel,
                                   const KernelProblem& problem,
                                   const KernelNode& node,
                                   const DeviceInfo& device);

/// Everything dense.
LayoutTuple DenseLayouts(const KernelNode& node);

/// Max of compute and memory time plus a launch, at the given fractions of the
/// device's figures: what most `cost` functions return.
double EstimateMicroseconds(const ComputeEstimate& estimate,
                            const DeviceInfo& device, double compute_efficiency,
                            double memory_efficiency = 0.5);

std::string Dump(const KernelDef& kernel);

}  // namespace tim::ir

#endif  // TIM_IR_KERNEL_DEF_H_
