#include "holdfast/bson/json.hpp"
#include "lab/mongo/command/writer.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/field_error.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace holdfast::lab::mongo {

namespace {

bool obeys(bson::view rule, bson::view document, const std::optional<collation>& by)
{
    const expression_context context;
    auto compiled = matcher::compile(rule, by, context);
    if (!compiled)
        return false;
    const auto matched = compiled->matches(document);
    return matched && *matched;
}

// {$jsonSchema: {...}}: which of its keywords, each on its own, the document does not satisfy.
void explain_schema(bson::builder& details, bson::view schema, bson::view document)
{
    details.add("operatorName", "$jsonSchema");
    auto rules = details.array("schemaRulesNotSatisfied");
    for (const bson::element& keyword : schema) {
        if (!keyword ||
            obeys(bson::doc("$jsonSchema", bson::object(keyword.key(), keyword)), document, {}))
            continue;
        auto rule = rules.document();
        rule.add("operatorName", keyword.key());
        rule.add("specifiedAs", bson::object(keyword.key(), keyword));
        if (keyword.key() != "required" || keyword.type() != bson::type::array)
            continue;
        auto missing = rule.array("missingProperties");
        for (const bson::element& name : keyword.as_array()) {
            if (name.type() == bson::type::string && !document.find(name.as_string()))
                missing.copy(name);
        }
    }
}

void explain_clause(bson::builder& details, const bson::element& clause, bson::view document)
{
    if (clause.key() == "$jsonSchema" && clause.type() == bson::type::document)
        return explain_schema(details, clause.as_document(), document);
    std::string_view name = clause.key();
    if (!name.starts_with('$')) {
        name = "$eq";
        if (clause.type() == bson::type::document && !clause.as_document().empty() &&
            clause.as_document().begin()->key().starts_with('$'))
            name = clause.as_document().begin()->key();
    }
    details.add("operatorName", name);
    details.add("specifiedAs", bson::object(clause.key(), clause));
    if (clause.key().starts_with('$'))
        return;
    const bson::element found = document.find_path(clause.key());
    if (!found) {
        details.add("reason", "field was missing");
        return;
    }
    details.add("reason", name == "$type" ? "type did not match" : "comparison failed");
    details.add("consideredValue", found);
    if (name == "$type")
        details.add("consideredType", type_name(found.type()));
}

error failed(const collection& of, bson::view document)
{
    bson::byte_buffer bytes;
    bson::builder info{bytes};
    if (const bson::element id = document.find("_id"))
        info.copy("failingDocumentId", id);
    {
        const bson::view rules = of.options().validator;
        auto details = info.document("details");
        if (++rules.begin() == rules.end()) {
            explain_clause(details, *rules.begin(), document);
        } else {
            details.add("operatorName", "$and");
            auto clauses = details.array("clausesNotSatisfied");
            int index = 0;
            for (const bson::element& clause : rules) {
                const int here = index++;
                if (!clause || obeys(bson::doc(clause.key(), clause), document, of.options().order))
                    continue;
                auto one = clauses.document();
                one.add("index", here);
                auto inner = one.document("details");
                explain_clause(inner, clause, document);
            }
        }
    }
    auto why = refuse(server_code::document_validation_failure, "Document failed validation");
    if (auto made = info.finish()) {
        if (auto text = bson::to_json(*made, bson::json_mode::canonical))
            return std::move(why).with_context("errInfo", *std::move(text));
    }
    return why;
}

// A DBRef has a $ref, then an $id, and then perhaps a $db.
bool may_follow(std::string_view name, std::string_view before) noexcept
{
    return name == "$ref" || (name == "$id" && before == "$ref") ||
           (name == "$db" && before == "$id");
}

result<void> check_names_in(const bson::element& of, std::string& path, int depth)
{
    if (of.type() != bson::type::document && of.type() != bson::type::array)
        return {};
    if (depth > bson::max_depth)
        return refuse(server_code::overflow, "the document is nested too deeply");
    std::string_view before;
    const std::size_t length = path.size();
    for (const bson::element& e : of.as_document()) {
        path.append(1, '.').append(e.key());
        if (e.key().starts_with('$') && !may_follow(e.key(), before)) {
            return refuse(server_code::dollar_prefixed_field_name,
                          "The dollar ($) prefixed field '" + std::string{e.key()} + "' in '" +
                              path + "' is not valid for storage.");
        }
        if (auto fine = check_names_in(e, path, depth + 1); !fine)
            return fine;
        path.resize(length);
        before = e.key();
    }
    return {};
}

}  // namespace

result<void> check_names(bson::view after, bson::view before)
{
    for (const bson::element& e : after) {
        if (e.key().starts_with('$')) {
            return refuse(server_code::dollar_prefixed_field_name,
                          "The dollar ($) prefixed field '" + std::string{e.key()} + "' in '" +
                              std::string{e.key()} + "' is not valid for storage.");
        }
        const bson::element was = before.find(e.key());
        if (was && std::ranges::equal(was.bytes(), e.bytes()))
            continue;
        std::string path{e.key()};
        if (auto fine = check_names_in(e, path, 1); !fine)
            return fine;
    }
    return {};
}

result<void> check_validator(const collection& of, bson::view after, const bson::view* before)
{
    const collection_options& options = of.options();
    if (options.validation_level == "off" || options.validation_action == "warn")
        return {};
    const expression_context context;
    auto rules = matcher::compile(options.validator, options.order, context);
    if (!rules)
        return std::move(rules).error();
    auto fine = rules->matches(after);
    if (!fine)
        return std::move(fine).error();
    if (*fine)
        return {};
    // What was invalid before may stay so under the moderate level.
    if (before && options.validation_level == "moderate") {
        if (const auto was = rules->matches(*before); was && !*was)
            return {};
    }
    return failed(of, after);
}

}  // namespace holdfast::lab::mongo
