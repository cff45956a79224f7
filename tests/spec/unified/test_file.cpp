#include "test_file.hpp"

#include "../case_fields.hpp"
#include "holdfast/bson/json.hpp"
#include "schema.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

namespace holdfast::spec::unified {
namespace {

namespace json = boost::json;
using bson::element;
using bson::type;

constexpr std::int32_t known_major = 1;
constexpr std::int32_t known_minor = 28;

// The schema has been checked where a file is read; operations within arguments have not.
std::string_view text(bson::view fields, std::string_view name)
{
    const element found = fields.find(name);
    demand(found.type() == type::string, "the field " + std::string{name} + " is not a string");
    return found.as_string();
}

std::optional<std::string_view> text_if(bson::view fields, std::string_view name)
{
    return fields.find(name) ? std::optional{text(fields, name)} : std::nullopt;
}

bool flag(bson::view fields, std::string_view name)
{
    const element found = fields.find(name);
    demand(!found || found.type() == type::boolean,
           "the field " + std::string{name} + " is neither true nor false");
    return found && found.as_bool();
}

bson::view document_in(bson::view fields, std::string_view name)
{
    const element found = fields.find(name);
    demand(!found || found.type() == type::document,
           "the field " + std::string{name} + " is not a document");
    return found ? found.as_document() : bson::view{};
}

/// What `make` makes of each document of an array; nothing if there is no such field.
template <class Make>
auto each(bson::view fields, std::string_view name, Make make)
{
    std::vector<decltype(make(fields))> made;
    if (const element found = fields.find(name))
        for (const element& one : found.as_array())
            made.push_back(make(one.as_document()));
    return made;
}

bson::view itself(bson::view fields)
{
    return fields;
}

requirement requirement_from(bson::view fields)
{
    requirement made;
    if (const auto least = text_if(fields, "minServerVersion"))
        made.at_least = version_from(*least);
    if (const auto most = text_if(fields, "maxServerVersion"))
        made.at_most = version_from(*most);
    if (const element topologies = fields.find("topologies"))
        for (const element& one : topologies.as_array())
            made.topologies.emplace_back(one.as_string());
    if (fields.find("auth"))
        made.auth = flag(fields, "auth");
    if (const auto mechanism = text_if(fields, "authMechanism"))
        made.auth_mechanism = *mechanism;
    made.needs_serverless = text_if(fields, "serverless") == "require";
    if (const element csfle = fields.find("csfle"))
        made.needs_encryption = csfle.type() != type::boolean || csfle.as_bool();
    made.parameters = document_in(fields, "serverParameters");
    return made;
}

collection_data data_from(bson::view fields)
{
    return {.database = text(fields, "databaseName"),
            .collection = text(fields, "collectionName"),
            .create_options = document_in(fields, "createOptions"),
            .documents = each(fields, "documents", itself)};
}

expected_events events_from(bson::view fields)
{
    return {.client = text(fields, "client"),
            .type = text_if(fields, "eventType").value_or("command"),
            .ignore_extra = flag(fields, "ignoreExtraEvents"),
            .events = each(fields, "events", itself)};
}

expected_messages messages_from(bson::view fields)
{
    return {.client = text(fields, "client"),
            .ignore_extra = flag(fields, "ignoreExtraMessages"),
            .messages = each(fields, "messages", itself),
            .ignored = each(fields, "ignoreMessages", itself)};
}

unified_case case_from(bson::view fields)
{
    unified_case made;
    made.description = text(fields, "description");
    made.run_on = each(fields, "runOnRequirements", requirement_from);
    if (const auto reason = text_if(fields, "skipReason"))
        made.skip_reason = *reason;
    made.operations = each(fields, "operations", operation_from);
    made.expect_events = each(fields, "expectEvents", events_from);
    made.expect_messages = each(fields, "expectLogMessages", messages_from);
    made.expects_spans = static_cast<bool>(fields.find("expectTracingMessages"));
    made.outcome = each(fields, "outcome", data_from);
    made.content = fields;
    return made;
}

/// Entities of a file refer to earlier ones of it, by the field that is named like the kind.
void check_references(const std::vector<entity_description>& all)
{
    std::map<std::string_view, std::set<std::string_view>> known;
    for (const entity_description& one : all) {
        for (const std::string_view kind : {"client", "database"}) {
            const element refers = one.fields.find(kind);
            demand(!refers || known[kind].contains(refers.as_string()),
                   "the " + std::string{one.kind} + " " + std::string{one.id} +
                       " refers to an entity that is not there: " + std::string{kind} + " " +
                       (refers ? std::string{refers.as_string()} : ""));
        }
        known[one.kind].insert(one.id);
    }
}

void demand_rule(std::string_view rule, const json::value& value)
{
    const auto fault = unified_grammar().fault(rule, value);
    demand(!fault, fault ? "within the arguments of an operation: " + *fault : "");
}

/// The schema leaves arguments alone; but what operations of the runner are given there is built as
/// what it does describe.
void check_arguments(const json::value& operation)
{
    const json::object& fields = operation.as_object();
    const json::value* const given = fields.if_contains("arguments");
    if (!given || fields.at("object") != "testRunner")
        return;
    const json::object& arguments = given->as_object();
    if (const json::value* const event = arguments.if_contains("event"))
        demand_rule("anyEvent", *event);
    if (const json::value* const entities = arguments.if_contains("entities"))
        for (const json::value& one : entities->as_array())
            demand_rule("entity", one);
    if (const json::value* const inner = arguments.if_contains("operation")) {
        demand_rule("operation", *inner);
        check_arguments(*inner);
    }
}

bool has_operations(const json::value& test)
{
    const json::object* const fields = test.if_object();
    return fields && fields->contains("operations");
}

/// Nothing if the file does not say in the right way, which is for the schema to report.
std::optional<server_version> schema_version(const json::value& file)
{
    const json::object* const fields = file.if_object();
    const json::value* const found = fields ? fields->if_contains("schemaVersion") : nullptr;
    if (!found || unified_grammar().fault("version", *found))
        return {};
    return version_from(found->get_string());
}

bool is_known(const server_version& schema)
{
    return schema.major == known_major && schema.minor <= known_minor;
}

}  // namespace

server_version version_from(std::string_view text)
{
    server_version made;
    for (std::int32_t* const part : {&made.major, &made.minor, &made.patch}) {
        const char* const end = text.data() + text.size();
        const auto [stop, fault] = std::from_chars(text.data(), end, *part);
        demand(fault == std::errc{}, "not a version number");
        if (stop == end)
            return made;
        text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
    }
    throw case_failure{"a version number has at most three parts"};
}

std::string text_of(const server_version& version)
{
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
           std::to_string(version.patch);
}

operation operation_from(bson::view fields)
{
    static constexpr std::string_view known[] = {
        "name",
        "object",
        "arguments",
        "expectError",
        "expectResult",
        "saveResultAsEntity",
        "ignoreResultAndError",
    };
    for (const element& field : fields)
        demand(std::ranges::find(known, field.key()) != std::end(known),
               "an operation has a field that is not known: " + std::string{field.key()});
    operation made{
        .name = text(fields, "name"),
        .object = text(fields, "object"),
        .arguments = document_in(fields, "arguments"),
        .expect_result = fields.find("expectResult"),
        .save_result_as = text_if(fields, "saveResultAsEntity"),
        .ignore_result_and_error = flag(fields, "ignoreResultAndError"),
    };
    if (fields.find("expectError"))
        made.expect_error = document_in(fields, "expectError");
    const bool says_two_things = (made.expect_error || made.ignore_result_and_error) &&
                                 (made.expect_result || made.save_result_as);
    demand(!says_two_things && !(made.expect_error && made.ignore_result_and_error),
           "an operation expects two things that exclude each other");
    return made;
}

entity_description entity_from(bson::view fields)
{
    const auto first = fields.begin();
    demand(first != fields.end() && std::next(first) == fields.end() &&
               first->type() == type::document,
           "an entity is a document with one key, its kind");
    return {.kind = first->key(),
            .id = text(first->as_document(), "id"),
            .fields = first->as_document()};
}

bool looks_unified(const json::object& file)
{
    for (const std::string_view name : {"schemaVersion", "createEntities", "initialData"})
        if (file.contains(name))
            return true;
    const json::value* const tests = file.if_contains("tests");
    const json::array* const cases = tests ? tests->if_array() : nullptr;
    return cases && std::ranges::any_of(*cases, has_operations);
}

std::optional<std::string> fault_in(const json::value& file)
{
    const auto version = schema_version(file);
    if (version && !is_known(*version))
        return {};
    return unified_grammar().fault("file", file);
}

std::shared_ptr<const unified_file> read_unified(const json::value& file)
{
    const auto version = schema_version(file);
    demand(!version || is_known(*version),
           "the file is of schema version " + (version ? text_of(*version) : "") +
               "; the runner knows 1.0 to 1." + std::to_string(known_minor));
    const auto fault = fault_in(file);
    demand(!fault, fault ? "the file is not built as its format says: " + *fault : "");
    for (const json::value& test : file.at("tests").as_array())
        for (const json::value& operation : test.at("operations").as_array())
            check_arguments(operation);
    auto content = bson::from_json(json::serialize(file));
    demand(content.has_value(), content ? "" : "the file: " + content.error().explain());

    const auto made = std::make_shared<unified_file>();
    made->content = *std::move(content);
    const bson::view fields = made->content;
    made->description = text(fields, "description");
    made->run_on = each(fields, "runOnRequirements", requirement_from);
    made->create_entities = each(fields, "createEntities", entity_from);
    check_references(made->create_entities);
    made->initial_data = each(fields, "initialData", data_from);
    made->cases = each(fields, "tests", case_from);
    return made;
}

}  // namespace holdfast::spec::unified
