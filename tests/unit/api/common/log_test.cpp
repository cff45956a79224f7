#include "holdfast/log.hpp"

#include "holdfast/bson/document.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

namespace holdfast {
namespace {

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

TEST_F(log_test, line_has_severity_component_message_and_fields)
{
    const auto fields = bson::doc("serverHost", "a", "serverPort", 27017);
    sink_->write({severity::warning, log_component::server_selection, "Waiting", fields});
    EXPECT_EQ(text_.str(),
              "warning serverSelection: Waiting {\"serverHost\":\"a\",\"serverPort\":27017}\n");
}

TEST_F(log_test, line_without_fields_ends_after_the_message)
{
    sink_->write({severity::error, log_component::connection, "{} is not a format string", {}});
    EXPECT_EQ(text_.str(), "error connection: {} is not a format string\n");
}

TEST_F(log_test, wants_follows_the_level_of_the_spdlog_logger)
{
    logger_->set_level(spdlog::level::warn);
    EXPECT_TRUE(sink_->wants(log_component::command, severity::warning));
    EXPECT_FALSE(sink_->wants(log_component::command, severity::notice));
    logger_->set_level(spdlog::level::trace);
    EXPECT_TRUE(sink_->wants(log_component::command, severity::trace));
}

TEST_F(log_test, fields_with_invalid_utf8_keep_the_message)
{
    const auto fields = bson::doc("a", "\xFF");
    sink_->write({severity::error, log_component::command, "Command failed", fields});
    EXPECT_NE(text_.str().find("command: Command failed (fields: "), std::string::npos);
}

TEST(console_log, wants_only_severities_at_or_above_its_level)
{
    const auto log = console_log(severity::notice);
    EXPECT_TRUE(log->wants(log_component::topology, severity::emergency));
    EXPECT_TRUE(log->wants(log_component::topology, severity::notice));
    EXPECT_FALSE(log->wants(log_component::topology, severity::informational));
}

TEST(log_names, components_and_severities_have_the_specified_names)
{
    EXPECT_EQ(name_of(log_component::server_selection), "serverSelection");
    EXPECT_EQ(name_of(severity::emergency), "emergency");
    EXPECT_EQ(name_of(severity::informational), "info");
    EXPECT_EQ(name_of(severity::trace), "trace");
}

}  // namespace
}  // namespace holdfast
