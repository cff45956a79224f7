#include "holdfast/log.hpp"

#include "holdfast/mongo/log.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

namespace holdfast::log_test {
namespace {

using namespace std::string_view_literals;
namespace components = mongo::log_components;

class log_test : public testing::Test {
protected:
    log_test()
    {
        logger_ = std::make_shared<spdlog::logger>(
            "test", std::make_shared<spdlog::sinks::ostream_sink_st>(text_));
        logger_->set_pattern("%l %v");
        sink_ = log_to(logger_);
    }

    std::ostringstream text_;
    std::shared_ptr<spdlog::logger> logger_;
    std::shared_ptr<log_sink> sink_;
};

TEST_F(log_test, line_has_component_message_and_fields_as_json)
{
    const log_field fields[] = {{"serverHost", "a"sv}, {"serverPort", 27017}, {"awaited", true}};
    sink_->write({severity::warning, components::server_selection, "Waiting", fields});
    EXPECT_EQ(text_.str(),
              "warning serverSelection: Waiting {\"serverHost\":\"a\",\"serverPort\":27017,"
              "\"awaited\":true}\n");
}

TEST_F(log_test, record_without_fields_is_logged_without_json)
{
    sink_->write({severity::error, components::connection, "{} is not a format string", {}});
    EXPECT_EQ(text_.str(), "error connection: {} is not a format string\n");
}

TEST_F(log_test, wants_follows_the_level_of_the_logger)
{
    logger_->set_level(spdlog::level::warn);
    EXPECT_TRUE(sink_->wants(components::command, severity::warning));
    EXPECT_FALSE(sink_->wants(components::command, severity::notice));
    logger_->set_level(spdlog::level::trace);
    EXPECT_TRUE(sink_->wants(components::command, severity::trace));
}

TEST_F(log_test, fields_that_are_not_utf8_keep_the_message)
{
    const log_field fields[] = {{"a", "\xFF"sv}};
    sink_->write({severity::error, components::command, "Command failed", fields});
    EXPECT_NE(text_.str().find("command: Command failed (fields: "), std::string::npos);
}

TEST(log_record, to_json_has_level_component_message_and_fields)
{
    const log_field fields[] = {{"failure", "\"x\""sv}, {"ratio", 0.5}};
    const log_component own{"a part of a protocol to come"};
    EXPECT_EQ(to_json({severity::debug, own, "Command failed", fields}).value(),
              R"({"level":"debug","component":"a part of a protocol to come",)"
              R"("message":"Command failed","failure":"\"x\"","ratio":0.5})");
    const log_field bad[] = {{"a", "\xFF"sv}};
    EXPECT_FALSE(to_json({severity::debug, own, "Command failed", bad}));
}

TEST(console_log, wants_records_at_least_as_urgent_as_its_level)
{
    const auto log = console_log(severity::notice);
    EXPECT_TRUE(log->wants(components::topology, severity::emergency));
    EXPECT_TRUE(log->wants(components::topology, severity::notice));
    EXPECT_FALSE(log->wants(components::topology, severity::informational));
}

TEST(log_names, components_and_severities_have_the_specified_names)
{
    EXPECT_EQ(components::server_selection.name, "serverSelection");
    EXPECT_EQ(name_of(severity::emergency), "emergency");
    EXPECT_EQ(name_of(severity::informational), "info");
    EXPECT_EQ(name_of(severity::trace), "trace");
}

}  // namespace
}  // namespace holdfast::log_test
