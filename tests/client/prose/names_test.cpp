#include "client/prose/lab_scene.hpp"
#include "core/mongo/uri/option_table.hpp"
#include "holdfast/mongo/log.hpp"
#include "support/log_fields.hpp"

#include <algorithm>
#include <set>

/// What things are called, and which there are.
namespace holdfast::proof::names_test {
namespace {

/// Options that are about monitoring, as the specifications have them.
const std::set<std::string_view> of_monitoring{"connectTimeoutMS", "heartbeatFrequencyMS",
                                               "serverMonitoringMode"};

TEST(specified_names, monitoring_options_are_those_of_the_specifications)
{
    VERIFIES("SD-026");
    std::size_t known = 0;
    for (const core::mongo::option& one : core::mongo::all_options()) {
        std::string text{one.name};
        text.append(" ").append(one.meaning);
        std::ranges::transform(text, text.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        bool is_about = false;
        for (const char* const token : {"monitor", "heartbeat", "rtt", "round trip"})
            is_about = is_about || text.find(token) != std::string::npos;
        if (of_monitoring.contains(one.name))
            ++known;
        else
            EXPECT_FALSE(is_about) << one.name << ": " << one.meaning;
    }
    EXPECT_EQ(known, of_monitoring.size());
}

class fields_of_commands final : public log_sink {
public:
    bool wants(log_component component, severity) const noexcept override
    {
        return component == mongo::log_components::command;
    }
    void write(const log_record& record) noexcept override
    {
        if (record.message == "Command started")
            last = as_document(record.fields);
    }
    bson::document last;
};

TEST(specified_names, log_messages_and_fields_are_those_of_the_specification)
{
    VERIFIES("RW-013");
    lab_scene s;
    const auto log = std::make_shared<fields_of_commands>();
    mongo::client_options options;
    options.log = log;
    s.connect("", options);
    ASSERT_TRUE(
        s.get(s.test_collection().insert_one(bson::doc("_id", 1).view(), {}, use_awaitable)));
    for (const char* const field : {"requestId", "operationId", "driverConnectionId",
                                    "serverConnectionId", "commandName", "databaseName"})
        EXPECT_TRUE(log->last[field]) << field;
    const std::string command = log->last.get<std::string>("command").value_or("");
    for (const char* const field : {"\"lsid\"", "\"txnNumber\""})
        EXPECT_NE(command.find(field), std::string::npos) << command;
    s.close();
}

}  // namespace
}  // namespace holdfast::proof::names_test
