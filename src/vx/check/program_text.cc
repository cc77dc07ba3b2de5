// Writes an operation's launches and one case as a whole C++ program.
#include "vx/check/program_text.h"

#include <algorithm>

#include "base/cpp_literals.h"
#include "base/str_cat.h"
#include "vx/check/literals.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx::check {
namespace {

using ops::KernelArg;

constexpr char kHead[] = R"(#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tim/vx/compile_option.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/half.h"
#include "tim/vx/ops/custom_base.h"

using namespace tim::vx;

)";

// How elements are compared: what src/vx/check/compare.cc does.
constexpr char kCompare[] = R"(
struct Tolerance {
  double ulps, absolute, relative;
  int64_t codes;
};

// Units in the last place of numbers of 24 or 11 bits.
bool AgreeReal(double actual, double expected, int bits, int least,
               const Tolerance& tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;
  if (std::isinf(expected) || !std::isfinite(actual)) return false;
  const int exponent = expected == 0 ? least : std::ilogb(expected);
  const double ulp = std::ldexp(1.0, std::max(exponent, least) - bits + 1);
  const double distance = std::abs(actual - expected);
  return distance <= tolerance.absolute +
                         tolerance.relative * std::abs(expected) ||
         distance <= tolerance.ulps * ulp;
}

template <typename T>
double Number(DataType type, T element) {
  if (type != DataType::FLOAT16) return static_cast<double>(element);
  const auto bits = static_cast<uint16_t>(element);
  return static_cast<float>(Half::FromBits(bits));
}

template <typename T>
bool Agree(DataType type, T actual, T expected, const Tolerance& tolerance) {
  if (type == DataType::FLOAT32 || type == DataType::FLOAT16) {
    const bool half = type == DataType::FLOAT16;
    return AgreeReal(Number(type, actual), Number(type, expected),
                     half ? 11 : 24, half ? -14 : -126, tolerance);
  }
  const auto most = static_cast<uint64_t>(std::max(actual, expected));
  const auto least = static_cast<uint64_t>(std::min(actual, expected));
  return most - least <= static_cast<uint64_t>(tolerance.codes);
}

template <typename T>
bool Check(Tensor& tensor, int output, const std::vector<T>& expected,
           const Tolerance& tolerance) {
  std::vector<T> actual(expected.size());
  if (!tensor.CopyDataFromTensor(actual.data())) {
    std::puts(LastError().c_str());
    return false;
  }
  const DataType type = tensor.GetDataType();
  for (size_t i = 0; i < actual.size(); ++i) {
    if (Agree(type, actual[i], expected[i], tolerance)) continue;
    std::printf("wrong value: element %zu of output %d is %.9g, expected %.9g\n",
                i, output, Number(type, actual[i]), Number(type, expected[i]));
    return false;
  }
  return true;
}

template <typename T>
void Poison(Tensor& tensor, const std::vector<T>& like, int run) {
  std::vector<T> bytes(like.size());
  std::fill_n(reinterpret_cast<unsigned char*>(bytes.data()),
              bytes.size() * sizeof(T), run % 2 == 0 ? 0xa5 : 0x5a);
  tensor.CopyDataToTensor(bytes.data());
}

)";

std::string ArgLiteral(const KernelArg& arg) {
  static constexpr const char* kNames[] = {"Input", "Output", "Scratch",
                                           "Table", "Local",  "Scalar"};
  return StrCat("Arg::", kNames[static_cast<int>(arg.kind())], "(", arg.index(),
                ")");
}

std::string ArgList(const std::vector<KernelArg>& args) {
  std::vector<std::string> literals;
  for (const KernelArg& arg : args) literals.push_back(ArgLiteral(arg));
  return StrCat("{", StrJoin(literals, ", "), "}");
}

std::string Quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) >= ' ') text += c;
  }
  return text + "\"";
}

class Writer {
 public:
  Writer(const CheckedOperator& checked, const Prepared& prepared,
         const Outcome& outcome, const Target& target)
      : checked_(checked),
        prepared_(prepared),
        outcome_(outcome),
        target_(target) {}

  std::string Program() {
    Comment();
    text_ += kHead;
    Line("const char kSource[] = ", RawString(launches().text), ";");
    Line("");
    Operator();
    text_ += kCompare;
    Data();
    Main();
    return std::move(text_);
  }

