// SPDX-License-Identifier: Apache-2.0
#include "truth/build/builder.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "base/process.h"
#include "record/exact_reader.h"
#include "truth/build/cache.h"
#include "truth/build/flags.h"
#include "truth/build/nvcc_flags.h"
#include "truth/build/object_cache.h"
#include "truth/build/ptxas.h"
#include "truth/build/tool.h"

namespace whet {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr size_t kMaxLog = size_t{64} << 10;
constexpr size_t kMaxNvccLog = size_t{4} << 20;  // names of kernels have thousands of letters, and ptxas writes four lines of each
constexpr const char* kAbiName = "../abi/whet/candidate.h";
constexpr const char* kWorkPrefix = "whet-build-work";

bool has_suffix(const std::string& path, std::initializer_list<const char*> suffixes) {
  return std::ranges::any_of(suffixes, [&](const char* suffix) { return path.ends_with(suffix); });
}
bool is_c(const std::string& path) { return has_suffix(path, {".c"}); }
bool is_cuda(const std::string& path) { return has_suffix(path, {".cu"}); }
bool is_compiled(const std::string& path) { return has_suffix(path, {".c", ".cc", ".cpp", ".cxx", ".cu"}); }

bool asks_for_native(const std::vector<std::string>& flags) {
  return std::ranges::any_of(
      flags, [](const std::string& flag) { return flag.starts_with("-m") && flag.ends_with("=native"); });
}

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// What a jail wrote. Its folder is its own, so a link there could name any file of ours.
Expected<std::string> read_product(const fs::path& file, uint64_t max_bytes) {
  std::error_code code;
  if (!fs::is_regular_file(fs::symlink_status(file, code)))
    return machine_failed("{}: the compiler ended well and wrote no file", file.string());
  return read_file(file, max_bytes);
}

// A name that a compiler could take for an option or a response file.
std::string as_argument(const std::string& path) {
  return path.starts_with('-') || path.starts_with('@') ? "./" + path : path;
}

// One build, from its input to its outcome.
class Build {
 public:
  Build(const Builder& builder, const BuildOptions& options, const BuildCache& cache, const BuildInput& input)
      : builder_(builder), options_(options), compiler_(builder.compiler()), cache_(cache), input_(input) {}

  Expected<BuildOutcome> run() {
    const auto begin = Clock::now();
    outcome_.compiler = compiler_.version;
    if (asks_for_native(input_.cflags)) outcome_.native = compiler_.native;
    WHET_OK(steps());
    outcome_.log = log_.text();
    if (!outcome_.ok()) outcome_.verdict.evidence = outcome_.log;
    outcome_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(outcome_);
  }

 private:
  // Everything in order; a step that finds a fault of the Solution sets the verdict, and the rest is skipped.
  Status steps() {
    outcome_.verdict = {Code::correct, "", ""};
    check_sources();
    if (outcome_.ok()) check_flags();
    if (outcome_.ok()) find_dependencies();
    if (!outcome_.ok()) return {};
    hash_everything();
    if (take_cached_artifact()) return {};
    WHET_OK(write_sources());
    WHET_OK(compile_all());
    if (outcome_.ok()) WHET_OK(link());
    return {};
  }

  void refuse(Code code, std::string sentence) { outcome_.verdict = {code, std::move(sentence), ""}; }

  void check_sources() {
    for (const auto& [path, contents] : input_.sources) {
      if (!is_plain_relative_path(path))
        return refuse(Code::compile_failed, fmt::format("\"{}\": expected a plain relative path", path));
      if (is_compiled(path)) compiled_.push_back(path);
      if (!is_cuda(path)) continue;
      has_cuda_ = true;
      if (!is_nvcc_file_name(path))
        return refuse(Code::compile_failed, fmt::format("\"{}\": expected the name of a .cu file to have letters, digits and _ . / + - only", path));
    }
    if (compiled_.empty())
      return refuse(Code::compile_failed, "the Solution has no file that can be compiled (.c, .cc, .cpp, .cxx, .cu)");
    if (has_cuda_) find_nvcc_for_it();
  }

