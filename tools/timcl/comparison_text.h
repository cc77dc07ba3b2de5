// Text and JSON of layers that two runs have in common.
#ifndef TIM_TOOLS_TIMCL_COMPARISON_TEXT_H_
#define TIM_TOOLS_TIMCL_COMPARISON_TEXT_H_

#include <string>
#include <vector>

#include "tools/timcl/layer_differences.h"
#include "tools/timcl/recorded_run.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {

/// The last node of the step that made the value.
std::string NodeOf(const RecordedValue& value);

Json JsonOf(const LayerDifference& layer);
/// Values that `other` does not have, and what it fused them into.
Json JsonOf(const std::vector<const RecordedValue*>& values,
            const RecordedRun& other);

/// "Conv2d#3 ('y'), relative error 1.0e-02".
std::string Sentence(const LayerDifference& layer);

/// A row for each layer, and lines for those that one run has fused away.
std::string TextOf(const Comparison& comparison, const RecordedRun& first,
                   const RecordedRun& second);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_COMPARISON_TEXT_H_
