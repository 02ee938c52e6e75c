// SPDX-License-Identifier: Apache-2.0
#include "truth/machine/cpu.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/json_impl.h"
#include "truth/machine/flush.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstring>
#endif

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFeatures[] = {
    "avx",      "avx2",        "fma",          "f16c",        "avx512f",    "avx512dq", "avx512bw",
    "avx512vl", "avx512_vnni", "avx512_bf16",  "avx512_fp16", "avx_vnni",   "amx_tile", "amx_bf16",
    "amx_int8", "clflushopt",  "constant_tsc", "nonstop_tsc", "hypervisor", "asimd",    "sve",
    "sve2",     "bf16",        "i8mm",         "asimddp",     "fphp"};

std::string line_of(const fs::path& file) {
  auto text = read_file(file, 1 << 16);
  if (!text) return {};
  return text->substr(0, text->find('\n'));
}

uint64_t number_in(const std::string& text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "512K" and "32M" as sysfs writes them.
uint64_t bytes_in(const std::string& text) {
  const uint64_t number = number_in(text);
  if (text.ends_with('K')) return number << 10;
  if (text.ends_with('M')) return number << 20;
  if (text.ends_with('G')) return number << 30;
  return number;
}

// "always [madvise] never" -> "madvise"
std::string chosen_in(const std::string& text) {
  const size_t open = text.find('['), close = text.find(']');
  return open == std::string::npos || close == std::string::npos ? text : text.substr(open + 1, close - open - 1);
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

void read_cpuinfo(CpuFacts& facts, const fs::path& root) {
  const auto text = read_file(root / "proc/cpuinfo", size_t{16} << 20);
  if (!text) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (trimmed(line).empty() && !facts.features.empty()) break;  // one processor is enough
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    if (key == "model name") facts.model = value;
    if (key == "vendor_id" || key == "CPU implementer") facts.vendor = value;
    if (key == "cpu MHz") facts.mhz_now = std::atof(value.c_str());
    if (key == "flags" || key == "Features") {
      std::istringstream words(value);
      std::set<std::string> all;
      for (std::string word; words >> word;) all.insert(word);
      for (const std::string_view feature : kFeatures)
        if (all.contains(std::string(feature))) facts.features.emplace_back(feature);
    }
  }
}

void read_caches(CpuFacts& facts, const fs::path& folder) {
  for (int i = 0; i < 10; ++i) {
    const fs::path cache = folder / "cache" / fmt::format("index{}", i);
    const std::string level = line_of(cache / "level");
    if (level.empty()) break;
    facts.caches.push_back(
        {static_cast<int>(number_in(level)), line_of(cache / "type"), bytes_in(line_of(cache / "size")),
         static_cast<int>(number_in(line_of(cache / "coherency_line_size"))), line_of(cache / "shared_cpu_list")});
  }
}

void read_topology(CpuFacts& facts, const fs::path& cpus) {
  std::set<std::string> groups;
  for (const int core : facts.cores) {
    const std::string group = line_of(cpus / fmt::format("cpu{}/topology/thread_siblings_list", core));
    if (group.empty() || !groups.insert(group).second) continue;
    facts.siblings.push_back(group);
    const auto members = parse_core_list(group);
    facts.smt = facts.smt || std::ranges::count_if(
                                 members, [&](int member) { return std::ranges::count(facts.cores, member) > 0; }) > 1;
  }
}

std::string hypervisor_name(bool flagged) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (flagged) {
    __cpuid(0x40000000, a, b, c, d);
    char name[13] = {};
    std::memcpy(name, &b, 4);
    std::memcpy(name + 4, &c, 4);
    std::memcpy(name + 8, &d, 4);
    std::string text;
    for (const char letter : name)
      if (letter >= 0x20 && letter < 0x7f) text += letter;
    if (!text.empty()) return text;
  }
#endif
  return flagged ? "unknown" : "";
}

std::string kernel_version() {
  utsname name{};
  return ::uname(&name) == 0 ? fmt::format("{} {} {}", name.sysname, name.release, name.version) : "";
}

}  // namespace

std::vector<int> parse_core_list(const std::string& text) {
  std::vector<int> cores;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0, last = 0;
    const char* end = part.data() + part.size();
    auto [at, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc()) continue;
    last = first;
    if (at != end && *at == '-') std::from_chars(at + 1, end, last);
    for (int core = first; core <= last && cores.size() < 4096; ++core) cores.push_back(core);
  }
  return cores;
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

CpuFacts describe_cpu(const std::string& openblas_coretype, const fs::path& root) {
  CpuFacts facts;
  facts.cores = allowed_cores();
  facts.logical_cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  facts.openblas_coretype = openblas_coretype;
  facts.flush_instruction = flush_instruction();
  facts.kernel = kernel_version();
  facts.glibc = ::gnu_get_libc_version();
  facts.memory_bytes =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  read_cpuinfo(facts, root);
  facts.hypervisor = hypervisor_name(std::ranges::count(facts.features, "hypervisor") > 0);
  const fs::path cpus = root / "sys/devices/system/cpu";
  const fs::path first = cpus / fmt::format("cpu{}", facts.cores.empty() ? 0 : facts.cores.front());
  read_caches(facts, first);
  read_topology(facts, cpus);
  facts.governor = line_of(first / "cpufreq/scaling_governor");
  facts.mhz_max = static_cast<double>(number_in(line_of(first / "cpufreq/cpuinfo_max_freq"))) / 1e3;
  if (const std::string boost = line_of(cpus / "cpufreq/boost"); !boost.empty())
    facts.turbo = boost == "1" ? "on" : "off";
  if (const std::string no_turbo = line_of(cpus / "intel_pstate/no_turbo"); !no_turbo.empty())
    facts.turbo = no_turbo == "0" ? "on" : "off";
  facts.huge_pages = chosen_in(line_of(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  return facts;
}

std::string openblas_kernels_for(const std::vector<std::string>& features) {
  const auto has = [&](const char* name) { return std::ranges::find(features, name) != features.end(); };
  if (has("avx512f") && has("avx512dq") && has("avx512bw") && has("avx512vl")) return has("avx512_bf16") ? "Cooperlake" : "SkylakeX";
  return has("avx2") && has("fma") ? "Haswell" : "";
}

Json to_json(const CpuFacts& facts) {
  Json caches = Json::array();
  for (const CacheFacts& cache : facts.caches)
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"bytes_as_reported", cache.bytes},
                      {"line_bytes", cache.line_bytes},
                      {"shared_by", cache.shared_by}});
  return Json{{"model", facts.model},
              {"vendor", facts.vendor},
              {"cores", facts.cores},
              {"logical_cpus", facts.logical_cpus},
              {"siblings", facts.siblings},
              {"smt", facts.smt},
              {"caches", caches},
              {"governor", facts.governor},
              {"mhz_now", json_double(facts.mhz_now)},
              {"mhz_max", json_double(facts.mhz_max)},
              {"turbo", facts.turbo},
              {"huge_pages", facts.huge_pages},
              {"kernel", facts.kernel},
              {"glibc", facts.glibc},
              {"features", facts.features},
              {"hypervisor", facts.hypervisor},
              {"memory_bytes", facts.memory_bytes},
              {"openblas_coretype", facts.openblas_coretype},
              {"flush_instruction", facts.flush_instruction}};
}

}  // namespace whet
