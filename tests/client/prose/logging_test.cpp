#include "client/prose/lab_scene.hpp"
#include "holdfast/mongo/log.hpp"
#include "support/log_fields.hpp"

/// The prose tests of "Command Logging and Monitoring", by their numbers.
namespace holdfast::proof::logging_test {
namespace {

/// Keeps one field of the messages of commands.
class kept_log final : public log_sink {
public:
    bool wants(log_component component, severity level) const noexcept override
    {
        return component == mongo::log_components::command && level <= severity::debug;
    }
    void write(const log_record& record) noexcept override
    {
        all_.emplace_back(record.message, as_document(record.fields));
    }
    /// The text of a field in the last message that is about this command.
    std::string last(std::string_view message, std::string_view command,
                     std::string_view field) const
    {
        for (auto at = all_.rbegin(); at != all_.rend(); ++at) {
            if (at->first == message &&
                at->second.get<std::string>("commandName").value_or("") == command)
                return at->second.get<std::string>(field).value_or("");
        }
        return "no such message";
    }

private:
    std::vector<std::pair<std::string, bson::document>> all_;
};

constexpr std::string_view ellipsis = "...";

/// A client that logs documents up to a length; 0: as it does if nothing is said.
std::shared_ptr<kept_log> connect_logged(lab_scene& s, std::size_t length = 0)
{
    auto log = std::make_shared<kept_log>();
    mongo::client_options options;
    options.log = log;
    if (length != 0)
        options.log_document_length = length;
    s.connect("", options);
    return log;
}

TEST(prose_command_logging, 1_documents_are_truncated_to_1000_bytes_by_default)
{
    lab_scene s;
    const auto log = connect_logged(s);
    const std::vector<bson::document> documents(100, bson::doc("x", "y"));
    ASSERT_TRUE(s.get(s.test_collection().insert_many(documents, {}, use_awaitable)));
    const std::string command = log->last("Command started", "insert", "command");
    EXPECT_EQ(command.size(), 1000 + ellipsis.size()) << command;
    EXPECT_TRUE(command.ends_with(ellipsis));
    const std::string reply = log->last("Command succeeded", "insert", "reply");
    EXPECT_LE(reply.size(), 1000 + ellipsis.size());
    EXPECT_TRUE(reply.starts_with("{")) << reply;

    auto found = s.test_collection().find(bson::doc().view());
    ASSERT_TRUE(s.get(found.all(use_awaitable)));
    EXPECT_EQ(log->last("Command succeeded", "find", "reply").size(), 1000 + ellipsis.size());
    s.close();
}

TEST(prose_command_logging, 2_documents_are_truncated_to_the_configured_length)
{
    lab_scene s;
    const auto log = connect_logged(s, 5);
    ASSERT_TRUE(s.command("admin", R"({"hello": true})"));
    EXPECT_EQ(log->last("Command started", "hello", "command").size(), 5 + ellipsis.size());
    EXPECT_EQ(log->last("Command succeeded", "hello", "reply").size(), 5 + ellipsis.size());
    ASSERT_FALSE(s.command("admin", R"({"notARealCommand": true})"));
    const std::string failure = log->last("Command failed", "notARealCommand", "failure");
    EXPECT_FALSE(failure.empty());
    s.close();
}

bool is_whole_utf8(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (at + length > text.size() || (lead >= 0x80 && lead < 0xC0))
            return false;
        for (std::size_t n = 1; n < length; ++n) {
            if ((static_cast<unsigned char>(text[at + n]) & 0xC0U) != 0x80)
                return false;
        }
        at += length;
    }
    return true;
}

TEST(prose_command_logging, 3_truncation_keeps_code_points_whole)
{
    // One of the lengths ends between two characters of three bytes, the others within one.
    for (std::size_t length = 200; length < 203; ++length) {
        lab_scene s;
        const auto log = connect_logged(s, length);
        std::string text;
        for (int n = 0; n < 200; ++n)
            text += "\u6D77";
        const bson::document one = bson::doc("_id", text);
        ASSERT_TRUE(s.get(s.test_collection().insert_one(one.view(), {}, use_awaitable)));
        ASSERT_TRUE(s.get(s.test_collection().find_one(bson::doc().view(), {}, use_awaitable)));
        for (const std::string& shown : {log->last("Command started", "insert", "command"),
                                         log->last("Command succeeded", "find", "reply")}) {
            EXPECT_TRUE(shown.ends_with(ellipsis));
            EXPECT_LE(shown.size(), length + ellipsis.size());
            EXPECT_GT(shown.size(), length + ellipsis.size() - 3);
            EXPECT_TRUE(is_whole_utf8(shown)) << shown;
        }
        s.close();
    }
}

}  // namespace
}  // namespace holdfast::proof::logging_test
