// SPDX-License-Identifier: Apache-2.0
// A jailed CUDA Solution, through the real worker's program, with buffers that this process owns.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/gpu/device.h"
#include "truth/gpu/gpu_facts.h"
#include "truth/runner/process.h"

namespace whet {
namespace {

using runner::CacheState;
using runner::Kind;
using runner::Mode;
using runner::Op;
using std::chrono::milliseconds;

constexpr int64_t kCount = 4 << 20;  // 16 MiB in, 16 MiB out: 7 us at 4.5 TB/s
constexpr uint64_t kBytes = kCount * 4;

runner::Placement wire(const DevicePlacement& placement) { return {placement.object_bytes, placement.offset, placement.bytes}; }

RunnerOptions options() {
  RunnerOptions options;
  options.program = WHET_BINARY_DIR "/bin/whet-worker";
  options.artifact = WHET_BINARY_DIR "/tests/gpu_scale.so";
  for (int core : {0, 1, 2, 3}) options.cores.push_back(core);
  options.environment = {{"LANG", "C.UTF-8"}};
  options.memory_bytes = uint64_t{32} << 30;
  options.max_tasks = 256;
  options.freezes = false;
  const auto gpus = describe_gpus();
  options.gpu = RunnerGpu{gpus->front().uuid, cuda::device_files(), (*cuda::driver())->folder};
  return options;
}

class CudaRunner : public testing::Test {
 protected:
  // Starts a runner, loads, lends three sets of one input, and one output.
  void open(const std::string& definition) {
    auto started = Runner::start(options());
    ASSERT_OK(started);
    runner_ = std::move(*started);
    ASSERT_EQ(runner_->load(definition), correct());
    auto layout = std::make_unique<runner::Layout>();
    layout->num_inputs = layout->num_outputs = layout->num_axes = 1;
    layout->num_sets = 3;
    layout->num_threads = 4;
    layout->axes[0] = kCount;
    layout->device = 2;
    std::vector<int> descriptors;
    for (int set = 0; set < 3; ++set) {
      inputs_.push_back(buffer(set == 2 ? DeviceBuffer::Place::end : DeviceBuffer::Place::drawn, static_cast<uint64_t>(set) * 7));
      layout->placement[set][0] = wire(inputs_.back().placement());
      descriptors.push_back(inputs_.back().descriptor());
      write_input(inputs_.back(), static_cast<float>(set + 1));
    }
    outputs_.push_back(buffer(DeviceBuffer::Place::end, 0));
    layout->placement[0][1] = wire(outputs_.front().placement());
    descriptors.push_back(outputs_.front().descriptor());
    for (int i : {0, 1}) layout->tensors[i].ndim = 1, layout->tensors[i].dtype_code = 2, layout->tensors[i].dtype_bits = 32, layout->tensors[i].shape[0] = kCount;
    ASSERT_OK(device()->zero(outputs_.front().address(), kBytes));
    ASSERT_OK(device()->synchronize());
    ASSERT_EQ(runner_->lend(*layout, descriptors), correct());
  }

  static Verdict correct() { return {Code::correct, "", ""}; }
  DeviceBuffer buffer(DeviceBuffer::Place place, uint64_t draw) {
    auto made = device()->allocate(kBytes, place, draw);
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }
  void write_input(const DeviceBuffer& buffer, float first) {
    std::vector<float> values(kCount);
    for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 1000);
    ASSERT_OK(device()->write(buffer.address(), {reinterpret_cast<const uint8_t*>(values.data()), kBytes}));
  }
  void expect_scaled(const DeviceBuffer& output, float first) {
    const auto bytes = device()->read(output.address(), kBytes);
    ASSERT_OK(bytes);
    std::vector<float> got(kCount);
    std::memcpy(got.data(), bytes->data(), kBytes);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2 * (first + static_cast<float>(i % 1000))) << i;
  }
  Verdict run(uint32_t set, Turn& turn, const Kind& kind = {CacheState::flushed, Mode::device, 1, 0}, milliseconds limit = milliseconds(20000)) {
    return runner_->turn(Op::run, set, limit, nullptr, turn, kind);
  }
  // The process is gone, and our own context does its work as before.
  void expect_dead_alone(int device_error) {
    EXPECT_TRUE(runner_->dead());
    EXPECT_EQ(runner_->device_error(), device_error);
    ASSERT_OK(device()->zero(outputs_.front().address(), kBytes));
    ASSERT_OK(device()->synchronize());
  }

