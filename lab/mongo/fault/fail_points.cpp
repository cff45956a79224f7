#include "lab/mongo/fault/fail_points.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace holdfast::lab {
namespace {

constexpr std::string_view command_point = "failCommand";
constexpr std::string_view write_point = "onPrimaryTransactionalWrite";
constexpr std::string_view get_more_point = "failGetMoreAfterCursorCheckout";
constexpr int fail_point_set_failed = 266;
constexpr std::array<std::string_view, 3> known = {command_point, write_point, get_more_point};

error bad(std::string text)
{
    return refuse(server_code::bad_value, std::move(text));
}

std::optional<std::int64_t> number(const bson::element& e)
{
    if (e.type() == bson::type::int32)
        return e.as_int32();
    if (e.type() == bson::type::int64)
        return e.as_int64();
    if (e.type() == bson::type::double_ && std::abs(e.as_double()) < 1e15)
        return static_cast<std::int64_t>(e.as_double());
    return {};
}

std::optional<double> fraction(const bson::element& e)
{
    if (e.type() == bson::type::double_)
        return e.as_double();
    if (const auto whole = number(e))
        return static_cast<double>(*whole);
    return {};
}

bool on(bson::view data, std::string_view field, bool otherwise = false)
{
    const bson::element e = data.find(field);
    if (e.type() == bson::type::boolean)
        return e.as_bool();
    if (const auto value = fraction(e))
        return *value != 0;
    return otherwise;
}

bool is_list_of_text(const bson::element& e)
{
    return e.type() == bson::type::array &&
           std::ranges::all_of(
               e.as_array().begin(), e.as_array().end(),
               [](const bson::element& x) { return x.type() == bson::type::string; });
}

/// The kinds of values that the fields of `data` may have.
enum class kind : std::uint8_t { flag, number, text, texts, document };
struct field_rule {
    std::string_view name;
    kind as;
};
constexpr field_rule rules[] = {
    {"failCommands", kind::texts},
    {"errorCode", kind::number},
    {"errorLabels", kind::texts},
    {"closeConnection", kind::flag},
    {"blockConnection", kind::flag},
    {"blockTimeMS", kind::number},
    {"appName", kind::text},
    {"namespace", kind::text},
    {"threadName", kind::text},
    {"writeConcernError", kind::document},
    {"errorExtraInfo", kind::document},
    {"failInternalCommands", kind::flag},
    {"failAllCommands", kind::flag},
    {"failLocalClients", kind::flag},
    {"failBeforeCommitExceptionCode", kind::number},
    {"labCutReplyAt", kind::number},
};

bool is_of(const bson::element& e, kind wanted)
{
    switch (wanted) {
    case kind::flag:
        return e.type() == bson::type::boolean || number(e);
    case kind::number:
        return number(e).has_value();
    case kind::text:
        return e.type() == bson::type::string;
    case kind::texts:
        return is_list_of_text(e);
    case kind::document:
        return e.type() == bson::type::document;
    }
    return false;
}

result<void> check_data(bson::view data)
{
    for (const bson::element& e : data) {
        if (e.malformed())
            return refuse(server_code::failed_to_parse, "invalid BSON in the data of a fail point");
        for (const field_rule& rule : rules) {
            if (rule.name == e.key() && !is_of(e, rule.as))
                return refuse(server_code::type_mismatch,
                              "the field '" + std::string{e.key()} +
                                  "' of a fail point's data has the wrong type");
        }
    }
    if (!on(data, "blockConnection"))
        return {};
    const auto time = number(data.find("blockTimeMS"));
    if (!time)
        return refuse(server_code::invalid_options,
                      "must specify 'blockTimeMS' when 'blockConnection' is true");
    if (*time < 0)
        return refuse(server_code::invalid_options, "'blockTimeMS' must be non-negative");
    return {};
}

/// A command and its old spelling are one command to a server.
bool same_command(std::string_view listed, std::string_view sent)
{
    static constexpr std::array<std::array<std::string_view, 2>, 7> spellings = {{
        {"isMaster", "ismaster"},
        {"findAndModify", "findandmodify"},
        {"buildInfo", "buildinfo"},
        {"dropIndexes", "deleteIndexes"},
        {"dbStats", "dbstats"},
        {"collStats", "collstats"},
        {"mapReduce", "mapreduce"},
    }};
    return listed == sent || std::ranges::any_of(spellings, [&](const auto& pair) {
               return (pair[0] == listed && pair[1] == sent) ||
                      (pair[1] == listed && pair[0] == sent);
           });
}

bool is_handshake(std::string_view command)
{
    return command == "hello" || same_command("isMaster", command);
}

bool chooses(bson::view data, const fault_target& target)
{
    if (target.command == "configureFailPoint")  // or the fail point could not be switched off
        return false;
    if (target.internal && !on(data, "failInternalCommands"))
        return false;
    const bson::element app = data.find("appName");
    if (app.type() == bson::type::string && app.as_string() != target.app_name)
        return false;
    const bson::element ns = data.find("namespace");
    if (ns.type() == bson::type::string && ns.as_string() != target.ns)
        return false;
    if (on(data, "failAllCommands") && !is_handshake(target.command))
        return true;
    const bson::element listed = data.find("failCommands");
    if (listed.type() != bson::type::array)
        return false;
    return std::ranges::any_of(
        listed.as_array().begin(), listed.as_array().end(), [&](const bson::element& e) {
            return e.type() == bson::type::string && same_command(e.as_string(), target.command);
        });
}

injected_fault fault_of(bson::view data)
{
    injected_fault made;
    if (on(data, "blockConnection"))
        made.delay = std::chrono::milliseconds{number(data.find("blockTimeMS")).value_or(0)};
    made.close_connection = on(data, "closeConnection");
    if (const auto code = number(data.find("errorCode")))
        made.error_code = static_cast<int>(*code);
    if (const bson::element labels = data.find("errorLabels"); labels.type() == bson::type::array) {
        made.error_labels.emplace();
        for (const bson::element& e : labels.as_array()) {
            if (e.type() == bson::type::string)
                made.error_labels->emplace_back(e.as_string());
        }
    }
    if (const bson::element concern = data.find("writeConcernError");
        concern.type() == bson::type::document)
        made.write_concern_error = bson::document{concern.as_document()};
    if (const bson::element name = data.find("threadName"); name.type() == bson::type::string)
        made.threads = std::string{name.as_string()};
    // Not MongoDB's: the lab's own way to lose the end of a reply.
    if (const auto bytes = number(data.find("labCutReplyAt")); bytes && *bytes >= 0)
        made.cut_reply_at = static_cast<std::size_t>(*bytes);
    return made;
}

/// onPrimaryTransactionalWrite closes the connection unless it is asked not to.
injected_fault write_fault_of(bson::view data)
{
    injected_fault made;
    made.close_connection = on(data, "closeConnection", true);
    if (const auto code = number(data.find("failBeforeCommitExceptionCode")))
        made.error_code = static_cast<int>(*code);
    return made;
}

result<activation> read_mode(const bson::element& mode)
{
    if (mode.type() == bson::type::string) {
        if (mode.as_string() == "off")
            return activation{};
        if (mode.as_string() == "alwaysOn")
            return activation::always();
        return bad("unknown mode: " + std::string{mode.as_string()});
    }
    if (mode.type() != bson::type::document)
        return refuse(server_code::type_mismatch, "'mode' must be a string or JSON object");
    const bson::element times = mode.as_document().find("times");
    const bson::element skip = mode.as_document().find("skip");
    const bson::element probability = mode.as_document().find("activationProbability");
    if (times || skip) {
        const auto count = number(times ? times : skip);
        if (!count)
            return refuse(server_code::type_mismatch,
                          "'mode' option values must be numeric: times, skip");
        if (*count < 0)
            return bad("'" + std::string{times ? "times" : "skip"} + "' must be non-negative");
        if (*count > std::numeric_limits<std::int32_t>::max())
            return bad("'mode' option values must be in 32-bit range");
        return times ? activation::times(*count) : activation::after(*count);
    }
    if (!probability)
        return bad("'mode' must be one of {times, skip, activationProbability}");
    const auto value = fraction(probability);
    if (!value)
        return refuse(server_code::type_mismatch,
                      "the 'activationProbability' option to 'mode' must be a number");
    if (!(*value >= 0 && *value <= 1))
        return bad("activationProbability must be between 0.0 and 1.0");
    return activation::with_probability(*value);
}

}  // namespace

