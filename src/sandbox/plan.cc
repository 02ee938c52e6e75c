// SPDX-License-Identifier: Apache-2.0
#include "sandbox/plan.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sandbox/filter.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemFolders[] = {"/usr", "/lib", "/lib64", "/lib32", "/libx32", "/bin", "/sbin"};
constexpr const char* kSystemFiles[] = {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                                        "/etc/alternatives"};
constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"};

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && (folder.ends_with('/') || path[folder.size()] == '/'));
}

Status check_inside(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  if (path.size() < 2 || path[0] != '/' || normal.string() != path)
    return bad_input("\"{}\": a path inside a jail is absolute, without \".\", \"..\" or a slash at the end", path);
  return {};
}

// Collects the new root's folders and mount points, each once, parents first.
class RootBuilder {
 public:
  explicit RootBuilder(InsidePlan& plan) : plan_(plan) {}

  void folder(const std::string& inside) {
    fs::path below;
    for (const auto& part : fs::path(inside).relative_path()) {
      below /= part;
      if (made_.insert(below.string()).second) plan_.folders.push_back(below.string());
    }
  }
  void bind(const std::string& host, const std::string& inside, bool writable, bool with_devices = false) {
    for (const auto& earlier : plan_.mounts)
      if (is_below(inside, "/" + earlier.inside)) {
        // What is there already through a read-only bind of the same place needs no second one.
        if (!writable && host == inside && earlier.host == "/" + earlier.inside) return;
        return add(host, inside, writable, with_devices);  // its mount point is there
      }
    if (fs::is_directory(host)) folder(inside);
    else {
      folder(fs::path(inside).parent_path().string());
      plan_.files.push_back(inside.substr(1));
    }
    add(host, inside, writable, with_devices);
  }

 private:
  void add(const std::string& host, const std::string& inside, bool writable, bool with_devices) {
    plan_.mounts.push_back({host, inside.substr(1), writable, with_devices});
  }

  InsidePlan& plan_;
  std::set<std::string> made_;
};

void plan_system_mounts(InsidePlan& plan, RootBuilder& root) {
  std::error_code code;
  for (const char* path : kSystemFolders) {
    if (fs::is_symlink(path, code)) plan.symlinks.emplace_back(fs::read_symlink(path, code).string(), path + 1);
    else if (fs::is_directory(path, code)) root.bind(path, path, false);
  }
  for (const char* path : kSystemFiles)
    if (fs::exists(path, code)) root.bind(path, path, false);
  for (const char* path : kDevices)
    if (fs::exists(path, code)) root.bind(path, path, true, true);
  root.folder("/proc");
}

Status plan_mounts(InsidePlan& plan, const JailSpec& spec, const MachineWalls& machine) {
  RootBuilder root(plan);
  plan_system_mounts(plan, root);
  for (const auto* binds : {&spec.read_only, &spec.writable})
    for (const Bind& bind : *binds) root.bind(bind.host, bind.inside, binds == &spec.writable);
  for (const std::string& device : spec.devices) root.bind(device, device, true, true);
  if (spec.scratch_bytes > 0) {
    WHET_OK(check_inside(spec.scratch_inside));
    root.folder(spec.scratch_inside);
    plan.scratch = spec.scratch_inside.substr(1);
    plan.scratch_options = fmt::format("size={},mode=0700", spec.scratch_bytes);
  }
  plan.mount_namespace = true;
  plan.proc_mount = machine.fresh_proc;
  // Libraries are opened through /proc/self/fd: where a fresh /proc is refused, the host's must do, read-only.
  if (!machine.fresh_proc) plan.mounts.push_back({"/proc", "proc", false, false});
  return {};
}

void allow(InsidePlan& plan, const std::string& path, bool writable) {
  plan.landlock_rules.push_back({path, writable, fs::is_directory(path)});
}

