// Numbers and characters of the library do not follow the process's locale:
// what kernels are built from, files and messages are the same in all of them.
// Programs (samples, bench, tools) run in the "C" locale, as they never set
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Of library sources; std::to_chars, std::from_chars, StrCat and base/ascii.h
// are for all of it.  std::to_string of integers is the same everywhere.
const std::regex& FollowsLocale() {
  static const std::regex call(
      R"(\b(v?[fds]?n?w?printf|v?[fs]?w?scanf|ato[fil]l?)"
      R"(|strto(d|f|ld|l|ll|ul|ull)|sto(d|f|ld|i|l|ll|ul|ull))"
      R"(|is(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space)"
      R"(|upper|xdigit)|to(lower|upper)|strcoll|strftime|put_time|get_time)"
      R"(|[io]?stringstream|v?format(_to)?|cout|cerr|clog|cin|w?regex)\s*[({<&;])"
      R"(|\bstd::(cout|cerr|clog|cin|[io]?stringstream|w?regex|locale)\b)"
      R"(|\b(setlocale|uselocale)\b|<(cctype|locale|iomanip|sstream)>)");
  return call;
}

// What makes a process leave the "C" locale.
const std::regex& SetsLocale() {
  static const std::regex call(
      R"(\b(setlocale|uselocale)\b|\blocale::global\b)");
  return call;
}

// Without what a comment says.
std::string Code(const std::string& line) {
  return line.substr(0, line.find("//"));
}

// __attribute__((format(printf, ...))) checks a call, and is none.
std::vector<std::string> Violations(const std::regex& call,
                                    const std::string& path,
                                    const std::string& text) {
  std::vector<std::string> violations;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    const std::string code = Code(line);
    if (!std::regex_search(code, match, call)) continue;
    violations.push_back(path + ":" + std::to_string(number) + ": " +
                         match.str());
  }
  return violations;
}

// Floats only: custom operators have nothing but the standard library.
const std::regex& PrintsFloat() {
  static const std::regex call(
      R"(\bto_string\([^()]*(\d\.\d|float|double|threshold|scale\b|stride\b))");
  return call;
}

TEST(Locale, LibrarySourcesDoNotFollowIt) {
  std::size_t count = 0;
  for (const char* folder : {"include", "src", "ops", "custom_ops"}) {
    for (const std::string& path : FilesUnder(folder, {".h", ".cc"})) {
      if (path.rfind("custom_ops/template/", 0) == 0 &&
          path.find("_test.cc") != std::string::npos) {
        continue;  // a program
      }
      // Texts of programs, which stay in the "C" locale.
      if (path == "src/vx/check/program_text.cc" ||
          path == "src/models/build/source_program.cc") {
        continue;
      }
      ++count;
      const std::string text = ReadText(path);
      EXPECT_THAT(Violations(FollowsLocale(), path, text), IsEmpty());
      EXPECT_THAT(Violations(PrintsFloat(), path, text), IsEmpty());
    }
  }
  EXPECT_GT(count, 500u) << "the tree was not found";
}

TEST(Locale, InnerLayersPrintNumbersByStrCat) {
  const std::regex call(R"(\bto_string\()");
  for (const char* folder : {"src", "ops"}) {
    for (const std::string& path : FilesUnder(folder, {".h", ".cc"})) {
      EXPECT_THAT(Violations(call, path, ReadText(path)), IsEmpty());
    }
  }
}

TEST(Locale, ProgramsStayInTheirs) {
  for (const char* folder : {"samples", "bench", "tools", "custom_ops"}) {
    for (const std::string& path : FilesUnder(folder, {".h", ".cc"})) {
      EXPECT_THAT(Violations(SetsLocale(), path, ReadText(path)), IsEmpty());
    }
  }
}

TEST(Locale, PlantedViolationsAreSeen) {
  const auto found = [](const std::string& code) {
    return Violations(FollowsLocale(), "ops/a.cc", code);
  };
  EXPECT_THAT(found("\n  std::snprintf(text, 9, \"%af\", x);"),
              ElementsAre(HasSubstr("ops/a.cc:2: snprintf(")));
  for (const char* code :
       {"std::fprintf(file, \"%.16f\", x);", "x = std::strtod(text, &end);",
        "x = std::stof(text);", "n = atoi(text);", "std::isalnum(c)",
        "c = tolower(c);", "std::istringstream words(text);",
        "std::ostringstream out;", "std::cout << x;", "sscanf(t, \"%f\", &x);",
        "std::regex word(\"[a-z]\");", "#include <sstream>",
        "std::locale::global(std::locale(\"\"));", "setlocale(LC_ALL, \"\");",
        "text = std::format(\"{:L}\", x);"}) {
    EXPECT_THAT(found(code), SizeIs(1)) << code;
  }
  for (const char* code :
       {"std::to_chars(a, b, x);", "StrCat(x)", "// std::printf(\"%f\", x)",
        "std::fwrite(a, 1, n, stderr);", "std::ifstream file(path);",
        "IsAsciiDigit(c)", "const int format = 3;", "fputs(text, stderr);"}) {
    EXPECT_THAT(found(code), IsEmpty()) << code;
  }
  EXPECT_THAT(Violations(PrintsFloat(), "custom_ops/a.cc",
                         "std::to_string(p.iou_threshold)"),
              SizeIs(1));
  EXPECT_THAT(Violations(SetsLocale(), "samples/a.cc",
                         "std::locale::global(std::locale());"),
              SizeIs(1));
}

}  // namespace
}  // namespace tim::structure
