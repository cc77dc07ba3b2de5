// A client of tim::values that calls what bytes tell it to.
#ifndef TIM_TESTS_FUZZ_VALUES_SESSION_H_
#define TIM_TESTS_FUZZ_VALUES_SESSION_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tim/values/values.h"

namespace tim::testing {

/// Calls of all sessions of the process.
struct ValuesCounts {
  std::atomic<int64_t> calls = 0;
  std::atomic<int64_t> refused = 0;   ///< Calls that gave a failed object.
  std::atomic<int64_t> graphs = 0;    ///< That were captured without failure.
  std::atomic<int64_t> runs = 0;      ///< Of programs, that succeeded.
  std::atomic<int64_t> compared = 0;  ///< Functions in all modes.
};
ValuesCounts& CountsOfValues();

/// Ends the process, and says what is wrong.
[[noreturn]] void FailValues(const std::string& what);

/// Bytes that say what to do; 0 for ever when they are used up.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  uint8_t Next();
  /// Below `count`.
  size_t Next(size_t count) { return Next() % count; }
  /// At most `count` of the bytes that are left.
  ByteReader Take(size_t count);

 private:
  std::span<const uint8_t> bytes_;
};

using Values = std::vector<values::Value>;

/// A float32 or another value of few elements, or one that cannot be.
values::Value MakeAnyValue(ByteReader& bytes);
/// When calls fail: as soon as they are recorded, by what is known then, or
/// when they run, too.
enum class Failing : uint8_t { kWhenRecorded, kAnyTime };
/// An operator on some of `operands`, which are not empty; not all of them take
/// what they are given.
values::Value CallAny(ByteReader& bytes, const Values& operands,
                      Failing failing = Failing::kAnyTime);
/// A function that the bytes are the text of: the same at every call.
std::vector<values::Value> CallFunction(ByteReader bytes, Values operands);

/// Counts the value, and ends the process where it failed without a text.
void Judge(const values::Value& value);
/// The same of what said whether it succeeded.
bool Judge(bool ok, const std::string& error);
/// The same of a call whose text is LastError().
bool JudgeCall(bool ok);
/// Larger values are no operands: time is for many calls.
bool IsSmall(const values::Value& value);

/// Makes values, functions, graphs, programs, variables and tapes, in an order
/// and with arguments that bytes choose, on several threads and in both modes,
/// with failed and symbolic values among them.  Ends the process where a
/// failure has no text, where a function's results in the modes differ, or
/// where memory that values wrapped is not given back.
class ValuesSession {
 public:
  explicit ValuesSession(std::span<const uint8_t> bytes);
  ValuesSession(const ValuesSession&) = delete;
  ValuesSession& operator=(const ValuesSession&) = delete;
  ~ValuesSession();

  /// Until the bytes are used up.
  void Run();

 private:
  static constexpr size_t kValues = 6;
  static constexpr size_t kGraphs = 2;

  // A part of a session that another thread does.
  ValuesSession(ByteReader bytes, const ValuesSession& outer);

  values::Value& AnyValue() { return values_[bytes_.Next(kValues)]; }
  Values SomeValues(size_t count);
  std::vector<values::Spec> SomeSpecs(size_t count);
  values::Graph& AnyGraph() { return graphs_[bytes_.Next(kGraphs)]; }

  void MakeValue();
  void Wrap();
  void Operate();
  void Look();
  void Compare();
  void Capture();
  void MakeGraph();
  void UseGraph();
  void RewriteGraph();
  void Compile();
  void RunProgram();
  void UseVariable();
  void ChangeMode();
  void FlushSome();
  void UseThreads();
  void UseTape();
  void UseGradient();
  void Ask();

  ByteReader bytes_;
  const bool is_whole_;  // of the process's main thread
  std::array<values::Value, kValues> values_;
  std::array<values::Graph, kGraphs> graphs_;
  std::array<values::Program, kGraphs> programs_;
  std::vector<values::Variable> variables_;
  values::Token token_;
  std::vector<std::unique_ptr<values::ModeScope>> modes_;
  std::shared_ptr<std::atomic<int>> wrapped_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_FUZZ_VALUES_SESSION_H_
