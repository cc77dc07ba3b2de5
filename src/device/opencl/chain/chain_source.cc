#include "device/opencl/chain/chain_source.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/str_cat.h"
#include "kernels/chain_rule.h"
#include "kernels/chain_text.h"
#include "kernels/kernel_sources.h"

namespace tim::device {
namespace {

using kernels::ChainText;
using kernels::MacrosOf;

int RowWords(const ir::KernelLaunch& launch) {
  int words = kChainArguments;
  for (const ir::KernelArg& argument : launch.arguments) {
    words += ChainWords(argument);
  }
  return words;
}

// A parameter of a work-item's function: its type, and its value from the words
// of the table that begin at `word`.
struct Value {
  std::string type;
  std::string text;
};

// "{row[7], as_float(row[8])}"
std::string FieldValues(const ir::StructArg& argument, int word) {
  std::string text;
  for (const ir::StructArg::Field& field : argument.fields) {
    const bool real = std::holds_alternative<float>(field.value);
    text += StrCat(text.empty() ? "{" : ", ", real ? "as_float(row[" : "row[",
                   word++, real ? "])" : "]");
  }
  return text + "}";
}

std::vector<Value> ValuesOf(const ir::KernelArg& argument, int word) {
  const auto at = [&](int i) { return StrCat("row[", word + i, "]"); };
  if (const auto* fields = std::get_if<ir::StructArg>(&argument)) {
    return {{fields->type, FieldValues(*fields, word)}};
  }
  if (std::holds_alternative<ir::TensorArg>(argument)) {
    return {{"__global void*", StrCat("buffers[", at(0), "]")}, {"int", at(1)}};
  }
  if (std::holds_alternative<float>(argument)) {
    return {{"float", StrCat("as_float(", at(0), ")")}};
  }
  if (std::holds_alternative<uint32_t>(argument)) {
    return {{"uint", StrCat("as_uint(", at(0), ")")}};
  }
  if (std::holds_alternative<int64_t>(argument)) {
    return {{"long", StrCat("upsample(", at(1), ", as_uint(", at(0), "))")}};
  }
  return {{"int", at(0)}};
}

std::string Extents(const std::array<int64_t, 3>& local) {
  std::string text;
  for (const int64_t extent : local) {
    text += StrCat(text.empty() ? "" : ", ", std::max<int64_t>(extent, 1));
  }
  return text;
}

// Calls each(name) for the names of a list with spaces between them.
template <typename Each>
void ForEachName(std::string_view list, const Each& each) {
  for (std::string_view name = TakeWord(&list); !name.empty();
       name = TakeWord(&list)) {
    each(std::string(name));
  }
}

// All work-items of a work-group of the launch, one after the other; names
// of its text have the index behind them.  For all the compiler knows, what
// they store may be the table, so that is read before.
std::string RunFunction(const ir::KernelLaunch& launch, int index,
                        std::string_view names_of_text) {
  const auto type_of = [&](const Value& value) {
    std::string type = value.type;
    ForEachName(names_of_text, [&](const std::string& name) {
      if (name == value.type) type = StrCat(name, "_", index);
    });
    return type;
  };
  std::string values;
  std::string names;
  int word = kChainArguments;
  int parameter = 0;
  for (const ir::KernelArg& argument : launch.arguments) {
    for (const Value& value : ValuesOf(argument, word)) {
      const std::string name = StrCat("tim_", parameter++);
      values +=
          StrCat("  ", type_of(value), " ", name, " = ", value.text, ";\n");
      names += StrCat(", ", name);
    }
    word += ChainWords(argument);
  }
  return StrCat("static __attribute__((noinline)) void tim_run_", index,
                "(size_t x, size_t y, size_t z, __global const int* row,\n"
                "    __global char* const* buffers) {\n",
                values, "  TIM_WORK_ITEMS(", Extents(launch.range.local),
                ")\n    ", launch.function, "_", index, "(tim_x, tim_y, tim_z",
                names, ");\n}\n");
}

constexpr char kHead[] =
    "#define get_global_id(d) ((d) == 0 ? tim_x : (d) == 1 ? tim_y : tim_z)\n"
    "#define TIM_WORK_ITEMS(X, Y, Z) \\\n"
    "  for (size_t tim_z = z * (Z); tim_z < (z + 1) * (Z); ++tim_z) \\\n"
    "    for (size_t tim_y = y * (Y); tim_y < (y + 1) * (Y); ++tim_y) \\\n"
    "      for (size_t tim_x = x * (X); tim_x < (x + 1) * (X); ++tim_x)\n";

// The function that kernels/chain.cl calls, and that kernel.  Put into the
// loops there it takes Intel's compiler minutes, from some nine functions on.
std::string Dispatcher(int functions, int buffers, int row) {
  std::string parameters;
  std::string names;
  for (int i = 0; i < buffers; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    parameters += StrCat(comma, "__global char* b", i);
    names += StrCat(comma, "b", i);
  }
  std::string cases;
  for (int i = 0; i < functions; ++i) {
    cases += StrCat("    case ", i, ":\n      tim_run_", i,
                    "(x, y, z, row, buffers);\n      break;\n");
  }
  return StrCat(
      "#undef get_global_id\n#define ROW ", row, "\n#define STRIDE ",
      kChainCounterStride, "\n#define BUFFER_PARAMETERS ", parameters,
      "\n#define BUFFERS ", names,
      "\nstatic __attribute__((noinline)) void run(\n"
      "    size_t x, size_t y, size_t z,\n"
      "    __global const int* row, __global char* const* buffers) {\n"
      "  switch (row[0]) {\n",
      cases, "  }\n}\n", kernels::FindSource("kernels/chain.cl"));
}

// What two launches share if they run the same function.
using Identity =
    std::tuple<std::string, std::vector<std::string>, std::string, std::string,
               std::string, std::string, std::array<int64_t, 3>>;

// The arguments' kinds follow from the others, but in plans of strangers.
Identity IdentityOf(const ir::KernelLaunch& launch) {
  std::string kinds;
  for (const ir::KernelArg& argument : launch.arguments) {
    for (const Value& value : ValuesOf(argument, 0)) {
      kinds += StrCat(value.type, " ", value.text, ";");
    }
  }
  return {launch.text.empty() ? launch.source : std::string(),
          launch.headers,
          launch.text,
          launch.function,
          launch.options,
          kinds,
          launch.range.local};
}

// Names that hold for the text between two places.
class Definitions {
 public:
  void Add(const std::string& name, const std::string& value) {
    opening_ += StrCat("#define ", name, " ", value, "\n");
    closing_ += StrCat("#undef ", name, "\n");
  }
  void EndOf(const std::string& name) {
    closing_ += StrCat("#undef ", name, "\n");
  }
  std::string Around(const std::string& text) const {
    return StrCat(opening_, text, "\n", closing_);
  }

