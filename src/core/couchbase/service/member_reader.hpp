#pragma once
#include "holdfast/error.hpp"
#include "holdfast/json/codec.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace holdfast::core::couchbase {

/// Goes through the members of a JSON object without a tree of it: what a service reports may be
/// nested as deeply as its plans. What is not asked for is passed over.
///
///     member_reader members{text};
///     while (members.next())
///         if (members.is("requestID"))
///             members.read(id);
class member_reader {
public:
    explicit member_reader(std::string_view object) : in_{object} { good_ = in_.enter('{'); }

    /// The next member; false at the end, and where the text is malformed.
    bool next()
    {
        std::string_view key;  // valid until the next one is read, which may be in the value
        good_ = good_ && in_.more('}') && in_.read_key(key);
        name_.assign(key);
        return good_ = good_ && in_.skip(value_);
    }
    bool is(std::string_view name) const noexcept { return name_ == name; }
    std::string_view name() const noexcept { return name_; }
    std::string_view value() const noexcept { return value_; }  // as it is written
    json::kind kind() const noexcept { return json::kind_of(value_.front()); }

    /// The value, if it is one of that type; else `to` stays as it was.
    template <class T>
    void read(T& to) const
    {
        json::reader in{value_};
        T found{};
        if (json::read_value(in, found))
            to = std::move(found);
    }

private:
    json::reader in_;
    bool good_ = false;
    std::string name_;
    std::string_view value_;
};

/// The same for the elements of an array.
class element_reader {
public:
    explicit element_reader(std::string_view array) : in_{array} { good_ = in_.enter('['); }

    bool next()
    {
        good_ = good_ && in_.more(']') && in_.skip(value_);
        return good_;
    }
    std::string_view value() const noexcept { return value_; }

private:
    json::reader in_;
    bool good_ = false;
    std::string_view value_;
};

}  // namespace holdfast::core::couchbase
