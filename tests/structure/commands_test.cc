// tools/check_commands.py, which runs what the documents tell users to type,
// sees commands that do not do what they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;
using testing::Not;

// What is reported of a tree whose README.md is `text`.
CommandResult Check(const std::string& text) {
  const std::string folder = FreshFolder("commands");
  WriteText(folder + "/source/README.md", text);
  CommandResult result =
      RunCommand("tools/check_commands.py '" + folder + "/work' '" + folder +
                 "/result.xml' --source '" + folder + "/source'");
  result.output += ReadText(folder + "/result.xml");
  return result;
}

std::string Block(const std::string& commands) {
  return "# Use it\n\n```sh\n" + commands + "\n```\n";
}

TEST(Commands, ThatSucceedAreCounted) {
  const CommandResult result = Check(Block("mkdir -p /opt/tim-cl/lib   # yes") +
                                     Block("test -d /opt/tim-cl/lib\n"
                                           "echo 0 4     # prints 0 4"));
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("name=\"1: Use it\""));
  EXPECT_THAT(result.output, HasSubstr("name=\"2: Use it\""));
  EXPECT_THAT(result.output, Not(HasSubstr("failure")));
}

TEST(Commands, ThatFailAreReported) {
  const CommandResult result = Check(Block("ls no_such_file\ntrue"));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("<failure>"));
  EXPECT_THAT(result.output, HasSubstr("no_such_file"));
}

TEST(Commands, ThatWarnAreReported) {
  const CommandResult result = Check(Block("echo 'a.cc:1: warning: no'"));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("a.cc:1: warning: no"));
}

TEST(Commands, ThatPrintSomethingElseAreReported) {
  const CommandResult result = Check(Block("echo 5     # prints 0 4"));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("did not print '0 4'"));
}

TEST(Commands, BenchmarksAreAskedForHelpAndTheSuiteIsLeftOut) {
  const CommandResult result = Check(Block("./tools/test.sh --long\n.ci/run") +
                                     Block("bench/run.sh peak"));
  EXPECT_THAT(result.output, Not(HasSubstr("1: Use it")));
  EXPECT_THAT(result.output, HasSubstr("bench/run.sh peak --help"));
}

TEST(Commands, OfBlocksThatAreNoneAreReported) {
  for (const char* text :
       {"no commands", "# A\n```bash\ntrue\n```\n", "```sh\ntrue\n",
        "- item\n  ```sh\n  true\n  ```\n"}) {
    const CommandResult result = Check(text);
    EXPECT_EQ(result.exit_status, 1) << text;
    EXPECT_THAT(result.output, HasSubstr("<failure>"));
  }
}

TEST(Commands, BehindAFailedOneInABlockAreNotRun) {
  const CommandResult result = Check(Block("false && true\necho $((6 * 7))"));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, Not(HasSubstr("42")));
}

TEST(Commands, HaveBazelsObjectsOfAllButOneSourceOfEachPart) {
  const std::string folder = FreshFolder("objects");
  const std::string source = folder + "/source";
  for (const char* path : {"src/a/b/first", "src/a/c/second", "ops/third",
                           "samples/d/fourth", "samples/d/gone"}) {
    const std::string name = std::string(path) + ".cc";
    const std::string object = source + "/bazel-bin/" + path + ".pic";
    if (name.find("gone") == std::string::npos) {
      WriteText(source + "/" + name, "");
    }
    WriteText(object + ".o", "");
    WriteText(object + ".d", "x.o: \\\n " + name + " y.h\n");
  }
  WriteText(source + "/README.md",
            Block("cat \"$TIMCL_BAZEL_OBJECTS\"  # prints second.cc\n"
                  "test \"$(wc -l <\"$TIMCL_BAZEL_OBJECTS\")\" -eq 1"));
  const CommandResult result = RunCommand(
      "env -u TIMCL_TEST_LONG tools/check_commands.py '" + folder + "/work' '" +
      folder + "/result.xml' --source '" + source + "'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

// What CMake's compiler launcher does for the sources of Bazel's objects.
TEST(TakeObject, CopiesWhatIsListedAndCompilesTheRest) {
  const std::string folder = FreshFolder("take_object");
  WriteText(folder + "/listed.o", "an object\n");
  WriteText(folder + "/made.o", "");
  WriteText(folder + "/objects.txt",
            "/tree/listed.cc " + folder + "/listed.o\n");
  const auto compile = [&](const std::string& source) {
    return RunCommand("TIMCL_BAZEL_OBJECTS='" + folder +
                      "/objects.txt' tools/bazel/take_object.sh echo compiled "
                      "-MF '" +
                      folder + "/made.d' -o '" + folder + "/made.o' -c " +
                      source);
  };
  CommandResult result = compile("/tree/other.cc");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("compiled -MF"));
  EXPECT_THAT(result.output, HasSubstr("-c /tree/other.cc"));
  EXPECT_EQ(ReadText(folder + "/made.o"), "");

  result = compile("/tree/listed.cc");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(ReadText(folder + "/made.o"), "an object\n");
  EXPECT_EQ(ReadText(folder + "/made.d"),
            folder + "/made.o: /tree/listed.cc " + folder + "/listed.o\n");
}

}  // namespace
}  // namespace tim::structure
