// Runs texts that describe operations through eval.
#ifndef TIM_TESTS_EXPR_RUN_TEXT_H_
#define TIM_TESTS_EXPR_RUN_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "expr/binding.h"
#include "ir/attribute.h"
#include "ir/tensor_desc.h"

namespace tim::testing {

/// Float values, or integers and booleans in their place, in the order of the
/// text.
struct Array {
  std::vector<int64_t> dims;
  std::vector<double> values;
  ir::DataType type = ir::DataType::kFloat32;
};

/// `dims` filled with small numbers that differ; `seed` says which.
Array Filled(std::vector<int64_t> dims, int seed = 1);

/// Results of the text, with its defaults for attributes that are not given.
Result<std::vector<Array>> RunText(const std::string& text,
                                   const std::vector<Array>& inputs,
                                   const ir::AttributeMap& attributes = {});

/// The program with numbers.
Result<expr::Binding> BindText(const std::string& text,
                               const std::vector<Array>& inputs,
                               const ir::AttributeMap& attributes = {});

}  // namespace tim::testing

#endif  // TIM_TESTS_EXPR_RUN_TEXT_H_
