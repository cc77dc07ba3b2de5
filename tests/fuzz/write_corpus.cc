// Writes the corpus of a fuzzer into a folder: write_corpus FOLDER
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/fuzz/corpus.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_corpus FOLDER\n");
    return 2;
  }
  int number = 0;
  for (const auto& file : tim::testing::Corpus()) {
    const std::string path =
        std::string(argv[1]) + "/corpus" + std::to_string(number++);
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.data()),
              static_cast<std::streamsize>(file.size()));
    if (!out.flush()) {
      std::fprintf(stderr, "%s cannot be written\n", path.c_str());
      return 1;
    }
  }
  return number == 0 ? 1 : 0;
}