  void find_nvcc_for_it() {
    nvcc_ = builder_.nvcc();
    if (!nvcc_.usable()) return refuse(Code::dependency_missing, "the Solution has .cu files; " + nvcc_.missing);
    outcome_.compiler += "; " + nvcc_.version;
  }

  void check_flags() {
    const auto refused = has_cuda_ ? refused_cuda_flag : refused_compile_flag;
    if (auto why = refused(input_.cflags)) return refuse(Code::flag_refused, *why);
    host_flags_ = has_cuda_ ? host_flags(input_.cflags) : input_.cflags;
    if (auto why = refused_link_flag(input_.ld_flags)) refuse(Code::flag_refused, *why);
  }

  void find_dependencies() {
    for (const std::string& name : input_.dependencies) {
      const Dependency* dependency = find_dependency(name);
      if (dependency == nullptr)
        return refuse(Code::dependency_missing,
                      fmt::format("the dependency \"{}\" is not known; known are: {}", name, known_dependencies()));
      const FoundDependency found = probe_dependency(compiler_, *dependency);
      if (!found.missing.empty()) return refuse(Code::dependency_missing, "the dependency " + found.missing);
      append(libraries_, dependency->link);
      libraries_stamp_ += found.file + "\n";
    }
  }

  void hash_everything() {
    for (const auto& [path, contents] : input_.sources) hashes_[path] = sha256_hex(contents);
    hashes_[kAbiName] = sha256_hex(input_.abi_header);
    common_key_ = "compiler " + compiler_.identity + "\nnative " + outcome_.native + "\n";
    if (has_cuda_) common_key_ += "nvcc " + nvcc_.identity + "\narch " + options_.gpu_arch + "\n";
    // A file that is added could hide a header of the system.
    for (const auto& [path, hash] : hashes_) common_key_ += "file " + path + "\n";
    std::string all = "artifact-3\n" + common_key_;
    for (const auto* flags : {&input_.cflags, &input_.ld_flags, &std::as_const(libraries_)})
      all += "flags " + Json(*flags).dump() + "\n";
    for (const auto& [path, hash] : hashes_) all += path + " " + hash + "\n";
    artifact_key_ = sha256_hex(all + libraries_stamp_);
  }

  bool take_cached_artifact() {
    const auto text = cache_.load(artifact_key_);
    if (!text) return false;
    const auto facts = parse_json(*text, "build cache");
    if (!facts) return false;
    try {
      if (system_stamp(facts->at("system").get<std::vector<std::string>>()) != facts->at("stamp").get<std::string>())
        return false;
      const auto sha256 = facts->at("sha256").get<std::string>();
      const auto file = cache_.load_file(artifact_key_, sha256);
      if (!file) return false;
      ExactReader::Failure failure{"build cache", {}};
      ExactReader device(facts->at("device"), failure);
      outcome_.device = read_device_code(device);
      if (failure.error) return false;
      log_.append(facts->at("log").get<std::string>());
      outcome_.commands = facts->at("commands").get<std::vector<std::string>>();
      outcome_.objects = outcome_.objects_from_cache = facts->at("objects").get<int>();
      outcome_.artifact = *file;
      outcome_.artifact_sha256 = sha256;
      outcome_.artifact_from_cache = true;
      return true;
    } catch (const nlohmann::json::exception&) {
      return false;  // written by another version
    }
  }

