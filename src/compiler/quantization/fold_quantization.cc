// Lets operators read and write the codes that conversions around them make.
#include "compiler/quantization/fold_quantization.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/quantization/conversions.h"
#include "compiler/quantization/fold_sum.h"
#include "compiler/quantization/move_conversions.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::kNone;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// Operators that take codes on both sides, or on none, beside those whose
// schemas say more: no facet of a schema tells that they mean real values.
constexpr std::array<std::string_view, 7> kOfRealValues = {
    "tim.Concat@1", "tim.Pool2d@1",  "tim.ReduceMax@1", "tim.ReduceMean@1",
    "tim.Resize@1", "tim.Softmax@1", "tim.Split@1"};

bool IsPointwise(const Node& node) {
  return !node.composite && node.schema->pointwise.has_value();
}

bool IsOfRealValues(const Node& node) {
  return !node.composite &&
         std::find(kOfRealValues.begin(), kOfRealValues.end(),
                   node.schema->Key()) != kOfRealValues.end();
}

// The sum writes codes, which then have the limits of the operator behind it:
// others than sums have a kernel for the limits and the codes together.
bool HoistOverLimits(Conversions* conversions, NodeId sum) {
  const ValueId output = conversions->graph().node(sum).outputs[0];
  const Node* reader = conversions->OnlyReader(output);
  return reader != nullptr && IsPointwise(*reader) &&
         reader->schema->pointwise->limits != nullptr &&
         HoistQuantize(conversions, reader->id);
}

// Codes of one scale that the value is converted from; kNone: it is not.
ValueId CodesOf(const Conversions& conversions, ValueId id) {
  const ValueId source = conversions.SourceOf(id);
  return source != kNone && IsPerTensor(conversions.Desc(source)) ? source
                                                                  : kNone;
}

// A node that works element by element reads codes of one scale.  Of two such
// operands it may compute in units of codes, which is for codes alone.
bool ReadElements(Conversions* conversions, NodeId id) {
  Node changed = conversions->graph().node(id);
  int codes = 0;
  bool any = false;
  for (ValueId& input : changed.inputs) {
    if (input == kNone) continue;
    const ValueId source = CodesOf(*conversions, input);
    if (source != kNone) {
      input = source;
      any = true;
    }
    if (IsCodes(conversions->Desc(input))) ++codes;
  }
  const bool writes = IsCodes(conversions->Desc(changed.outputs[0]));
  if (!any || (codes > 1 && !writes) || !conversions->Takes(changed)) {
    return false;
  }
  conversions->Read(id, changed.inputs);
  return true;
}

// All operands and results become codes.
bool FoldBothSides(Conversions* conversions, NodeId id) {
  const std::vector<ValueId> reals = conversions->graph().node(id).inputs;
  std::vector<ValueId> codes;
  for (const ValueId real : reals) {
    codes.push_back(CodesOf(*conversions, real));
    if (codes.back() == kNone) return false;
  }
  conversions->Read(id, codes);
  if (conversions->WriteCodes(id)) return true;
  conversions->Read(id, reals);
  return false;
}

// Dequantize -> Quantize, the node, becomes one conversion between codes.
void JoinConversions(Conversions* conversions, NodeId id) {
  ir::Graph& graph = conversions->graph();
  const ValueId real = graph.node(id).inputs[0];
  const ValueId codes = CodesOf(*conversions, real);
  const auto quantize = conversions->QuantizeOf(real);
  if (codes == kNone || !quantize) return;
  graph.SetInput(quantize->last, 0, codes);
  if (quantize->first == quantize->last) return;
  const ValueId units = graph.node(id).outputs[0];
  graph.RemoveNode(id);
  graph.RemoveValue(units);
}

void Fold(Conversions* conversions, NodeId id, FoldedQuantization* folded) {
  const Node& node = conversions->graph().node(id);
  if (IsSumOfProducts(node)) {
    if (!ReadFactors(conversions, id)) return;
    ++folded->sums;
    folded->elements += HoistOverLimits(conversions, id) ? 1 : 0;
    conversions->WriteCodes(id);
  } else if (IsPointwise(node)) {
    if (node.schema->pointwise->is_sum) {
      folded->elements += HoistOverLimits(conversions, id) ? 1 : 0;
    }
    const bool writes = conversions->WriteCodes(id);
    const bool reads = ReadElements(conversions, id);
    folded->elements += writes || reads ? 1 : 0;
  } else if (IsOfRealValues(node)) {
    folded->elements += FoldBothSides(conversions, id) ? 1 : 0;
  } else if (conversions->IsConversion(node)) {
    JoinConversions(conversions, id);
  }
}

}  // namespace

Result<FoldedQuantization> FoldQuantization(ir::Graph* graph) {
  TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                       graph->TopologicalOrder());
  FoldedQuantization folded;
  Conversions conversions(graph);
  MoveConversions(&conversions, order);
  for (const NodeId id : order) {
    if (graph->HasNode(id)) Fold(&conversions, id, &folded);
  }
  return folded;
}

}  // namespace tim::compiler
