// Sources name the headers of the standard library that they use: a name of
// std is declared by a header that the file includes itself or gets from a file
// of this tree, never from another standard header by chance, which differs
// from one library to the next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Names = std::set<std::string>;

Names Words(const std::string& text) {
  std::istringstream words(text);
  Names names;
  std::string word;
  while (words >> word) names.insert(word);
  return names;
}

// Headers that declare a name, any of which will do.
using Declarations = std::map<std::string, Names>;

// Rows of headers, and of the names that each of them declares.  Names that
// most headers declare (pair, move, size_t, begin) are left out.
const std::vector<std::pair<std::string, std::string>>& Rows() {
  static const std::vector<std::pair<std::string, std::string>> rows = {
      {"algorithm",
       "all_of any_of none_of find_if find_if_not for_each count_if mismatch "
       "copy_n copy_if copy_backward fill_n generate remove_if replace_if "
       "unique rotate is_sorted sort stable_sort partial_sort nth_element "
       "lower_bound upper_bound equal_range binary_search set_union "
       "set_difference set_intersection max_element min_element minmax "
       "minmax_element clamp lexicographical_compare next_permutation "
       "is_permutation adjacent_find stable_partition max min"},
      {"array", "array to_array"},
      {"atomic", "atomic atomic_flag atomic_ref atomic_thread_fence"},
      {"bit",
       "bit_cast countr_zero countl_zero popcount bit_width bit_ceil "
       "has_single_bit endian rotl"},
      {"charconv", "to_chars from_chars chars_format"},
      {"chrono", "chrono"},
      {"cmath",
       "sqrt exp exp2 log log2 log1p log10 pow fabs isnan isinf isfinite floor "
       "ceil round rint nearbyint lround llround lrint trunc fmod ldexp frexp "
       "scalbn nextafter erf erfc tanh sin cos tan sinh cosh asin acos atan "
       "atan2 signbit copysign hypot fma ilogb expm1 fmin fmax"},
      {"condition_variable", "condition_variable condition_variable_any"},
      {"cstdlib", "getenv abort exit _Exit malloc free aligned_alloc atexit"},
      {"cstring",
       "memcpy memset memcmp memmove strlen strcmp strncmp strerror"},
      {"deque", "deque"},
      {"filesystem", "filesystem"},
      {"fstream", "ifstream ofstream"},
      {"functional", "function plus multiplies invoke ref cref bind"},
      {"future", "future shared_future promise async"},
      {"limits", "numeric_limits"},
      {"list", "list"},
      {"map", "map multimap"},
      {"memory",
       "unique_ptr shared_ptr weak_ptr make_unique make_shared "
       "enable_shared_from_this static_pointer_cast "
       "make_shared_for_overwrite make_unique_for_overwrite"},
      {"mutex",
       "mutex lock_guard unique_lock scoped_lock once_flag call_once "
       "recursive_mutex"},
      {"numbers", "numbers"},
      {"numeric", "accumulate iota partial_sum inner_product gcd lcm"},
      {"optional", "optional nullopt make_optional"},
      {"queue", "queue priority_queue"},
      {"set", "set multiset"},
      {"shared_mutex", "shared_mutex shared_lock"},
      {"span", "span as_bytes as_writable_bytes"},
      {"sstream", "ostringstream istringstream stringstream"},
      {"stdexcept", "runtime_error logic_error invalid_argument out_of_range"},
      {"string", "string getline to_string"},
      {"thread", "thread jthread this_thread"},
      {"typeindex", "type_index"},
      {"unordered_map", "unordered_map"},
      {"unordered_set", "unordered_set"},
      {"variant",
       "variant visit holds_alternative get_if monostate variant_size_v"},
      {"vector", "vector"},
  };
  return rows;
}

const Declarations& Declared() {
  static const Declarations declared = [] {
    Declarations made;
    for (const auto& [header, names] : Rows()) {
      for (const std::string& name : Words(names)) made[name].insert(header);
    }
    made["string_view"] = {"string_view", "string"};
    made["errc"] = {"system_error", "charconv"};
    made["exchange"] = {"utility"};
    return made;
  }();
  return declared;
}

