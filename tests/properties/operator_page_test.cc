// docs/operators.md is what registry, descriptions, goldens and public headers
// say.  To write it anew:
//   bazel run -c opt //tests:properties/operator_page_test
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "ir/op_registry.h"
#include "ops/builtin.h"
#include "tests/properties/operator_cases.h"
#include "tests/properties/properties.h"
#include "tests/structure/source_tree.h"
#include "tests/support/data/golden.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using structure::FilesUnder;
using structure::ReadText;

constexpr char kPage[] = "docs/operators.md";

constexpr char kHead[] =
    R"(# Operators

Every operator class of `tim::vx::ops`, made from the registry, the descriptions
of cases (`tests/ops/*/*_cases.cc`), `tests/goldens/types.txt` and the comments
of the public headers, which say formulas, operands, attributes and errors:

    bazel run -c opt //tests:properties/operator_page_test

- **Types** of inputs that the goldens have: `f32`, `f16`; `i32` and the like
  are plain integers, `b8` is bool; `u8a`: scale and zero point; `i8d`: fixed
  point; `i8pc`: a scale per channel; `-`: absent.  Combinations, and those with
  results: `types.txt`.  4-bit types and data with a scale per channel run on
  the host; with `TIMCL_STRICT=1` a host step beside an OpenCL device makes
  `Compile()` fail.
- **Kernels** by class of device, those that random nodes of the description
  reach; fused operators and large sizes have more.  "made of others": the
  operator becomes a graph of those.
- **Float results** against the operator's reference (`eval`): "same bits", or
  how far a kernel may be from it, absolute + relative.  Quantized results and
  those of integers have the same bits everywhere.

| class | header | of | types | kernels | float results |
|---|---|---|---|---|---|
)";

// What a public header says of one class.
struct ClassDoc {
  std::string header;  // "gather.h"
  std::string source;  // "ONNX Gather-13, TFLITE GATHER"
};

// "Source: ..." of the comment that ends at `end`, in one line.
std::string SourceBefore(const std::string& text, size_t begin, size_t end) {
  constexpr char kWord[] = "Source: ";
  const size_t found = text.rfind(kWord, end);
  if (found == std::string::npos || found < begin) return "";
  std::istringstream lines(text.substr(found + sizeof(kWord) - 1));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (!out.empty() && line.rfind("/// ", 0) != 0) break;
    out += out.empty() ? line : line.substr(3);
  }
  if (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

std::map<std::string, ClassDoc> ClassDocs() {
  std::map<std::string, ClassDoc> docs;
  const std::string folder = "include/tim/vx/ops";
  for (const std::string& path : FilesUnder(folder, {".h"})) {
    const std::string text = ReadText(path);
    constexpr char kName[] = "OpName() { return \"";
    size_t before = 0;
    for (size_t at = text.find(kName); at != std::string::npos;
         at = text.find(kName, before)) {
      const size_t first = at + sizeof(kName) - 1;
      const std::string name =
          text.substr(first, text.find('"', first) - first);
      // "user.Gate" stands in a comment.
      if (name.find('.') == std::string::npos) {
        docs[name] = {path.substr(folder.size() + 1),
                      SourceBefore(text, before, at)};
      }
      before = first;
    }
  }
  return docs;
}

// Types of inputs, in the order of types.txt.
std::string TypesOf(const std::vector<std::string>& combinations) {
  std::string out;
  std::set<std::string> seen;
  for (const std::string& text : combinations) {
    std::istringstream inputs(text.substr(0, text.find('>')));
    for (std::string type; std::getline(inputs, type, ',');) {
      if (seen.insert(type).second) out += (out.empty() ? "" : " ") + type;
    }
  }
  return out;
}

// Names of the kernels that take any of some nodes of the description, most of
// them of its first types, on a device of the class.
std::set<std::string> KernelsOn(ir::DeviceClass device_class,
                                const OperatorCases& cases) {
  constexpr uint32_t kNodes = 400;
  const ir::DeviceInfo device = TestDevice(device_class);
  const ir::OpRegistry& registry = ops::BuiltinOperators();
  const auto kernels = registry.Kernels(cases.op, "opencl");
  std::set<std::string> names;
  for (uint32_t seed = 1; seed <= kNodes; ++seed) {
    if (names.size() == kernels.size()) break;
    const TypeChoice types = {seed % 4 == 0 ? TypeChoice().limit : 1};
    CaseRng rng(seed, CaseRng::kFullSize, types);
    const auto node = MakeNode(cases.legal(rng), registry);
    if (!node.ok()) {
      ADD_FAILURE() << cases.op << ": " << node.status().message();
      return names;
    }
    for (const ir::KernelDef* kernel : kernels) {
      if (names.contains(kernel->name)) continue;
      if (Supports(*node, kernel->name, device).ok()) {
        names.insert(kernel->name);
      }
    }
  }
  return names;
}

std::string Listed(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    out += StrCat(out.empty() ? "`" : ", `", name, "`");
  }
  return out;
}

