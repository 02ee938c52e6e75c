// SPDX-License-Identifier: Apache-2.0
// embed NAME BASE OUT FILE...: writes OUT, a C++ source that defines whet::embedded_NAME() (base/embedded.h): the files' contents under
// their paths relative to BASE. Run by the build only.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: embed NAME BASE OUT FILE...\n");
    return 2;
  }
  const std::string name = argv[1], base = std::string(argv[2]) + "/";
  std::string out = "#include \"base/embedded.h\"\nnamespace whet {\nnamespace {\n";
  std::string table;
  for (int i = 4; i < argc; ++i) {
    std::string path = argv[i];
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "embed: cannot read %s\n", path.c_str());
      return 1;
    }
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    if (path.compare(0, base.size(), base) == 0) path.erase(0, base.size());
    std::string id = "file" + std::to_string(i);
    out += "const unsigned char " + id + "[] = {";
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      if (k % 64 == 0) out += '\n';
      out += std::to_string(static_cast<unsigned char>(bytes[k])) + ",";
    }
    out += "0};\n";
    table += "    {\"" + path + "\", {reinterpret_cast<const char*>(" + id + "), " + std::to_string(bytes.size()) + "}},\n";
  }
  out += "const EmbeddedFile kFiles[] = {\n" + table + "    {\"\", {}}};\n}  // namespace\n";
  out += "std::span<const EmbeddedFile> embedded_" + name + "() { return {kFiles, std::size(kFiles) - 1}; }\n}  // namespace whet\n";
  std::ofstream(argv[3], std::ios::binary) << out;
  return 0;
}
