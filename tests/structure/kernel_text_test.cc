// Forms of OpenCL C that drivers other than PoCL and Intel's get wrong are in
// no kernel, nor in what users copy from the documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct Text {
  std::string path;
  std::string text;
};

// Whatever is OpenCL C, or holds some in a raw string.
std::vector<Text> Texts() {
  std::vector<Text> texts;
  const auto add = [&texts](const char* folder,
                            const std::vector<std::string>& extensions) {
    for (const std::string& path : FilesUnder(folder, extensions)) {
      texts.push_back({path, ReadText(path)});
    }
  };
  add("ops", {".cl", ".clh"});
  add("src/kernels", {".cl", ".clh"});
  add("custom_ops", {".cc"});
  add("samples", {".cc"});
  add("docs", {".md"});
  return texts;
}

// The rest of the expression that begins before `from`.
std::string RestOfExpression(const std::string& text, size_t from) {
  int depth = 0;
  size_t end = from;
  for (; end < text.size() && text[end] != ';'; ++end) {
    if (text[end] == '(') ++depth;
    if (text[end] == ')' && --depth < 0) break;
  }
  return text.substr(from, end - from);
}

// Choices by NaN between an integer and a conversion to one, for which LLVM
// selects, on llvmpipe, an instruction that does not exist.
std::vector<std::string> IntegersChosenByNan(const std::string& text) {
  static const std::regex choice(
      "(isnan\\([^()]*(\\([^()]*\\))?\\)|(\\w+) ([!=]=) \\3) *\\?");
  static const std::regex to_integer(
      "convert_u?(char|short|int|long)|\\(u?(char|short|int|long)\\)");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), choice), end;
       it != end; ++it) {
    const size_t behind = static_cast<size_t>(it->position() + it->length());
    const std::string rest = RestOfExpression(text, behind);
    if (std::regex_search(rest, to_integer)) found.push_back(it->str() + rest);
  }
  return found;
}

TEST(KernelText, NanIsReplacedBeforeItIsConverted) {
  for (const Text& text : Texts()) {
    EXPECT_THAT(IntegersChosenByNan(text.text), IsEmpty()) << text.path;
  }
  EXPECT_THAT(IntegersChosenByNan(
                  "y = isnan(v) ? (char)0 : convert_char_sat(rint(v));"),
              SizeIs(1));
  EXPECT_THAT(IntegersChosenByNan("y = v == v ? convert_int(v) : 0;"),
              SizeIs(1));
  EXPECT_THAT(IntegersChosenByNan("y = isnan(f(v)) ? 0L : (long)f(v);"),
              SizeIs(1));
  EXPECT_THAT(
      IntegersChosenByNan(
          "y = convert_char_sat(rint(isnan(v) ? 0.0f : v)) + (int)(z);"),
      IsEmpty());
}

// Structs that hold pointers, which llvmpipe loses between two barriers.
std::vector<std::string> StructsOfPointers(const std::string& text) {
  static const std::regex structure("struct *\\w* *\\{[^}]*\\*[^}]*\\}");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), structure), end;
       it != end; ++it) {
    if (it->str().find("__global") != std::string::npos) {
      found.push_back(it->str());
    }
  }
  return found;
}

TEST(KernelText, NoStructHoldsPointers) {
  for (const Text& text : Texts()) {
    EXPECT_THAT(StructsOfPointers(text.text), IsEmpty()) << text.path;
  }
  EXPECT_THAT(StructsOfPointers("typedef struct {\n  __global float* p;\n} P;"),
              SizeIs(1));
  EXPECT_THAT(StructsOfPointers("typedef struct {\n  float f[A * B];\n} P;"),
              IsEmpty());
}

}  // namespace
}  // namespace tim::structure
