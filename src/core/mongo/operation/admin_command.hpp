#pragma once
#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/admin.hpp"
#include "core/mongo/operation/command_outcome.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// The common part of commands about databases, collections and indexes.
namespace holdfast::core::mongo {

/// A command that changes more than documents. The server carries out such a command and answers
/// it whatever its write concern says; it takes no transaction number.
class admin_change {
public:
    admin_change(std::string database, const operation_space& space,
                 std::optional<std::chrono::milliseconds> timeout)
        : space_{space}
    {
        made_.database = std::move(database);
        made_.kind = retry_kind::write;
        made_.timeout = timeout ? timeout : space.timeout;
    }

    bson::builder& body() noexcept { return body_; }

    template <class T>
    admin_change& add(std::string_view key, const std::optional<T>& value)
    {
        if (value)
            body_.add(key, *value);
        return *this;
    }
    admin_change& add_text(std::string_view key, std::string_view value)
    {
        if (!value.empty())
            body_.add(key, value);
        return *this;
    }

    result<command> finish(const std::optional<holdfast::mongo::write_concern>& concern,
                           const holdfast::mongo::any_value& comment)
    {
        comment.write(body_, "comment");
        if (auto put = put_write_concern(body_, made_, space_, concern); !put)
            return std::move(put).error();
        made_.acknowledged = true;
        if (auto written = body_.finish(); !written)
            return std::move(written).error();
        made_.body = bson::document::adopt(std::move(bytes_));
        return std::move(made_);
    }

private:
    const operation_space& space_;
    command made_;
    bson::byte_buffer bytes_;
    bson::builder body_{bytes_};
};

/// For operations whose reply holds nothing but its success.
inline result<void> read_success(command_outcome& outcome)
{
    if (!outcome)
        return std::move(outcome).error();
    return {};
}

inline error nameless(std::string_view operation)
{
    return error{errc::command_failed,
                 std::string{operation} + ": a collection needs a name that is not empty"};
}

/// A command that lists something. Such commands go to the primary, are retried, and take no read
/// concern.
inline command listing(std::string database, const operation_space& space,
                       const holdfast::mongo::list_options& options)
{
    command made;
    made.database = std::move(database);
    made.kind = retry_kind::read;
    made.selects = operation_kind::read;
    made.eligible = true;
    made.raw_data = options.raw_data;
    made.timeout = options.timeout ? options.timeout : space.timeout;
    return made;
}

/// How the rest of a list is read.
inline result<query> as_query(command first, const holdfast::mongo::list_options& options)
{
    query made{std::move(first), {}};
    made.rules.batch_size = options.batch_size.value_or(0);
    made.rules.raw_data = options.raw_data;
    if (!options.comment.empty()) {
        bson::byte_buffer bytes;
        bson::builder kept{bytes};
        options.comment.write(kept, "comment");
        if (auto written = kept.finish(); !written)
            return std::move(written).error();
        made.rules.comment = bson::document::adopt(std::move(bytes));
    }
    return made;
}

inline void put_cursor(bson::builder& body, const holdfast::mongo::list_options& options)
{
    bson::builder cursor = body.document("cursor");
    if (options.batch_size)
        cursor.add("batchSize", *options.batch_size);
}

}  // namespace holdfast::core::mongo
