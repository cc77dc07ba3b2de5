// Conversions between codes and real values that operators may take over.
#ifndef TIM_COMPILER_QUANTIZATION_CONVERSIONS_H_
#define TIM_COMPILER_QUANTIZATION_CONVERSIONS_H_

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tim::compiler {

/// True for 8-bit integers with a quantization.
bool IsCodes(const ir::TensorDesc& desc);
/// True for codes of one scale.
bool IsPerTensor(const ir::TensorDesc& desc);
/// Every zero point is 0.
bool IsSymmetric(const ir::Quantization& quantization);

/// What makes codes of one scale of a float32 value that nothing else needs:
/// one conversion, or two, the first of which rounds to units of the scale and
/// the second adds the zero point.
struct Quantize {
  ir::NodeId first = ir::kNone;
  ir::NodeId last = ir::kNone;
  ir::ValueId codes = ir::kNone;
};

/// The conversions of a graph: DataConverts whose attribute `foldable` is set.
/// All others are operators like any.
class Conversions {
 public:
  /// \param graph outlives it.
  explicit Conversions(ir::Graph* graph) : graph_(*graph) {}

  ir::Graph& graph() { return graph_; }
  const ir::TensorDesc& Desc(ir::ValueId id) const {
    return graph_.value(id).desc;
  }
  /// A foldable conversion between float32 and integers with a quantization.
  bool IsConversion(const ir::Node& node) const;
  /// The integers that this float32 value is converted from; kNone where it is
  /// not, or absent.
  ir::ValueId SourceOf(ir::ValueId id) const;
  /// Nothing where the value is absent, too.
  std::optional<Quantize> QuantizeOf(ir::ValueId id) const;
  /// The node that alone needs the value; else null.
  const ir::Node* OnlyReader(ir::ValueId id) const;
  /// A constant, or what nodes of one operand make of one.
  bool IsConstant(ir::ValueId id) const;

  /// The node's operator takes the types and quantizations of its operands.
  bool Takes(const ir::Node& node) const;
  /// Lets the node write the codes that Quantize makes of all of its outputs;
  /// false where one has none or the operator does not.
  bool WriteCodes(ir::NodeId id);
  /// Lets the node read `inputs`.
  void Read(ir::NodeId id, const std::vector<ir::ValueId>& inputs);

 private:
  void Remove(const Quantize& quantize);

  ir::Graph& graph_;
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_QUANTIZATION_CONVERSIONS_H_
