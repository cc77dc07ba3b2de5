// Every file of ops/ is registered in a statically linked program, and every
// operator has its host reference and goldens.  Its properties are tested where
// it is described, which properties/every_operator_test sees to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/op_registry.h"
#include "ops/builtin.h"
#include "tests/structure/source_tree.h"

namespace tim::ops {
// Generated, see tools/generate_sources.cc.
std::map<std::string, void (*)(ir::OpRegistry&)> OperatorTable();
}  // namespace tim::ops

namespace tim::structure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Families of the files that register something, by stem; found in the tree
// itself.
const std::map<std::string, std::string>& FamiliesInTree() {
  static const auto* const kFamilies = [] {
    auto* families = new std::map<std::string, std::string>();
    for (const std::string& path : FilesUnder("ops", {".cc"})) {
      if (ReadText(path).find("\nTIM_OPERATOR(") == std::string::npos) continue;
      const std::string folder = path.substr(0, path.rfind('/'));
      (*families)[StemOf(path)] = folder.substr(folder.find('/') + 1);
    }
    return families;
  }();
  return *kFamilies;
}

std::set<std::string> StemsInTree() {
  std::set<std::string> stems;
  for (const auto& [stem, family] : FamiliesInTree()) stems.insert(stem);
  return stems;
}

std::set<std::string> FilesOfGoldens() {
  std::set<std::string> files;
  for (const std::string& path : FilesUnder("tests/goldens", {}))
    files.insert(path);
  return files;
}

// `path` is "family/stem".
bool HasGoldens(const std::string& path, const std::set<std::string>& files) {
  const std::string prefix = "tests/goldens/" + path;
  for (const std::string& file : files)
    if (file.rfind(prefix + "/", 0) == 0 || file.rfind(prefix + ".", 0) == 0)
      return true;
  return false;
}

// What ops/<path>.cc, which registered `registry`, lacks. A file without a
// schema adds a kernel to an operator of another file, or rules for it.
std::vector<std::string> MissingParts(const std::string& path,
                                      const ir::OpRegistry& registry,
                                      const std::set<std::string>& files) {
  std::vector<std::string> missing;
  for (const ir::OpSchema* schema : registry.Schemas()) {
    if (schema->eval == nullptr) missing.push_back(schema->Key() + ": eval");
    if (schema->infer_shapes == nullptr)
      missing.push_back(schema->Key() + ": infer_shapes");
  }
  if (registry.Schemas().empty() && registry.Kernels().empty() &&
      registry.Rules().empty())
    missing.push_back(path + ": registers nothing");
  const auto schemas = registry.Schemas();
  // Graphs have none: tests/runtime/control_test.cc.
  const bool needs_goldens =
      std::any_of(schemas.begin(), schemas.end(),
                  [](const ir::OpSchema* schema) { return !schema->control; });
  if (needs_goldens && !HasGoldens(path, files))
    missing.push_back(path + ": tests/goldens/" + path + "/");
  return missing;
}

class Operators : public testing::TestWithParam<std::string> {};

TEST_P(Operators, HaveEvalAndGoldens) {
  ir::OpRegistry registry;
  ops::OperatorTable().at(GetParam())(registry);
  const std::string path = FamiliesInTree().at(GetParam()) + "/" + GetParam();
  EXPECT_THAT(MissingParts(path, registry, FilesOfGoldens()), IsEmpty());
}

TEST_P(Operators, AreAmongTheBuiltins) {
  ir::OpRegistry registry;
  ops::OperatorTable().at(GetParam())(registry);
  const ir::OpRegistry& builtins = ops::BuiltinOperators();
  for (const ir::OpSchema* schema : registry.Schemas())
    EXPECT_NE(builtins.Find(schema->Key()), nullptr) << schema->Key();
  std::set<std::string> kernels;
  for (const ir::KernelDef* kernel : builtins.Kernels())
    kernels.insert(kernel->name);
  for (const ir::KernelDef* kernel : registry.Kernels())
    EXPECT_EQ(kernels.count(kernel->name), 1u) << kernel->name;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Operators);
INSTANTIATE_TEST_SUITE_P(Files, Operators, testing::ValuesIn(StemsInTree()),
                         [](const auto& info) { return info.param; });

TEST(BuiltinOperators, ComeFromTheFilesOfTheFolder) {
  const auto table = ops::OperatorTable();
  std::set<std::string> stems;
  for (const auto& [stem, function] : table) stems.insert(stem);
  EXPECT_EQ(stems, StemsInTree());
  std::size_t schemas = 0;
  for (const auto& [stem, function] : table) {
    ir::OpRegistry registry;
    function(registry);
    schemas += registry.Schemas().size();
  }
  EXPECT_EQ(ops::BuiltinOperators().Schemas().size(), schemas);
}

TEST(BuiltinOperators, AreComplete) {
  const Status status = ops::BuiltinOperators().Check();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(OperatorParts, PlantedGapsAreSeen) {
  ir::OpSchema schema;
  schema.name = "Planted";
  ir::OpRegistry registry;
  registry.Add(schema);
  EXPECT_THAT(MissingParts("a/planted", registry, {}),
              ElementsAre(HasSubstr("eval"), HasSubstr("infer_shapes"),
                          HasSubstr("tests/goldens/a/planted")));
  EXPECT_THAT(MissingParts("a/planted", ir::OpRegistry(), {}),
              ElementsAre(HasSubstr("registers nothing")));
}

TEST(OperatorParts, CompleteOperatorHasNoGaps) {
  ir::OpSchema schema;
  schema.name = "Planted";
  schema.eval = [](const ir::EvalContext&) { return Status(); };
  schema.infer_shapes = [](ir::InferContext&) { return Status(); };
  ir::OpRegistry registry;
  registry.Add(schema);
  EXPECT_THAT(MissingParts("a/planted", registry,
                           {"tests/goldens/a/planted/float.bin"}),
              IsEmpty());
}

}  // namespace
}  // namespace tim::structure