  std::vector<DeviceBuffer> inputs_, outputs_;
  std::unique_ptr<Runner> runner_;
};

TEST_F(CudaRunner, ComputesAndIsTimed) {
  ASSERT_NO_FATAL_FAILURE(open("honest"));
  Turn turn;
  ASSERT_EQ(run(0, turn), correct()) << runner_->stderr_tail();  // untimed: whatever is loaded late is loaded
  std::vector<double> times;
  for (int i = 0; i < 30; ++i) {
    const auto set = static_cast<uint32_t>(i % 3);
    ASSERT_EQ(run(set, turn), correct());
    expect_scaled(outputs_.front(), static_cast<float>(set + 1));
    EXPECT_FALSE(turn.blocked);
    EXPECT_EQ(turn.persisting_bytes, 0u);
    const gpu::Range range{outputs_.front().address(), kBytes};
    EXPECT_EQ(*device()->sample({&range, 1}, turn.salt), turn.sample);
    times.push_back(turn.device_ns);
  }
  std::sort(times.begin(), times.end());
  RecordProperty("device_ns", std::to_string(times[15]));
  RecordProperty("host_ns", std::to_string(turn.host_ns));
  RecordProperty("turn_ns", std::to_string(turn.ns));
  EXPECT_GT(times[15], 3000) << "32 MiB cannot be moved faster by any GPU of today";
  EXPECT_LT(times[15], 200e3);
  EXPECT_GT(turn.host_ns, 0);
  EXPECT_GT(turn.clock_mhz, 200);
  const DeviceBuffer* all[] = {&inputs_[0], &inputs_[1], &inputs_[2], &outputs_[0]};
  EXPECT_EQ(*device()->damage(all), (std::vector<int64_t>(4, -1)));
}

TEST_F(CudaRunner, MeasuresEndToEndAndReplaysAGraph) {
  ASSERT_NO_FATAL_FAILURE(open("honest"));
  Turn device_turn, turn;
  ASSERT_EQ(run(0, device_turn), correct());
  ASSERT_EQ(run(1, turn, {CacheState::flushed, Mode::end_to_end, 1, 0}), correct());
  expect_scaled(outputs_.front(), 2);
  EXPECT_GT(turn.end_to_end_ns, 3000);
  EXPECT_GE(turn.end_to_end_ns, turn.host_ns);
  for (int round = 0; round < 2; ++round)
    for (uint32_t set = 0; set < 3; ++set) {
      ASSERT_EQ(run(set, turn, {CacheState::flushed, Mode::graph, 1, 0}), correct());
      EXPECT_EQ(turn.not_captured, "");
      expect_scaled(outputs_.front(), static_cast<float>(set + 1));
      EXPECT_GT(turn.device_ns, 3000);
    }
  ASSERT_EQ(run(0, turn, {CacheState::resident, Mode::device, 1, 0}), correct());
  expect_scaled(outputs_.front(), 1);
}

TEST_F(CudaRunner, RunsBurstsOverSetsOfTheirOwn) {
  ASSERT_NO_FATAL_FAILURE(open("honest"));
  constexpr int kMany = 8;
  for (int i = 0; i < kMany; ++i) {
    inputs_.push_back(buffer(DeviceBuffer::Place::drawn, static_cast<uint64_t>(i)));
    outputs_.push_back(buffer(DeviceBuffer::Place::drawn, static_cast<uint64_t>(i) * 3));
    write_input(inputs_.back(), static_cast<float>(100 + i));
    runner::LentSet lent;
    lent.set = runner::kMaxSets + i;
    lent.placement[0] = wire(inputs_.back().placement());
    lent.placement[1] = wire(outputs_.back().placement());
    ASSERT_OK(device()->synchronize());
    ASSERT_EQ(runner_->lend_set(lent, {inputs_.back().descriptor(), outputs_.back().descriptor()}), correct());
  }
  Turn turn;
  ASSERT_EQ(run(0, turn), correct());
  const auto burst = [&](uint16_t count) {
    std::vector<double> ns;
    for (int i = 0; i < 11; ++i) {
      EXPECT_EQ(run(runner::kMaxSets, turn, {CacheState::as_they_are, Mode::burst, count, 0}), correct());
      ns.push_back(turn.ns);
    }
    std::sort(ns.begin(), ns.end());
    return ns[5];
  };
  const double half = burst(kMany / 2), whole = burst(kMany);
  for (int i = 0; i < kMany; ++i) expect_scaled(outputs_[static_cast<size_t>(i + 1)], static_cast<float>(100 + i));
  const double slope = (whole - half) / (kMany / 2);
  RecordProperty("slope_ns", std::to_string(slope));
  EXPECT_GT(slope, 1000);
  EXPECT_LT(slope, 200e3);
}

