#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace holdfast::proof {

/// The document that a test writes as JSON.
inline bson::document json(std::string_view text)
{
    auto read = bson::from_json(text);
    if (!read) {
        ADD_FAILURE() << read.error().message() << " in " << text;
        return {};
    }
    return *std::move(read);
}

}  // namespace holdfast::proof

namespace holdfast::core {
using proof::json;
}
namespace holdfast::lab {
using proof::json;
}
