// The recipes for custom operators in docs/, as their readers meet them: each
// is built against the SDK that `bazel build //:sdk` makes, outside of the
// tree, and prints what the document says.
#include "tests/sdk/recipes.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/sdk/unpacked_sdk.h"
#include "tests/structure/source_tree.h"
#include "tests/support/long_tests.h"

namespace tim::structure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Recipes ReadRecipes() {
  Recipes all = RecipesOf("docs/custom_operators.md",
                          ReadText("docs/custom_operators.md"));
  for (const std::string& path : FilesUnder("docs/recipes", {".md"})) {
    const Recipes more = RecipesOf(path, ReadText(path));
    all.found.insert(all.found.end(), more.found.begin(), more.found.end());
    all.mistakes.insert(all.mistakes.end(), more.mistakes.begin(),
                        more.mistakes.end());
  }
  return all;
}

class RecipeTest : public ::testing::TestWithParam<Recipe> {};

// Builds `recipe` in `folder` as docs/custom_operators.md says.
CommandResult Build(const Recipe& recipe, const std::string& folder) {
  WriteText(folder + "/" + recipe.name + ".cc", recipe.text);
  return RunCommand("cd '" + folder + "' && export PKG_CONFIG_PATH='" +
                    UnpackedSdk() + "/lib/pkgconfig' && " +
                    "g++ -std=c++14 -Wall -Wextra -Werror " + recipe.name +
                    ".cc -o " + recipe.name +
                    " $(pkg-config --cflags --libs tim-cl)");
}

// What the program prints to the standard output; what else it says is in the
// file `log` of the folder.
CommandResult RunProgram(const Recipe& recipe, const std::string& folder,
                         const std::string& environment) {
  return RunCommand("cd '" + folder + "' && LD_LIBRARY_PATH=\"" +
                    UnpackedSdk() +
                    "/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\" " +
                    environment + " ./" + recipe.name + " 2>log");
}

void ExpectPrints(const Recipe& recipe, const std::string& folder,
                  const std::string& environment, const std::string& output) {
  const CommandResult run = RunProgram(recipe, folder, environment);
  EXPECT_EQ(run.exit_status, 0) << environment << "\n"
                                << run.output << ReadText(folder + "/log");
  EXPECT_EQ(WithoutSpacesAtEnds(run.output), output)
      << environment << "\n"
      << ReadText(folder + "/log");
}

TEST_P(RecipeTest, PrintsWhatTheDocumentSays) {
  const Recipe& recipe = GetParam();
  SCOPED_TRACE(recipe.document);
  const std::string folder = FreshFolder("recipe");
  const CommandResult built = Build(recipe, folder);
  ASSERT_EQ(built.exit_status, 0) << built.output;
  bool guarded = false;
  for (const Call& call : recipe.calls) {
    ExpectPrints(recipe, folder, call.environment, call.output);
    guarded |= call.environment == "TIMCL_GUARD=1";
  }
  // The others have no mistakes that it sees.
  static testing::Sample sample(3);
  if (!guarded && sample.Takes()) {
    ExpectPrints(recipe, folder, "TIMCL_GUARD=1", recipe.calls[0].output);
  }
}

INSTANTIATE_TEST_SUITE_P(Docs, RecipeTest,
                         ::testing::ValuesIn(ReadRecipes().found),
                         [](const ::testing::TestParamInfo<Recipe>& info) {
                           return info.param.name;
                         });

TEST(RecipesOfTheDocuments, AreAllTaken) {
  const Recipes recipes = ReadRecipes();
  EXPECT_THAT(recipes.mistakes, IsEmpty());
  EXPECT_GT(recipes.found.size(), 13u);
  const std::string page = ReadText("docs/custom_operators.md");
  std::set<std::string> names;
  for (const Recipe& recipe : recipes.found) {
    EXPECT_TRUE(names.insert(recipe.name).second) << recipe.name << " twice";
    EXPECT_THAT(page, HasSubstr("`" + recipe.name + "`"))
        << "the list of recipes lacks it";
  }
}

TEST(RecipesOfATest, HaveProgramsAndCalls) {
  const Recipes recipes =
      RecipesOf("a.md",
                "# A\n```cpp\nint main() {\n}\n```\nprints\n```text\n"
                "$ ./a\n1 \n2\n$ X_Y=1 ./a\n3\n```\n```sh\ntrue\n```\n");
  EXPECT_THAT(recipes.mistakes, IsEmpty());
  ASSERT_THAT(recipes.found, SizeIs(1));
  const Recipe& recipe = recipes.found[0];
  EXPECT_EQ(recipe.name, "a");
  EXPECT_EQ(recipe.document, "a.md:2");
  EXPECT_EQ(recipe.text, "int main() {\n}\n");
  ASSERT_THAT(recipe.calls, SizeIs(2));
  EXPECT_EQ(recipe.calls[0].environment, "");
  EXPECT_EQ(recipe.calls[0].output, "1\n2\n");
  EXPECT_EQ(recipe.calls[1].environment, "X_Y=1");
  EXPECT_EQ(recipe.calls[1].output, "3\n");
}

TEST(RecipesOfATest, WithMistakesAreTold) {
  const std::string program = "```cpp\nint main() {}\n```\n";
  const auto mistakes = [](const std::string& text) {
    const Recipes recipes = RecipesOf("a.md", text);
    EXPECT_THAT(recipes.found, IsEmpty());
    return recipes.mistakes;
  };
  EXPECT_THAT(mistakes(program), ElementsAre("a.md:1: no transcript follows"));
  EXPECT_THAT(mistakes(program + "```sh\n```\n"),
              ElementsAre("a.md:1: no transcript follows"));
  EXPECT_THAT(mistakes("```text\n$ ./a\n```\n"),
              ElementsAre("a.md:1: a transcript of no program"));
  EXPECT_THAT(mistakes(program + "```text\n1\n```\n"),
              ElementsAre("a.md:4: begins with no call, '$ ./name'"));
  EXPECT_THAT(mistakes(program + "```text\n```\n"),
              ElementsAre("a.md:4: is empty"));
  EXPECT_THAT(mistakes(program + "```text\n$ ./a\n$ ./b\n```\n"),
              ElementsAre("a.md:4: calls b and a"));
  EXPECT_THAT(mistakes("```c\nint a;\n```\n"),
              ElementsAre("a.md:1: a block of another kind: 'c'"));
  EXPECT_THAT(mistakes("```sh\ntrue\n"), ElementsAre("a.md:1: has no end"));
}

TEST(RecipesOfATest, ThatDoNotBuildOrPrintSomethingElseAreSeen) {
  static Recipe recipe;
  static std::string folder;
  folder = FreshFolder("planted");
  recipe.name = "a";
  recipe.text = "#include <cstdio>\nint main() { std::puts(\"7\"); }\n";
  ASSERT_EQ(Build(recipe, folder).exit_status, 0);
  ExpectPrints(recipe, folder, "", "7\n");
  EXPECT_NONFATAL_FAILURE(ExpectPrints(recipe, folder, "", "8\n"), "7");
  recipe.text = "int main() { return 7; }\n";
  ASSERT_EQ(Build(recipe, folder).exit_status, 0);
  EXPECT_NONFATAL_FAILURE(ExpectPrints(recipe, folder, "", ""), "exit_status");
  recipe.text = "int main() { int unused; }\n";
  EXPECT_NE(Build(recipe, folder).exit_status, 0) << "warnings are errors";
}

}  // namespace
}  // namespace tim::structure
