// The first half of Compile(): what a client's graph says, before anything is
// chosen for it.
#ifndef TIM_VX_GRAPH_INFERRED_SOURCE_H_
#define TIM_VX_GRAPH_INFERRED_SOURCE_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "vx/core/graph_core.h"
#include "vx/graph/effective_operations.h"
#include "vx/graph/graph_revision.h"
#include "vx/lowering/lowering.h"

namespace tim::vx {

struct InferredSource {
  GraphRevision revision;
  Operations effective;  ///< Host steps call those of users.
  LoweredGraph lowered;
  compiler::InferredGraph inferred;
};

/// Of a graph of `core` on `devices`.  Where the context has a dump, and
/// `core.dump` is null, it begins one.
compiler::CompileOptions OptionsFor(GraphCore& core, const Devices& devices);

/// Lowers and infers, and asks custom operations what they are: calls code of
/// the user.
/// \param revision from before the first code of the user.
/// \param operations OpVector().  \param effective what is compiled of it.
/// \param io the INPUT and OUTPUT tensors.
Result<std::unique_ptr<InferredSource>> InferSource(
    const GraphCore& core, GraphRevision revision, const Operations& operations,
    const Operations& effective, const std::vector<std::shared_ptr<Tensor>>& io,
    const compiler::CompileOptions& options);

/// What was inferred, into the tensors' specs.
Status StoreInferred(const LoweredGraph& lowered, const ir::Graph& inferred);

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_INFERRED_SOURCE_H_
