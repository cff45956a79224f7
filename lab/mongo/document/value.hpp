#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "lab/mongo/document/collation.hpp"

#include <string_view>

namespace holdfast::lab {

/// One BSON value that owns its bytes, or none ("missing"). What expressions compute, and what
/// indexes, sorts and groups keep. Reading goes through its element, whose key is empty.
class value {
public:
    value() = default;  // missing
    explicit value(const bson::element& from);
    explicit value(bson::view document);
    explicit value(bson::array_view array);

    /// Anything that a builder takes: of(1), of("text"), of(true), of(bson::null{}).
    template <class T>
    static value of(const T& from)
    {
        value made;
        bson::builder out{made.bytes_};
        out.add("", from);
        (void)out.finish();
        return made;
    }

    bool missing() const noexcept { return bytes_.empty(); }
    bson::element get() const noexcept;
    bson::type type() const noexcept { return get().type(); }

private:
    bson::byte_buffer bytes_;  // a document with this one field, or nothing
};

/// A value in the sense of BSON order, for sorted containers: equal to what compares equal.
struct value_less {
    const collation* by = nullptr;
    bool operator()(const value& a, const value& b) const;
};

}  // namespace holdfast::lab
