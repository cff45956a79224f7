#include "lab/mongo/update/whole.hpp"

#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/validate.hpp"
#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/update/id_text.hpp"
#include "lab/mongo/update/rewriter.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <string>
#include <utility>

namespace holdfast::lab::updating {
namespace {

using status = result<void>;

error dollar_field(std::string_view name, std::string_view path)
{
    return refuse(server_code::dollar_prefixed_field_name,
                  "The dollar ($) prefixed field '" + std::string{name} + "' in '" +
                      std::string{path} +
                      "' is not allowed in the context of an update's replacement document. "
                      "Consider using an aggregation pipeline with $replaceWith.");
}

/// An update's pipeline has no database to ask: its stages only know their document.
class no_host final : public pipeline_host {
public:
    result<documents> read(std::string_view, std::string_view) override { return documents{}; }
    documents local_sessions() override { return {}; }
    documents current_operations() override { return {}; }
    documents collection_stats(bson::view) override { return {}; }
    documents index_stats() override { return {}; }
};

status check_stage(const bson::element& stage, const std::optional<collation>& by,
                   const expression_context& context)
{
    constexpr std::array<std::string_view, 6> allowed = {
        "$set", "$addFields", "$unset", "$project", "$replaceWith", "$replaceRoot"};
    if (stage.type() != bson::type::document)
        return refuse(server_code::type_mismatch,
                      "Each element of the 'pipeline' array must be an object");
    const bson::view spec = stage.as_document();
    if (spec.empty() || ++spec.begin() != spec.end())
        return refuse(40323,
                      "A pipeline stage specification object must contain exactly one field.");
    const std::string_view name = spec.begin()->key();
    if (std::ranges::find(allowed, name) != allowed.end())
        return {};
    // A stage that does not exist at all is another error, and the pipeline knows which do.
    const auto alone = bson::arr(spec);
    const auto compiled = pipeline::compile(alone, true, by, context);
    if (!compiled &&
        compiled.error().code().value() == static_cast<int>(server_code::unrecognized_stage))
        return compiled.error();
    return refuse(server_code::invalid_options,
                  std::string{name} + " is not allowed to be used within an update");
}

error matched_twice(const std::list<operation>& all, std::string_view path)
{
    constexpr int not_single_value_field = 54;
    for (const operation& other : all) {
        const std::string_view shorter = std::min(
            other.path, path, [](auto a, auto b) { return a.size() < b.size(); });
        const std::string_view longer = shorter.data() == path.data() ? other.path : path;
        if (&other == &all.back() || !longer.starts_with(shorter))
            continue;
        if (longer.size() > shorter.size() && longer[shorter.size()] == '.')
            return refuse(not_single_value_field, "cannot infer query fields to set, both paths '" +
                                                      std::string{other.path} + "' and '" +
                                                      std::string{path} + "' are matched");
    }
    return refuse(not_single_value_field, "cannot infer query fields to set, path '" +
                                              std::string{path} + "' is matched twice");
}

status check_id(const bson::element& id)
{
    if (id.type() == bson::type::array || id.type() == bson::type::regex ||
        id.type() == bson::type::undefined)
        return refuse(server_code::invalid_id_field,
                      "The '_id' value cannot be of type " + std::string{type_name(id.type())});
    if (id.type() != bson::type::document)
        return {};
    for (const bson::element& e : id.as_document()) {
        if (e.key().starts_with('$'))
            return refuse(server_code::dollar_prefixed_field_name,
                          "_id fields may not contain '$'-prefixed fields: " +
                              std::string{e.key()} + " is not valid for storage.");
    }
    return {};
}

/// All fields but _id, in runs.
void write_rest(writer& out, bson::view from, const bson::element& id)
{
    const std::uint8_t* const begin = from.data() + 4;
    const std::uint8_t* const end = from.data() + from.size() - 1;
    if (!id)
        return out.raw(begin, static_cast<std::size_t>(end - begin));
    const std::uint8_t* const after = id.data() + id.bytes().size();
    out.raw(begin, static_cast<std::size_t>(id.data() - begin));
    out.raw(after, static_cast<std::size_t>(end - after));
}

/// Gives timestamps of zero at the top their time, in place.
void fill_timestamps(bson::byte_buffer& bytes, bson::timestamp now)
{
    if (now == bson::timestamp{})
        return;
    for (const bson::element& e : bson::view::trusted(bytes.data())) {
        if (e.type() != bson::type::timestamp || e.key() == "_id" ||
            e.as_timestamp() != bson::timestamp{})
            continue;
        const std::uint64_t value = std::uint64_t{now.seconds} << 32 | now.increment;
        std::memcpy(bytes.data() + (e.value_bytes().data() - bytes.data()), &value, sizeof value);
    }
}

}  // namespace

status check_bytes(bson::view sent, int depth)
{
    const auto valid = bson::validate(
        sent.bytes(), {.utf8 = false, .depth = depth, .size = bson::max_document_size});
    if (valid)
        return {};
    if (valid.error().code() == bson::errc::too_deep)
        return refuse(server_code::overflow, "The update exceeds the maximum nesting depth of " +
                                                 std::to_string(bson::max_depth));
    return malformed_document();
}

status check_replacement(bson::view replacement)
{
    for (const bson::element& e : replacement) {
        if (e.key().starts_with('$'))
            return dollar_field(e.key(), e.key());
    }
    return {};
}

result<bson::document> replace(bson::view before, bson::view next, bson::timestamp now)
{
    const bson::element old_id = before.find("_id");
    const bson::element new_id = next.find("_id");
    if (old_id.malformed() || new_id.malformed())
        return malformed_document();
    if (old_id && new_id && !equal(old_id, new_id))
        return refuse(server_code::immutable_field,
                      "After applying the update, the (immutable) field '_id' was found to have "
                      "been altered to " +
                          shell_text_of(new_id));
    bson::byte_buffer bytes;
    bytes.reserve(next.size() + (old_id ? old_id.bytes().size() : 0));
    writer out{bytes};
    const std::size_t start = out.open();
    if (const bson::element& id = old_id ? old_id : new_id)
        out.copy("_id", id);
    write_rest(out, next, new_id);
    out.close(start);
    fill_timestamps(bytes, now);
    if (bytes.size() > max_stored_size)
        return refuse(17419, "Resulting document after update is larger than " +
                                 std::to_string(max_stored_size));
    return bson::document::adopt(std::move(bytes));
}

result<pipeline> compile_stages(bson::array_view stages, const std::optional<collation>& by,
                                const expression_context& context)
{
    for (const bson::element& stage : stages) {
        if (auto fine = check_stage(stage, by, context); !fine)
            return std::move(fine).error();
    }
    return pipeline::compile(stages, true, by, context);
}

result<bson::document> run_stages(const pipeline& stages, bson::view document)
{
    no_host host;
    documents input;
    input.emplace_back(document);
    auto made = stages.run(std::move(input), host);
    if (!made)
        return std::move(made).error();
    if (made->size() != 1)
        return refuse(server_code::internal_error,
                      "An update pipeline did not make exactly one document");
    if (auto fine = check_bytes(made->front(), bson::max_depth); !fine)
        return std::move(fine).error();
    return std::move(made->front());
}

result<bson::document> from_equalities(bson::view equalities, bool only_id)
{
    std::list<operation> all;
    tree paths;
    for (const bson::element& e : equalities) {
        if (e.malformed())
            return malformed_document();
        if (only_id && e.key() != "_id" && !e.key().starts_with("_id."))
            continue;
        if (split(e.key()).size() + depth_of(e) > max_path_parts)
            return refuse(server_code::overflow, "Document exceeds the maximum nesting depth of " +
                                                     std::to_string(max_path_parts));
        operation& made = all.emplace_back();
        made.path = e.key();
        made.operand = e;
        if (paths.add(made, false))
            return matched_twice(all, made.path);
    }
    bson::byte_buffer bytes;
    if (auto made = rewriter{bytes, {}, {}}.create(paths.finish()); !made)
        return std::move(made).error();
    return bson::document::adopt(std::move(bytes));
}

result<bson::document> ready_to_insert(bson::document made)
{
    const bson::element id = made.find("_id");
    if (auto fine = check_id(id); !fine)
        return std::move(fine).error();
    if (made.size() > max_stored_size)
        return refuse(17420,
                      "Document to upsert is larger than " + std::to_string(max_stored_size));
    if (!id || id.data() == made.view().data() + 4)
        return made;
    bson::byte_buffer bytes;
    bytes.reserve(made.size());
    writer out{bytes};
    const std::size_t start = out.open();
    out.copy("_id", id);
    write_rest(out, made, id);
    out.close(start);
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::lab::updating
