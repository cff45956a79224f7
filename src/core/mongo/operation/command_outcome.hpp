#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <utility>

namespace holdfast::core::mongo {

/// The outcome of a command for the function that reads it: the reply where it lies, in the buffer
/// of the connection, or the error. Valid during the call.
class command_outcome : public result<bson::view> {
public:
    using result<bson::view>::result;
    command_outcome(result<bson::view> outcome) : result{std::move(outcome)} {}
    command_outcome(const result<bson::document>& owned) : result{in_place(owned)} {}

    /// The reply as a copy that may be kept.
    result<bson::document> to_document() &&
    {
        if (!*this)
            return std::move(*this).error();
        return bson::document{**this};
    }

private:
    static result<bson::view> in_place(const result<bson::document>& owned)
    {
        if (!owned)
            return owned.error();
        return owned->view();
    }
};

}  // namespace holdfast::core::mongo