 private:
  const Launches& launches() const { return outcome_.launches; }
  const Operands& operands() const { return prepared_.operands; }
  bool IsVariable(size_t output) const {
    return checked_.outputs[output].variable;
  }

  template <typename... Args>
  void Line(const Args&... args) {
    text_ += StrCat(args..., "\n");
  }

  void Comment() {
    Line("// What ", launches().name, " did wrong: ", ToString(*outcome_.fault),
         outcome_.operand.empty() ? "" : ", ", outcome_.operand, ".");
    Line("// The exit status is 1 where it still does, else 0.");
  }

  void Operator() {
    Line("using Arg = ops::KernelArg;");
    Line("");
    Line("class Repeated : public ops::CustomOpBase {");
    Line(" public:");
    Line("  explicit Repeated(Graph* graph)");
    Line("      : CustomOpBase(graph, ", operands().inputs.size(), ", ",
         operands().outputs.size(), ", -1, ", Quoted(launches().name), ") {");
    Line("    kernel_resource_ = kSource;");
    const auto scalars = ScalarLiterals(launches().scalars);
    for (const std::string& scalar : scalars) {
      Line("    ops::param_transform(std::make_tuple(", scalar,
           "), param_list_);");
    }
    for (size_t i = 0; i < launches().optional.size(); ++i) {
      if (launches().optional[i]) Line("    SetInputOptional(", i, ");");
    }
    Line("  }");
    Line("  std::shared_ptr<Operation> Clone(");
    Line("      std::shared_ptr<Graph>& graph) const override {");
    Line("    return graph->CreateOperation<Repeated>();");
    Line("  }");
    Line("");
    Line(" protected:");
    Line("  void SetupShapeInfor() override {");
    for (size_t i = 0; i < operands().outputs.size(); ++i) {
      Line("    outputs_size_[", i,
           "] = ", ShapeLiteral(operands().outputs[i].shape_), ";");
    }
    Line("  }");
    Params();
    Enqueue();
    Line("};");
  }

  void Params() {
    Line("  void SetupParams(std::vector<DataType>, std::string& options)",
         " override {");
    Line("    func_name_ = ", Quoted(launches().kernels[0].function), ";");
    Line("    options = ", RawString(launches().options), ";");
    for (size_t i = 0; i < launches().scratch.size(); ++i) {
      const ir::TensorDesc& desc = launches().scratch[i].desc;
      const auto dims = desc.shape.dims();
      Line("    AddScratch(", TypeLiteral(ToVx(desc.type)), ", ",
           ShapeLiteral(ShapeType(dims.begin(), dims.end())), ");");
      if (launches().scratch[i].zeroed) {
        Line("    FillScratchWithZeros(", i, ");");
      }
    }
    for (const CustomTable& table : launches().tables) {
      const bool half = table.desc.type == ir::DataType::kFloat16;
      const std::string numbers = Elements(
          table.desc.type, table.data->bytes.data(), table.data->bytes.size());
      const char* type = ElementType(table.desc.type);
      if (half) {
        Line("    {");
        Line("      std::vector<Half> table;");
        Line("      for (const int bits : std::vector<int>", numbers, ") {");
        Line("        table.push_back(Half::FromBits(",
             "static_cast<uint16_t>(bits)));");
        Line("      }");
        Line("      AddTable(table);");
        Line("    }");
      } else {
        Line("    AddTable(std::vector<", type, ">", numbers, ");");
      }
    }
    for (const int64_t bytes : launches().locals) {
      Line("    AddLocal(", bytes, ");");
    }
    for (size_t i = 0; i < launches().zeroed.size(); ++i) {
      if (launches().zeroed[i]) Line("    FillWithZeros(", i, ");");
    }
    Line("  }");
  }

  void Enqueue() {
    const std::vector<CustomKernel>& kernels = launches().kernels;
    Line("  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& global,");
    Line("                    std::vector<size_t>& local) override {");
    Line("    dim = ", kernels[0].global.size(), ";");
    Line("    global = {", StrJoin(kernels[0].global, ", "), "};");
    std::vector<size_t> local = kernels[0].local;
    local.resize(kernels[0].global.size(), 0);
    Line("    local = {", StrJoin(local, ", "), "};");
    Line("    SetKernelArgs(", ArgList(kernels[0].args), ");");
    for (size_t i = 1; i < kernels.size(); ++i) {
      Line("    AddKernel(", Quoted(kernels[i].function), ", {",
           StrJoin(kernels[i].global, ", "), "}, {",
           StrJoin(kernels[i].local, ", "), "}, ", ArgList(kernels[i].args),
           ");");
    }
    Line("  }");
  }

