// Keeps the last decisions of each thread as text.
#include "values/explanations.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "tim/values/mode.h"

namespace tim::values {
namespace {

constexpr size_t kMost = 100;

struct Texts {
  std::deque<std::string> host_steps;
  std::deque<std::string> flushes;
};

Texts& Own() {
  thread_local Texts texts;
  return texts;
}

void Append(std::deque<std::string>& list, std::string text) {
  list.push_back(std::move(text));
  if (list.size() > kMost) list.pop_front();
}

}  // namespace

namespace internal {

void ExplainHostSteps(const std::string& text) {
  auto& list = Own().host_steps;
  if (std::find(list.begin(), list.end(), text) == list.end()) {
    Append(list, text);
  }
}

void ExplainFlush(std::string text) { Append(Own().flushes, std::move(text)); }

}  // namespace internal

std::string Explain() {
  std::string text;
  for (const std::string& one : Own().flushes) text += one + '\n';
  for (const std::string& one : Own().host_steps) text += one;
  return text;
}

}  // namespace tim::values
