// Means and rates of a profiler's sums, and their table.
#include "vx/core/profile_data.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "base/str_cat.h"

namespace tim::vx {
namespace {

using runtime::StepTime;

// Digits with a point in every locale.
std::string Fixed(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value,
                                 std::chars_format::fixed, digits);
  return end.ec == std::errc() ? std::string(text, end.ptr) : StrCat(value);
}

// Three digits that count.
std::string Short(double value) {
  return Fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string Percent(double part, double whole) {
  return whole > 0 ? Fixed(100 * part / whole, 0) + "%" : "-";
}

using Row = std::vector<std::string>;

// Columns of equal width: numbers to the right, the last two to the left.
std::string Aligned(const std::vector<Row>& rows) {
  const size_t columns = rows[0].size();
  std::vector<size_t> widths(columns);
  for (const Row& row : rows) {
    for (size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < columns; ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      const bool words = i + 2 >= columns;
      text += words ? row[i] : space + row[i];
      if (i + 1 < columns) text += (words ? space : "") + "  ";
    }
    text += "\n";
  }
  return text;
}

Row RowOf(const GraphProfile& profile, const ProfiledOperation& operation) {
  const ProfiledDevice none;
  const ProfiledDevice& device =
      operation.device < static_cast<int>(profile.devices.size())
          ? profile.devices[operation.device]
          : none;
  const bool computes = operation.operations > 0;
  const bool moves = operation.bytes > 0;
  return {Fixed(100 * operation.share, 1) + "%",
          Short(operation.microseconds) +
              (operation.clock == ProfileClock::HOST ? "*" : " "),
          StrCat(operation.launches),
          computes ? Short(operation.gflops) : "-",
          computes ? Percent(operation.gflops, device.gflops) : "-",
          moves ? Short(operation.gbytes_per_second) : "-",
          moves ? Percent(operation.gbytes_per_second, device.gbytes_per_second)
                : "-",
          operation.kernel,
          operation.name};
}

std::string Reached(const ProfiledDevice& device) {
  if (device.gflops <= 0) return StrCat("  ", device.name, ": not measured\n");
  return StrCat("  ", device.name, " reaches ", Short(device.gflops),
                " GFLOP/s and ", Short(device.gbytes_per_second),
                " GB/s; a launch and its wait take ", Short(device.launch_us),
                " us\n");
}

}  // namespace

GraphProfile ProfileOf(const runtime::RunProfile& sums) {
  GraphProfile profile;
  profile.graph = sums.graph;
  profile.runs = sums.runs;
  if (sums.runs == 0) return profile;
  const auto runs = static_cast<double>(sums.runs);
  profile.microseconds = 1e-3 * static_cast<double>(sums.nanoseconds) / runs;
  for (size_t i = 0; i < sums.devices.size(); ++i) {
    ProfiledDevice& device = profile.devices.emplace_back();
    device.name = sums.devices[i];
    if (!sums.reached[i]) continue;
    device.gflops = sums.reached[i]->gflops;
    device.gbytes_per_second = sums.reached[i]->gbytes_per_second;
    device.launch_us = sums.reached[i]->launch_us;
  }
  double total = 0;
  for (const runtime::OperationProfile& sum : sums.operations) {
    total += static_cast<double>(sum.nanoseconds);
  }
  for (const runtime::OperationProfile& sum : sums.operations) {
    ProfiledOperation& operation = profile.operations.emplace_back();
    const auto nanoseconds = static_cast<double>(sum.nanoseconds);
    operation.name = sum.name;
    operation.type = sum.op;
    operation.device = sum.device;
    operation.kernel = sum.kernel;
    operation.chosen = sum.chosen;
    operation.refused = sum.refused;
    operation.calls = sums.runs;
    operation.launches = sum.steps;
    operation.microseconds = 1e-3 * nanoseconds / runs;
    operation.share = total > 0 ? nanoseconds / total : 0;
    operation.clock = sum.clock == StepTime::Clock::kDevice
                          ? ProfileClock::DEVICE
                          : ProfileClock::HOST;
    operation.operations = sum.operations;
    operation.bytes = sum.bytes;
    if (nanoseconds <= 0) continue;
    operation.gflops = sum.operations * runs / nanoseconds;
    operation.gbytes_per_second = sum.bytes * runs / nanoseconds;
  }
  return profile;
}

std::string ToString(const GraphProfile& profile) {
  if (!profile) return "no profile\n";
  double sum = 0;
  std::vector<const ProfiledOperation*> order;
  for (const ProfiledOperation& operation : profile.operations) {
    sum += operation.microseconds;
    order.push_back(&operation);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const ProfiledOperation* a, const ProfiledOperation* b) {
                     return a->microseconds > b->microseconds;
                   });
  std::string text =
      StrCat("profile of graph ", profile.graph, ": ", profile.runs,
             profile.runs == 1 ? " run" : " runs", " step by step, ",
             Short(profile.microseconds), " us each, ", Short(sum),
             " us of it in operations\n");
  for (const ProfiledDevice& device : profile.devices) text += Reached(device);
  std::vector<Row> rows = {{"share", "us ", "launches", "GFLOP/s", "of it",
                            "GB/s", "of it", "kernel", "operation"}};
  bool by_host = false;
  for (const ProfiledOperation* operation : order) {
    rows.push_back(RowOf(profile, *operation));
    by_host |= operation->clock == ProfileClock::HOST;
  }
  text += Aligned(rows);
  text +=
      "GFLOP/s and GB/s are estimates, from shapes; above 100% of GB/s is the "
      "caches' work\n";
  if (by_host) {
    text += "* by the host's clock, with what launch and wait cost\n";
  }
  return text;
}

}  // namespace tim::vx
