#include "core/mongo/settings/concern.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/builder.hpp"

namespace holdfast::core::mongo {

namespace {

error bad_concern(std::string_view option, std::string why)
{
    return error{errc::invalid_option, std::string{option} + ": " + std::move(why)}.with_context(
        "option", std::string{option});
}

}  // namespace

result<void> check(const write_concern& concern)
{
    const auto* members = std::get_if<std::int32_t>(&concern.w);
    const auto* mode = std::get_if<std::string>(&concern.w);
    if ((members && *members < 0) || (mode && mode->empty()))
        return bad_concern("w",
                           "a number of members from 0 on, \"majority\", or the name of a "
                           "custom write concern is expected");
    if (concern.wtimeout && concern.wtimeout->count() < 0)
        return bad_concern("wTimeoutMS", "a number of milliseconds from 0 on is expected");
    if (members && *members == 0 && concern.journal.value_or(false))
        return bad_concern("journal",
                           "true contradicts w=0, which waits for nothing; set w to 1 or more, or "
                           "journal to false");
    return {};
}

bson::document to_document(const read_concern& concern)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    if (concern.level)
        out.add("level", *concern.level);
    (void)out.finish();  // the keys are ours, and text of any length a setting can have fits
    return bson::document::adopt(std::move(bytes));
}

bson::document to_document(const write_concern& concern)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    if (const auto* members = std::get_if<std::int32_t>(&concern.w))
        out.add("w", *members);
    else if (const auto* mode = std::get_if<std::string>(&concern.w))
        out.add("w", *mode);
    if (concern.journal)
        out.add("j", *concern.journal);
    if (concern.wtimeout)
        out.add("wtimeout", std::int64_t{concern.wtimeout->count()});
    (void)out.finish();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::core::mongo
