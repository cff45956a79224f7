#include "tools/holdfast/drill/mongo/outcome.hpp"

#include "holdfast/mongo/error.hpp"

#include <string_view>

namespace holdfast::drill {

fate fate_of(const error& cause) noexcept
{
    if (mongo::may_have_been_applied(cause))
        return fate::unclear;
    const mongo::write_failure* const writes = mongo::write_failure_of(cause);
    if (!writes)
        return fate::failed;
    // Some of it was done, or done less safely than was asked for.
    const auto& partly = writes->partial_result;
    const bool some = partly && partly->inserted_count + partly->matched_count +
                                        partly->modified_count + partly->deleted_count +
                                        partly->upserted_count >
                                    0;
    return some || !writes->write_concern_errors.empty() ? fate::unclear : fate::failed;
}

void note_parts(operation& one, const error& cause)
{
    const mongo::write_failure* const writes = mongo::write_failure_of(cause);
    if (!writes || !writes->partial_result || !writes->write_concern_errors.empty())
        return;
    const mongo::bulk_write_result& done = *writes->partial_result;
    const fate rest = mongo::may_have_been_applied(cause) ? fate::unclear : fate::failed;
    const auto asked = static_cast<std::int64_t>(one.inserted.size());
    if (done.inserted_count == asked && asked > 0)
        one.end_of_inserts = fate::acknowledged;
    else if (done.inserted_count == 0)
        one.end_of_inserts = rest;
    if (one.signature && done.matched_count + done.upserted_count == 0)
        one.end_of_signature = rest;
}

void note_count(operation& one, const std::optional<bson::document>& after)
{
    if (after)
        one.reported_count = after->get<std::int64_t>("n").value_or(-1);
}

void note_deletion(operation& one, std::int64_t deleted, bool repeated)
{
    one.found_nothing = deleted == 0 && !repeated;
}

std::string reason_of(const error& cause)
{
    std::string made{mongo::name_of(mongo::kind_of(cause))};
    const std::string_view code = mongo::server_code_name(cause);
    if (!code.empty())
        made.append(": ").append(code);
    else if (const auto number = mongo::server_code(cause); number)
        made.append(": ").append(std::to_string(*number));
    return made;
}

}  // namespace holdfast::drill
