// Tells what a record holds, and compares it with what is found here.
#include "tools/timcl/record.h"

#include <algorithm>
#include <utility>

#include "base/options.h"
#include "vx/core/environment.h"
#include "vx/core/given_name.h"

namespace tim::tool {
namespace {

// A fact there and here; empty where it is not known.
struct FactPair {
  std::string name;
  std::string there;
  std::string here;

  bool differs() const { return there != here; }
};

std::vector<FactPair> PairsOf(const binary::Record& record,
                              const device::Devices& devices) {
  std::vector<FactPair> pairs;
  for (const binary::Fact& fact : record.facts) {
    pairs.push_back({fact.name, fact.value, ""});
  }
  for (const binary::Fact& fact :
       vx::EnvironmentOf(devices, GetOptions().strict, GetOptions().lenient)) {
    const auto known = std::find_if(
        pairs.begin(), pairs.end(),
        [&](const FactPair& pair) { return pair.name == fact.name; });
    if (known != pairs.end()) {
      known->here = fact.value;
    } else {
      pairs.push_back({fact.name, "", fact.value});
    }
  }
  return pairs;
}

std::string EndOf(const binary::Record& record) {
  switch (record.end) {
    case binary::RunEnd::kNoRun:
      return "no run; with TIMCL_RECORD_INPUTS=1 it has the inputs of one";
    case binary::RunEnd::kUnknown:
      return StrCat("run ", record.run,
                    ", whose end is not known: the process has ended before");
    case binary::RunEnd::kDone:
      return StrCat("run ", record.run, ", which went well");
    case binary::RunEnd::kFailed:
      return StrCat("run ", record.run, ", which failed: ", record.message);
  }
  return "";
}

// Lines with control characters would be other lines.
std::string OnOneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return text;
}

bool IsComplete(const std::vector<std::span<const std::byte>>& data,
                const std::vector<binary::Port>& ports) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].unused) continue;
    if (i >= data.size() || data[i].empty()) return false;
  }
  return true;
}

// Without the ports that the graph does not use.
std::vector<std::span<const std::byte>> OfUsed(
    const std::vector<std::span<const std::byte>>& data,
    const std::vector<binary::Port>& ports) {
  std::vector<std::span<const std::byte>> used;
  for (size_t i = 0; i < data.size(); ++i) {
    if (!ports[i].unused) used.push_back(data[i]);
  }
  return used;
}

RecordedValue ValueOf(size_t index, const binary::Port& port,
                      std::span<const std::byte> bytes) {
  const std::string name = StrCat(index, " '", vx::GivenIn(port.name), "'");
  return {.name = name,
          .producer = name,
          .desc = port.desc,
          .bytes = {bytes.begin(), bytes.end()}};
}

std::string Verdict(const LayerDifference& output) {
  if (output.differs) return "differs";
  return output.equal == 1 ? "equal" : "within the tolerance";
}

}  // namespace

Result<std::optional<binary::Record>> RecordIn(const binary::Blob& blob) {
  std::optional<binary::Record> found;
  if (blob.record.empty()) return found;
  auto record = binary::ReadRecord(blob);
  if (!record.ok()) {
    return NotFound("the file cannot be used: ", record.status().message());
  }
  found = *std::move(record);
  return found;
}

std::vector<std::span<const std::byte>> InputsOf(
    const std::optional<binary::Record>& record, const binary::Blob& blob,
    const RunArguments& arguments) {
  if (!record || arguments.seed) return {};
  return OfUsed(record->inputs, blob.inputs);
}

bool CanRepeat(const binary::Record& record, const binary::Blob& blob,
               const RunArguments& arguments) {
  return arguments.inputs.empty() && !arguments.seed &&
         record.end == binary::RunEnd::kDone &&
         IsComplete(record.inputs, blob.inputs) &&
         IsComplete(record.outputs, blob.outputs);
}

std::unique_ptr<Repeated> Repeat(const binary::Record& record,
                                 const binary::Blob& blob,
                                 const Tensors& outputs) {
  auto repeated = std::make_unique<Repeated>();
  const auto recorded = OfUsed(record.outputs, blob.outputs);
  for (size_t i = 0; i < outputs.ports.size(); ++i) {
    const binary::Port& port = *outputs.ports[i];
    const std::span<const std::byte> there = recorded[i];
    repeated->here.values.push_back(
        ValueOf(i, port, {outputs.memory[i].get(), there.size()}));
    repeated->there.values.push_back(ValueOf(i, port, there));
  }
  repeated->comparison = Compare(repeated->here, repeated->there, {});
  return repeated;
}

std::string RecordText(const binary::Record& record,
                       const device::Devices& devices) {
  std::vector<std::vector<std::string>> rows = {{" ", "", "recorded", "here"}};
  for (const FactPair& pair : PairsOf(record, devices)) {
    rows.push_back({pair.differs() ? "*" : " ", pair.name,
                    pair.there.empty() ? "-" : OnOneLine(pair.there),
                    pair.here.empty() ? "-"
                    : pair.differs()  ? OnOneLine(pair.here)
                                      : "the same"});
  }
  std::string text =
      StrCat("record    ", OnOneLine(EndOf(record)), "\n", Columns(rows));
  for (const std::string& message : record.messages) {
    text += StrCat("warned    ", OnOneLine(message), "\n");
  }
  return text;
}

Json RecordJson(const binary::Record& record, const device::Devices& devices) {
  Json environment = Json::array();
  for (const FactPair& pair : PairsOf(record, devices)) {
    environment.push_back({{"name", pair.name},
                           {"recorded", pair.there},
                           {"here", pair.here},
                           {"differs", pair.differs()}});
  }
  return {{"run", record.run},
          {"end", EndOf(record)},
          {"environment", environment},
          {"messages", record.messages}};
}

std::string RepeatedText(const Repeated& repeated) {
  std::string text;
  for (const LayerDifference& output : repeated.comparison.layers) {
    text +=
        StrCat("repeated  output ", output.first->name, ": ", Verdict(output));
    if (output.equal != 1) {
      text += StrCat("; ", Fixed(100 * output.equal, 2), " % equal, ");
      text += output.codes
                  ? StrCat("codes up to ", *output.codes, " apart")
                  : StrCat("relative error ", Scientific(output.relative));
    }
    if (output.first_nans != output.second_nans) {
      text += StrCat(", ", output.first_nans, " times NaN here, ",
                     output.second_nans, " recorded");
    }
    text += "\n";
  }
  return text;
}

Json RepeatedJson(const Repeated& repeated) {
  Json outputs = Json::array();
  for (const LayerDifference& output : repeated.comparison.layers) {
    Json json = {
        {"output", output.first->name},  {"verdict", Verdict(output)},
        {"equal", output.equal},         {"relative", output.relative},
        {"nan_here", output.first_nans}, {"nan_recorded", output.second_nans}};
    if (output.codes) json["codes"] = *output.codes;
    outputs.push_back(json);
  }
  return outputs;
}

}  // namespace tim::tool
