// Finds the greatest values of outputs, and their labels.
#include "tools/timcl/classes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/elements.h"
#include "tools/timcl/read_file.h"
#include "vx/core/given_name.h"

namespace tim::tool {
namespace {

// The extent that is not 1; 1 where there is none, 0 where there are several.
int64_t RowOf(const ir::Shape& shape) {
  int64_t row = 1;
  for (const int64_t extent : shape.dims()) {
    if (extent == 1) continue;
    if (row != 1) return 0;
    row = extent;
  }
  return row;
}

std::vector<FoundClass> GreatestOf(const ir::TensorDesc& desc,
                                   const std::byte* memory, int64_t row,
                                   int top,
                                   const std::vector<std::string>& labels) {
  const kernels::ElementReader reader(ir::ConstTensor{&desc, memory});
  const auto key = [&](int64_t i) {
    const double value = reader.Real(i);
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  };
  std::vector<int64_t> order(static_cast<size_t>(row));
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<int64_t>(row, top);
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](int64_t a, int64_t b) {
                      return key(a) != key(b) ? key(a) > key(b) : a < b;
                    });
  std::vector<FoundClass> found;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = order[static_cast<size_t>(i)];
    found.push_back({index,
                     labels.empty() ? "" : labels[static_cast<size_t>(index)],
                     reader.Real(index)});
  }
  return found;
}

}  // namespace

Result<std::vector<std::string>> LabelsFor(const RunArguments& arguments) {
  std::vector<std::string> labels;
  if (arguments.labels.empty()) return labels;
  if (arguments.top == 0) {
    return InvalidArgument("--labels ", arguments.labels,
                           ": --top says how many classes are printed");
  }
  TIM_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments.labels));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(std::move(line));
    at = end + 1;
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (!labels.empty()) return labels;
  return InvalidArgument("--labels ", arguments.labels, ": it has no lines");
}

Result<std::vector<FoundClasses>> FindClasses(
    const Tensors& outputs, int top, const std::vector<std::string>& labels) {
  std::vector<FoundClasses> found;
  if (top == 0) return found;
  for (size_t i = 0; i < outputs.ports.size(); ++i) {
    const binary::Port& port = *outputs.ports[i];
    const int64_t row = RowOf(port.desc.shape);
    if (row < 2) continue;
    if (!labels.empty() && std::cmp_not_equal(labels.size(), row)) {
      return InvalidArgument("--labels has ", labels.size(), " lines, output '",
                             vx::GivenIn(port.name), "' ", row, " values");
    }
    found.push_back({.output = vx::GivenIn(port.name),
                     .classes = GreatestOf(port.desc, outputs.memory[i].get(),
                                           row, top, labels)});
  }
  if (!found.empty()) return found;
  return InvalidArgument("--top ", top,
                         ": no output is one row of values, of classes");
}

}  // namespace tim::tool
