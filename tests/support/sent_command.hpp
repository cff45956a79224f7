#pragma once
#include "core/mongo/error/server_error.hpp"
#include "core/mongo/operation/bulk.hpp"
#include "core/mongo/wire/message.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/mongo/error.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What tests of many writes have in common: a server that is not there.
namespace holdfast::proof {

/// 000000000000000000000001, 000000000000000000000002, ...
class counted_ids final : public core::mongo::id_source {
public:
    bson::object_id next() override
    {
        bson::object_id made;
        made.bytes[11] = ++given;
        return made;
    }
    std::uint8_t given = 0;
};

inline core::mongo::operation_space space_of(std::string database, std::string collection)
{
    core::mongo::operation_space made;
    made.database = std::move(database);
    made.collection = std::move(collection);
    return made;
}

/// A connection that allows so much; what is left out is as servers have it.
struct allows {
    std::int32_t writes = 100'000;
    std::int32_t document = 16 * 1024 * 1024;
    std::int32_t message = 48'000'000;
};

/// A command as it would go out.
struct sent_message {
    std::vector<std::uint8_t> bytes;
    bson::document body;
    bool eligible = false;  // for a transaction number
    std::map<std::string, std::vector<bson::document>, std::less<>> sequences;

    std::string in(std::string_view sequence) const
    {
        std::string text;
        const auto found = sequences.find(sequence);
        if (found == sequences.end())
            return text;
        for (const bson::document& one : found->second)
            text += (text.empty() ? "" : " ") + bson::to_json(one).value();
        return text;
    }
    std::size_t count(std::string_view sequence) const
    {
        const auto found = sequences.find(sequence);
        return found == sequences.end() ? 0 : found->second.size();
    }
};

inline result<sent_message> send(const core::mongo::command& what, allows limit = {})
{
    core::mongo::connection_description limits;
    limits.max_write_batch_size = limit.writes;
    limits.max_bson_object_size = limit.document;
    limits.max_message_size = limit.message;
    sent_message sent;
    sent.eligible = what.load != nullptr ? what.load->is_eligible(limits) : what.eligible;
    bson::byte_buffer bytes;
    core::mongo::message_builder out{bytes, request_id{1}};
    out.command().merge(what.body.view()).add("$db", what.database);
    if (what.load != nullptr) {
        if (auto loaded = what.load->write(out, limits); !loaded)
            return std::move(loaded).error();
    }
    const auto whole = out.finish().value();
    sent.bytes.assign(whole.begin(), whole.end());
    const auto read = core::mongo::parse_message(sent.bytes).value();
    sent.body = bson::document{read.body};
    for (const core::mongo::message_sequence one : read.sequences) {
        auto& documents = sent.sequences[std::string{one.identifier}];
        for (const bson::view document : one)
            documents.emplace_back(document);
    }
    return sent;
}

/// The error by which the executor reports a write concern that was not met.
inline error failed_with(std::string_view reply)
{
    const bson::document said = json(reply);
    return core::mongo::make_server_error(said.view())
        .with_detail(std::make_shared<holdfast::mongo::server_failure>(said.view()));
}

inline const holdfast::mongo::write_failure& failure_in(const error& why)
{
    const auto* found = dynamic_cast<const holdfast::mongo::write_failure*>(why.detail());
    if (found == nullptr)
        throw std::logic_error{"no write_failure in: " + why.explain()};
    return *found;
}

}  // namespace holdfast::proof
