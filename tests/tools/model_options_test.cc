// Words of command lines as options of importers.
#include "tools/timcl/model_options.h"

#include <gmock/gmock.h>

#include <cstdint>

#include "tests/tools/timcl_program.h"

namespace tim::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Refusal(const ModelArguments& arguments) {
  models::ImportOptions options;
  const Status status = FillImportOptions(arguments, &options);
  EXPECT_FALSE(status.ok());
  return status.message();
}

TEST(ModelOptions, AreReadFromWords) {
  const std::string path = FreshFolder("options") + "/steps.npy";
  WriteText(path, NpyHeader(ir::DataType::kInt64, {2}) +
                      std::string("\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0", 16));
  ModelArguments arguments;
  arguments.shapes = {"a=b=1,3", "scalar="};
  arguments.dims = {"batch=4"};
  arguments.values = {"steps=" + path};
  arguments.most_trips = 7;
  arguments.stacked_rows = 9;
  models::ImportOptions options;
  const Status status = FillImportOptions(arguments, &options);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(options.shapes.at("a=b"), ElementsAre(1, 3));
  EXPECT_THAT(options.shapes.at("scalar"), IsEmpty());
  EXPECT_EQ(options.dimensions.at("batch"), 4);
  EXPECT_EQ(options.most_trips, 7);
  EXPECT_EQ(options.stacked_rows, 9);
  const models::GivenTensor& steps = options.values.at("steps");
  EXPECT_EQ(steps.type, vx::DataType::INT64);
  EXPECT_THAT(steps.dims, ElementsAre(2));
  const auto* const data = static_cast<const int64_t*>(steps.data.get());
  EXPECT_THAT(std::vector<int64_t>(data, data + 2), ElementsAre(5, 6));
  const std::vector<std::string> words = WordsOf(arguments);
  EXPECT_THAT(words, ElementsAre("--shape", "a=b=1,3", "--shape", "scalar=",
                                 "--dim", "batch=4", "--value", "steps=" + path,
                                 "--trips", "7", "--stacked-rows", "9"));
}

TEST(ModelOptions, AreRefusedWhereTheyAreNone) {
  const std::string folder = FreshFolder("options");
  WriteText(folder + "/text.npy", "text");
  std::string header =
      "{'descr': '<c8', 'fortran_order': False, 'shape': (), }";
  header.resize(62, ' ');
  WriteText(folder + "/complex.npy", "\x93NUMPY\x01" +
                                         std::string("\0\x3e\0", 3) + header +
                                         std::string(8, 0));
  ModelArguments arguments;
  for (const char* word : {"x", "=1", "x=0", "x=-1", "x=1,", "x=a", "x=1.5",
                           "x=99999999999999999999"}) {
    arguments.shapes = {word};
    EXPECT_THAT(Refusal(arguments), HasSubstr(std::string("--shape ") + word));
  }
  arguments.shapes = {"x=1", "x=2"};
  EXPECT_THAT(Refusal(arguments), HasSubstr("it is given twice"));
  arguments.shapes = {};
  arguments.dims = {"n=1,2"};
  EXPECT_THAT(Refusal(arguments), HasSubstr("'1,2' is no extent"));
  arguments.dims = {};
  arguments.values = {"x=" + folder + "/none.npy"};
  EXPECT_THAT(Refusal(arguments), HasSubstr("cannot be read"));
  arguments.values = {"x=" + folder + "/text.npy"};
  EXPECT_THAT(Refusal(arguments), HasSubstr("it is no .npy file"));
  arguments.values = {"x=" + folder + "/complex.npy"};
  EXPECT_THAT(Refusal(arguments), HasSubstr("elements of type <c8"));
}

}  // namespace
}  // namespace tim::tool
