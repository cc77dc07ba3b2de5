// Named, typed attributes: the only state of an operation.
#ifndef TIM_IR_ATTRIBUTE_H_
#define TIM_IR_ATTRIBUTE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace tim::ir {

class Graph;
struct ConstantData;

/// A float attribute holds the exact value that the user gave, as double.
using Attribute =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>,
                 std::vector<double>, std::vector<std::string>,
                 std::shared_ptr<const ConstantData>,
                 std::shared_ptr<const Graph>>;

/// In the order of Attribute's alternatives.
enum class AttributeType : uint8_t {
  kBool,
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kTensor,
  kGraph,
};
const char* ToString(AttributeType type);
inline AttributeType TypeOf(const Attribute& attribute) {
  return static_cast<AttributeType>(attribute.index());
}
std::string ToString(const Attribute& attribute);

/// Attributes by name.  After verification every attribute of the schema is
/// present, so the getters of a known name cannot fail.
class AttributeMap {
 public:
  // In one source: nearly every other one holds nodes, and so maps.
  AttributeMap();
  AttributeMap(
      std::initializer_list<std::pair<const std::string, Attribute>> entries);
  AttributeMap(const AttributeMap& other);
  AttributeMap(AttributeMap&& other) noexcept;
  AttributeMap& operator=(const AttributeMap& other);
  AttributeMap& operator=(AttributeMap&& other) noexcept;
  ~AttributeMap();

  void Set(std::string name, Attribute value);
  const Attribute* Find(std::string_view name) const;
  const std::map<std::string, Attribute, std::less<>>& entries() const {
    return entries_;
  }

  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  float Float(std::string_view name) const;
  const std::string& String(std::string_view name) const;
  const std::vector<int64_t>& Ints(std::string_view name) const;

  /// "{axis: 1, beta: 1}"
  std::string ToString() const;
  bool operator==(const AttributeMap& other) const;

 private:
  std::map<std::string, Attribute, std::less<>> entries_;
};

}  // namespace tim::ir

#endif  // TIM_IR_ATTRIBUTE_H_
