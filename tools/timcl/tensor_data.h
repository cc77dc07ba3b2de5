// Content of a graph's inputs and outputs: from files, at random, to files.
#ifndef TIM_TOOLS_TIMCL_TENSOR_DATA_H_
#define TIM_TOOLS_TIMCL_TENSOR_DATA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "binary/blob.h"
#include "runtime/port_binding.h"
#include "tools/timcl/arguments.h"

namespace tim::tool {

/// Memory of the inputs or outputs that a graph uses.
struct Tensors {
  std::vector<const binary::Port*> ports;  ///< Without those that are unused.
  std::vector<AlignedMemory> memory;

  /// The ports that runs are given.
  std::vector<runtime::PortMemory> ForRun() const;
};

/// Zeros.  `ports` must outlive them.
Result<Tensors> MakeTensors(const std::vector<binary::Port>& ports);

/// Fills inputs from files, pictures too ("FILE" or "INPUT=FILE", see
/// docs/timcl.md), the others with what `recorded` has, by number, where that
/// is not empty, else at random: floats from -1 to 1, any code of quantized
/// tensors and of integers of 8 bits and less, 0 and 1 for what else there is.
/// The same seed gives the same values everywhere. kInvalidArgument where a
/// name, a size or a type does not fit, kNotFound for a file that cannot be
/// read.
Status FillInputs(const RunArguments& arguments,
                  const std::vector<std::span<const std::byte>>& recorded,
                  Tensors* inputs);

/// The content of `inputs` for a graph with these ports, where types or
/// quantizations may be others: as many ports, of the same shapes.
Result<Tensors> ConvertInputs(const Tensors& inputs,
                              const std::vector<binary::Port>& ports);

/// Writes each to "<number>_<name>.npy" in `folder`, which is made where it is
/// missing, and gives the paths.
Result<std::vector<std::string>> WriteTensors(const Tensors& tensors,
                                              const std::string& folder);

struct Statistics {
  double least = 0;  ///< The least real value that is no NaN.
  double greatest = 0;
  int64_t nans = 0;
};
Statistics StatisticsOf(const ir::TensorDesc& desc, const void* data);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_TENSOR_DATA_H_