std::string KernelsOf(const ir::OpSchema& schema, const OperatorCases& cases) {
  if (schema.decompose != nullptr) return "made of others";
  const auto cpu = KernelsOn(ir::DeviceClass::kCpu, cases);
  const auto gpu = KernelsOn(ir::DeviceClass::kGpu, cases);
  if (cpu == gpu) return Listed(cpu);
  return StrCat("CPU: ", Listed(cpu), "; GPU: ", Listed(gpu));
}

std::string ToleranceText(const Tolerance& tolerance) {
  if (tolerance.absolute == 0 && tolerance.relative == 0) return "same bits";
  std::ostringstream out;
  out.precision(2);
  out << tolerance.absolute << " + " << tolerance.relative;
  return out.str();
}

std::string Page() {
  const std::map<std::string, ClassDoc> docs = ClassDocs();
  const auto types = GoldenTypes();
  // Sorted as a reader looks for them.
  std::map<std::string, std::string> rows;
  for (const OperatorCases& cases : AllCases()) {
    const ir::OpSchema& schema = *ops::BuiltinOperators().Find(cases.op);
    const auto doc = docs.find(schema.name);
    if (doc == docs.end()) continue;  // No class: a step of the compiler.
    const auto listed = types.find(cases.op);
    EXPECT_NE(listed, types.end()) << cases.op;
    EXPECT_NE(doc->second.source, "")
        << "no \"Source: \" in the comment of " << schema.name;
    if (listed == types.end()) continue;
    rows[schema.name] =
        StrCat("| `", schema.name, "` | `", doc->second.header, "` | ",
               doc->second.source, " | ", TypesOf(listed->second), " | ",
               KernelsOf(schema, cases), " | ", ToleranceText(cases.tolerance),
               " |\n");
  }
  std::string page = kHead;
  for (const auto& [name, row] : rows) page += row;
  return page;
}

TEST(OperatorPage, IsWhatIsThere) {
  const std::string page = Page();
  // Set by `bazel run`.
  if (const char* tree = std::getenv("BUILD_WORKSPACE_DIRECTORY")) {
    structure::WriteText(StrCat(tree, "/", kPage), page);
    return;
  }
  const std::string found = ReadText(kPage);
  std::istringstream expected_lines(page);
  std::istringstream found_lines(found);
  for (std::string line, other; std::getline(expected_lines, line);) {
    std::getline(found_lines, other);
    ASSERT_EQ(other, line) << "write the page anew, see " << __FILE__;
  }
  EXPECT_EQ(found.size(), page.size());
}

// A class of the list has its header, a schema, and constructors that its
// description calls.
Status CheckClass(const std::string& name, const std::string& header,
                  const std::map<std::string, ClassDoc>& docs) {
  const auto doc = docs.find(name);
  if (doc == docs.end() || doc->second.header != header) {
    return NotFound("class ", name, " in tim/vx/ops/", header);
  }
  // Binary graphs have operators; tests/vx/binary/ runs them.
  if (name == "NBG") return OkStatus();
  for (const OperatorCases& cases : AllCases()) {
    if (cases.op != StrCat("tim.", name)) continue;
    if (cases.shells.empty()) return NotFound("constructor of ", name);
    return OkStatus();
  }
  return NotFound("description of ", name);
}

TEST(OperatorClasses, OfTimVxAreAllThere) {
  const std::map<std::string, ClassDoc> docs = ClassDocs();
  std::istringstream lines(ReadText("tests/ops/classes.txt"));
  std::set<std::string> listed;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, header;
    words >> name >> header;
    EXPECT_OK(CheckClass(name, header, docs));
    listed.insert(name);
  }
  EXPECT_EQ(listed.size(), 142u);
  for (const auto& [name, doc] : docs) {
    // Not of TIM-VX.
    if (doc.header == "control.h" || doc.header == "rmsnormalization.h") {
      continue;
    }
    EXPECT_TRUE(listed.contains(name)) << name << " is not in the list";
  }
  EXPECT_FALSE(CheckClass("Absent", "absent.h", docs).ok());
  EXPECT_FALSE(CheckClass("NBG", "absent.h", docs).ok());
}

}  // namespace
}  // namespace tim::testing