  Status write_sources() {
    WHET_TRY(work_, TemporaryDirectory::make(kWorkPrefix, options_.work_parent));
    std::error_code code;
    fs::permissions(work_.path(), fs::perms(0755), code);  // the jail's user must get through
    if (code) return machine_failed("cannot open {} to a jail: {}", work_.path().string(), code.message());
    WHET_OK(write_tree(work_.path() / "src", input_.sources));
    WHET_OK(write_tree(work_.path() / "abi", {{"whet/candidate.h", input_.abi_header}}));
    // nvcc -lineinfo writes the times of the files into what it makes.
    const auto then = std::chrono::file_clock::from_sys(std::chrono::sys_seconds(std::chrono::seconds(946'684'800)));  // 2000
    for (const auto& [path, contents] : input_.sources) {
      fs::last_write_time(work_.path() / "src" / path, then, code);
      if (code) return machine_failed("cannot set the time of {}: {}", path, code.message());
    }
    return {};
  }

  std::vector<std::string> compile_flags(const std::string& path) const {
    if (is_cuda(path)) return cuda_flags(path);
    std::vector<std::string> flags = {"-O2", "-fPIC", "-fvisibility=hidden", "-pthread", "-I../abi", "-I."};
    flags.insert(flags.begin(), is_c(path) ? "-std=c17" : "-std=c++20");
    if (has_cuda_ && !nvcc_.include_folder.empty()) append(flags, {"-isystem", nvcc_.include_folder});
    append(flags, flags_for_language(host_flags_, is_c(path)));
    // The same source gives the same object wherever it is compiled.
    flags.push_back("-frandom-seed=" + hashes_.at(path).substr(0, 16));
    return flags;
  }

  // nvcc says a word about each default that is given a second time, so what the Solution asks for takes its place.
  std::vector<std::string> cuda_flags(const std::string& path) const {
    const std::vector<std::string> own = nvcc_flags(input_.cflags);
    const auto unless = [&](std::initializer_list<const char*> starts, const std::string& flag) {
      const auto is_such = [&](const std::string& word) {
        return std::ranges::any_of(starts, [&](const char* start) { return word.starts_with(start); });
      };
      return std::ranges::any_of(own, is_such) ? std::vector<std::string>{} : std::vector<std::string>{flag};
    };
    std::vector<std::string> flags = {"-ccbin=" + compiler_.cxx};
    append(flags, unless({"-std="}, "-std=c++20"));
    append(flags, unless({"-O"}, "-O3"));
    append(flags, unless({"-gencode=", "-arch="}, gencode_of(options_.gpu_arch)));
    append(flags, {"-Xptxas=-v", "-lineinfo"});
    for (const char* flag : {"-fPIC", "-fvisibility=hidden", "-pthread"}) flags.push_back(std::string("-Xcompiler=") + flag);
    append(flags, {"-I../abi", "-I."});
    for (const std::string& flag : own)
      if (flag != "-Xptxas=-v" && flag != "-lineinfo" && flag != "--generate-line-info") flags.push_back(flag);
    flags.push_back("-Xcompiler=-frandom-seed=" + hashes_.at(path).substr(0, 16));
    return flags;
  }

  std::string source_key(const std::string& path) const {
    return sha256_hex("source-2\n" + common_key_ + path + "\n" + hashes_.at(path) + "\n" +
                      Json(compile_flags(path)).dump());
  }

  struct Unit {
    std::string path;
    std::string command;
    ToolResult result;
    CachedObject made;
    bool from_cache = false;
    std::optional<Error> error;
  };

  fs::path unit_folder(size_t i) const { return work_.path() / fmt::format("unit-{}", i); }

  Status compile_all() {
    std::vector<Unit> units(compiled_.size());
    std::atomic<size_t> next{0};
    auto work = [&] {
      for (size_t i = next++; i < units.size(); i = next++) {
        units[i].path = compiled_[i];
        if (auto done = compile(units[i], i); !done) units[i].error = std::move(done).error();
      }
    };
    const size_t at_once = std::min(units.size(), options_.cores.empty() ? size_t{2} : options_.cores.size());
    {
      // A jail dies with the thread that started it; each of these waits for its own.
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < at_once; ++i) threads.emplace_back(work);
    }
    for (Unit& unit : units) WHET_OK(take(unit));
    outcome_.objects = static_cast<int>(units.size());
    return {};
  }

