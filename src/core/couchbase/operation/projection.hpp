#pragma once
#include "holdfast/error.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::core::couchbase {

/// A step of a path: a member by its name, or an element by its number, -1 for the last.
using path_step = std::variant<std::string, std::int64_t>;

/// As deep as servers go.
inline constexpr std::size_t max_path_steps = 32;

/// "a.b[0].`c.d`" as steps; a backtick within backticks is doubled. Fails with errc::path_invalid.
result<std::vector<path_step>> parse_path(std::string_view path);

/// The value at a path of a document, or null.
const boost::json::value* find_path(const boost::json::value& in, std::span<const path_step> path);

/// A document that is put together from some of its parts. Elements of arrays move up: of "a[3]"
/// alone, an array with one element comes.
class projection {
public:
    /// Parts that contradict what is there already are dropped: "a" and "a[0]" of different kinds.
    void add(std::span<const path_step> path, boost::json::value value);
    std::string text() const;

private:
    boost::json::value root_ = boost::json::object{};
    std::map<std::string, std::size_t> places_;  // of elements, by the path that leads to them
};

}  // namespace holdfast::core::couchbase