void plan_landlock(InsidePlan& plan, const JailSpec& spec, const MachineWalls& machine,
                   const std::string& host_scratch) {
  plan.landlock_abi = machine.landlock_abi;
  plan.landlock = machine.landlock_abi > 0;
  if (plan.mount_namespace) {
    plan.landlock_rules.push_back({"/", false, true});
    if (!plan.scratch.empty()) plan.landlock_rules.push_back({"/" + plan.scratch, true, true});
    // A GPU's driver names its threads through /proc/self/task/N/comm, and fails without. Of a fresh /proc nothing else is there to write.
    if (!spec.devices.empty()) plan.landlock_rules.push_back({"/proc", true, true});
  } else {
    for (const char* path : kSystemFolders) allow(plan, path, false);
    for (const char* path : kSystemFiles) allow(plan, path, false);
    for (const Bind& bind : spec.read_only) allow(plan, bind.host, false);
    if (!host_scratch.empty()) allow(plan, host_scratch, true);
    plan.landlock_rules.push_back({"/proc/self", false, true});
    allow(plan, "/dev/urandom", false);
    allow(plan, "/dev/random", false);
    if (!spec.devices.empty()) allow(plan, "/proc", false);
  }
  for (const Bind& bind : spec.writable)
    plan.landlock_rules.push_back({bind.inside, true, fs::is_directory(bind.host)});
  for (const char* device : {"/dev/null", "/dev/zero"}) plan.landlock_rules.push_back({device, true, false});
  for (const std::string& device : spec.devices) plan.landlock_rules.push_back({device, true, false});
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Status check(const JailSpec& spec, const MachineWalls& machine) {
  if (spec.argv.empty() || !spec.argv[0].starts_with('/'))
    return bad_input("a jail needs the absolute path of a program");
  for (const auto* binds : {&spec.read_only, &spec.writable})
    for (const Bind& bind : *binds) {
      WHET_OK(check_inside(bind.inside));
      if (!fs::exists(bind.host))
        return bad_input("{}: cannot be bound into a jail: there is no such file or folder", bind.host);
      if (!machine.mount_namespace && bind.host != bind.inside)
        return machine_failed("{} cannot be seen as {} in a jail: this machine refuses a mount namespace", bind.host,
                              bind.inside);
    }
  for (const std::string& device : spec.devices) {
    WHET_OK(check_inside(device));
    std::error_code code;
    if (!fs::is_character_file(device, code)) return bad_input("{}: cannot be given to a jail: there is no such device file", device);
  }
  return {};
}

}  // namespace

Expected<InsidePlan> plan_jail(const JailSpec& spec, const MachineWalls& machine, const std::string& host_scratch) {
  WHET_OK(check(spec, machine));
  InsidePlan plan;
  if (machine.mount_namespace) WHET_OK(plan_mounts(plan, spec, machine));
  plan_landlock(plan, spec, machine, host_scratch);
  const bool privileged = ::geteuid() == 0;
  plan.change_user = machine.user_namespace || privileged;
  plan.clear_groups = privileged;
  plan.user = kJailUser;
  plan.hostname = machine.uts_namespace;
  plan.working_directory = !spec.working_directory.empty() ? spec.working_directory
                           : !host_scratch.empty()         ? host_scratch
                           : spec.scratch_bytes > 0        ? spec.scratch_inside
                                                           : "/";
  for (const int core : spec.cores) {
    constexpr size_t bits = sizeof(unsigned long) * 8;
    if (core < 0 || core > 4095) return bad_input("{} is no number of a core", core);
    const size_t word = static_cast<size_t>(core) / bits;
    if (plan.core_mask.size() <= word) plan.core_mask.resize(word + 1);
    plan.core_mask[word] |= 1ul << (static_cast<size_t>(core) % bits);
  }
  WHET_TRY(plan.filter, start_filter(spec.profile));
  plan.argv_words = spec.argv;
  for (const auto& [name, value] : spec.environment) plan.environment_words.push_back(name + "=" + value);
  plan.argv = pointers(plan.argv_words);
  plan.environment = pointers(plan.environment_words);
  return plan;
}

void plan_limits(InsidePlan& plan, const JailLimits& limits, const MachineWalls& machine, bool memory_is_held,
                 bool tasks_are_held) {
  auto set = [&](int resource, uint64_t soft, uint64_t hard) {
    plan.limits.emplace_back(resource, rlimit{soft, hard});
  };
  set(RLIMIT_CORE, 0, 0);
  if (limits.file_bytes > 0) set(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
  if (limits.open_files > 0) set(RLIMIT_NOFILE, limits.open_files, limits.open_files);
  if (limits.cpu_seconds > 0) set(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1);
  if (limits.memory_bytes > 0 && !memory_is_held) set(RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes);
  // Counted per user namespace, so it holds exactly this jail. Without one it would count all that this user runs on the machine.
  if (limits.processes > 0 && (machine.user_namespace || (!tasks_are_held && ::geteuid() == 0)))
    set(RLIMIT_NPROC, limits.processes, limits.processes);
}

}  // namespace whet
