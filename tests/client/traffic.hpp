#pragma once
#include "support/scene.hpp"
#include "support/scripted_login.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::proof {

/// Closes the client; then nothing may be left of it, and no rule may have been broken.
inline void expect_clean(scene& of, rule_limits limits = {})
{
    EXPECT_EQ(of.close(), "");
    EXPECT_EQ(of.complaints(limits), "");
}

/// Runs until `done`; false if that does not come within a minute.
inline bool wait_for(scene& in, const std::function<bool()>& done)
{
    const time_point limit = in.simulation.now() + std::chrono::minutes{1};
    (void)in.simulation.run_while_not([&] { return done() || in.simulation.now() > limit; });
    return done();
}

/// What the commands of one name were followed by: "started failed started succeeded".
inline std::string story_of(const recorder& events, std::string_view command)
{
    std::string story;
    for (const record& one : events.all()) {
        if (one.what > heard::command_failed || one.name != command)
            continue;
        const std::string_view what = name_of(one.what);
        story += (story.empty() ? "" : " ") + std::string{what.substr(what.find(' ') + 1)};
    }
    return story;
}

/// Answers in turn; the last one for ever.
inline scripted_server::full_answer in_turn(std::vector<scripted_reply> replies)
{
    return [replies = std::move(replies), next = std::size_t{0}](const scripted_command&) mutable {
        return replies[std::min(next++, replies.size() - 1)];
    };
}

/// Server "a" wants the login of all tests from now on.
inline std::shared_ptr<scripted_login> guarded(scene& s, bool speculative = true)
{
    const auto door = std::make_shared<scripted_login>();
    door->guard(
        s.server("a"),
        [&s](const scripted_command&) { return scripted_reply{s.set.hello_of("a:27017")}; },
        speculative);
    return door;
}

/// What routers of one service behind a load balancer say.
inline bson::document hello_of_service()
{
    bson::object_id service;
    service.bytes.fill(7);
    return bson::doc("helloOk", true, "isWritablePrimary", true, "msg", "isdbgrid", "serviceId",
                     service, "maxBsonObjectSize", 16 * 1024 * 1024, "maxMessageSizeBytes",
                     48'000'000, "maxWriteBatchSize", 100'000, "minWireVersion", 0,
                     "maxWireVersion", 21, "logicalSessionTimeoutMinutes", 30, "ok", 1.0);
}

inline scripted_reply good_write()
{
    return {.body = bson::doc("n", 1, "ok", 1.0)};
}

}  // namespace holdfast::proof
