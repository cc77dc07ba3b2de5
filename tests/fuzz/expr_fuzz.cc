// Texts of operations of any content: read, given small extents and evaluated.
// With Clang's -fsanitize=fuzzer a program of its own (tools/fuzz.sh), else a
// part of tests/fuzz/expr_fuzz_test.cc.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "expr/binding.h"
#include "expr/evaluate.h"
#include "expr/program.h"

namespace {

void Expect(bool condition) {
  if (!condition) std::abort();
}

tim::ir::AttributeMap AttributesOf(const tim::expr::Program& program) {
  using tim::ir::AttributeType;
  tim::ir::AttributeMap attributes;
  for (const auto& def : program.syntax.attributes) {
    tim::ir::Attribute value = int64_t{2};
    if (def.type == AttributeType::kFloat) value = 0.5;
    if (def.type == AttributeType::kBool) value = true;
    if (def.type == AttributeType::kInts) value = std::vector<int64_t>{2, 1};
    if (def.type == AttributeType::kFloats) value = std::vector<double>{0.5};
    attributes.Set(def.name.text, def.default_value.value_or(value));
  }
  return attributes;
}

struct Memory {
  tim::ir::TensorDesc desc;
  std::vector<std::byte> bytes;
};

Memory MemoryOf(tim::ir::DataType type, const tim::expr::Dims& dims) {
  Memory memory;
  memory.desc.type = type;
  memory.desc.shape =
      tim::ir::Shape(std::vector<int64_t>(dims.rbegin(), dims.rend()));
  const auto size = tim::ir::ByteSize(memory.desc);
  Expect(size.ok());
  memory.bytes.resize(*size + 1);
  return memory;
}

void Evaluate(const tim::expr::Binding& binding) {
  std::vector<Memory> memory;
  const auto add = [&](int tensor) {
    memory.push_back(
        MemoryOf(binding.types.tensors[tensor], binding.dims[tensor]));
  };
  for (const int tensor : binding.program->inputs) add(tensor);
  for (const int tensor : binding.program->outputs) add(tensor);
  std::vector<tim::ir::ConstTensor> inputs;
  std::vector<tim::ir::MutableTensor> outputs;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (i < binding.program->inputs.size()) {
      inputs.push_back({&memory[i].desc, memory[i].bytes.data()});
    } else {
      outputs.push_back({&memory[i].desc, memory[i].bytes.data()});
    }
  }
  const tim::Status status = tim::expr::Evaluate(binding, inputs, outputs);
  Expect(status.ok() || status.code() == tim::StatusCode::kInvalidArgument);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program = tim::expr::ReadProgram(text);
  if (!program.ok()) {
    Expect(program.status().code() == tim::StatusCode::kInvalidArgument);
    Expect(program.status().message().find(": expected ") != std::string::npos);
    return 0;
  }
  std::vector<tim::ir::DataType> types;
  std::vector<tim::expr::Dims> dims;
  for (const int input : (*program)->inputs) {
    const auto& def = (*program)->tensors[input];
    types.push_back(def.types.empty() ? tim::ir::DataType::kFloat32
                                      : def.types[0]);
    dims.emplace_back(def.rank < 0 ? 1 : def.rank, 2);
    for (size_t axis = 0; axis < def.extents.size(); ++axis) {
      const int64_t extent = def.extents[axis].integer;
      if (extent >= 0 && extent < 9) dims.back()[axis] = extent;
    }
  }
  const auto binding =
      tim::expr::Bind(*program, AttributesOf(**program), types, dims);
  if (!binding.ok()) {
    Expect(binding.status().code() == tim::StatusCode::kInvalidArgument);
    return 0;
  }
  double work = binding->Flops();
  for (size_t i = 0; i < binding->dims.size(); ++i) {
    work += static_cast<double>(binding->Elements(static_cast<int>(i)));
  }
  for (const auto& statement : binding->statements) {
    double points = 1;
    for (const int64_t extent : statement.dims) {
      points *= static_cast<double>(extent);
    }
    for (const auto& loop : statement.plan.loops) {
      points *= static_cast<double>(loop.range.size());
    }
    work += points;
  }
  if (work < 1e5) Evaluate(*binding);
  return 0;
}
