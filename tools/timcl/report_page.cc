// Puts the page of `timcl report` together from page/ and its data.
#include "tools/timcl/report_page.h"

#include <map>
#include <string_view>

#include "base/utf8.h"
#include "tools/timcl/page_parts.h"

namespace tim::tool {
namespace {

std::string EscapedForHtml(std::string_view text) {
  static const std::map<char, std::string_view> entities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string escaped;
  for (const char c : ValidUtf8(text)) {
    const auto entity = entities.find(c);
    if (entity == entities.end()) {
      escaped += c;
    } else {
      escaped += entity->second;
    }
  }
  return escaped;
}

// JSON without '<': it ends no script and begins no comment.
std::string EscapedForScript(const Json& data) {
  std::string escaped;
  for (const char c :
       data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// All parts whose names have this ending.
std::string PartsWith(std::string_view ending) {
  std::string text;
  for (const PagePart& part : PageParts()) {
    if (std::string_view(part.name).ends_with(ending)) text += part.text;
  }
  return text;
}

}  // namespace

std::string ReportPage(const Json& data) {
  const std::map<std::string_view, std::string> contents = {
      {"title", EscapedForHtml(StrCat(data["graph"].get<std::string>(),
                                      " - TIM-CL report"))},
      {"style", PartsWith(".css")},
      {"script", PartsWith(".js")},
      {"data", EscapedForScript(data)}};
  const std::string frame = PartsWith(".html");
  std::string_view rest = frame;
  std::string page;
  while (true) {
    const size_t begin = rest.find("{{");
    page += rest.substr(0, begin);
    if (begin == std::string_view::npos) return page;
    rest.remove_prefix(begin + 2);
    const size_t end = rest.find("}}");
    page += contents.at(rest.substr(0, end));
    rest.remove_prefix(end + 2);
  }
}

}  // namespace tim::tool
