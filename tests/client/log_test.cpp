#include "holdfast/mongo/log.hpp"

#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"
#include "client/traffic.hpp"
#include "support/log_fields.hpp"

#include <map>

namespace holdfast::proof::log_test {
namespace {

/// Keeps all messages about commands.
class kept_log final : public log_sink {
public:
    struct line {
        std::string message;
        bson::document fields;
    };

    bool wants(log_component, severity) const noexcept override { return true; }
    void write(const log_record& record) noexcept override
    {
        if (record.component == mongo::log_components::command)
            lines.push_back({std::string{record.message}, as_document(record.fields)});
        all += std::string{record.message} + "\n";
        if (record.level == severity::warning)
            warnings.push_back(std::string{record.component.name} + ": " +
                               std::string{record.message});
    }

    std::vector<line> lines;
    std::vector<std::string> warnings;
    std::string all;
};

const std::string wrong_options = "&maxPoolSzie=3&retryWrites=maybe";

void expect_warnings_about_wrong_options(const kept_log& in)
{
    ASSERT_EQ(in.warnings.size(), 2U) << in.all;
    EXPECT_EQ(in.warnings[0],
              "client: connection string: option \"maxPoolSzie\" is unknown and ignored");
    EXPECT_TRUE(in.warnings[1].starts_with("client: connection string: retryWrites: "))
        << in.warnings[1];
}

TEST(client_log, connection_string_warnings_are_logged_once_when_the_client_opens)
{
    scene s;
    const auto log = std::make_shared<kept_log>();
    s.log = log;
    s.connect(wrong_options);
    EXPECT_TRUE(log->warnings.empty()) << "not open yet";
    EXPECT_TRUE(s.write(1).good());
    EXPECT_TRUE(s.write(2).good());
    expect_warnings_about_wrong_options(*log);
    expect_clean(s);
}

TEST(client_log, connection_string_warnings_go_to_the_fallback_without_a_log)
{
    scene s;
    s.connect(wrong_options);
    const auto fallback = std::make_shared<kept_log>();
    mongo::access::client_of(*s.client)->fallback_log = fallback;
    EXPECT_TRUE(s.write().good());
    expect_warnings_about_wrong_options(*fallback);
    expect_clean(s);
}

TEST(client_log, fallback_is_not_used_beside_a_log)
{
    scene s;
    s.log = std::make_shared<kept_log>();
    s.connect(wrong_options);
    const auto fallback = std::make_shared<kept_log>();
    mongo::access::client_of(*s.client)->fallback_log = fallback;
    EXPECT_TRUE(s.write().good());
    EXPECT_EQ(fallback->all, "");
    expect_clean(s);
}

TEST(client_log, long_wait_for_a_server_is_reported_once_without_a_log)
{
    scene s;
    s.connect_to("mongodb://a/?replicaSet=prod&serverSelectionTimeoutMS=8000");
    const auto fallback = std::make_shared<kept_log>();
    mongo::access::client_of(*s.client)->fallback_log = fallback;
    const operation& first = s.start(ping_command());
    const operation& second = s.start(ping_command());
    s.simulation.run_for(std::chrono::milliseconds{4900});
    EXPECT_EQ(fallback->all, "");
    ASSERT_TRUE(s.finish_all());
    ASSERT_FALSE(first.good() || second.good());
    ASSERT_EQ(fallback->warnings.size(), 1U) << fallback->all;
    const std::string& line = fallback->warnings[0];
    EXPECT_TRUE(line.starts_with("serverSelection: ping has waited 5 s for a server")) << line;
    EXPECT_NE(line.find("a:27017 is a member of rs, not of prod"), std::string::npos) << line;
    const std::string& text = first.outcome->error().message();
    EXPECT_TRUE(text.starts_with("server selection timed out after 8 s: ")) << text;
    expect_clean(s);
}

TEST(client_log, wait_for_the_first_check_is_not_logged_as_a_wait)
{
    scene s;
    const auto log = std::make_shared<kept_log>();
    s.log = log;
    s.connect();
    EXPECT_TRUE(s.write().good());
    EXPECT_NE(log->all.find("Server selection started"), std::string::npos) << log->all;
    EXPECT_EQ(log->all.find("Waiting for suitable server"), std::string::npos) << log->all;
    expect_clean(s);
}

TEST(client_options, strict_turns_connection_string_warnings_into_an_error)
{
    scene s;
    const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &s.app.world()};
    mongo::client_options options;
    options.strict = true;
    const auto good = mongo::access::in_world(world, "mongodb://a/?maxPoolSize=3", options);
    EXPECT_TRUE(good);
    const auto wrong = mongo::access::in_world(
        world, "mongodb://a/?maxPoolSzie=3&retryWrites=maybe", options);
    ASSERT_FALSE(wrong);
    const std::string& text = wrong.error().message();
    EXPECT_NE(text.find("option \"maxPoolSzie\" is unknown"), std::string::npos) << text;
    EXPECT_NE(text.find("; retryWrites: "), std::string::npos) << text;
}

TEST(client_log, every_command_started_has_one_end_in_events_and_log)
{
    VERIFIES("BP-049");
    VERIFIES("BP-050");
    scene s;
    const auto log = std::make_shared<kept_log>();
    s.log = log;
    std::size_t seen = 0;
    s.server("a").on("insert",
                     [&](bson::view) { return seen++ < 5 ? overload_reply() : good_write().body; });
    s.connect();
    EXPECT_TRUE(s.write().good());
    const std::string story =
        "started failed started failed started failed started failed started failed "
        "started succeeded";
    EXPECT_EQ(story_of(s.events(), "insert"), story);
    std::string logged;
    for (const kept_log::line& one : log->lines) {
        if (one.fields.get<std::string>("commandName").value_or("") == "insert")
            logged += (logged.empty() ? "" : " ") + one.message.substr(one.message.find(' ') + 1);
    }
    EXPECT_EQ(logged, story);
    expect_clean(s);
}

TEST(client_log, retry_attempts_are_logged_with_their_operation_id)
{
    VERIFIES("RW-061");
    VERIFIES("BP-048");
    scene s;
    const auto log = std::make_shared<kept_log>();
    s.log = log;
    s.server("a").on_command("insert",
                             in_turn({hang_up(), {.body = overload_reply()}, good_write()}));
    s.connect("&timeoutMS=20000");
    const operation& op = s.write();
    EXPECT_TRUE(op.good()) << op.explain();
    std::map<std::int64_t, std::string> by_operation;
    for (const kept_log::line& one : log->lines) {
        if (one.fields.get<std::string>("commandName").value_or("") != "insert")
            continue;
        std::string& text = by_operation[one.fields.get<std::int64_t>("operationId").value_or(0)];
        text += one.message + "; ";
        EXPECT_EQ(one.fields["failure"].operator bool(), one.message == "Command failed");
    }
    ASSERT_EQ(by_operation.size(), 1U);
    EXPECT_EQ(by_operation.begin()->second,
              "Command started; Command failed; Command started; Command failed; "
              "Command started; Command succeeded; ");
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::log_test
