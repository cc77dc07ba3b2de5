// The two sides of a comparison: which graph runs where, with what.
#ifndef TIM_TOOLS_TIMCL_COMPARED_SIDES_H_
#define TIM_TOOLS_TIMCL_COMPARED_SIDES_H_

#include <array>
#include <set>
#include <string>

#include "base/status.h"
#include "binary/blob.h"
#include "tools/timcl/arguments.h"
#include "tools/timcl/layer_differences.h"
#include "tools/timcl/recorded_run.h"
#include "tools/timcl/tensor_data.h"

namespace tim::tool {

/// One of the two.
struct Side {
  const char* name = "";  ///< "first"
  std::string file;
  binary::Blob blob;
  Tensors inputs;  ///< Content of `blob`'s ports.
  RecordedRunOptions options;
};
/// The second one is the reference.
using Sides = std::array<Side, 2>;
using Runs = std::array<RecordedRun, 2>;

/// Values of --tolerance and --codes.
Tolerances TolerancesOf(const Arguments& arguments);

/// Sides that a command line asks for.  kInvalidArgument where both are the
/// same or their inputs do not fit.
Result<Sides> SidesOf(const Arguments& arguments);

/// One run after the other, as a device is shared with those who use it.
/// \param apart as RecordedRunOptions::apart of both.
Result<Runs> RecordBoth(const Sides& sides, const std::set<std::string>& apart);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_COMPARED_SIDES_H_
