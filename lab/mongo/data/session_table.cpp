#include "lab/mongo/data/session_table.hpp"

#include "core/bson/base64.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/option_reader.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::lab::mongo {
namespace {

constexpr int invalid_uuid = 207;

std::string text_of(const session_key& session)
{
    std::string user(bson::base64_size(session.user.size()), '=');
    bson::encode_base64(session.user, user.data());
    return bson::uuid{session.id}.to_string() + " - " + user + " -  - ";
}

error missing(std::string_view field)
{
    return refuse(server_code::missing_field,
                  "BSON field '" + std::string{field} + "' is missing but a required field");
}

result<void> read_bytes(const bson::element& e, bson::binary_subtype subtype,
                        std::span<std::uint8_t> to)
{
    if (e.type() != bson::type::binary)
        return wrong_type("lsid." + std::string{e.key()}, e, "binData");
    const bson::binary value = e.as_binary();
    if (value.subtype != subtype || value.bytes.size() != to.size()) {
        if (subtype == bson::binary_subtype::uuid)
            return refuse(invalid_uuid,
                          "uuid must be a 16-byte binary field with UUID (4) subtype");
        return refuse(server_code::failed_to_parse, "lsid.uid must be a digest of 32 bytes");
    }
    std::memcpy(to.data(), value.bytes.data(), to.size());
    return {};
}

}  // namespace

result<const executed_statement*> session_table::check(const statement_id& what) const
{
    const executed_statement* const go_on = nullptr;
    const auto found = sessions_.find(what.session);
    if (off_ || found == sessions_.end() || what.txn_number > found->second.txn_number)
        return go_on;
    const entry& known = found->second;
    if (what.txn_number < known.txn_number)
        return refuse(server_code::transaction_too_old,
                      "Retryable write with txnNumber " + std::to_string(what.txn_number) +
                          " is prohibited on session " + text_of(what.session) +
                          " because a newer retryable write with txnNumber " +
                          std::to_string(known.txn_number) +
                          " has already started on this session.");
    const auto done = known.statements.find(what.statement);
    return done == known.statements.end() ? go_on : &done->second;
}

void session_table::begin(const session_key& session, std::int64_t txn_number)
{
    if (off_)
        return;
    entry& known = sessions_[session];
    if (txn_number <= known.txn_number)
        return;
    known.txn_number = txn_number;
    known.newest = std::max(known.newest, newest_);
    known.statements.clear();
    if (sessions_.size() > limit)
        forget_oldest_half();
}

void session_table::record(const session_key& session, std::int64_t txn_number,
                           executed_statement what)
{
    if (off_)
        return;
    entry& known = sessions_[session];
    if (txn_number < known.txn_number)
        return;
    known.newest = std::max(known.newest, what.at);
    newest_ = std::max(newest_, what.at);
    auto& statements = known.statements;
    if (txn_number > known.txn_number && !statements.empty()) {
        // Most commands have one statement: its place serves the next one.
        auto place = statements.extract(statements.begin());
        statements.clear();
        place.key() = what.statement;
        place.mapped() = std::move(what);
        statements.insert(std::move(place));
    } else {
        statements.insert_or_assign(what.statement, std::move(what));
    }
    known.txn_number = txn_number;
    if (sessions_.size() > limit)
        forget_oldest_half();
}

void session_table::forget_oldest_half()
{
    std::vector<optime> ages;
    ages.reserve(sessions_.size());
    for (const auto& [session, known] : sessions_)
        ages.push_back(known.newest);
    const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
    std::ranges::nth_element(ages, middle);
    std::erase_if(sessions_, [&](const auto& each) { return each.second.newest < *middle; });
    if (sessions_.size() > limit)  // they are all of one age
        sessions_.erase(sessions_.begin(), std::next(sessions_.begin(), limit / 2));
}

void session_table::forget(const session_key& session)
{
    sessions_.erase(session);
}

void session_table::clear()
{
    sessions_.clear();
}

result<session_key> read_session_key(bson::view lsid)
{
    session_key key;
    bool has_id = false;
    for (const bson::element& e : lsid) {
        if (e.malformed())
            return refuse(server_code::failed_to_parse, "invalid BSON in lsid");
        result<void> fine;
        if (e.key() == "id") {
            fine = read_bytes(e, bson::binary_subtype::uuid, key.id);
            has_id = true;
        } else if (e.key() == "uid") {
            fine = read_bytes(e, bson::binary_subtype::generic, key.user);
        } else {
            fine = refuse(server_code::unknown_field, "BSON field 'OperationSessionInfo.lsid." +
                                                          std::string{e.key()} +
                                                          "' is an unknown field.");
        }
        if (!fine)
            return std::move(fine).error();
    }
    if (!has_id)
        return missing("OperationSessionInfo.lsid.id");
    return key;
}

}  // namespace holdfast::lab::mongo
