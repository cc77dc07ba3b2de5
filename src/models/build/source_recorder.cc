// Writes the statements and weights of a graph as a program.
#include "models/build/source_recorder.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/str_cat.h"
#include "base/write_file.h"
#include "models/build/source_program.h"
#include "models/build/value.h"

namespace tim::models {
namespace {

constexpr uint64_t kWeightAlignment = 64;
/// A function of so many statements compiles in little time and memory.
constexpr size_t kStatementsPerFunction = 40;

// A model's name in a comment of one line.
std::string Printable(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < ' ' || byte == 127 || c == '\\' || c == '?' ? '_' : c;
  }
  return text;
}

const char* AttributeName(vx::TensorAttribute attribute) {
  switch (attribute) {
    case vx::CONSTANT:
      return "CONSTANT";
    case vx::INPUT:
      return "INPUT";
    case vx::OUTPUT:
      return "OUTPUT";
    case vx::VARIABLE:
      return "VARIABLE";
    default:
      return "TRANSIENT";
  }
}

std::string FileName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string Variable(const std::optional<uint32_t>& number) {
  return number ? StrCat("t[", *number, "]") : "none";
}

std::string Variables(const std::vector<std::optional<uint32_t>>& numbers) {
  std::vector<std::string> names;
  for (const auto& number : numbers) names.push_back(Variable(number));
  return StrCat("{", StrJoin(names, ", "), "}");
}

// Every header of custom_ops that is installed; a class does not tell its own.
std::string CustomHeaders() {
  std::string text;
  for (const char* name :
       {"box_selection", "detection_postprocess", "feed_forward", "gemm",
        "hswish", "non_max_suppression", "softmax_cl", "yolo_decode"}) {
    text += StrCat("#include \"tim/custom_ops/", name, ".h\"\n");
  }
  return text;
}

}  // namespace