  void Array(const std::string& name, const TensorSpec& spec,
             const Bytes& bytes) {
    const ir::DataType type = *ToIr(spec.datatype_);
    Line("const std::vector<", ElementType(type), "> ", name, " = ",
         Elements(type, bytes.data(), bytes.size()), ";");
  }

  void Data() {
    for (size_t i = 0; i < operands().inputs.size(); ++i) {
      if (!prepared_.tried.HasInput(i)) continue;
      Array(StrCat("input", i), operands().inputs[i], prepared_.values[i]);
    }
    for (size_t i = 0; i < operands().outputs.size(); ++i) {
      Array(StrCat("expected", i), operands().outputs[i],
            prepared_.expected[i]);
      if (IsVariable(i)) {
        Array(StrCat("before", i), operands().outputs[i], prepared_.states[i]);
      }
      const Tolerance& tolerance = checked_.outputs[i].tolerance;
      Line("const Tolerance tolerance", i, " = {",
           DoubleLiteral(tolerance.ulps), ", ",
           DoubleLiteral(tolerance.absolute), ", ",
           DoubleLiteral(tolerance.relative), ", ",
           Int64Literal(std::max<int64_t>(tolerance.codes, 0)), "};");
    }
    Line("");
  }

  std::string SpecLiteral(const TensorSpec& spec, const char* attribute) {
    return StrCat("TensorSpec(", TypeLiteral(spec.datatype_), ", ",
                  ShapeLiteral(spec.shape_), ", ", attribute, ",\n          ",
                  QuantizationLiteral(spec.quantization_), ")");
  }

  void Main() {
    Line("int main() {");
    Line("  setenv(\"TIMCL_GUARD\", \"1\", 1);");
    Line("  unsetenv(\"TIMCL_KERNEL_OVERRIDE\");");
    Line("  auto context = Context::Create();");
    Line("  if (context == nullptr) return std::puts(LastError().c_str()), 2;");
    Line("  CompileOption device;");
    Line("  device.setDeviceId(", target_.number, ");  // ", target_.name);
    Line("  auto graph = context->CreateGraph(device);");
    Line("  auto operation = graph->CreateOperation<Repeated>();");
    for (size_t i = 0; i < operands().inputs.size(); ++i) {
      if (!prepared_.tried.HasInput(i)) {
        Line("  operation->BindInput(graph->CreateTensorPlaceHolder());");
        continue;
      }
      Line("  auto x", i, " = graph->CreateTensor(\n      ",
           SpecLiteral(operands().inputs[i], "INPUT"), ");");
      Line("  operation->BindInput(x", i, ");");
      Line("  x", i, "->CopyDataToTensor(input", i, ".data());");
    }
    for (size_t i = 0; i < operands().outputs.size(); ++i) {
      Line("  auto y", i, " = graph->CreateTensor(\n      ",
           SpecLiteral(operands().outputs[i],
                       IsVariable(i) ? "VARIABLE" : "OUTPUT"),
           ");");
      Line("  operation->BindOutput(y", i, ");");
    }
    Line("  for (int run = 0; run < 4; ++run) {");
    for (size_t i = 0; i < operands().outputs.size(); ++i) {
      if (IsVariable(i)) {
        Line("    y", i, "->CopyDataToTensor(before", i, ".data());");
      } else {
        Line("    Poison(*y", i, ", expected", i, ", run);");
      }
    }
    Line("    if (!graph->Run()) return std::puts(LastError().c_str()), 1;");
    for (size_t i = 0; i < operands().outputs.size(); ++i) {
      Line("    if (!Check(*y", i, ", ", i, ", expected", i, ", tolerance", i,
           ")) return 1;");
    }
    Line("  }");
    Line("  std::puts(\"no fault\");");
    Line("}");
  }

  const CheckedOperator& checked_;
  const Prepared& prepared_;
  const Outcome& outcome_;
  const Target& target_;
  std::string text_;
};

}  // namespace

std::string ProgramText(const CheckedOperator& checked,
                        const Prepared& prepared, const Outcome& outcome,
                        const Target& target) {
  if (outcome.launches.kernels.empty() || target.is_host) return "";
  if (prepared.expected.size() != prepared.operands.outputs.size()) return "";
  return Writer(checked, prepared, outcome, target).Program();
}

}  // namespace tim::vx::check
