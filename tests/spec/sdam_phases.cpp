#include "case_fields.hpp"
#include "core/mongo/settings/address.hpp"
#include "format.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"
#include "profile_named.hpp"
#include "sdam_outcome.hpp"

namespace holdfast::spec {
namespace {

using namespace core::mongo;
namespace json = boost::json;

bson::document document(const json::value& fields)
{
    auto made = bson::from_json(json::serialize(fields));
    demand(made.has_value(), made ? "" : "the file's reply: " + made.error().explain());
    return *std::move(made);
}

failure_kind failure_kind_named(std::string_view name)
{
    if (name == "command")
        return failure_kind::command;
    if (name == "network")
        return failure_kind::network;
    demand(name == "timeout", "the runner does not know this type of error: " + std::string{name});
    return failure_kind::timeout;
}

connection_phase phase_named(std::string_view name)
{
    if (name == "afterHandshakeCompletes")
        return connection_phase::ready;
    demand(name == "beforeHandshakeCompletes",
           "the runner does not know when this is: " + std::string{name});
    return connection_phase::connecting;
}

void check_all(const json::array& replies, sdam_client& client)
{
    for (const json::value& pair : replies) {
        const json::array& both = pair.as_array();
        demand(both.size() == 2, "a response is not a pair of address and reply");
        const bson::document reply = document(both[1]);
        client.hear(reported_address(both[0].as_string()), reply);
    }
}

void fail_all(const json::array& errors, sdam_client& client)
{
    for (const json::value& fields : errors) {
        const case_fields e{fields};
        e.demand_only({"address", "when", "type", "maxWireVersion", "generation", "response"});
        const failure_kind kind = failure_kind_named(e.text("type"));
        const bool answered = e.has("response");
        demand(answered == (kind == failure_kind::command),
               "a response belongs to an error of type command, and only to that");
        const bson::document reply = document(answered ? fields.as_object().at("response")
                                                       : json::object{});
        application_error failed{
            .server = reported_address(e.text("address")),
            .kind = kind,
            .phase = phase_named(e.text("when")),
            .max_wire_version = static_cast<std::int32_t>(e.number("maxWireVersion", 0)),
            .cause = error{bson::errc::invalid_value, "an application's error"},
            .reply = reply,
        };
        const auto generation = e.has("generation") ? std::optional{static_cast<std::uint32_t>(
                                                          e.number("generation", 0))}
                                                    : std::nullopt;
        client.fail(std::move(failed), generation);
    }
}

void run_phase(const json::value& fields, sdam_client& client)
{
    const case_fields phase{fields};
    phase.demand_only({"description", "responses", "applicationErrors", "outcome"});
    if (phase.has("responses"))
        check_all(phase.list("responses"), client);
    if (phase.has("applicationErrors"))
        fail_all(phase.list("applicationErrors"), client);
    const json::object& outcome = fields.at("outcome").as_object();
    check_outcome(outcome, client);
    const auto received = client.take_events();
    if (const json::value* const events = outcome.if_contains("events"))
        check_events(events->as_array(), received);
}

outcome run_sdam(const json::object& file, const settings& options)
{
    sdam_client client{file.at("uri").as_string(), profile_named(options.profile)};
    int number = 0;
    for (const json::value& phase : file.at("phases").as_array()) {
        ++number;
        try {
            run_phase(phase, client);
        } catch (const std::exception& e) {
            return failed{"phase " + std::to_string(number) + ": " + e.what()};
        }
    }
    return passed{};
}

bool recognises_sdam(const json::object& file)
{
    const json::value* const phases = file.if_contains("phases");
    return phases && phases->is_array() && file.contains("uri");
}

std::vector<test_case> sdam_cases(const json::object& file)
{
    demand_only(file, {"description", "uri", "phases"});
    return {{description_of(file),
             [&file](const settings& options) { return run_sdam(file, options); }}};
}

}  // namespace

const format sdam_phases{"sdam-phases", recognises_sdam, sdam_cases};

}  // namespace holdfast::spec