void SourceRecorder::AddTensor(vx::Tensor& tensor, const vx::TensorSpec& spec,
                               const std::shared_ptr<const void>& data) {
  KnownTensor known;
  known.spec = spec;
  known.is_scalar = tensor.IsScalar();
  known.name = spec.GetName();
  if (data != nullptr) {
    const auto bytes = static_cast<uint64_t>(spec.GetByteSize());
    const auto [place, added] =
        offsets_.try_emplace({data.get(), bytes}, weight_bytes_);
    known.constant = Constant{data, bytes, place->second, added};
    if (added) {
      weight_bytes_ +=
          (bytes + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
    }
  }
  const uint32_t number = tensor.GetId();
  tensors_[number] = std::move(known);
  Statement statement;
  statement.tensor = number;
  statements_.push_back(std::move(statement));
}

void SourceRecorder::NameTensor(vx::Tensor& tensor, const std::string& name) {
  const auto known = tensors_.find(tensor.GetId());
  if (known != tensors_.end() && known->second.name.empty()) {
    known->second.name = name;
  }
}

void SourceRecorder::QuantizeTensor(vx::Tensor& tensor,
                                    const vx::Quantization& quantization) {
  const auto known = tensors_.find(tensor.GetId());
  if (known != tensors_.end()) {
    known->second.spec.SetQuantization(quantization);
  }
}

std::optional<uint32_t> SourceRecorder::NumberOf(
    const std::shared_ptr<vx::Tensor>& tensor) {
  if (tensor == nullptr || tensor->IsPlaceHolder()) return std::nullopt;
  const uint32_t number = tensor->GetId();
  if (tensors_.count(number) == 0 && problem_.ok()) {
    problem_ = Unimplemented(
        "a program cannot be written: tensor t", number,
        " comes from operations that the caller supplied for a node");
  }
  return number;
}

void SourceRecorder::AddOperation(
    const std::string& call,
    const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
    const std::vector<std::shared_ptr<vx::Tensor>>& outputs,
    const std::string& name) {
  Statement statement;
  statement.call = call;
  statement.name = name;
  if (call.empty() && problem_.ok()) {
    problem_ = Unimplemented(
        "a program cannot be written: nothing says how "
        "the operation of node '",
        name, "' is made");
  }
  uses_custom_operators_ |= call.rfind("tim::custom_ops::", 0) == 0;
  for (const auto& tensor : inputs) {
    statement.inputs.push_back(NumberOf(tensor));
  }
  for (const auto& tensor : outputs) {
    statement.outputs.push_back(NumberOf(tensor));
  }
  statements_.push_back(std::move(statement));
}

std::string SourceRecorder::TensorText(uint32_t number) const {
  const KnownTensor& known = tensors_.at(number);
  const vx::TensorSpec& spec = known.spec;
  std::string text;
  if (!known.name.empty()) text = StrCat("  // ", Printable(known.name), "\n");
  text += StrCat("  t[", number, "] = graph->CreateTensor(TensorSpec(",
                 Literal(spec.datatype_), ", {", StrJoin(spec.shape_, ", "),
                 "}, ", AttributeName(spec.attr_));
  if (spec.quantization_.Type() != vx::QuantType::NONE) {
    text += StrCat(", ", Literal(spec.quantization_));
  }
  text += ")";
  if (known.constant) {
    text += StrCat(", WeightsAt(", known.constant->offset, "u)");
  }
  text += ");\n";
  if (known.is_scalar) text += StrCat("  t[", number, "]->SetScalar(1);\n");
  return text;
}

std::string SourceRecorder::OperationText(const Statement& statement) const {
  std::string text;
  if (!statement.name.empty()) {
    text = StrCat("  // node ", Printable(statement.name), "\n");
  }
  return StrCat(text, "  graph->CreateOperation<", statement.call,
                "\n      ->BindInputs(", Variables(statement.inputs),
                ")\n      .BindOutputs(", Variables(statement.outputs), ");\n");
}

std::string SourceRecorder::Ports(const char* name,
                                  vx::TensorAttribute attribute) const {
  std::string text = StrCat("const std::vector<Port> ", name, " = {\n");
  for (const auto& [number, known] : tensors_) {
    if (known.spec.attr_ != attribute) continue;
    text += StrCat("    {", Literal(known.name), ", ", number, "},\n");
  }
  return text + "};\n";
}

std::string SourceRecorder::Program(const std::string& weights) const {
  std::string text =
      StrCat("// A model as a graph of TIM-VX's API; its constants are in ",
             Printable(weights), ".\n");
  for (const char* header :
       {"array", "cstdint", "cstdlib", "cstring", "fstream", "iostream",
        "iterator", "limits", "memory", "string", "vector"}) {
    text += StrCat("#include <", header, ">\n");
  }
  text += "\n";
  if (uses_custom_operators_) text += CustomHeaders();
  if (uses_layout_inference_) {
    text += "#include \"tim/transform/layout_inference.h\"\n";
  }
  text +=
      "#include \"tim/vx/context.h\"\n#include \"tim/vx/graph.h\"\n"
      "#include \"tim/vx/ops.h\"\n#include \"tim/vx/tensor.h\"\n";
  text += kProgramHead;
  size_t functions = 0;
  for (size_t begin = 0; begin < statements_.size();
       begin += kStatementsPerFunction) {
    text += StrCat("void Build", functions++, "() {\n");
    const size_t end =
        std::min(begin + kStatementsPerFunction, statements_.size());
    for (size_t i = begin; i < end; ++i) {
      const Statement& statement = statements_[i];
      text += statement.tensor ? TensorText(*statement.tensor)
                               : OperationText(statement);
    }
    text += "}\n\n";
  }
  const size_t count =
      tensors_.empty() ? 0 : size_t{tensors_.rbegin()->first} + 1;
  text += StrCat("void Build() {\n  t.resize(", count, ");\n");
  for (size_t i = 0; i < functions; ++i) text += StrCat("  Build", i, "();\n");
  text += "}\n\n";
  text += Ports("kInputs", vx::INPUT);
  text += Ports("kOutputs", vx::OUTPUT);
  text += StrCat("const char kWeights[] = ", Literal(weights),
                 ";\nconst size_t kWeightBytes = ", weight_bytes_, "u;\n");
  text += kProgramMain;
  if (uses_layout_inference_) text += kProgramLayouts;
  return text + kProgramRun;
}

Status SourceRecorder::WriteWeights(const std::string& path) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string zeros(kWeightAlignment, '\0');
  for (const Statement& statement : statements_) {
    if (!statement.tensor) continue;
    const auto& constant = tensors_.at(*statement.tensor).constant;
    if (!constant || !constant->is_first) continue;
    file.write(static_cast<const char*>(constant->data.get()),
               static_cast<std::streamsize>(constant->bytes));
    const uint64_t rest = constant->bytes % kWeightAlignment;
    if (rest != 0) {
      file.write(zeros.data(),
                 static_cast<std::streamsize>(kWeightAlignment - rest));
    }
  }
  file.close();
  if (file) return OkStatus();
  return InvalidArgument(path, " cannot be written");
}

Status SourceRecorder::Write(const std::string& path) const {
  TIM_RETURN_IF_ERROR(problem_);
  const std::string weights = path + ".weights";
  TIM_RETURN_IF_ERROR(WriteWeights(weights));
  return WriteFile(path, {Program(FileName(weights))});
}

}  // namespace tim::models
