#include "lab/mongo/aggregate/compute.hpp"
#include "lab/mongo/aggregate/stage.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/node.hpp"

#include <utility>

namespace holdfast::lab::staging {

namespace {

// ---- $documents ----

class documents_stage final : public stage {
public:
    explicit documents_stage(expression by) : by_{std::move(by)} {}
    result<documents> run(documents, runner&) const override
    {
        const auto made = by_.evaluate({});
        if (!made)
            return made.error();
        if (made->type() != bson::type::array)
            return refuse(5858203, "an array is expected");
        documents all;
        for (const bson::element& e : made->get().as_array()) {
            if (e.type() != bson::type::document)
                return refuse(40228,
                              "'newRoot' expression  must evaluate to an object, but "
                              "resulting value was: " +
                                  computing::to_text(e));
            all.emplace_back(e.as_document());
            if (auto good = check_document(all.back()); !good)
                return std::move(good).error();
        }
        return all;
    }

private:
    expression by_;
};

// ---- What only the host knows ----

class host_stage final : public stage {
public:
    host_stage(std::string_view name, bson::view spec) : name_{name}, spec_{spec} {}
    result<documents> run(documents, runner& with) const override
    {
        if (name_ == "$listLocalSessions")
            return with.host.local_sessions();
        if (name_ == "$currentOp")
            return with.host.current_operations();
        if (name_ == "$collStats")
            return with.host.collection_stats(spec_);
        return with.host.index_stats();
    }

private:
    std::string name_;
    bson::document spec_;
};

/// The stage that stands for $out and $merge, which the aggregate command performs.
class pass_stage final : public stage {
public:
    result<documents> run(documents in, runner&) const override { return in; }
};

struct target {
    std::string database;
    std::string collection;
};

/// "name" or {db: "name", coll: "name"}.
result<target> read_target(const bson::element& from, std::string_view stage)
{
    const std::string name{stage};
    target made;
    if (from.type() == bson::type::string) {
        made.collection = from.as_string();
    } else {
        for (const bson::element& e : from.as_document()) {
            const bool known = e.key() == "db" || e.key() == "coll";
            if (!known)
                return refuse(server_code::unknown_field, "BSON field '" + name + "." +
                                                              std::string{e.key()} +
                                                              "' is an unknown field.");
            if (e.type() != bson::type::string)
                return refuse(server_code::type_mismatch,
                              "BSON field '" + name + "." + std::string{e.key()} +
                                  "' is the wrong type '" + computing::type_text(e) +
                                  "', expected type 'string'");
            (e.key() == "db" ? made.database : made.collection) = e.as_string();
        }
    }
    const bool bad = made.collection.empty() || made.collection.starts_with('.') ||
                     made.collection.find('\0') != std::string::npos ||
                     made.collection.find('$') != std::string::npos;
    if (bad || made.database.find_first_of(std::string_view{"\0/\\. \"$", 7}) != std::string::npos)
        return refuse(server_code::invalid_namespace,
                      "Invalid " + name + " target namespace, '" + made.collection + "'");
    return made;
}

// ---- $merge ----

result<void> read_merge_on(const bson::element& e, merge_stage& to)
{
    to.on.clear();
    if (e.type() == bson::type::string) {
        to.on.emplace_back(e.as_string());
        return {};
    }
    if (e.type() != bson::type::array)
        return refuse(51186,
                      "$merge 'on' field  must be either a string or an array of strings, "
                      "but found " +
                          computing::type_text(e));
    for (const bson::element& field : e.as_array()) {
        if (field.type() != bson::type::string)
            return refuse(51134, "$merge 'on' array elements must be strings, but found " +
                                     computing::type_text(field));
        to.on.emplace_back(field.as_string());
    }
    if (to.on.empty())
        return refuse(51187,
                      "If explicitly specifying $merge 'on', must include at least one "
                      "field");
    return {};
}

result<void> read_when_matched(const bson::element& e, merge_stage& to)
{
    if (e.type() == bson::type::array) {
        to.when_matched = "pipeline";
        to.pipeline = bson::document{e.as_array().as_document()};
        return {};
    }
    if (e.type() != bson::type::string)
        return refuse(51191,
                      "$merge 'whenMatched' field  must be either a string or an array, but "
                      "found " +
                          computing::type_text(e));
    for (const std::string_view known : {"replace", "keepExisting", "merge", "fail"}) {
        if (e.as_string() == known) {
            to.when_matched = known;
            return {};
        }
    }
    return refuse(server_code::bad_value, "Enumeration value '" + std::string{e.as_string()} +
                                              "' for field 'whenMatched' is not a valid value.");
}

result<void> read_when_not_matched(const bson::element& e, merge_stage& to)
{
    if (e.type() != bson::type::string)
        return refuse(server_code::type_mismatch,
                      "BSON field '$merge.whenNotMatched' is the wrong type '" +
                          computing::type_text(e) + "', expected type 'string'");
    for (const std::string_view known : {"insert", "discard", "fail"}) {
        if (e.as_string() == known) {
            to.when_not_matched = known;
            return {};
        }
    }
    return refuse(server_code::bad_value, "Enumeration value '" + std::string{e.as_string()} +
                                              "' for field 'whenNotMatched' is not a valid value.");
}

result<bool> read_merge_field(const bson::element& e, merge_stage& to)
{
    result<void> done;
    if (e.key() == "into") {
        if (e.type() != bson::type::string && e.type() != bson::type::document)
            return refuse(51178,
                          "$merge 'into' field  must be either a string or an object, but "
                          "found " +
                              computing::type_text(e));
        auto into = read_target(e, "$merge");
        if (!into)
            return std::move(into).error();
        to.database = std::move(into->database);
        to.collection = std::move(into->collection);
    } else if (e.key() == "on") {
        done = read_merge_on(e, to);
    } else if (e.key() == "let") {
        if (e.type() != bson::type::document)
            return refuse(server_code::type_mismatch, "$merge 'let' must be an object");
        to.let = bson::document{e.as_document()};
    } else if (e.key() == "whenMatched") {
        done = read_when_matched(e, to);
    } else if (e.key() == "whenNotMatched") {
        done = read_when_not_matched(e, to);
    } else {
        return false;
    }
    if (!done)
        return std::move(done).error();
    return true;
}

}  // namespace

result<stage_ptr> make_documents(const bson::element& spec, const surroundings& in, stage_list&)
{
    auto by = expression::compile(spec, in.by, in.context);
    if (!by)
        return std::move(by).error();
    return std::make_unique<documents_stage>(*std::move(by));
}

result<stage_ptr> make_host_source(const bson::element& spec, const surroundings&, stage_list&)
{
    const std::string name{spec.key()};
    const bool object = spec.type() == bson::type::document;
    if (name == "$indexStats" && (!object || !spec.as_document().empty()))
        return refuse(28803, "The $indexStats stage specification must be an empty object");
    if (name == "$collStats" && !object)
        return refuse(5447000, "$collStats must take a nested object but found: " +
                                   computing::type_text(spec));
    if (!object)
        return refuse(name == "$currentOp" ? server_code::failed_to_parse
                                           : server_code::type_mismatch,
                      name + " options must be specified in an object, but found: " +
                          computing::type_text(spec));
    return std::make_unique<host_stage>(name, spec.as_document());
}

result<stage_ptr> make_out(const bson::element& spec, const surroundings&, stage_list& list)
{
    if (spec.type() != bson::type::string && spec.type() != bson::type::document)
        return refuse(16990, "$out only supports a string or object argument, but found " +
                                 computing::type_text(spec));
    if (spec.type() == bson::type::document &&
        (!spec.as_document().find("db") || !spec.as_document().find("coll")))
        return refuse(server_code::missing_field,
                      "BSON field '$out." +
                          std::string{spec.as_document().find("db") ? "coll" : "db"} +
                          "' is missing but a required field");
    auto to = read_target(spec, "$out");
    if (!to)
        return std::move(to).error();
    list.out = out_stage{std::move(to->database), std::move(to->collection)};
    return std::make_unique<pass_stage>();
}

result<stage_ptr> make_merge(const bson::element& spec, const surroundings&, stage_list& list)
{
    if (spec.type() != bson::type::string && spec.type() != bson::type::document)
        return refuse(51182, "$merge only supports a string or object argument, but found " +
                                 computing::type_text(spec));
    merge_stage made;
    made.on.emplace_back("_id");
    if (spec.type() == bson::type::string) {
        auto to = read_target(spec, "$merge");
        if (!to)
            return std::move(to).error();
        made.collection = std::move(to->collection);
    } else {
        for (const bson::element& e : spec.as_document()) {
            const auto known = read_merge_field(e, made);
            if (!known)
                return known.error();
            if (!*known)
                return refuse(server_code::unknown_field, "BSON field '$merge." +
                                                              std::string{e.key()} +
                                                              "' is an unknown field.");
        }
        if (made.collection.empty())
            return refuse(server_code::missing_field,
                          "BSON field '$merge.into' is missing but a required field");
    }
    if (!made.let.empty() && made.when_matched != "pipeline")
        return refuse(51199, "Cannot use 'let' variables with 'whenMatched: " + made.when_matched +
                                 "' mode");
    list.merge = std::move(made);
    return std::make_unique<pass_stage>();
}

}  // namespace holdfast::lab::staging
