// SPDX-License-Identifier: Apache-2.0
#include "face/cli/status_line.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

using namespace std::chrono_literals;

struct Screen {
  std::string text;
  StatusLine::Clock::time_point now = StatusLine::Clock::time_point(1h);
  StatusLine::Look look(bool terminal, int columns = 80) {
    return {terminal, columns, [this](const std::string& more) { text += more; }, [this] { return now; }};
  }
};

TEST(StatusLine, DrawsOverItsLineOnATerminal) {
  Screen screen;
  StatusLine progress(screen.look(true));
  progress.show(0.5, "half");
  EXPECT_EQ(screen.text, "\r[##########          ] half\x1b[K");
  screen.text.clear();
  progress.show(0.6, "too soon");
  EXPECT_EQ(screen.text, "");
  screen.now += 100ms;
  progress.show(-1, "unknown");
  EXPECT_EQ(screen.text, "\runknown\x1b[K");
  screen.text.clear();
  progress.note("an event");
  EXPECT_EQ(screen.text, "\r\x1b[Kan event\n");
}

TEST(StatusLine, WritesPlainLinesElsewhere) {
  Screen screen;
  {
    StatusLine progress(screen.look(false));
    progress.show(0.25, "first");
    screen.now += 4s;
    progress.show(0.30, "too soon");
    screen.now += 1s;
    progress.show(0.35, "second");
  }
  EXPECT_EQ(screen.text, " 25 % first\n 35 % second\n") << "no control characters, and nothing to clear at the end";
}

TEST(StatusLine, NeverWrapsTheLine) {
  Screen screen;
  StatusLine progress(screen.look(true, 40));
  progress.show(0, std::string(100, 'x'));
  EXPECT_EQ(screen.text.size(), 1 + 39 + 3u);
  EXPECT_EQ(fitted("aéb", 2), "aé");
}

TEST(StatusLine, TellsTime) {
  EXPECT_EQ(clock_text(7.4), "0:07");
  EXPECT_EQ(clock_text(760), "12:40");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(-1), "0:00");
}

TEST(StatusLine, Bar) {
  EXPECT_EQ(bar(0, 6), "[    ]");
  EXPECT_EQ(bar(0.5, 6), "[##  ]");
  EXPECT_EQ(bar(2, 6), "[####]");
}

}  // namespace
}  // namespace whet
