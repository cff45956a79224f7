#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::lab::mongo {

/// True, and not just a number.
inline bool is_set(const bson::element& e) noexcept
{
    return e.type() == bson::type::boolean && e.as_bool();
}

/// What a field may hold. Null stands for a field that is not there, unless any value will do.
enum class kind : std::uint8_t {
    any,
    boolean,  // or a number
    number,  // any of the four types
    count,  // a number that is not negative
    text,
    document,
    array,
    text_or_document,
    document_or_array,
    sequence,  // an array here, or a section of the message: see request::for_each_document
    object_id,
    long_only,
    ignored,  // known, of any type, and without a meaning here
};

/// One field that a command takes. A server that claims an older version does not know it yet.
struct field_rule {
    std::string_view name;
    kind holds = kind::any;
    bool required = false;
    int since = 0;  // 404 is version 4.4
};

/// For commands that take nothing but what all take.
inline constexpr std::array<field_rule, 0> no_rules{};

/// True for what may come with every command.
bool is_generic_field(std::string_view name) noexcept;

/// Reads all fields of a command, or of a statement in it, in one walk: each into its place in
/// `into`, which has as many places as there are rules. Fields that every command takes are passed
/// over (`generic`); all others are 40415, wrong types 14, missing ones 40414.
result<void> read_fields(const node& on, bson::view from, std::string_view where, bool generic,
                         std::span<const field_rule> rules, std::span<bson::element> into);

/// The fields of one command, by name. A name that has no rule does not compile.
template <const auto& Rules>
class fields {
public:
    struct place {
        std::size_t index;
        consteval place(const char* name) : index{find(name)} {}

    private:
        static consteval std::size_t find(std::string_view name)
        {
            for (std::size_t i = 0; i != std::size(Rules); ++i) {
                if (Rules[i].name == name)
                    return i;
            }
            throw "no rule for this field";
        }
    };

    /// Of a command as it arrived.
    static result<fields> read(const node& on, const request& what)
    {
        fields all;
        if (auto fine = read_fields(on, what.body, what.name, true, Rules, all.found_); !fine)
            return std::move(fine).error();
        return all;
    }
    /// Of a document inside a command, "update.updates".
    static result<fields> read(const node& on, bson::view from, std::string_view where)
    {
        fields all;
        if (auto fine = read_fields(on, from, where, false, Rules, all.found_); !fine)
            return std::move(fine).error();
        return all;
    }

    const bson::element& operator[](place which) const noexcept { return found_[which.index]; }
    bool has(place which) const noexcept { return static_cast<bool>(found_[which.index]); }

    bool flag(place which, bool otherwise = false) const noexcept;
    std::int64_t number(place which, std::int64_t otherwise = 0) const noexcept;
    std::string_view text(place which) const noexcept
    {
        const bson::element& e = found_[which.index];
        return e.type() == bson::type::string ? e.as_string() : std::string_view{};
    }
    bson::view document(place which) const noexcept
    {
        const bson::element& e = found_[which.index];
        return e.type() == bson::type::document ? e.as_document() : bson::view{};
    }
    bson::array_view array(place which) const noexcept
    {
        const bson::element& e = found_[which.index];
        return e.type() == bson::type::array ? e.as_array() : bson::array_view{};
    }

private:
    std::array<bson::element, std::size(Rules)> found_{};
};

/// A number of any type, cut to what fits; nothing for all else.
std::optional<std::int64_t> as_number(const bson::element& e) noexcept;
/// Truth of a boolean or number.
bool as_flag(const bson::element& e, bool otherwise) noexcept;

template <const auto& Rules>
bool fields<Rules>::flag(place which, bool otherwise) const noexcept
{
    return as_flag(found_[which.index], otherwise);
}
template <const auto& Rules>
std::int64_t fields<Rules>::number(place which, std::int64_t otherwise) const noexcept
{
    return as_number(found_[which.index]).value_or(otherwise);
}

/// 804 for a server that claims 8.4.
inline int version_number(const node& on) noexcept
{
    return on.options.version.major * 100 + on.options.version.minor;
}

/// "db.collection" without a trip to the heap.
class namespace_text {
public:
    static constexpr std::size_t limit = 255;

    std::string_view text() const noexcept { return {bytes_.data(), size_}; }
    operator std::string_view() const noexcept { return text(); }
    std::string_view database() const noexcept { return text().substr(0, dot_); }
    std::string_view collection() const noexcept { return text().substr(dot_ + 1); }

    /// 73 for names that cannot be.
    static result<namespace_text> join(std::string_view database, std::string_view collection);
    /// From "db.collection" as a whole.
    static result<namespace_text> split(std::string_view whole);
    /// The collection that a command names in its first field: 73 if that is no string.
    static result<namespace_text> of(const request& what);
    /// "db.$cmd", for changes that are commands.
    static namespace_text command_of(std::string_view database);

private:
    std::array<char, limit + 1> bytes_;
    std::size_t size_ = 0;
    std::size_t dot_ = 0;
};

/// What nearly all commands about a collection begin with.
template <const auto& Rules>
struct namespace_command {
    fields<Rules> given;
    namespace_text ns;
};

/// Reads the fields of a command and the collection that its first field names. A server checks the
/// fields first, so that a command with both faults fails with the code of the field.
template <const auto& Rules>
result<namespace_command<Rules>> open_namespace(const node& on, const request& what)
{
    auto given = fields<Rules>::read(on, what);
    if (!given)
        return std::move(given).error();
    auto ns = namespace_text::of(what);
    if (!ns)
        return std::move(ns).error();
    return namespace_command<Rules>{*given, *ns};
}

}  // namespace holdfast::lab::mongo
