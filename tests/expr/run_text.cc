// Runs texts on tensors of tests.
#include "tests/expr/run_text.h"

#include <cstddef>
#include <utility>

#include "expr/evaluate.h"
#include "expr/operator.h"
#include "expr/program.h"
#include "kernels/elements.h"

namespace tim::testing {
namespace {

struct Memory {
  ir::TensorDesc desc;
  std::vector<std::byte> bytes;
};

Memory MemoryOf(ir::DataType type, const expr::Dims& dims) {
  Memory memory;
  memory.desc.type = type;
  memory.desc.shape = expr::ShapeOf(dims);
  memory.bytes.resize(*ir::ByteSize(memory.desc));
  return memory;
}

void Write(const Array& array, Memory* memory) {
  kernels::ElementWriter writer({&memory->desc, memory->bytes.data()});
  for (size_t i = 0; i < array.values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (ir::IsFloat(array.type)) {
      writer.StoreReal(at, static_cast<float>(array.values[i]));
    } else {
      writer.StoreCode(at, static_cast<int64_t>(array.values[i]));
    }
  }
}

Array Read(const Memory& memory, expr::Dims dims, int64_t count) {
  Array array{std::move(dims), {}, memory.desc.type};
  const kernels::ElementReader reader({&memory.desc, memory.bytes.data()});
  for (int64_t i = 0; i < count; ++i) {
    array.values.push_back(ir::IsFloat(array.type)
                               ? reader.Real(i)
                               : static_cast<double>(reader.Code(i)));
  }
  return array;
}

}  // namespace

Array Filled(std::vector<int64_t> dims, int seed) {
  Array array{std::move(dims), {}};
  int64_t count = 1;
  for (const int64_t extent : array.dims) count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    array.values.push_back(static_cast<double>((i * 37 + seed * 11) % 29 - 14) /
                           8);
  }
  return array;
}

Result<expr::Binding> BindText(const std::string& text,
                               const std::vector<Array>& inputs,
                               const ir::AttributeMap& attributes) {
  TIM_ASSIGN_OR_RETURN(const auto program, expr::ReadProgram(text));
  ir::AttributeMap complete = attributes;
  for (const expr::AttributeDef& def : program->syntax.attributes) {
    if (complete.Find(def.name.text) != nullptr || !def.default_value) continue;
    complete.Set(def.name.text, *def.default_value);
  }
  std::vector<ir::DataType> types;
  std::vector<expr::Dims> dims;
  for (const Array& input : inputs) {
    types.push_back(input.type);
    dims.push_back(input.dims);
  }
  if (inputs.size() != program->inputs.size()) {
    return InvalidArgument("the text has ", program->inputs.size(), " inputs");
  }
  return expr::Bind(program, complete, types, dims);
}

Result<std::vector<Array>> RunText(const std::string& text,
                                   const std::vector<Array>& inputs,
                                   const ir::AttributeMap& attributes) {
  TIM_ASSIGN_OR_RETURN(const expr::Binding binding,
                       BindText(text, inputs, attributes));
  std::vector<Memory> memory;
  for (const Array& input : inputs) {
    memory.push_back(MemoryOf(input.type, input.dims));
    Write(input, &memory.back());
  }
  std::vector<Memory> results;
  for (const int tensor : binding.program->outputs) {
    results.push_back(
        MemoryOf(binding.types.tensors[tensor], binding.dims[tensor]));
  }
  std::vector<ir::ConstTensor> from;
  std::vector<ir::MutableTensor> to;
  for (Memory& input : memory)
    from.push_back({&input.desc, input.bytes.data()});
  for (Memory& result : results) {
    to.push_back({&result.desc, result.bytes.data()});
  }
  TIM_RETURN_IF_ERROR(expr::Evaluate(binding, from, to));
  std::vector<Array> arrays;
  for (size_t i = 0; i < results.size(); ++i) {
    const int tensor = binding.program->outputs[i];
    arrays.push_back(
        Read(results[i], binding.dims[tensor], binding.Elements(tensor)));
  }
  return arrays;
}

}  // namespace tim::testing
