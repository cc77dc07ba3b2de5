// The passes, in the order in which compiler.cc runs them.
#ifndef TIM_COMPILER_PASSES_PASSES_H_
#define TIM_COMPILER_PASSES_PASSES_H_

#include <vector>

#include "base/status.h"
#include "compiler/module.h"
#include "ir/plan.h"

namespace tim::compiler {

/// Def-use chains, arity, attributes, roles, quantization, constant sizes,
/// ranks, cycles.  Adds default attributes.
Status Verify(Module& module);
/// What Verify does with a graph, of one inside of a node: inference gives its
/// inputs their types.  No module: a body that the library made.
Status VerifyBody(const Module* module, ir::Graph& body);
/// What Verify does with a composite node, for one that it has not seen.
Status VerifyComposite(ir::Node& node);

/// The graphs inside of a node whose schema has `control`: attributes, operands
/// and arity as Verify wants them, in a copy.
Status VerifyControl(const Module* module, ir::Node& node);
/// Types and shapes in these graphs, from those of the node's inputs.
Status InferControl(Module& module, const ir::Graph& graph, ir::Node& node);
/// The step that runs their plans.
Result<ir::Lowering> LowerControl(Module& module, const ir::Node& node,
                                  int device);

/// Types and shapes of every value; operators that consist of others become
/// composites.  Where the user declared an output of
/// another shape with as many elements, a Reshape is put before it.
Status InferShapes(Module& module);
/// Which doubts about a node are said, see doubts.h.
enum class Doubts : uint8_t {
  kNone,
  kShapes,  ///< ShapeDoubt alone.
  kAll,
};
/// All nodes of a body whose inputs are inferred.
Status InferBody(Module& module, ir::Graph& body, Doubts said);
/// The same of one node of the graph or of a body; its inputs are inferred.
Status InferNode(Module& module, ir::Graph& graph, ir::NodeId id, Doubts said);

/// Expands composite nodes that no kernel of a target device claims.
Status ExpandComposites(Module& module);
/// The bodies of these composite nodes take their places.  Nodes whose effects
/// are ordered may get other ids.
void ExpandComposites(const std::vector<ir::NodeId>& ids, ir::Graph* graph);

/// Reshapes that keep declared shapes move behind the element-wise operators
/// that read them.
Status SinkViews(Module& module);

/// Folds constants, removes identities and what nothing needs.
Status Simplify(Module& module);

/// Operators that clients spelled out in smaller ones become one
/// (ir::RewriteRule), where every device takes the one that takes those.
Status Recognize(Module& module);

/// Nodes that compute the same from the same become one; never random or
/// ordered ones.  Compile leaves it to the makers of graphs, as Differentiate.
Status MergeEqual(Module& module);

/// Factors and offsets of channels become part of the weights and the bias of
/// the operator before them, in float32.
Status FoldAffine(Module& module);

/// Operators that pad absorb the padding around their inputs.
Status AbsorbPadding(Module& module);

/// Operators that only move elements (OpSchema::element_map) and follow one
/// another become one, or none.
Status ComposeMaps(Module& module);

/// Sets of nodes that a device's own compiler claims (ir::PartDef) become
/// composites that it runs as one, where that is faster.
Status ClaimParts(Module& module);

/// The device of every node if several devices share the graph: so that the
/// whole is predicted to take least.
Status AssignDevices(Module& module);

/// A copy of the graph for each device, which does some items of the batch, if
/// the policy asks for it.
Status SplitBatch(Module& module);

/// Fuses chains that one kernel runs into composites.
Status Fuse(Module& module);

/// Kernel, device and layouts of every node, chosen together; puts Reorder and
/// transfer nodes where they differ.
Status Choose(Module& module);

/// The steps of every node.
Status Lower(Module& module);

/// A topological order with a small peak of live memory.
Status Order(Module& module);

/// Offsets of everything that lives in arenas.
Status PlanMemory(Module& module);

/// The plan, and its constants as each device and kernel wants them.
Result<ir::Plan> Emit(Module& module);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_PASSES_PASSES_H_
