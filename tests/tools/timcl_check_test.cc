// `timcl check`: libraries of custom operators, good ones and others.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tools/timcl_program.h"

namespace tim::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kHSwish[] = "check tests/tools/libhswish.so";
constexpr char kPlanted[] = "check tests/tools/libplanted.so";

TEST(TimclCheck, PassesAGoodOperator) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  // Local sizes that a device refuses are told on stderr.
  const auto json = TimclJson(std::string(kHSwish) + " --cases 2 2>/dev/null");
  ASSERT_EQ(json.size(), 1u) << json;
  EXPECT_EQ(json[0]["name"], "HSwish");
  EXPECT_EQ(json[0]["passed"], true);
  EXPECT_EQ(json[0]["mistake"], "");
  EXPECT_GE(json[0]["cases"], 2);
  const CommandResult text =
      Timcl(std::string(kHSwish) + " HSwish --cases 1 --seed 7");
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("HSwish: "), HasSubstr("no fault")));
}

TEST(TimclCheck, TellsFaultsAndWritesTheirPrograms) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string folder = FreshFolder("checked") + "/new";
  const CommandResult result =
      Timcl(std::string(kPlanted) +
            " WrongScalar --device opencl:0 --json --programs '" + folder +
            "' 2>/dev/null");
  EXPECT_EQ(result.exit_status, 1) << result.output;
  const auto json = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_EQ(json.size(), 1u) << result.output;
  EXPECT_EQ(json[0]["passed"], false);
  ASSERT_EQ(json[0]["faults"].size(), 1u);
  const auto& fault = json[0]["faults"][0];
  EXPECT_EQ(fault["kind"], "wrong value");
  EXPECT_EQ(fault["operand"], "output 0");
  EXPECT_EQ(fault["element"], 0);
  EXPECT_NE(fault["device"], "");
  EXPECT_THAT(fault["text"], HasSubstr("wrong value"));
  EXPECT_EQ(fault["program"], folder + "/WrongScalar.cc");
  EXPECT_THAT(ReadText(fault["program"]), HasSubstr("int main("));
}

TEST(TimclCheck, TellsWhatCouldNotBeChecked) {
  ExpectFailure(std::string(kPlanted) + " WrongScalar", 1,
                "WrongScalar: nothing is checked: ", "TIM_PLANTED=incomplete");
}

TEST(TimclCheck, TellsWhichOperatorEndsTheProcessAndWhen) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string command =
      std::string(kPlanted) + " --device opencl:0 --cases 6 ";
  const CommandResult result =
      Timcl(command + "--json 2>/dev/null", "TIM_PLANTED=crashes");
  EXPECT_EQ(result.exit_status, 1) << result.output;
  const auto json = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_EQ(json.size(), 3u) << result.output;
  EXPECT_EQ(json[0]["name"], "Right");
  EXPECT_EQ(json[0]["passed"], true);
  EXPECT_EQ(json[1]["name"], "Crashing");
  EXPECT_EQ(json[1]["passed"], false);
  ASSERT_EQ(json[1]["faults"].size(), 1u);
  EXPECT_EQ(json[1]["faults"][0]["kind"], "end of the process");
  EXPECT_THAT(json[1]["faults"][0]["text"],
              AllOf(HasSubstr("it ends the process: signal 6 "),
                    HasSubstr(", in case 2; "),
                    HasSubstr("Crashing --cases 3 repeats it")));
  // Operators behind it are checked all the same.
  EXPECT_EQ(json[2]["name"], "WrongScalar");
  EXPECT_EQ(json[2]["faults"][0]["kind"], "wrong value");
  // Cases before it are right.
  const CommandResult two =
      Timcl(std::string(kPlanted) + " Crashing --device opencl:0 --cases 2",
            "TIM_PLANTED=crashes");
  EXPECT_EQ(two.exit_status, 0) << two.output;
  EXPECT_THAT(two.output, HasSubstr("Crashing: 2 cases, "));
}

TEST(TimclCheck, TellsWhenTheLibraryEndsTheProcess) {
  ExpectFailure(kPlanted, 4,
                "ends the process, while it checks no operator: exit status 3",
                "TIM_PLANTED=ends");
}

TEST(TimclCheck, RefusesWhatIsNoLibraryOfOperators) {
  const std::string folder = FreshFolder("checked");
  ExpectFailure("check", 2, "library is required");
  ExpectFailure("check '" + folder + "/none.so'", 3,
                "none.so' cannot be read: No such file");
  ExpectFailure("check '" + folder + "'", 3, "it is a folder");
  WriteText(folder + "/text.so", "no library");
  ExpectFailure("check '" + folder + "/text.so'", 3,
                "cannot be loaded as a shared library: ");
  ExpectFailure("check tests/tools/libno_operators.so", 3,
                "put TIM_VX_CHECKED_OPERATORS(function)");
  ExpectFailure("check tests/tools/libother_version.so", 3,
                "was built for version 7 of the check");
}

TEST(TimclCheck, RefusesListsThatCannotBeUsed) {
  const std::string planted = kPlanted;
  ExpectFailure(planted, 4, "the weights are lost", "TIM_PLANTED=throws");
  ExpectFailure(planted, 4, "it names no operators", "TIM_PLANTED=none");
  ExpectFailure(planted, 4, "two operators have the name 'WrongScalar'",
                "TIM_PLANTED=twice");
  ExpectFailure(planted, 4, "operator 0 has no name", "TIM_PLANTED=nameless");
  ExpectFailure(planted + " Softmax", 2,
                "it has no operator 'Softmax'; there are WrongScalar, "
                "UnwrittenTail");
  ExpectFailure(planted + " --cases 0", 2, "--cases");
  ExpectFailure(planted + " --device gpu", 2, "names no device");
  ExpectFailure(planted + " WrongScalar --device opencl:77", 1,
                "nothing is checked: ");
}

}  // namespace
}  // namespace tim::tool
