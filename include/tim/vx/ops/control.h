// If and While: graphs inside of an operation.
#ifndef TIM_VX_OPS_CONTROL_H_
#define TIM_VX_OPS_CONTROL_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {

class Graph;

/// Base of operators that run other graphs.
///
/// Such a graph is of the same context and complete before the graph with the
/// operation is compiled, which compiles it, too: it needs no Compile() and is
/// not run by itself.  Its INPUT tensors are the operation's inputs and its
/// OUTPUT tensors the operation's outputs, in the order of their creation;
/// constants are its own.  It may have operations of all kinds, If and While
/// too, but no VARIABLE tensors.
class TIM_VX_API ControlOp : public BuiltinOp {
 protected:
  using Graphs =
      std::initializer_list<std::pair<const char*, std::shared_ptr<Graph>>>;
  ControlOp(Graph* graph, const char* name, Graphs graphs,
            std::initializer_list<NamedAttribute> attributes = {});
  ControlOp(const ControlOp& original) = default;
};

namespace ops {

/// outputs = (condition ? then_graph : else_graph)(inputs 1, 2, ...).
///
/// Input 0, the condition: BOOL8 of one element, read in every run.
/// Inputs 1, 2, ...: those of both graphs.
/// Outputs: those of both graphs, of equal types, shapes and quantization.
/// Errors: Compile() fails where a graph is null, of another context, has
/// another number of inputs or outputs, a VARIABLE tensor, or itself inside.
/// Source: ONNX If-13, TFLite IF.
class If : public ControlOp {
 public:
  static const char* OpName() { return "If"; }
  If(Graph* graph, std::shared_ptr<Graph> then_graph,
     std::shared_ptr<Graph> else_graph)
      : ControlOp(graph, OpName(),
                  {{"then_graph", std::move(then_graph)},
                   {"else_graph", std::move(else_graph)}}) {}

  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return AddClone(graph, std::make_shared<If>(*this));
  }
};

/// state = body(state) as long as condition(state), at most `max_trips` times.
///
/// Inputs: the state before, which is the input of both graphs.
/// Outputs: the state after, as many tensors of equal types, shapes and
///        quantization; then the scans: slice t of one, along a new slowest
///        axis of extent `max_trips`, is what trip t gave; those behind the
///        last trip are zeros.
/// - condition: a graph with one output, BOOL8 of one element.
/// - body: a graph whose outputs are the state after a trip, then slices.
/// - max_trips: -1: no limit; at least 1 where there are scans.
/// - scan_outputs: how many of the body's outputs, the last ones, are slices.
/// Errors: those of If; Compile() fails too where the state changes its type,
/// shape or quantization in a trip.
/// Source: ONNX Loop-13, TFLite WHILE.
class While : public ControlOp {
 public:
  static const char* OpName() { return "While"; }
  While(Graph* graph, std::shared_ptr<Graph> condition,
        std::shared_ptr<Graph> body, int64_t max_trips = -1,
        int32_t scan_outputs = 0)
      : ControlOp(
            graph, OpName(),
            {{"condition", std::move(condition)}, {"body", std::move(body)}},
            {{"max_trips", max_trips}, {"scan_outputs", scan_outputs}}) {}

  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return AddClone(graph, std::make_shared<While>(*this));
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CONTROL_H_
