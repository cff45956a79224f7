#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"

#include <boost/json.hpp>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A file of the unified test format, read and checked. All views lie in `unified_file::content`.
namespace holdfast::spec::unified {

struct server_version {
    std::int32_t major = 0;
    std::int32_t minor = 0;
    std::int32_t patch = 0;
    friend auto operator<=>(const server_version&, const server_version&) = default;
};
server_version version_from(std::string_view text);
std::string text_of(const server_version& version);

/// One clause of "runOnRequirements". What it does not say is not asked for.
struct requirement {
    std::optional<server_version> at_least = {};
    std::optional<server_version> at_most = {};
    std::vector<std::string> topologies = {};  // "single", "replicaset", "sharded", ...
    std::optional<bool> auth = {};
    std::optional<std::string> auth_mechanism = {};
    bool needs_serverless = false;
    std::optional<bool> needs_encryption = {};  // "csfle"
    bson::view parameters = {};                 // "serverParameters"
};

/// One operation, of the driver or of the runner itself ("object" is then "testRunner").
struct operation {
    std::string_view name;
    std::string_view object;
    bson::view arguments = {};
    std::optional<bson::view> expect_error = {};
    bson::element expect_result = {};  // missing if nothing is said of the result
    std::optional<std::string_view> save_result_as = {};
    bool ignore_result_and_error = false;

    bool is_of_runner() const noexcept { return object == "testRunner"; }
};

/// From its document: also for operations within arguments ("runOnThread", "withTransaction",
/// "loop"), whose structure no schema has checked. Throws case_failure.
operation operation_from(bson::view fields);

/// "client", "database", "collection", "session", "thread" ... and its fields ("id" among them).
struct entity_description {
    std::string_view kind;
    std::string_view id;
    bson::view fields;
};

/// From {client: {...}}: also for the operation createEntities. Throws case_failure.
entity_description entity_from(bson::view fields);

/// What a collection must hold, before or after.
struct collection_data {
    std::string_view database;
    std::string_view collection;
    bson::view create_options = {};
    std::vector<bson::view> documents = {};
};

struct expected_events {
    std::string_view client;
    std::string_view type = "command";  // "cmap", "sdam"
    bool ignore_extra = false;
    std::vector<bson::view> events = {};  // {commandStartedEvent: {...}}
};

struct expected_messages {
    std::string_view client;
    bool ignore_extra = false;
    std::vector<bson::view> messages = {};
    std::vector<bson::view> ignored = {};
};

struct unified_case {
    std::string description;
    std::vector<requirement> run_on = {};
    std::optional<std::string> skip_reason = {};
    std::vector<operation> operations = {};
    std::vector<expected_events> expect_events = {};
    std::vector<expected_messages> expect_messages = {};
    bool expects_spans = false;  // of OpenTelemetry
    std::vector<collection_data> outcome = {};
    bson::view content = {};
};

struct unified_file {
    bson::document content;
    std::string description;
    std::vector<requirement> run_on = {};
    std::vector<entity_description> create_entities = {};
    std::vector<collection_data> initial_data = {};
    std::vector<unified_case> cases = {};
};

/// A file that looks like one of this format, whatever else may be wrong with it.
bool looks_unified(const boost::json::object& file);

/// What is wrong with how the file is built, with the path to it; nothing if it is right. A file of
/// a schema that this runner does not know is not looked at further, and is right.
std::optional<std::string> fault_in(const boost::json::value& file);

/// Throws case_failure if the file is not built as the schema says (see fault_in), is of a version
/// of the format that this runner does not know, or has entities that refer to none.
std::shared_ptr<const unified_file> read_unified(const boost::json::value& file);

}  // namespace holdfast::spec::unified
