// The record in a binary graph (TIMCL_RECORD), beside what is here.
#ifndef TIM_TOOLS_TIMCL_RECORD_H_
#define TIM_TOOLS_TIMCL_RECORD_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "binary/record_file.h"
#include "device/device.h"
#include "tools/timcl/arguments.h"
#include "tools/timcl/layer_differences.h"
#include "tools/timcl/tensor_data.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {

/// Nothing where the graph has none; kNotFound where it is damaged.
Result<std::optional<binary::Record>> RecordIn(const binary::Blob& blob);

/// Bytes by input that the graph uses; none where the arguments ask for random
/// ones.
std::vector<std::span<const std::byte>> InputsOf(
    const std::optional<binary::Record>& record, const binary::Blob& blob,
    const RunArguments& arguments);

/// Whether a run with these arguments has no inputs but those of the record,
/// and what it wrote there is known.
bool CanRepeat(const binary::Record& record, const binary::Blob& blob,
               const RunArguments& arguments);

/// A run of the recorded inputs, the first on the recorded states, and what the
/// recorded one wrote, which is the reference.
struct Repeated {
  RecordedRun here;
  RecordedRun there;
  Comparison comparison;
};
std::unique_ptr<Repeated> Repeat(const binary::Record& record,
                                 const binary::Blob& blob,
                                 const Tensors& outputs);

/// Text of what the record says, and how its environment differs from that of a
/// run on these devices.
std::string RecordText(const binary::Record& record,
                       const device::Devices& devices);
Json RecordJson(const binary::Record& record, const device::Devices& devices);

/// Whether the outputs are those of the record.
std::string RepeatedText(const Repeated& repeated);
Json RepeatedJson(const Repeated& repeated);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_RECORD_H_
