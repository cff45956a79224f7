#include "lab/mongo/command/batch.hpp"

#include "holdfast/bson/json.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

// All messages of one reply together stay below this; what comes later is sent without words.
constexpr std::size_t most_text = 1024 * 1024;

void add_json(bson::builder& to, std::string_view key, const error& why)
{
    const std::string_view text = why.context(key);
    if (text.empty())
        return;
    if (auto read = bson::from_json(text))
        to.add(key, *read);
}

}  // namespace

statement_result statement_result::replayed(const executed_statement& before)
{
    statement_result again;
    again.retried = true;
    again.matched = 1;
    again.modified = before.kind == 'u' ? 1 : 0;
    again.upserted = before.upserted;
    again.upserted_id = before.upserted_id;
    if (before.kind == 'n')
        again.matched = 0;
    return again;
}

void write_error_fields(bson::builder& to, const error& why, bool with_message)
{
    const bool ours = why.code().category() == server_category();
    to.add("code", ours ? why.code().value() : static_cast<int>(server_code::bad_value));
    add_json(to, "keyPattern", why);
    add_json(to, "keyValue", why);
    // An array, which is kept as the document of its one field.
    if (auto encoded = bson::from_json(why.context("hexEncoded")))
        to.merge(*encoded);
    add_json(to, "collation", why);
    add_json(to, "errInfo", why);
    to.add("errmsg", with_message ? std::string_view{why.message()} : std::string_view{});
}

bool ends_command(const error& why) noexcept
{
    constexpr int codes[] = {50, 91, 189, 217, 225, 262, 10107, 11600, 11601, 11602, 13435, 13436};
    return std::ranges::find(codes, why.code().value()) != std::end(codes);
}

result<bool> batch::add(result<statement_result> outcome, std::int32_t statement)
{
    const std::int32_t index = index_++;
    if (!outcome) {
        if (ends_command(outcome.error()))
            return std::move(outcome).error();
        errors_.push_back({index, std::move(outcome).error()});
        return !ordered_;
    }
    matched_ += outcome->matched;
    modified_ += outcome->modified;
    if (outcome->upserted)
        upserted_.push_back({index, std::move(outcome->upserted_id)});
    if (outcome->retried)
        retried_.push_back(statement);
    return true;
}

void batch::write(bson::builder& reply, bool with_modified) const
{
    reply.add("n", static_cast<std::int32_t>(matched_));
    if (with_modified)
        reply.add("nModified", static_cast<std::int32_t>(modified_));
    if (!upserted_.empty()) {
        auto list = reply.array("upserted");
        for (const numbered_id& one : upserted_) {
            auto entry = list.document();
            entry.add("index", one.index).merge(one.id);
        }
    }
    if (!errors_.empty()) {
        auto list = reply.array("writeErrors");
        std::size_t text_size = 0;
        for (const numbered_error& one : errors_) {
            text_size += one.why.message().size();
            auto entry = list.document();
            entry.add("index", one.index);
            write_error_fields(entry, one.why, text_size < most_text);
        }
    }
    if (!retried_.empty()) {
        auto list = reply.array("retriedStmtIds");
        for (const std::int32_t statement : retried_)
            list.add(statement);
    }
}

result<statement_numbers> statement_numbers::read(const bson::element& first,
                                                  const bson::element& all)
{
    statement_numbers made;
    if (first && all)
        return refuse(server_code::invalid_options,
                      "May not specify both stmtId and stmtIds in write command");
    made.first_ = static_cast<std::int32_t>(as_number(first).value_or(0));
    if (all.type() != bson::type::array)
        return made;
    for (const bson::element& e : all.as_array()) {
        if (made.all_.size() > largest_batch)
            break;
        made.all_.push_back(static_cast<std::int32_t>(as_number(e).value_or(0)));
    }
    return made;
}

std::int32_t statement_numbers::at(std::int32_t index) const noexcept
{
    const auto place = static_cast<std::size_t>(index);
    if (place < all_.size())
        return all_[place];
    // Numbers that a client has chosen may run over.
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(first_) +
                                     static_cast<std::uint32_t>(index));
}

result<void> check_batch_size(const request& what, std::string_view field)
{
    std::size_t count = 0;
    auto counted = what.for_each_document(field, [&](bson::view) -> result<void> {
        ++count;
        return {};
    });
    if (!counted)
        return counted;
    if (count != 0 && count <= largest_batch)
        return {};
    return refuse(server_code::invalid_length, "Write batch sizes must be between 1 and " +
                                                   std::to_string(largest_batch) + ". Got " +
                                                   std::to_string(count) + " operations.");
}

}  // namespace holdfast::lab::mongo