  ToolCall call_of(const std::string& program, const fs::path& out, const std::string& subject) const {
    return {.argv = {program},
            .work = work_.path(),
            .folder = work_.path() / "src",
            .out = out,
            .subject = subject,
            .also_read = nvcc_.folders};
  }

  ToolCall compile_call(const std::string& path, const fs::path& out) const {
    ToolCall call = call_of(is_cuda(path) ? nvcc_.path : is_c(path) ? compiler_.cc : compiler_.cxx, out, path);
    append(call.argv, compile_flags(path));
    if (is_cuda(path)) {
      call.time_limit = options_.nvcc_time_limit;
      call.max_output = kMaxNvccLog;
      call.same_place = true;
    } else {
      call.argv.push_back("-ffile-prefix-map=" + work_.path().string() + "=.");
    }
    const std::string relative = "../" + out.filename().string();
    append(call.argv, {"-MD", "-MF", relative + "/o.d", "-c", as_argument(path), "-o", relative + "/o.o"});
    return call;
  }

  Status compile(Unit& unit, size_t i) const {
    const fs::path out = unit_folder(i);
    WHET_OK(make_folders(out));
    const ToolCall call = compile_call(unit.path, out);
    unit.command = replaced(joined(call.argv), work_.path().string(), "$WORK");
    const std::string key = source_key(unit.path);
    const ObjectCache objects(cache_);
    if (auto cached = objects.load(key, hashes_)) {
      unit.made = *std::move(cached);
      unit.result.log = unit.made.log;
      unit.from_cache = true;
      return write_tree(out, {{"o.o", unit.made.object}});
    }
    WHET_TRY(unit.result, run_tool(call, options_));
    if (unit.result.code != Code::correct) return {};
    WHET_TRY(unit.made.object, read_product(out / "o.o", options_.file_bytes));
    unit.made.log = unit.result.log;
    WHET_TRY(const std::string depfile, read_product(out / "o.d", size_t{16} << 20));
    auto made_from = ingredients(depfile_paths(depfile), hashes_);
    if (!made_from) return {};  // it named a file that we did not give; then it is not kept
    unit.made.made_from = *std::move(made_from);
    return objects.store(key, unit.made);
  }

  Status take(Unit& unit) {
    if (unit.error) return std::unexpected(*std::move(unit.error));
    outcome_.commands.push_back(unit.command);
    outcome_.objects_from_cache += unit.from_cache ? 1 : 0;
    take_log(unit);
    for (const std::string& path : unit.made.made_from.system) system_headers_.insert(path);
    if (unit.result.code != Code::correct && outcome_.ok()) refuse(unit.result.code, unit.result.sentence);
    return {};
  }

  void take_log(const Unit& unit) {
    if (!is_cuda(unit.path)) return log_.append(unit.result.log);
    PtxasReading reading = read_ptxas(unit.result.log);
    log_.append(reading.rest);
    std::ranges::move(reading.code.kernels, std::back_inserter(outcome_.device.kernels));
    append(outcome_.device.advisories, reading.code.advisories);
  }

