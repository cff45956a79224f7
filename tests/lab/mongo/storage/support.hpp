#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/json.hpp"
#include "lab/mongo/storage/collection.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace holdfast::lab {

inline std::string text(bson::view document)
{
    return bson::to_json(document).value_or(std::string{"?"});
}

inline int code_of(const error& why)
{
    return why.code().value();
}

constexpr bson::timestamp at(std::uint32_t seconds)
{
    return {seconds, 1};
}

/// All _ids in order of insertion, "[1,2]".
inline std::string ids(const collection& in, read_time when = {})
{
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    for (auto each = in.next(0, when); each; each = in.next(each->id, when))
        out.copy(each->document.find("_id"));
    (void)out.finish();
    return bson::to_json(bson::array_view{bson::view::trusted(bytes.data())}).value_or("?");
}

inline record_id add(collection& to, std::string_view document, std::uint32_t when = 1)
{
    auto made = to.insert(json(document), at(when));
    EXPECT_TRUE(made) << document << (made ? "" : made.error().message());
    return made ? *made : 0;
}

inline void add_index(collection& to, std::string_view spec)
{
    auto read = read_index_spec(json(spec));
    ASSERT_TRUE(read) << spec << read.error().message();
    auto made = to.create_index(*std::move(read));
    ASSERT_TRUE(made) << spec << made.error().message();
}

inline collection make_collection(std::string_view options = "{}")
{
    auto read = read_collection_options(json(options));
    EXPECT_TRUE(read) << options;
    return collection{"db.c", {}, read ? *std::move(read) : collection_options{}};
}

}  // namespace holdfast::lab