 private:
  std::string opening_;
  std::string closing_;
};

Status AppendFunction(const ir::KernelLaunch& launch, int index,
                      std::string* text) {
  TIM_ASSIGN_OR_RETURN(const ChainText kernel, kernels::ChainTextOf(launch));
  TIM_ASSIGN_OR_RETURN(const auto macros, MacrosOf(launch.options));
  Definitions definitions;
  ForEachName(kernel.names, [&](const std::string& name) {
    definitions.Add(name, StrCat(name, "_", index));
  });
  for (const auto& [name, value] : macros) definitions.Add(name, value);
  ForEachName(kernel.macros,
              [&](const std::string& name) { definitions.EndOf(name); });
  // What one text says of contraction does not hold for the next.
  *text +=
      StrCat("#pragma OPENCL FP_CONTRACT ", kernel.contracts ? "ON\n" : "OFF\n",
             definitions.Around(kernel.functions),
             RunFunction(launch, index, kernel.names));
  return OkStatus();
}

}  // namespace

int ChainWords(const ir::KernelArg& argument) {
  if (const auto* fields = std::get_if<ir::StructArg>(&argument)) {
    return static_cast<int>(fields->fields.size());
  }
  const bool two = std::holds_alternative<ir::TensorArg>(argument) ||
                   std::holds_alternative<int64_t>(argument);
  return two ? 2 : 1;
}

bool RunsChains(const ir::DeviceInfo& info) {
  return info.device_class == ir::DeviceClass::kCpu && info.orders_stores;
}

Result<ChainSource> ChainSourceOf(
    std::span<const ir::KernelLaunch* const> launches, int buffers) {
  // In an order of their own, so that graphs of the same functions share a
  // program.
  std::map<Identity, const ir::KernelLaunch*> functions;
  for (const ir::KernelLaunch* launch : launches) {
    functions.emplace(IdentityOf(*launch), launch);
  }
  ChainSource chain;
  chain.text = kHead;
  std::map<Identity, int> indices;
  for (const auto& [identity, launch] : functions) {
    const int index = static_cast<int>(indices.size());
    indices[identity] = index;
    chain.row = std::max(chain.row, RowWords(*launch));
    TIM_RETURN_IF_ERROR(AppendFunction(*launch, index, &chain.text));
  }
  for (const ir::KernelLaunch* launch : launches) {
    chain.functions.push_back(indices.at(IdentityOf(*launch)));
  }
  chain.text +=
      Dispatcher(static_cast<int>(indices.size()), buffers, chain.row);
  return chain;
}

}  // namespace tim::device
