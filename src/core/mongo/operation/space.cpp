#include "core/mongo/operation/space.hpp"

#include "core/mongo/operation/draft.hpp"
#include "holdfast/bson/builder.hpp"

#include <string_view>
#include <utility>

namespace holdfast::core::mongo {

namespace {

read_mode own(holdfast::mongo::read_mode given) noexcept
{
    switch (given) {
    case holdfast::mongo::read_mode::primary:
        return read_mode::primary;
    case holdfast::mongo::read_mode::primary_preferred:
        return read_mode::primary_preferred;
    case holdfast::mongo::read_mode::secondary:
        return read_mode::secondary;
    case holdfast::mongo::read_mode::secondary_preferred:
        return read_mode::secondary_preferred;
    case holdfast::mongo::read_mode::nearest:
        return read_mode::nearest;
    }
    return read_mode::primary;
}

result<tag_set> tags_in(const bson::element& given)
{
    constexpr std::string_view wanted = "each tag set is a document of strings: {\"dc\": \"ny\"}";
    if (given.type() != bson::type::document)
        return refused("tag_sets", wanted);
    tag_set tags;
    for (const bson::element& tag : given.as_document()) {
        if (tag.type() != bson::type::string)
            return refused("tag_sets", wanted);
        tags.insert_or_assign(std::string{tag.key()}, std::string{tag.as_string()});
    }
    return tags;
}

void put_write_concern(bson::builder& out, command& to, const write_concern& concern)
{
    to.acknowledged = concern.is_acknowledged();
    if (!concern.is_default())
        out.add("writeConcern", to_document(concern));
}

}  // namespace

result<mongo::write_concern> own(const holdfast::mongo::write_concern& given)
{
    if (given.w && !given.tag.empty())
        return refused("w", "give a number of members or a tag, not both");
    mongo::write_concern concern;
    if (given.w)
        concern.w = *given.w;
    else if (!given.tag.empty())
        concern.w = std::string{given.tag};
    concern.journal = given.journal;
    concern.wtimeout = given.wtimeout;
    if (auto possible = check(concern); !possible)
        return std::move(possible).error();
    return concern;
}

mongo::read_concern own(const holdfast::mongo::read_concern& given)
{
    mongo::read_concern concern;
    if (!given.level.empty())
        concern.level = std::string{given.level};
    return concern;
}

result<mongo::read_preference> own(const holdfast::mongo::read_preference& given)
{
    mongo::read_preference preference;
    preference.mode = own(given.mode);
    bool has_tags = false;
    if (given.tag_sets) {
        for (const bson::element& one : *given.tag_sets) {
            auto tags = tags_in(one);
            if (!tags)
                return std::move(tags).error();
            has_tags = has_tags || !tags->empty();
            preference.tag_sets.push_back(*std::move(tags));
        }
    }
    if (given.max_staleness && given.max_staleness->count() != -1)
        preference.max_staleness = given.max_staleness;
    if (preference.max_staleness && preference.max_staleness->count() <= 0)
        return refused("max_staleness", "a number of seconds from 90 on is expected, or none");
    if (preference.mode == read_mode::primary && has_tags)
        return refused(
            "tag_sets",
            "tags choose among secondaries, but the mode is primary; choose another mode");
    if (preference.mode == read_mode::primary && preference.max_staleness)
        return refused("max_staleness",
                       "the primary is never stale; choose another mode, or leave it out");
    return preference;
}

result<operation_space> with(operation_space space, const holdfast::mongo::defaults& given)
{
    if (given.write_concern) {
        auto concern = own(*given.write_concern);
        if (!concern)
            return std::move(concern).error();
        space.write_concern = *std::move(concern);
    }
    if (given.read_concern)
        space.read_concern = own(*given.read_concern);
    if (given.read_preference) {
        auto preference = own(*given.read_preference);
        if (!preference)
            return std::move(preference).error();
        space.read_preference = *std::move(preference);
    }
    if (given.timeout) {
        if (given.timeout->count() < 0)
            return refused("timeout", "a number of milliseconds from 0 on is expected");
        space.timeout = given.timeout;
    }
    return space;
}

result<void> put_write_concern(bson::builder& out, command& to, const operation_space& space,
                               const std::optional<holdfast::mongo::write_concern>& given)
{
    if (!given) [[likely]] {
        put_write_concern(out, to, space.write_concern);
        return {};
    }
    const auto concern = own(*given);
    if (!concern)
        return concern.error();
    put_write_concern(out, to, *concern);
    return {};
}

result<void> make_read(command& to, const operation_space& space,
                       const std::optional<holdfast::mongo::read_concern>& concern,
                       const std::optional<holdfast::mongo::read_preference>& preference)
{
    to.kind = retry_kind::read;
    to.selects = operation_kind::read;
    to.eligible = true;
    to.reads = true;
    to.read_concern = concern ? own(*concern) : space.read_concern;
    if (!preference) [[likely]] {
        to.preference = space.read_preference;
        return {};
    }
    auto chosen = own(*preference);
    if (!chosen)
        return std::move(chosen).error();
    to.preference = *std::move(chosen);
    return {};
}

}  // namespace holdfast::core::mongo