// The text without comments and what stands in quotes.
std::string CodeOf(const std::string& text) {
  std::string code;
  size_t i = 0;
  const auto skip_to = [&](const std::string& end) {
    const size_t found = text.find(end, i);
    i = found == std::string::npos ? text.size() : found + end.size();
  };
  while (i < text.size()) {
    if (text.compare(i, 2, "//") == 0) {
      skip_to("\n");
      code += '\n';
    } else if (text.compare(i, 2, "/*") == 0) {
      skip_to("*/");
    } else if (text.compare(i, 2, "R\"") == 0) {
      const size_t open = text.find('(', i);
      skip_to(")" + text.substr(i + 2, open - i - 2) + "\"");
    } else if (text[i] == '"' && (i == 0 || text[i - 1] != '\'')) {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      ++i;
    } else {
      code += text[i++];
    }
  }
  return code;
}

struct File {
  Names standard;  // <headers>
  Names own;       // "headers", as they are written
  Names used;      // names of std
  bool has_fixed_width = false;
};

Names Matches(const std::string& text, const std::regex& pattern) {
  Names found;
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end;
       ++i)
    found.insert((*i)[1]);
  return found;
}

File Parsed(const std::string& text) {
  static const std::regex standard(R"re((?:^|\n)\s*#\s*include\s*<([^>]+)>)re");
  static const std::regex own(R"re((?:^|\n)\s*#\s*include\s*"([^"]+)")re");
  static const std::regex name(R"re(\bstd::(\w+))re");
  static const std::regex fixed(R"re((\bu?int(?:8|16|32|64|ptr)_t\b))re");
  const std::string code = CodeOf(text);
  return {Matches(text, standard), Matches(text, own), Matches(code, name),
          !Matches(code, fixed).empty()};
}

class Tree {
 public:
  void Add(const std::string& path, const std::string& text) {
    files_[path] = Parsed(text);
  }

  // "ops/a.cc: std::sort without <algorithm>"
  std::vector<std::string> Missing() const {
    std::vector<std::string> missing;
    for (const auto& [path, file] : files_) {
      Names headers;
      Names seen;
      Collect(path, &seen, &headers);
      for (const std::string& name : file.used) {
        const auto found = Declared().find(name);
        if (found == Declared().end() || Share(found->second, headers))
          continue;
        missing.push_back(path + ": std::" + name + " without <" +
                          *found->second.begin() + ">");
      }
      if (file.has_fixed_width && !Share({"cstdint", "stdint.h"}, headers))
        missing.push_back(path + ": fixed-width integers without <cstdint>");
    }
    return missing;
  }

 private:
  static bool Share(const Names& a, const Names& b) {
    return std::any_of(a.begin(), a.end(), [&b](const std::string& name) {
      return b.count(name) != 0;
    });
  }

  void Collect(const std::string& path, Names* seen, Names* headers) const {
    if (!seen->insert(path).second) return;
    const auto found = files_.find(path);
    if (found == files_.end()) return;
    headers->insert(found->second.standard.begin(),
                    found->second.standard.end());
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (const std::string& name : found->second.own) {
      for (const std::string& at :
           {name, "src/" + name, "include/" + name, folder + name})
        Collect(at, seen, headers);
    }
  }

  std::map<std::string, File> files_;
};

TEST(StandardHeaders, AreNamedByWhoUsesThem) {
  Tree tree;
  size_t count = 0;
  for (const char* folder : {"include", "src", "ops", "custom_ops"}) {
    for (const std::string& path : FilesUnder(folder, {".h", ".hpp", ".cc"})) {
      ++count;
      tree.Add(path, ReadText(path));
    }
  }
  EXPECT_GT(count, 500u) << "the tree was not found";
  EXPECT_THAT(tree.Missing(), IsEmpty());
}

TEST(StandardHeaders, PlantedOnesAreSeen) {
  Tree tree;
  tree.Add("src/base/has.h", "#include <vector>\n");
  tree.Add("ops/a.cc",
           "#include \"base/has.h\"\n#include <string>\n"
           "std::vector<std::string> a; std::optional<int> b;\n");
  tree.Add("ops/b.cc",
           "// std::map\nconst char* text = \"std::set \\\" std::list\";\n"
           "/* std::array */ auto raw = R\"x(std::deque)x\"; uint8_t byte;\n");
  EXPECT_THAT(tree.Missing(),
              ElementsAre("ops/a.cc: std::optional without <optional>",
                          "ops/b.cc: fixed-width integers without <cstdint>"));
}

}  // namespace
}  // namespace tim::structure
