#pragma once
#include <boost/json/value.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// A part of a text that searches compare: letters and digits, in lower case, and all bytes that
/// are not ASCII.
struct text_token {
    std::string text = {};
    std::size_t position = 0;  // from 1
    std::size_t begin = 0;     // bytes of the text
    std::size_t end = 0;
};
std::vector<text_token> tokens_of(std::string_view text);

/// One value of a field that is neither an object nor an array.
struct field_leaf {
    std::string field = {};  // "a.b"; arrays have no part of their own in it
    std::vector<std::size_t> array_positions = {};
    const boost::json::value* value = nullptr;
    std::vector<text_token> tokens = {};  // of a string
};

/// A document as searches see it.
class searched_document {
public:
    searched_document(std::string id, boost::json::value body);

    const std::string& id() const noexcept { return id_; }
    const std::vector<field_leaf>& leaves() const noexcept { return leaves_; }
    /// What a path without arrays leads to; null if there is nothing.
    const boost::json::value* find(std::string_view path) const;

private:
    void collect(const std::string& path, const std::vector<std::size_t>& places,
                 const boost::json::value& from);

    std::string id_;
    std::unique_ptr<const boost::json::value> body_;  // stays where it is when this is moved
    std::vector<field_leaf> leaves_;
};

}  // namespace holdfast::lab::couchbase
