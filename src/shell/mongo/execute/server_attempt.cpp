#include "shell/mongo/execute/server_attempt.hpp"

#include "shell/mongo/execute/pinned_connection.hpp"

#include <memory>

namespace holdfast::shell::mongo {

namespace {

bool has_open_cursor(bson::view reply)
{
    const bson::element cursor = reply.find("cursor");
    if (cursor.type() != bson::type::document)
        return false;
    const bson::element id = cursor.as_document().find("id");
    return id.type() == bson::type::int64 && id.as_int64() != 0;
}

}  // namespace

std::optional<server_attempt> take_pinned(answer_facts& facts)
{
    if (!facts.pin)
        return std::nullopt;
    const auto pin = std::exchange(facts.pin, nullptr);
    if (!pin->over->usable())
        return std::nullopt;
    std::optional<server_attempt> attempt{std::in_place, std::move(pin->on)};
    attempt->over.emplace(std::move(pin->over));
    attempt->pinned = true;
    return attempt;
}

bool keep_pinned(const command_order& order, server_attempt& attempt, bson::view reply, bool failed)
{
    answer_facts& facts = *order.facts;
    const connection& over = attempt.to();
    if (!reply.empty()) {
        facts.server = attempt.on.address();
        facts.wire_version = over.description().max_wire_version;
    }
    const bool balanced = attempt.on.topology().type == core::mongo::topology_type::load_balanced;
    if (!balanced || !order.opens_cursor)
        return false;
    const bool stays = failed ? attempt.pinned && !over.owes_reply()
                              : has_open_cursor(reply) && over.usable();
    if (!stays)
        return false;
    facts.pin = std::make_shared<pinned_connection>(std::move(attempt.on),
                                                    *std::move(attempt.over));
    return true;
}

}  // namespace holdfast::shell::mongo
