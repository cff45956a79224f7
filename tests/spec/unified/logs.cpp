#include "logs.hpp"

#include "holdfast/mongo/log.hpp"
#include "support/log_fields.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::spec::unified {
namespace {

using bson::element;
using bson::type;

severity level_named(std::string_view name)
{
    static constexpr std::string_view names[] = {
        "emergency", "alert", "critical", "error", "warning", "notice", "info", "debug", "trace",
    };
    const auto* const found = std::ranges::find(names, name);
    demand(found != std::end(names), "the runner does not know this level: " + std::string{name});
    return static_cast<severity>(found - std::begin(names));
}

log_component component_named(std::string_view name)
{
    namespace known = holdfast::mongo::log_components;
    for (const log_component one :
         {known::command, known::topology, known::server_selection, known::connection})
        if (name == one.name)
            return one;
    throw case_failure{"the runner does not know this component: " + std::string{name}};
}

/// Whether the log repeats the text of an error that the test has received. An empty text cannot be
/// repeated.
bool repeats(const element& failure, std::span<const std::string> received)
{
    // As it is: what is shown to people has its quotes escaped, and may be cut.
    const std::string text = failure.type() == type::string ? std::string{failure.as_string()}
                                                            : shown(failure);
    return std::ranges::any_of(received, [&](const std::string& description) {
        return !description.empty() && text.find(description) != std::string::npos;
    });
}

difference compare_failure(const element& redacted, const recorded_message& found,
                           std::span<const std::string> received)
{
    if (!redacted)
        return {};
    const element failure = found.data["failure"];
    if (!failure)
        return "expected a failure, found none";
    if (redacted.as_bool() == repeats(failure, received))
        return "expected a failure that is " +
               std::string{redacted.as_bool() ? "redacted" : "not redacted"} + ", found " +
               shown(failure);
    return {};
}

difference compare(bson::view expected, const recorded_message& found, const matcher& rules,
                   std::span<const std::string> received)
{
    if (const auto name = expected["component"].as_string(); name != found.component.name)
        return "expected one of " + std::string{name} + ", found one of " +
               std::string{found.component.name} + ": " + shown(found.data);
    if (auto wrong = rules.compare_root(expected["data"].as_document(), found.data))
        return *wrong + ", in " + shown(found.data);
    if (level_named(expected["level"].as_string()) != found.level)
        return "expected the level " + shown(expected["level"]) + ", found " +
               std::string{name_of(found.level)};
    return compare_failure(expected["failureIsRedacted"], found, received);
}

std::string messages_of(std::span<const recorded_message> found)
{
    std::string all;
    for (const recorded_message& one : found)
        all.append(all.empty() ? "" : ", ").append(shown(one.data["message"]));
    return all.empty() ? "none" : all;
}

}  // namespace

client_messages::client_messages(bson::view client)
{
    if (const element wanted = client.find("observeLogMessages"))
        for (const element& one : wanted.as_document())
            observed_[component_named(one.key())] = level_named(one.as_string());
}

bool client_messages::wants(log_component component, severity level) const noexcept
{
    const auto found = observed_.find(component);
    return found != observed_.end() && level <= found->second;
}

void client_messages::write(const log_record& record) noexcept
{
    if (!wants(record.component, record.level))
        return;
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    out.add("message", record.message).merge(proof::as_document(record.fields).view());
    out.finish().value();
    const std::lock_guard lock{mutex_};
    if (!stopped_)
        messages_.push_back(
            {record.level, record.component, bson::document::adopt(std::move(bytes))});
}

void client_messages::forget()
{
    const std::lock_guard lock{mutex_};
    messages_.clear();
}

void client_messages::stop()
{
    const std::lock_guard lock{mutex_};
    stopped_ = true;
}

std::vector<recorded_message> client_messages::recorded() const
{
    const std::lock_guard lock{mutex_};
    return messages_;
}

void check_messages(const expected_messages& expected, const client_messages& logged,
                    const matcher& rules, std::span<const std::string> received)
{
    auto found = logged.recorded();
    std::erase_if(found, [&](const recorded_message& one) {
        return std::ranges::any_of(expected.ignored, [&](bson::view ignored) {
            return !compare(ignored, one, rules, received);
        });
    });
    const std::string whose = "log messages of " + std::string{expected.client} + ": ";
    for (std::size_t i = 0; i != std::min(found.size(), expected.messages.size()); ++i)
        if (const auto wrong = compare(expected.messages[i], found[i], rules, received))
            throw case_failure{whose + "number " + std::to_string(i) + ": " + *wrong};
    demand(found.size() >= expected.messages.size(),
           whose + "expected " + std::to_string(expected.messages.size()) + ", there were only " +
               std::to_string(found.size()) + ": " + messages_of(found));
    demand(expected.ignore_extra || found.size() == expected.messages.size(),
           whose + "expected " + std::to_string(expected.messages.size()) +
               ", there were more: " + messages_of(found));
}

}  // namespace holdfast::spec::unified
