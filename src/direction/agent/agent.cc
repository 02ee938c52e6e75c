// SPDX-License-Identifier: Apache-2.0
#include "direction/agent/agent.h"

#include "direction/agent/tuner.h"

namespace whet {

Expected<std::unique_ptr<Agent>> make_agent(const std::string& uri, const AgentSetup& setup) {
  if (uri == "tuner") return make_tuner(setup);
  return bad_input("unknown agent '{}'; expected 'tuner'", uri);
}

}  // namespace whet
