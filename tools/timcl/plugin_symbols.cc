// Symbols of a shared library and what it needs, read from the file.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "tools/timcl/plugin_checks.h"
#include "tools/timcl/read_file.h"

namespace tim::tool {
namespace {

// A 64-bit ELF file; places are checked before they are read.
class ElfFile {
 public:
  explicit ElfFile(std::string bytes) : bytes_(std::move(bytes)) {}

  bool Read() {
    const auto header = At<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64) {
      return false;
    }
    for (int i = 0; i < header->e_shnum; ++i) {
      const auto section = At<Elf64_Shdr>(
          header->e_shoff + static_cast<uint64_t>(i) * header->e_shentsize);
      if (!section) return false;
      sections_.push_back(*section);
    }
    return true;
  }

  // Names of what it defines for others.
  std::vector<std::string> Symbols() const {
    std::vector<std::string> names;
    ForEach<Elf64_Sym>(SHT_DYNSYM, [&](const Elf64_Sym& symbol, int strings) {
      const int binding = ELF64_ST_BIND(symbol.st_info);
      const int visibility = ELF64_ST_VISIBILITY(symbol.st_other);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS ||
          binding == STB_LOCAL || visibility == STV_HIDDEN) {
        return;
      }
      names.push_back(Text(strings, symbol.st_name));
    });
    return names;
  }

  // Values of entries of the dynamic section.
  std::vector<std::string> Needed() const {
    std::vector<std::string> names;
    ForEach<Elf64_Dyn>(SHT_DYNAMIC, [&](const Elf64_Dyn& entry, int strings) {
      if (entry.d_tag == DT_NEEDED) {
        names.push_back(Text(strings, entry.d_un.d_val));
      }
    });
    return names;
  }
  bool HasTextRelocations() const {
    bool has = false;
    ForEach<Elf64_Dyn>(SHT_DYNAMIC, [&](const Elf64_Dyn& entry, int) {
      has |= entry.d_tag == DT_TEXTREL ||
             (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL) != 0);
    });
    return has;
  }

 private:
  template <typename T>
  std::optional<T> At(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      return std::nullopt;
    }
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  template <typename T, typename Visit>
  void ForEach(uint32_t type, const Visit& visit) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != type) continue;
      for (uint64_t at = 0; at + sizeof(T) <= section.sh_size;
           at += sizeof(T)) {
        const auto entry = At<T>(section.sh_offset + at);
        if (!entry) return;
        visit(*entry, static_cast<int>(section.sh_link));
      }
    }
  }

  std::string Text(int section, uint64_t offset) const {
    if (section < 0 || static_cast<size_t>(section) >= sections_.size()) {
      return "";
    }
    std::string text;
    for (uint64_t at = sections_[section].sh_offset + offset;
         at < bytes_.size() && bytes_[at] != 0; ++at) {
      text += bytes_[at];
    }
    return text;
  }

  const std::string bytes_;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace

void CheckSymbols(CheckedPlugin& plugin) {
  const auto bytes = ReadFile(plugin.path);
  if (!plugin.Expect(bytes.status(), "the file")) return;
  ElfFile file{
      std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())};
  if (!file.Read()) return plugin.Fail("it is no ELF file of 64 bits");
  const std::vector<std::string> symbols = file.Symbols();
  if (std::count(symbols.begin(), symbols.end(), "TimPluginGet") == 0) {
    plugin.Fail("TimPluginGet is not exported");
  }
  std::string others;
  for (const std::string& name : symbols) {
    if (name == "TimPluginGet") continue;
    others += others.empty() ? name : others.size() < 200 ? ", " + name : "";
  }
  if (symbols.size() > 1) {
    plugin.Fail("it exports ", symbols.size() - 1,
                " more symbols (tim_plugin.map hides them): ", others);
  }
  for (const std::string& name : file.Needed()) {
    if (name.find("tim-vx") == std::string::npos &&
        name.find("tim-cl") == std::string::npos &&
        name.find("tim-lite") == std::string::npos) {
      continue;
    }
    plugin.Fail("it is linked against ", name);
  }
  if (file.HasTextRelocations()) {
    plugin.Fail(
        "its code is changed when it is loaded (DT_TEXTREL): compile "
        "it with -fPIC");
  }
}

}  // namespace tim::tool
