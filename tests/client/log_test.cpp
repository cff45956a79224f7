#include "holdfast/mongo/log.hpp"

#include "client/traffic.hpp"
#include "support/log_fields.hpp"

#include <map>

namespace holdfast::proof {
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
    }

    std::vector<line> lines;
    std::string all;
};

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
}  // namespace holdfast::proof
