#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/mongo/settings/concern.hpp"
#include "core/mongo/settings/read_preference.hpp"
#include "holdfast/mongo/concern.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace holdfast::core::mongo {

/// A collection, or a database if it has no name, with the defaults of its operations.
struct operation_space {
    std::string database = {};
    std::string collection = {};
    mongo::read_concern read_concern = {};
    mongo::write_concern write_concern = {};
    mongo::read_preference read_preference = {};
    std::optional<std::chrono::milliseconds> timeout = {};

    std::string full_name() const { return database + '.' + collection; }
};

/// From the public types to those of the core; an error names the option that is wrong.
result<mongo::write_concern> own(const holdfast::mongo::write_concern& given);
mongo::read_concern own(const holdfast::mongo::read_concern& given);
result<mongo::read_preference> own(const holdfast::mongo::read_preference& given);

/// `space` with the defaults that were given.
result<operation_space> with(operation_space space, const holdfast::mongo::defaults& given);

/// Adds the write concern of an operation, or that of its space, to a command; nothing if both
/// leave it to the server. Sets `acknowledged`.
result<void> put_write_concern(bson::builder& out, command& to, const operation_space& space,
                               const std::optional<holdfast::mongo::write_concern>& given);

/// Makes `to` a read of `space`, with the concern and preference of the operation, if it has any.
result<void> make_read(command& to, const operation_space& space,
                       const std::optional<holdfast::mongo::read_concern>& concern,
                       const std::optional<holdfast::mongo::read_preference>& preference);

}  // namespace holdfast::core::mongo
