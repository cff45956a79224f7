#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/command/server_info.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/value.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

// What a parameter is before anybody sets it, and who may.
struct parameter {
    std::string_view name;
    enum class shape : std::uint8_t { flag, integer, real, text, other } holds;
    double number = 0;
    std::string_view text = {};
    bool fixed = false;  // only at the start
};
using shape = parameter::shape;

constexpr double unlimited = std::numeric_limits<double>::infinity();

constexpr parameter known[] = {
    {"acceptApiVersion2", shape::flag},
    {"authenticationMechanisms", shape::other, 0, {}, true},
    {"connPoolMaxConnsPerHost", shape::integer, 200},
    {"cursorTimeoutMillis", shape::integer, 600'000},
    {"diagnosticDataCollectionEnabled", shape::flag},
    {"enableTestCommands", shape::flag, 1, {}, true},
    {"externalClientBaseBackoffMS", shape::integer, 0},
    {"featureCompatibilityVersion", shape::other, 0, {}, true},
    {"ingressConnectionEstablishmentBurstCapacitySecs", shape::real, unlimited},
    {"ingressConnectionEstablishmentRateLimiterEnabled", shape::flag},
    {"ingressConnectionEstablishmentRatePerSec", shape::integer, 2147483647},
    {"ingressConnectionEstablishmentMaxQueueDepth", shape::integer, 0},
    {"ingressRequestAdmissionBurstCapacitySecs", shape::real, unlimited},
    {"ingressRequestAdmissionRatePerSec", shape::integer, 2147483647},
    {"ingressRequestRateLimiterEnabled", shape::flag},
    {"internalQueryMaxBlockingSortMemoryUsageBytes", shape::integer, 104857600},
    {"localLogicalSessionTimeoutMinutes", shape::integer, 30, {}, true},
    {"logLevel", shape::integer},
    {"maxTransactionLockRequestTimeoutMillis", shape::integer, 5},
    {"notablescan", shape::flag},
    {"quiet", shape::flag},
    {"requireApiVersion", shape::flag},
    {"scramIterationCount", shape::integer, 10'000},
    {"scramSHA256IterationCount", shape::integer, 15'000},
    {"storageEngineConcurrentReadTransactions", shape::integer, 128},
    {"storageEngineConcurrentWriteTransactions", shape::integer, 128},
    {"tlsMode", shape::text, 0, "disabled"},
    {"transactionLifetimeLimitSeconds", shape::integer, 60},
    {"ttlMonitorEnabled", shape::flag, 1},
    {"ttlMonitorSleepSecs", shape::integer, 60},
};

const parameter* find(std::string_view name) noexcept
{
    for (const parameter& one : known) {
        if (one.name == name)
            return &one;
    }
    return nullptr;
}

void write_value(const node& on, const parameter& which, bson::builder& to)
{
    if (const auto set = on.parameters.find(which.name); set != on.parameters.end()) {
        to.copy(which.name, set->second.get());
        return;
    }
    switch (which.holds) {
    case shape::flag:
        to.add(which.name, which.number != 0);
        return;
    case shape::integer:
        to.add(which.name, static_cast<std::int32_t>(which.number));
        return;
    case shape::real:
        to.add(which.name, which.number);
        return;
    case shape::text:
        to.add(which.name, which.text);
        return;
    case shape::other:
        break;
    }
    if (which.name == "featureCompatibilityVersion") {
        to.add(which.name, bson::object("version", on.options.version.family()));
    } else {
        to.add(which.name, bson::list("MONGODB-X509", "SCRAM-SHA-1", "SCRAM-SHA-256"));
    }
}

void write_detailed(const node& on, const parameter& which, bool details, bson::builder& reply)
{
    if (!details)
        return write_value(on, which, reply);
    bson::byte_buffer bytes;
    bson::builder alone{bytes};
    write_value(on, which, alone);
    auto made = alone.finish();
    if (!made)
        return;
    auto out = reply.document(which.name);
    out.copy("value", made->find(which.name));
    out.add("settableAtRuntime", !which.fixed).add("settableAtStartup", true);
}

result<value> converted(const parameter& which, const bson::element& given)
{
    const auto wrong = [&](std::string_view wanted) {
        return refuse(server_code::bad_value, "Failed to set parameter " + std::string{which.name} +
                                                  ": expected " + std::string{wanted} + ", got " +
                                                  std::string{type_name(given.type())});
    };
    const auto number = as_number(given);
    switch (which.holds) {
    case shape::flag:
        if (given.type() != bson::type::boolean && !number)
            return wrong("a boolean");
        return value::of(as_flag(given, false));
    case shape::integer:
        if (!number)
            return wrong("a number");
        if (*number < 0)
            return refuse(server_code::bad_value,
                          std::string{which.name} + " must be greater than or equal to 0");
        return value::of(*number);
    case shape::real:
        if (!number)
            return wrong("a number");
        if (given.type() != bson::type::double_)
            return value::of(static_cast<double>(*number));
        if (!(given.as_double() >= 0))
            return refuse(server_code::bad_value,
                          std::string{which.name} + " must be greater than or equal to 0");
        return value::of(given.as_double());
    case shape::text:
    case shape::other:
        break;
    }
    if (given.type() != bson::type::string)
        return wrong("a string");
    return value{given};
}

double number_of(const node& on, std::string_view name)
{
    const auto set = on.parameters.find(name);
    if (set == on.parameters.end())
        return find(name)->number;
    const bson::element e = set->second.get();
    switch (e.type()) {
    case bson::type::double_:
        return e.as_double();
    case bson::type::boolean:
        return e.as_bool() ? 1 : 0;
    default:
        return static_cast<double>(as_number(e).value_or(0));
    }
}

// What follows its parameters at once.
void apply(node& on)
{
    on.base_backoff_ms = static_cast<std::int64_t>(number_of(on, "externalClientBaseBackoffMS"));
    on.requests.set_rate(number_of(on, "ingressRequestAdmissionRatePerSec"),
                         number_of(on, "ingressRequestAdmissionBurstCapacitySecs"), on.now());
    on.requests.enable(number_of(on, "ingressRequestRateLimiterEnabled") != 0);
    on.connections.set_rate(number_of(on, "ingressConnectionEstablishmentRatePerSec"),
                            number_of(on, "ingressConnectionEstablishmentBurstCapacitySecs"),
                            on.now());
    on.connections.enable(number_of(on, "ingressConnectionEstablishmentRateLimiterEnabled") != 0);
}

}  // namespace

result<progress> run_get_parameter(node& on, request& what, bson::builder& reply)
{
    auto at = what.body.begin();
    const bson::element first = *at;
    bool all = first.type() == bson::type::string && first.as_string() == "*";
    bool details = false;
    if (first.type() == bson::type::document) {
        all = as_flag(first.as_document().find("allParameters"), false);
        details = as_flag(first.as_document().find("showDetails"), false);
    }
    bool any = false;
    if (all) {
        for (const parameter& one : known)
            write_detailed(on, one, details, reply);
        return progress::done;
    }
    for (++at; at != what.body.end(); ++at) {
        if (at->malformed())
            return malformed_field(*at);
        if (const parameter* const one = find(at->key())) {
            write_detailed(on, *one, details, reply);
            any = true;
        }
    }
    if (!any)
        return refuse(server_code::invalid_options, "no option found to get");
    return progress::done;
}

result<progress> run_set_parameter(node& on, request& what, bson::builder& reply)
{
    bool any = false;
    auto at = what.body.begin();
    for (++at; at != what.body.end(); ++at) {
        const bson::element& e = *at;
        if (e.malformed())
            return malformed_field(e);
        if (is_generic_field(e.key()))
            continue;
        const parameter* const which = find(e.key());
        if (!which) {
            return refuse(server_code::invalid_options,
                          "attempted to set unrecognized parameter [" + std::string{e.key()} +
                              "], use help:true to see options ");
        }
        if (which->fixed) {
            return refuse(server_code::illegal_operation,
                          "not allowed to change [" + std::string{e.key()} + "] at runtime");
        }
        auto given = converted(*which, e);
        if (!given)
            return std::move(given).error();
        if (!any) {
            bson::byte_buffer bytes;
            bson::builder before{bytes};
            write_value(on, *which, before);
            if (auto was = before.finish())
                reply.copy("was", was->find(which->name));
        }
        any = true;
        on.parameters.insert_or_assign(std::string{e.key()}, *std::move(given));
    }
    if (!any)
        return refuse(server_code::invalid_options,
                      "no option found to set, use help:true to see options ");
    apply(on);
    return progress::done;
}

}  // namespace holdfast::lab::mongo
