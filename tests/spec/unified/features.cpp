#include "features.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace holdfast::spec::unified {
namespace {

using bson::element;
using bson::type;
using feature = std::optional<std::string>;

constexpr const char* transactions = "transactions";
constexpr const char* change_streams = "change streams";
constexpr const char* search_indexes = "search indexes";
constexpr const char* grid_fs = "GridFS";
constexpr const char* timeouts = "timeoutMS";
constexpr const char* encryption = "client-side encryption";
constexpr const char* telemetry = "OpenTelemetry";
constexpr const char* pending_responses = "events of pending responses";

struct use {
    std::string_view name;
    const char* of;
};

constexpr use operations[] = {
    {"startTransaction", transactions},
    {"commitTransaction", transactions},
    {"abortTransaction", transactions},
    {"withTransaction", transactions},
    {"assertSessionTransactionState", transactions},
    {"assertSessionPinned", transactions},
    {"assertSessionUnpinned", transactions},
    {"createChangeStream", change_streams},
    {"createSearchIndex", search_indexes},
    {"createSearchIndexes", search_indexes},
    {"dropSearchIndex", search_indexes},
    {"listSearchIndexes", search_indexes},
    {"updateSearchIndex", search_indexes},
};

/// Arguments of operations that the driver carries out.
constexpr use arguments[] = {
    {"timeoutMS", timeouts},
    {"timeoutMode", timeouts},
    {"encryptedFields", encryption},
};

constexpr use entity_kinds[] = {
    {"bucket", grid_fs},
    {"clientEncryption", encryption},
};

/// Fields of entities, by the path to them.
constexpr use entity_fields[] = {
    {"uriOptions.timeoutMS", timeouts},
    {"databaseOptions.timeoutMS", timeouts},
    {"collectionOptions.timeoutMS", timeouts},
    {"sessionOptions.defaultTimeoutMS", timeouts},
    {"sessionOptions.defaultTransactionOptions", transactions},
    {"autoEncryptOpts", encryption},
    {"observeTracingMessages", telemetry},
};

constexpr use observed_events[] = {
    {"connectionPendingResponseStarted", pending_responses},
    {"connectionPendingResponseSucceeded", pending_responses},
    {"connectionPendingResponseFailed", pending_responses},
};

constexpr std::string_view known_mechanisms[] = {"SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN",
                                                 "MONGODB-X509"};

feature named(std::span<const use> table, std::string_view name)
{
    const auto found = std::ranges::find(table, name, &use::name);
    return found == table.end() ? feature{} : found->of;
}

feature of_mechanism(std::string_view name)
{
    return knows_mechanism(name) ? feature{} : "the login mechanism " + std::string{name};
}

/// One clause is enough: a mechanism is missing only if each clause asks for one that is.
feature of_clauses(std::span<const requirement> clauses)
{
    feature first;
    for (const requirement& clause : clauses) {
        auto missing = clause.auth_mechanism ? of_mechanism(*clause.auth_mechanism) : feature{};
        if (!missing)
            return {};
        if (!first)
            first = std::move(missing);
    }
    return first;
}

feature of_events(const element& observed)
{
    if (observed.type() != type::array)
        return {};
    for (const element& one : observed.as_array())
        if (auto found = one.type() == type::string ? named(observed_events, one.as_string())
                                                    : feature{})
            return found;
    return {};
}

feature of_entity(const entity_description& what)
{
    if (auto found = named(entity_kinds, what.kind))
        return found;
    for (const use& field : entity_fields)
        if (what.fields.find_path(field.name))
            return field.of;
    if (auto found = of_events(what.fields.find("observeEvents")))
        return found;
    const element mechanism = what.fields.find_path("uriOptions.authMechanism");
    return mechanism.type() == type::string ? of_mechanism(mechanism.as_string()) : feature{};
}

feature of_operations(const element& list);

feature of_operation(bson::view fields)
{
    const element name = fields["name"];
    const std::string_view called = name.type() == type::string ? name.as_string() : "";
    if (auto found = named(operations, called))
        return found;
    const element given = fields["arguments"];
    if (given.type() != type::document)
        return {};
    const bson::view with = given.as_document();
    const element object = fields["object"];
    const bool of_runner = object.type() == type::string && object.as_string() == "testRunner";
    for (const element& argument : with)
        if (auto found = of_runner ? feature{} : named(arguments, argument.key()))
            return found;
    if (const element created = with["entities"]; of_runner && created.type() == type::array)
        for (const element& one : created.as_array())
            if (auto found = of_entity(entity_from(one.as_document())))
                return found;
    if (const element inner = with["operation"]; of_runner && inner.type() == type::document)
        return of_operation(inner.as_document());
    return of_runner ? of_operations(with["operations"]) : feature{};
}

feature of_operations(const element& list)
{
    if (list.type() != type::array)
        return {};
    for (const element& one : list.as_array())
        if (auto found = of_operation(one.as_document()))
            return found;
    return {};
}

}  // namespace

/// A cursor of a command is given a type so that its time limits are the right ones; one official
/// case expects such a limit to end, and forgets to set it.
static bool is_about_limits_of_cursor(const element& operations)
{
    bool typed = false;
    bool expects_timeout = false;
    if (operations.type() != type::array)
        return false;
    for (const element& one : operations.as_array()) {
        if (one.type() != type::document)
            continue;
        const bson::view fields = one.as_document();
        const auto name = fields.get<std::string_view>("name");
        typed = typed || (name && *name == "createCommandCursor" &&
                          fields.get<std::string_view>("arguments.cursorType"));
        expects_timeout = expects_timeout ||
                          fields.get<bool>("expectError.isTimeoutError").value_or(false);
    }
    return typed && expects_timeout;
}

bool knows_mechanism(std::string_view name) noexcept
{
    return std::ranges::find(known_mechanisms, name) != std::end(known_mechanisms);
}

std::optional<std::string> missing_feature(const unified_file& file, const unified_case& one)
{
    if (one.expects_spans)
        return telemetry;
    for (const std::vector<requirement>* const clauses : {&file.run_on, &one.run_on})
        if (auto found = of_clauses(*clauses))
            return found;
    if (auto found = of_operations(one.content["operations"]))
        return found;
    if (is_about_limits_of_cursor(one.content["operations"]))
        return timeouts;
    for (const entity_description& what : file.create_entities)
        if (auto found = of_entity(what))
            return found;
    return {};
}

}  // namespace holdfast::spec::unified
