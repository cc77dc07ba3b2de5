// Compares tensors of graph files element by element.
#include "tools/timcl/graph_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph_api/logical_tensor.h"
#include "graph_api/lower_ops.h"
#include "ir/data_type.h"
#include "kernels/elements.h"

namespace tim::tool {
namespace {

using graph::LogicalTensor;

struct Coarseness {
  int number;  ///< Of a type or mode.
  double real;
};

// Codes of 8 and 4 bits: real numbers that are made of them differ where one
// code does.
constexpr Coarseness kTypes[] = {
    {tim_graph_f16, 4e-3}, {tim_graph_bf16, 3e-2},   {tim_graph_f8_e4m3, 0.15},
    {tim_graph_u8, 2e-2},  {tim_graph_f8_e5m2, 0.3}, {tim_graph_s8, 2e-2},
    {tim_graph_u4, 0.15},  {tim_graph_s4, 0.15},
};
constexpr Coarseness kModes[] = {
    {tim_graph_fpmath_mode_bf16, 3e-2},
    {tim_graph_fpmath_mode_f16, 4e-3},
    {tim_graph_fpmath_mode_tf32, 4e-3},
    {tim_graph_fpmath_mode_any, 3e-2},
};
constexpr double kFloat = 1e-4;

template <size_t count>
double Find(const Coarseness (&rows)[count], int number) {
  for (const Coarseness& row : rows) {
    if (row.number == number) return row.real;
  }
  return kFloat;
}

bool IsCode(tim_graph_data_type_t type) {
  return graph::ElementBits(type) <= 8 &&
         ir::IsInteger(graph::InnerType(type)) && type != tim_graph_boolean;
}

std::vector<double> NumbersOf(const GraphTensor& tensor,
                              const ir::TensorDesc& row) {
  const kernels::ElementReader reader({&row, tensor.memory.get()});
  const bool integer = ir::IsInteger(row.type);
  std::vector<double> numbers;
  ForEachElement(tensor.description, [&](int64_t place) {
    numbers.push_back(integer ? static_cast<double>(reader.Code(place))
                              : static_cast<double>(reader.Real(place)));
  });
  return numbers;
}

}  // namespace

GraphTolerance ToleranceOf(const graph::Partition& partition, double real) {
  constexpr double kMostCodes = 4;
  GraphTolerance tolerance = {.real =
                                  Find(kModes, partition.traits().fpmath_mode)};
  for (const graph::Op& op : partition.ops()) {
    for (const LogicalTensor& output : op.outputs) {
      tolerance.real = std::max(tolerance.real, Find(kTypes, output.data_type));
      if (IsCode(output.data_type)) tolerance.codes += 1;
    }
  }
  tolerance.codes = std::min(tolerance.codes, kMostCodes);
  if (real >= 0) tolerance.real = real;
  return tolerance;
}

Result<GraphDifference> Compare(const GraphTensor& found,
                                const GraphTensor& expected,
                                const GraphTolerance& tolerance) {
  const LogicalTensor& description = found.description;
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc row, RowOf(description));
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc expected_row,
                       RowOf(expected.description));
  if (graph::DimsOf(description) != graph::DimsOf(expected.description)) {
    return TIM_INTERNAL("tensor ", description.id, " is ",
                        graph::ToString(description), ", the reference's ",
                        graph::ToString(expected.description));
  }
  const std::vector<double> numbers = NumbersOf(found, row);
  const std::vector<double> right = NumbersOf(expected, expected_row);
  GraphDifference difference = {.id = description.id,
                                .integer = ir::IsInteger(row.type)};
  double greatest = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(right[i])) {
      greatest = std::max(greatest, std::fabs(right[i]));
    }
    if (std::isnan(numbers[i]) && std::isnan(right[i])) {
      ++difference.nans;
    } else if (numbers[i] != right[i]) {
      const double error = std::fabs(numbers[i] - right[i]);
      difference.error = std::isnan(error)
                             ? std::numeric_limits<double>::infinity()
                             : std::max(difference.error, error);
    }
  }
  if (difference.integer) {
    difference.allowed = IsCode(description.data_type) ? tolerance.codes : 0;
    return difference;
  }
  difference.allowed = tolerance.real;
  // A tensor that should be 0 throughout is measured as it is.
  if (greatest > 0) difference.error /= greatest;
  return difference;
}

}  // namespace tim::tool
