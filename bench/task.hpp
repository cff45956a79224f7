#pragma once
#include "holdfast/bson/view.hpp"
#include "records.hpp"
#include "tree.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// What the tasks work on: one document in all the forms that they start from.
struct input {
    std::string name;
    std::string json;
    std::vector<std::uint8_t> bytes;
    std::vector<node> tree;         // empty unless the row builds from it
    std::vector<std::string> keys;  // those that the row `lookup` asks for
};

/// One side of one row: the same work on a document, again and again.
class task {
public:
    virtual ~task() = default;

    /// Does the work once. The number depends on what was read or made, and is the same on every
    /// side; it is cheap, because it is counted with the work.
    virtual std::uint64_t once() = 0;

    /// All that the last once() has made, as BSON, to be compared byte by byte; nothing if it only
    /// reads. Not counted.
    virtual std::vector<std::uint8_t> outcome() { return {}; }
};

/// The task of a row for each side; null if a side has no such row. Here and below a row is one of
/// build, traverse, lookup, validate, json_parse, json_print, json_relaxed.
std::unique_ptr<task> make_ours(std::string_view row, const input& in);
std::unique_ptr<task> make_libbson(std::string_view row, const input& in);

/// The rows struct_write and struct_read: with the mapping, with our builder and reader by hand,
/// and with libbson by hand.
std::unique_ptr<task> make_mapped(std::string_view row, const input& in);
std::unique_ptr<task> make_by_hand(std::string_view row, const input& in);
std::unique_ptr<task> make_libbson_record(std::string_view row, const input& in);

/// Extended JSON of any flavour to BSON by one parser, libbson's, so that texts which differ in
/// their spaces can be compared.
std::vector<std::uint8_t> parse_with_libbson(std::string_view json);
std::string print_with_libbson(const std::vector<std::uint8_t>& bytes);

/// The offset of the first element that libbson's validation does not look at, found by breaking
/// keys; none if it looks at all of them.
std::optional<std::size_t> first_unvalidated(const input& in);

}  // namespace holdfast::bench
