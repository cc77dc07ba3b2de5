// Arguments that a kernel has not, misses or has in another order are seen
// without a device: a kernel's parameters are read in its text.
#include "kernels/launch_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "kernels/kernel_sources.h"
#include "kernels/text/preprocess.h"
#include "kernels/text/struct_fields.h"
#include "kernels/text/text_outline.h"
#include "tests/support/status_macros.h"

namespace tim::kernels {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kInt = 1;

// A launch of ops/resize/resize_codes.cl.
ir::KernelLaunch Resize() {
  ir::KernelLaunch launch;
  launch.source = "ops/resize/resize_codes.cl";
  launch.function = "resize_codes";
  launch.options = "-DIN0=U8 -DOUT=U8";
  launch.arguments = {ir::TensorArg{0, 1},
                      ir::TensorArg{1, 1},
                      ir::TensorArg{2, 4},
                      kInt,
                      kInt,
                      kInt,
                      kInt,
                      kInt,
                      1.0f,
                      kInt,
                      kInt};
  launch.names = {"x",     "y",      "sources", "w",      "h",     "out_w",
                  "out_h", "planes", "x_scale", "x_zero", "y_zero"};
  return launch;
}

Status Check(ir::KernelLaunch launch) { return BindArguments(&launch); }

TEST(LaunchArguments, ThoseOfTheParametersAreTaken) {
  EXPECT_OK(Check(Resize()));
  ir::KernelLaunch launch = Resize();
  launch.options = "-DIN0=I16 -DOUT=U8";
  launch.arguments[0] = ir::TensorArg{0, 2};
  EXPECT_OK(Check(launch));
}

TEST(LaunchArguments, OthersAreNot) {
  ir::KernelLaunch launch = Resize();
  std::swap(launch.names[3], launch.names[4]);
  const Status status = Check(launch);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_ERROR(status,
               "kernel 'resize_codes' of ops/resize/resize_codes.cl, options "
               "'-DIN0=U8 -DOUT=U8': parameter 6 is int w, but it is given int "
               "h");
  launch = Resize();
  std::swap(launch.arguments[8], launch.arguments[9]);
  EXPECT_ERROR(Check(launch), "is float x_scale, but it is given int x_scale");
  launch = Resize();
  launch.arguments[0] = ir::TensorArg{0, 4};
  EXPECT_ERROR(Check(launch),
               "is tensor x of 1 bytes, but it is given tensor x of 4 bytes");
  launch = Resize();
  launch.arguments.pop_back();
  EXPECT_ERROR(Check(launch), "11 names");
  launch.names.pop_back();
  EXPECT_ERROR(Check(launch), "nothing is given for int y_zero");
  launch = Resize();
  launch.arguments.emplace_back(int64_t{1});
  launch.names.emplace_back("more");
  EXPECT_ERROR(Check(launch), "no parameter is left for long more");
  launch = Resize();
  launch.arguments[3] = ir::LocalArg{16};
  EXPECT_ERROR(Check(launch), "is given local w");
}

TEST(LaunchArguments, AreOfAKernelAndOptionsThatThereAre) {
  ir::KernelLaunch launch = Resize();
  launch.options += " -DNO_SUCH_OPTION=3";
  EXPECT_ERROR(Check(launch), "it reads no option NO_SUCH_OPTION");
  launch = Resize();
  launch.function = "resize";
  EXPECT_ERROR(Check(launch), "0 kernels of that name");
  launch.source = "ops/no_such_file.cl";
  EXPECT_ERROR(Check(launch), "no such file");
}

// A launch of gemm_rows of ops/gemm/gemm.cl.
ir::KernelLaunch GemmRows(std::vector<ir::StructArg::Field> fields) {
  ir::KernelLaunch launch;
  launch.source = "ops/gemm/gemm.cl";
  launch.function = "gemm_rows";
  launch.arguments = {ir::TensorArg{0, 4}, ir::TensorArg{1, 4},
                      ir::StructArg{.type = {}, .fields = std::move(fields)},
                      kInt, kInt};
  launch.names = {"x", "rows", "source", "depth", "row_step"};
  return launch;
}

TEST(LaunchArguments, FieldsOfStructsArePlacedByTheirNames) {
  const std::vector<ir::StructArg::Field> turned = {
      {"repeat", 6},     {"batch_step", 5}, {"batches", 4},
      {"depth_step", 3}, {"item_step", 2},  {"items", 1}};
  ir::KernelLaunch launch = GemmRows(turned);
  ASSERT_OK(BindArguments(&launch));
  const auto& bound = std::get<ir::StructArg>(launch.arguments[2]);
  EXPECT_EQ(bound.type, "gemm_factor");
  EXPECT_EQ(WordsOf(bound), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  const ir::KernelLaunch once = launch;
  ASSERT_OK(BindArguments(&launch));
  EXPECT_EQ(launch, once);

  auto fields = turned;
  fields[1] = fields[0];
  EXPECT_ERROR(Check(GemmRows(fields)),
               "kernel 'gemm_rows' of ops/gemm/gemm.cl, options '': nothing is "
               "given for int source.batch_step");
  fields = turned;
  fields.push_back(fields[2]);
  EXPECT_ERROR(Check(GemmRows(fields)), "int source.batches is given twice");
  fields = turned;
  fields.push_back({"more", 7});
  EXPECT_ERROR(Check(GemmRows(fields)),
               "struct gemm_factor has no field for int source.more");
  fields = turned;
  fields[5].value = 1.0f;
  EXPECT_ERROR(Check(GemmRows(fields)),
               "the field is int source.items, but it is given float");
  launch = GemmRows(turned);
  launch.arguments[2] = kInt;
  EXPECT_ERROR(Check(launch),
               "parameter 4 is struct source, but it is given int source");
  std::swap(launch.arguments[2], launch.arguments[3]);
  launch.arguments[3] = GemmRows(turned).arguments[2];
  launch.arguments[2] = once.arguments[2];
  EXPECT_ERROR(Check(launch),
               "parameter 5 is int depth, but it is given struct depth");
}

TEST(LaunchArguments, FollowTheOptions) {
  ir::KernelLaunch launch;
  launch.source = "ops/gemm/gemm_epilogue.cl";
  const KernelSource* const file = FindKernelSource(launch.source);
  ASSERT_NE(file, nullptr);
  const auto plain = Preprocess(file->signatures, {});
  MacroTable macros;
  macros.Define("BIAS", "1");
  const auto with_bias = Preprocess(file->signatures, macros);
  ASSERT_OK(plain);
  ASSERT_OK(with_bias);
  EXPECT_EQ(plain->find("bias_offset"), std::string::npos);
  EXPECT_NE(with_bias->find("bias_offset"), std::string::npos);
}

Result<std::string> SignaturesIn(std::string_view text,
                                 std::string_view option = "",
                                 std::string_view value = "") {
  TIM_ASSIGN_OR_RETURN(const TextOutline outline, OutlineOf(text));
  MacroTable macros;
  if (!option.empty()) macros.Define(option, value);
  return Preprocess(SignaturesOf(outline), macros);
}

TEST(Signatures, AreMadeOfMacrosAndConditions) {
  constexpr char kText[] =
      "/* #define WIDTH 9 */\n"
      "#ifndef T\n#define T U8\n#define UNUSED 1\n#endif\n"
      "#define PASTE_(a, b) a##b\n#define PASTE(a, b) PASTE_(a, b)\n"
      "#define STORED_U8 uchar\n#define STORED_F32 float\n"
      "#if defined(WIDTH) && (WIDTH == 2 || \\\n    WIDTH >= 0x10)\n"
      "#define MORE int more,  // for wide ones\n"
      "#else\n#define MORE\n#endif\n"
      "static int helper(int a) {\n#ifdef INNER\n  a += 1;\n#endif\n"
      "  return a;\n}\n"
      "__kernel void f(__global PASTE(STORED_, T) * x,\n"
      "#if !defined(OTHER)\n                int plain,\n#elif OTHER - 1\n"
      "                int other,\n#else\n                int one,\n#endif\n"
      "                MORE int n) {\n  x[0] = helper(n);\n}\n";
  constexpr char kPlain[] = "__kernel void f ( __global uchar * x , ";
  const auto expect = [&](const char* option, const char* value,
                          const std::string& expected) {
    const auto text = SignaturesIn(kText, option, value);
    ASSERT_OK(text);
    EXPECT_EQ(*text, expected) << option << "=" << value;
  };
  const std::string plain = kPlain;
  expect("", "", plain + "int plain , int n ) { } ");
  expect("WIDTH", "2", plain + "int plain , int more , int n ) { } ");
  expect("WIDTH", "16u", plain + "int plain , int more , int n ) { } ");
  expect("WIDTH", "3", plain + "int plain , int n ) { } ");
  expect("OTHER", "2", plain + "int other , int n ) { } ");
  expect("OTHER", "1", plain + "int one , int n ) { } ");
  expect("T", "F32",
         "__kernel void f ( __global float * x , int plain , int n ) { } ");
  const auto outline = OutlineOf(kText);
  ASSERT_OK(outline);
  EXPECT_THAT(OptionsOf(*outline),
              ElementsAre("INNER", "OTHER", "T", "UNUSED", "WIDTH"));
  EXPECT_EQ(SignaturesOf(*outline).find("INNER"), std::string::npos);
}

TEST(Signatures, HaveTheFieldsOfStructsUnderConditions) {
  constexpr char kText[] =
      "typedef struct { int other; } unused;\n"
      "typedef struct {\n  int w, h;\n#ifdef DEPTH\n  int depth;\n#endif\n"
      "  float scale;  // of all\n} sizes;\n"
      "__kernel void f(sizes s) { }\n";
  const auto fields_of = [&](const char* option) {
    const auto text = SignaturesIn(kText, option, "1");
    EXPECT_OK(text);
    EXPECT_EQ(text->find("unused"), std::string::npos);
    const auto fields = FieldsOf("sizes", *text);
    EXPECT_OK(fields);
    std::string all;
    for (const StructField& field : *fields) {
      all += StrCat(field.type, " ", field.name, ";");
    }
    return all;
  };
  EXPECT_EQ(fields_of(""), "int w;int h;float scale;");
  EXPECT_EQ(fields_of("DEPTH"), "int w;int h;int depth;float scale;");
}

TEST(StructFields, AreOfTheStructOfThatName) {
  constexpr char kText[] =
      "typedef struct { char c; } first; typedef struct tag { int i; } second;"
      "typedef struct { int a; int b[2]; } third; typedef float real;"
      "typedef struct { int a, b; } last;";
  const auto last = FieldsOf("last", kText);
  ASSERT_OK(last);
  EXPECT_EQ(last->size(), 2);
  for (const char* none : {"second", "real", "no_such_type"}) {
    const auto fields = FieldsOf(none, kText);
    ASSERT_OK(fields);
    EXPECT_TRUE(fields->empty()) << none;
  }
  EXPECT_ERROR(FieldsOf("first", kText), "a struct has a field of 'char'");
  EXPECT_ERROR(FieldsOf("third", kText), "a struct has a field 'int b['");
}

TEST(Signatures, OfBrokenTextsAreAnError) {
  EXPECT_ERROR(OutlineOf("#if 1\n").status(), "an #if without an #endif");
  EXPECT_ERROR(OutlineOf("#else\n").status(), "'#else' without an #if");
  EXPECT_ERROR(OutlineOf("__kernel void f(int n").status(), "without an end");
  EXPECT_ERROR(OutlineOf("typedef int number").status(), "without an end");
  EXPECT_ERROR(Preprocess("#endif\n", {}).status(), "without an #if");
}

TEST(Conditions, AreThoseOfC) {
  MacroTable macros;
  macros.Define("TWO", "2");
  macros.Define("SUM(a, b) ((a) + (b))");
  const auto holds = [&](std::string_view condition) {
    const auto value = EvaluateCondition(condition, macros);
    EXPECT_OK(value) << condition;
    return value.ok() && *value;
  };
  for (const char* condition :
       {"1", "TWO == 2", "!ONE", "1 + 2 * 3 == 7", "(1 + 2) * 3 == 9",
        "7 / 2 == 3 && 7 % 2 == 1", "-1 < 0", "~0 == -1", "1 << 3 == 8",
        "(6 & 3) == 2", "6 ^ 3 | 8", "defined TWO",
        "defined(TWO) && !defined(ONE)", "SUM(TWO, 3) == 5", "2 != 3",
        "3 >= 3 && 3 <= 3 && 4 > 3", "0x1F == 31L"}) {
    EXPECT_TRUE(holds(condition)) << condition;
  }
  for (const char* condition :
       {"0", "ONE", "TWO == 3", "!TWO", "1 - 1", "6 & 3 == 3"}) {
    EXPECT_FALSE(holds(condition)) << condition;
  }
  for (const char* condition : {"", "1 +", "(1", "1 2", "1 / 0", "1.5", "$"}) {
    EXPECT_FALSE(EvaluateCondition(condition, macros).ok()) << condition;
  }
  EXPECT_ERROR(EvaluateCondition(std::string(1000, '('), macros), "too deep");
}

}  // namespace
}  // namespace tim::kernels
