#ifndef TIM_TESTS_STRUCTURE_PAGE_TABLES_H_
#define TIM_TESTS_STRUCTURE_PAGE_TABLES_H_

#include <string>
#include <vector>

namespace tim::structure {

/// The `code` in the columns of that name, of all tables of a Markdown page.
std::vector<std::string> CodeInColumn(const std::string& markdown,
                                      const std::string& column);

/// The parts between gaps ("…", names and numbers) of the messages that the
/// tables of a page tell: of the `code` in columns named "message".
std::vector<std::string> MessageParts(const std::string& markdown);

/// The text of the library's sources, in which the literals of one message
/// follow each other without a gap.
std::string MessagesOfSources();

/// The text of a source with literals joined that make one message.
std::string JoinedLiterals(const std::string& source);

}  // namespace tim::structure

#endif  // TIM_TESTS_STRUCTURE_PAGE_TABLES_H_
