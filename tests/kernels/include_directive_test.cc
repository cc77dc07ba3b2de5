#include "kernels/text/include_directive.h"

#include <gtest/gtest.h>

namespace tim::device {
namespace {

TEST(IncludeDirective, IsFoundInEverySpelling) {
  for (const char* text :
       {"#include \"a.h\"", "#include <a.h>", "int x;\n  # \t include \"a.h\"",
        "#define A \"a.h\"\n#include A\n",
        "/* a */ # /* b\n */ include \"a.h\"", "#\\\ninclude \"a.h\"",
        "#inc\\\r\nlude \"a.h\"", "#inc\\ \t\nlude \"a.h\"",
        "%:include \"a.h\"", "?\?=include \"a.h\"", "#inc?\?/\nlude \"a.h\"",
        "#import \"a.h\"", "#include_next <a.h>", "#embed \"a.bin\"",
        "#if __has_include(\"a.h\")\n#endif",
        "#if __has_\\\ninclude(\"a.h\")\n#endif", "##include",
        "#if 0\n#else\n"
        "#include \"a.h\"\n#endif"}) {
    EXPECT_TRUE(kernels::IncludesFiles(text, "")) << text;
  }
}

// To leave comments and literals out, one has to know where they begin.
TEST(IncludeDirective, IsFoundInDoubt) {
  for (const char* text :
       {"// #include \"a.h\"", "#warning /*\n#include \"a.h\"\n// */",
        "#if 0\n#include \"a.h\"\n#endif", "\"#include\""}) {
    EXPECT_TRUE(kernels::IncludesFiles(text, "")) << text;
  }
}

TEST(IncludeDirective, IsNotFoundElsewhere) {
  for (const char* text :
       {"", "#", "# /*", "#define N 4\n", "// includes the border\n",
        "#define include 1\n", "int include;", "#includes", "#pragma once",
        "# 1 \"include\"", "include \"a.h\"", "#\ninclude", "a % include",
        "#define IMPORT(include) import\n"}) {
    EXPECT_FALSE(kernels::IncludesFiles(text, "-DN=1 -I /include")) << text;
  }
}

TEST(IncludeDirective, OptionsCanBeOne) {
  EXPECT_TRUE(kernels::IncludesFiles("", "-DN=4 -include a.h"));
  EXPECT_TRUE(kernels::IncludesFiles("", "-imacros a.h"));
}

}  // namespace
}  // namespace tim::device
