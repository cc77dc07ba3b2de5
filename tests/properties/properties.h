// What holds for every operator, said once: each property looks at one node of
// a description and answers ok or what is wrong.
#ifndef TIM_TESTS_PROPERTIES_PROPERTIES_H_
#define TIM_TESTS_PROPERTIES_PROPERTIES_H_

#include "base/status.h"
#include "ir/op_registry.h"
#include "tests/properties/case_rng.h"
#include "tests/properties/node_case.h"
#include "tests/properties/operator_cases.h"

namespace tim::testing {

/// The description, and where its operator and kernels are found.
struct Described {
  const OperatorCases& cases;
  const ir::OpRegistry& registry;
};

using Property = Status (*)(const Described&, const NodeCase&, CaseRng&);

/// infer_shapes gives the types and shapes that the case states.
Status ShapesAgree(const Described&, const NodeCase&, CaseRng&);
/// With unknown ranks and extents it does not fail, and what it knows is so.
Status UnknownShapesAgree(const Described&, const NodeCase&, CaseRng&);
/// eval writes every element of its outputs, nothing else, and reads nothing
/// around its inputs.
Status EvalWritesItsOutputs(const Described&, const NodeCase&, CaseRng&);
/// Every kernel that supports the node, in every layout, gives the results of
/// eval, whatever lies around its operands; nodes of float32, float16 and
/// 8-bit types have one.
Status KernelsAgree(const Described&, const NodeCase&, CaseRng&);
/// Where a kernel's output may lie in an input's memory it has the same bits.
Status InPlaceAgrees(const Described&, const NodeCase&, CaseRng&);
/// compute_estimate is the formula's count, memory_estimate not negative, and
/// the cost of every kernel that takes the node, in every layout and on CPUs
/// and GPUs, a finite time.
Status EstimatesAgree(const Described&, const NodeCase&, CaseRng&);
/// permute_rule: the node that it answers for an input's permutation gives
/// permuted outputs of permuted inputs.
Status PermutedNodeAgrees(const Described&, const NodeCase&, CaseRng&);
/// layout_rule: its answer is a node in default layouts that computes the same;
/// eval does not read layout arguments.
Status LayoutsAgree(const Described&, const NodeCase&, CaseRng&);
/// Views, identities, element maps and operands in place have the bytes that
/// the schema says.
Status ViewsAgree(const Described&, const NodeCase&, CaseRng&);
/// sliced_inputs: eval gives the same of a node in pieces.
Status PiecesAgree(const Described&, const NodeCase&, CaseRng&);
/// A copy of the graph is equal, and its dump names attributes and operands.
Status CopiesAgree(const Described&, const NodeCase&, CaseRng&);
/// Constants behind the operator's inputs are dropped where other forms of it
/// have operands (OpSchema::surplus_inputs), and refused where not; variables
/// always are.
Status SurplusInputsAreDropped(const Described&, const NodeCase&, CaseRng&);

/// Every illegal case is refused with its message.
Status IllegalNodesAreRefused(const Described&);
/// The public constructors give the attributes that are stated, the schema
/// takes them, and a Clone has them too.
Status ShellsAgree(const Described&);

/// Which nodes are made.
struct RandomNodes {
  uint32_t seed = 1;  ///< Of the first; they count up.
  int count = 20;
  int size = CaseRng::kFullSize;
  int types = 1 << 20;  ///< Entries of the operator's list of types.
};
/// From TIMCL_TEST_SEED, TIMCL_TEST_SIZE and TIMCL_TEST_LONG.
RandomNodes NodesOfThisRun();
/// The same with few types, but for TIMCL_TEST_LONG: programs cost most.
RandomNodes NodesWithPrograms();

/// Ok, or the smallest node found for which the property does not hold, and
/// how to repeat it.
Status CheckNodes(const Described& described, Property property,
                  const RandomNodes& nodes);

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_PROPERTIES_H_
