// JSON and UTF-8, of whatever bytes users give.
#include "base/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/utf8.h"

namespace tim {
namespace {

TEST(JsonText, StringsAreEscaped) {
  EXPECT_EQ(JsonString(""), R"("")");
  EXPECT_EQ(JsonString("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(JsonString("line\n\ttab\x7F"), R"("line\n\u0009tab\u007f")");
  EXPECT_EQ(JsonString(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(JsonString("Maß 测"), "\"Maß 测\"");
  EXPECT_EQ(JsonString("\xC3("), "\"\xEF\xBF\xBD(\"");
}

TEST(JsonText, NumbersReadBack) {
  EXPECT_EQ(JsonNumber(0.1f), "0.1");
  EXPECT_EQ(JsonNumber(0.1), "0.1");
  EXPECT_EQ(JsonNumber(1e300), "1e+300");
  EXPECT_EQ(JsonNumber(std::numeric_limits<int64_t>::min()),
            "-9223372036854775808");
  EXPECT_EQ(JsonNumber(std::numeric_limits<uint64_t>::max()),
            "18446744073709551615");
  EXPECT_EQ(JsonNumber(std::nan("")), "null");
  EXPECT_EQ(JsonNumber(-std::numeric_limits<float>::infinity()), "null");
}

TEST(JsonText, ObjectsAndArrays) {
  EXPECT_EQ(JsonObject().Text(), "{}");
  EXPECT_EQ(JsonArray().Text(), "[]");
  EXPECT_EQ(JsonArray().Lines(), "[]");
  JsonArray array;
  array.Add("1").Add(JsonBool(false));
  EXPECT_EQ(JsonObject().AddText("a\"", "b").Add("c", array.Text()).Text(),
            R"({"a\"": "b", "c": [1, false]})");
  EXPECT_EQ(array.Lines(), "[\n  1,\n  false\n]");
}

TEST(Utf8, OtherBytesAreReplaced) {
  const std::string bad = "\xEF\xBF\xBD";
  for (const char* text :
       {"", "plain", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(ValidUtf8(text), text);
  }
  EXPECT_EQ(ValidUtf8("\x80"), bad);
  EXPECT_EQ(ValidUtf8("\xC0\x80"), bad + bad);            // too long
  EXPECT_EQ(ValidUtf8("\xC3"), bad);                      // cut
  EXPECT_EQ(ValidUtf8("\xE2\x82"), bad + bad);            // cut
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), bad + bad + bad);  // surrogate
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);
  EXPECT_EQ(ValidUtf8("a\xFF"
                      "b"),
            "a" + bad + "b");
}

}  // namespace
}  // namespace tim
