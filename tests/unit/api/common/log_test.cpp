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

TEST_F(log_test, a_line_has_component_message_and_fields)
{
    const auto fields = bson::doc("serverHost", "a", "serverPort", 27017);
    sink_->write({severity::warning, log_component::server_selection, "Waiting", fields});
    EXPECT_EQ(text_.str(),
              "warning serverSelection: Waiting {\"serverHost\":\"a\",\"serverPort\":27017}\n");
}

TEST_F(log_test, a_message_without_fields_is_the_message_alone)
{
    sink_->write({severity::error, log_component::connection, "{} is not a format string", {}});
    EXPECT_EQ(text_.str(), "error connection: {} is not a format string\n");
}

TEST_F(log_test, the_level_of_the_logger_decides_what_is_wanted)
{
    logger_->set_level(spdlog::level::warn);
    EXPECT_TRUE(sink_->wants(log_component::command, severity::warning));
    EXPECT_FALSE(sink_->wants(log_component::command, severity::notice));
    logger_->set_level(spdlog::level::trace);
    EXPECT_TRUE(sink_->wants(log_component::command, severity::trace));
}

TEST_F(log_test, fields_that_cannot_be_printed_do_not_swallow_the_message)
{
    const auto fields = bson::doc("a", "\xFF");
    sink_->write({severity::error, log_component::command, "Command failed", fields});
    EXPECT_NE(text_.str().find("command: Command failed (fields: "), std::string::npos);
}

TEST(console_log, wants_only_what_is_at_least_as_urgent)
{
    const auto log = console_log(severity::notice);
    EXPECT_TRUE(log->wants(log_component::topology, severity::emergency));
    EXPECT_TRUE(log->wants(log_component::topology, severity::notice));
    EXPECT_FALSE(log->wants(log_component::topology, severity::informational));
}

TEST(log_names, are_those_of_the_drivers_specification)
{
    EXPECT_EQ(name_of(log_component::server_selection), "serverSelection");
    EXPECT_EQ(name_of(severity::emergency), "emergency");
    EXPECT_EQ(name_of(severity::informational), "info");
    EXPECT_EQ(name_of(severity::trace), "trace");
}

}  // namespace
}  // namespace holdfast