  Status link() {
    const fs::path out = work_.path() / "link";
    WHET_OK(make_folders(out));
    ToolCall call = call_of(compiler_.cxx, out, "linking");
    append(call.argv, {"-shared", "-pthread", "-o", "../link/solution.so"});
    append(call.argv, flags_for_link(host_flags_));
    for (size_t i = 0; i < compiled_.size(); ++i)
      call.argv.push_back("../" + unit_folder(i).filename().string() + "/o.o");
    // Every symbol must be found now: one that is missing would else end the runner at its first call.
    append(call.argv, {"-Wl,-z,now,--no-undefined,--build-id=none"});
    append(call.argv, input_.ld_flags);
    append(call.argv, libraries_);
    // Static, so that the library loads where there is no driver, and hidden, so that two Solutions' never meet.
    if (has_cuda_) append(call.argv, {"-L" + nvcc_.runtime_folder, "-lcudart_static", "-lrt", "-ldl", "-Wl,--exclude-libs,libcudart_static.a"});
    outcome_.commands.push_back(replaced(joined(call.argv), work_.path().string(), "$WORK"));
    WHET_TRY(const ToolResult result, run_tool(call, options_));
    log_.append(result.log);
    if (result.code == Code::correct) return keep_artifact(out / "solution.so");
    if (result.code != Code::compile_failed) return refuse(result.code, result.sentence), Status{};
    auto names = undefined_symbols(result.log);
    const size_t count = names.size();
    if (count > 5) names.resize(5);
    std::string sentence =
        names.empty() ? result.sentence : fmt::format("{} undefined symbol{}: ", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < names.size(); ++i) sentence += (i == 0 ? "" : ", ") + names[i];
    return refuse(Code::link_failed, sentence + (count > 5 ? ", ..." : "")), Status{};
  }

  Status keep_artifact(const fs::path& file) {
    WHET_TRY(const std::string contents, read_product(file, options_.file_bytes));
    outcome_.artifact_sha256 = sha256_hex(contents);
    WHET_TRY(outcome_.artifact, cache_.store_file(artifact_key_, contents));
    const std::vector<std::string> system(system_headers_.begin(), system_headers_.end());
    const Json facts{{"sha256", outcome_.artifact_sha256}, {"log", log_.text()}, {"commands", outcome_.commands},
                     {"objects", outcome_.objects},        {"system", system},   {"stamp", system_stamp(system)},
                     {"device", to_json(outcome_.device)}};
    return cache_.store(artifact_key_, facts.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  const Builder& builder_;
  const BuildOptions& options_;
  const Compiler& compiler_;
  const BuildCache& cache_;
  const BuildInput& input_;

  BuildOutcome outcome_;
  BoundedText log_{kMaxLog};
  TemporaryDirectory work_;
  std::vector<std::string> compiled_;   // paths, sorted
  bool has_cuda_ = false;
  Nvcc nvcc_;                             // of a Solution with .cu files
  std::vector<std::string> host_flags_;  // of cflags, what g++ takes
  std::vector<std::string> libraries_;  // link options of the dependencies
  std::string libraries_stamp_;
  std::map<std::string, std::string> hashes_;  // of each file, as a depfile names it
  std::set<std::string> system_headers_;
  std::string common_key_, artifact_key_;
};

}  // namespace

struct Builder::State {
  BuildOptions options;
  Compiler compiler;
  BuildCache cache;
  mutable std::once_flag asked_for_nvcc;
  mutable Nvcc nvcc;
};

Builder::Builder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;
Builder::~Builder() = default;

Expected<Builder> Builder::make(BuildOptions options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  if (gencode_of(state->options.gpu_arch).empty())
    return bad_input("\"{}\" is no GPU architecture; expected digits and a or f, such as 90a", state->options.gpu_arch);
  WHET_TRY(state->compiler, find_compiler(state->options.cxx, state->options.cc));
  WHET_TRY(state->cache, BuildCache::open(state->options.cache_folder, state->options.cache_bytes));
  // Workers are killed; what they were building is then still there.
  TemporaryDirectory::remove_abandoned(kWorkPrefix, state->options.work_parent);
  return Builder(std::move(state));
}

Expected<BuildOutcome> Builder::build(const BuildInput& input) const {
  return Build(*this, state_->options, state_->cache, input).run();
}

const Compiler& Builder::compiler() const { return state_->compiler; }

const Nvcc& Builder::nvcc() const {
  std::call_once(state_->asked_for_nvcc, [&] { state_->nvcc = find_nvcc(state_->options.nvcc_folders); });
  return state_->nvcc;
}

}  // namespace whet