result<std::int64_t> fail_points::configure(bson::view command)
{
    const bson::element name = command.find("configureFailPoint");
    if (name.type() != bson::type::string)
        return refuse(server_code::type_mismatch, "'configureFailPoint' must be a string");
    if (std::ranges::find(known, name.as_string()) == known.end())
        return refuse(fail_point_set_failed, std::string{name.as_string()} + " not found");
    auto mode = read_mode(command.find("mode"));
    if (!mode)
        return std::move(mode).error();
    const bson::element data = command.find("data");
    if (data && data.type() != bson::type::document)
        return refuse(server_code::type_mismatch, "the 'data' option must be a JSON object");
    const bson::document kept{data ? data.as_document() : bson::view{}};
    if (auto fine = check_data(kept.view()); !fine)
        return std::move(fine).error();
    fault_plan<fault_target, injected_fault>::entry made;
    made.when = *mode;
    made.effect = name.as_string() == write_point ? write_fault_of(kept) : fault_of(kept);
    if (name.as_string() == command_point)
        made.chooses = [kept](const fault_target& target) { return chooses(kept, target); };
    return plan_.set(std::string{name.as_string()}, std::move(made));
}

std::optional<injected_fault> fail_points::on_command(const fault_target& target, double chance)
{
    return plan_.on(command_point, target, chance);
}

std::optional<fail_points::transactional_write> fail_points::on_transactional_write(double chance)
{
    const auto hit = plan_.on(write_point, {}, chance);
    if (!hit)
        return {};
    return transactional_write{hit->close_connection, hit->error_code};
}

std::optional<injected_fault> fail_points::on_get_more(double chance)
{
    return plan_.on(get_more_point, {}, chance);
}

}  // namespace holdfast::lab