TEST_F(CudaRunner, LendsAWorkspace) {
  ASSERT_NO_FATAL_FAILURE(open("with_workspace"));
  uint64_t bytes = 0;
  ASSERT_EQ(runner_->workspace_bytes(bytes), correct());
  ASSERT_EQ(bytes, 4096u);
  auto workspace = device()->allocate(bytes, DeviceBuffer::Place::start, 0);
  ASSERT_OK(workspace);
  ASSERT_OK(device()->zero(workspace->address(), bytes));
  ASSERT_OK(device()->synchronize());
  ASSERT_EQ(runner_->lend_workspace(wire(workspace->placement()), workspace->descriptor()), correct());
  Turn turn;
  ASSERT_EQ(run(0, turn), correct());
  ASSERT_EQ(run(1, turn), correct());
  const auto tickets = device()->read(workspace->address(), 4);
  ASSERT_OK(tickets);
  uint32_t count;
  std::memcpy(&count, tickets->data(), 4);
  EXPECT_EQ(count, 512u);
}

TEST_F(CudaRunner, AWriteToAnInputEndsOnlyTheRunner) {
  ASSERT_NO_FATAL_FAILURE(open("writes_input"));
  const auto before = device()->digest(inputs_[0].address(), kBytes);
  Turn turn;
  const Verdict verdict = run(0, turn);
  EXPECT_EQ(verdict.code, Code::crashed) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("the device stopped it"), std::string::npos) << verdict.sentence;
  expect_dead_alone(cuda::kErrorIllegalAddress);
  EXPECT_EQ(*device()->digest(inputs_[0].address(), kBytes), *before) << "the input holds what it held";
}

TEST_F(CudaRunner, OutOfBoundsEndsOnlyTheRunner) {
  ASSERT_NO_FATAL_FAILURE(open("out_of_bounds"));
  Turn turn;
  const Verdict verdict = run(0, turn);
  EXPECT_EQ(verdict.code, Code::crashed) << verdict.sentence;
  expect_dead_alone(cuda::kErrorIllegalAddress);
}

TEST_F(CudaRunner, AKernelThatNeverEndsIsKilled) {
  ASSERT_NO_FATAL_FAILURE(open("hangs"));
  Turn turn;
  const Verdict verdict = run(0, turn, {CacheState::flushed, Mode::device, 1, 0}, milliseconds(2500));
  EXPECT_EQ(verdict.code, Code::hung) << verdict.sentence;
  expect_dead_alone(0);
}

TEST_F(CudaRunner, WaitingForItsOwnWorkIsSeen) {
  ASSERT_NO_FATAL_FAILURE(open("synchronises"));
  Turn turn;
  ASSERT_EQ(run(0, turn), correct());
  EXPECT_TRUE(turn.blocked);
  expect_scaled(outputs_.front(), 1);
  ASSERT_EQ(run(1, turn, {CacheState::flushed, Mode::graph, 1, 0}), correct());
  EXPECT_NE(turn.not_captured, "") << "a capture that is synchronised is invalid";
}

TEST_F(CudaRunner, WorkOnAStreamThatNobodyWaitsForIsSeen) {
  ASSERT_NO_FATAL_FAILURE(open("late"));
  Turn turn;
  ASSERT_EQ(runner_->turn(Op::prepare, 0, milliseconds(20000), nullptr, turn), correct());
  ASSERT_EQ(run(0, turn), correct());
  const gpu::Range range{outputs_.front().address(), kBytes};
  EXPECT_NE(*device()->sample({&range, 1}, turn.salt), turn.sample) << "the outputs changed after the call was over";
}

TEST_F(CudaRunner, AskingForAPartOfTheLastCacheIsSeenAndTakenBack) {
  ASSERT_NO_FATAL_FAILURE(open("persists"));
  Turn turn;
  ASSERT_EQ(run(0, turn), correct());
  ASSERT_EQ(run(0, turn), correct());
  EXPECT_GT(turn.persisting_bytes, 0u);
}

}  // namespace
}  // namespace whet
