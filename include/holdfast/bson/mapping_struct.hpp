#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/codec.hpp"
#include "holdfast/bson/mapping_fields.hpp"
#include "holdfast/bson/read_into.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::bson {

/// Fills a described struct in one walk over a document. It expects the fields in the order of
/// declaration, as the writer has put them, so that each costs one comparison; a field that is
/// missing, unknown or out of order costs a search among the names. Of two fields with the same
/// key the first one counts, as for view::find.
template <described_struct T>
class struct_reader {
public:
    struct_reader(view from, T& to, reading::state& at) : element_{from.begin()}, to_{to}, at_{at}
    {
    }

    bool run()
    {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return (step<I>() && ...);
        }(std::make_index_sequence<count>{}) &&
               search(count) && (seen_.all() || complete());
    }

private:
    static constexpr std::size_t count = described::field_count<T>;

    /// Reads field I if it comes next.
    template <std::size_t I>
    bool step()
    {
        if (expected_ > I || element_ == std::default_sentinel)
            return true;
        if (!has_key(described::rule<T, I>.key)) [[unlikely]] {
            if (!search(I))
                return false;
            if (expected_ != I)
                return true;
        }
        seen_[I] = true;
        if (!read_field<I>(*element_, to_, at_)) [[unlikely]]
            return false;
        ++element_;
        return true;
    }

    bool has_key(std::string_view key) const noexcept
    {
        const std::string_view found = element_->key();
        return found.size() == key.size() && std::memcmp(found.data(), key.data(), key.size()) == 0;
    }

    /// Goes on to the first field at or after `from` in the order of declaration, and deals with
    /// what lies between: earlier fields that come late, repeated and unknown ones.
    bool search(std::size_t from)
    {
        for (; element_ != std::default_sentinel; ++element_) {
            if (element_->malformed())
                return at_.fail(element_->mismatch("a field"));
            const std::size_t found = described::position_of<T>(element_->key());
            if (found == count) {
                if constexpr (described::rejects_unknown<T>)
                    return at_.fail(reading::unknown_field(*element_));
            } else if (found >= from) {
                expected_ = found;
                return true;
            } else if (!seen_[found]) {
                seen_[found] = true;
                if (!readers[found](*element_, to_, at_))
                    return false;
            }
        }
        expected_ = count;
        return true;
    }

    /// A field that was not there is read from a missing element: its codec knows what that means.
    bool complete()
    {
        for (std::size_t i = 0; i < count; ++i) {
            const described::field_rule& field = described::rules<T>[i];
            if (!seen_[i] && !field.defaulted && !readers[i](view{}.find(field.key), to_, at_))
                return false;
        }
        return true;
    }

    template <std::size_t I>
    static bool read_field(const element& e, T& to, reading::state& at)
    {
        return reading::into(e, to.*described::field<T, I>::pointer, at);
    }

    using reader = bool (*)(const element&, T&, reading::state&);

    static constexpr std::array<reader, count> readers =
        []<std::size_t... I>(std::index_sequence<I...>) {
            return std::array<reader, count>{&read_field<I>...};
        }(std::make_index_sequence<count>{});

    element_iterator element_;
    T& to_;
    reading::state& at_;
    std::size_t expected_ = 0;  // the fields before this one are not expected any more
    std::bitset<count> seen_;
};

template <described_struct T>
struct codec<T> {
    static_assert(described::keys_differ<T>(), "two members have the same key in the document");
    static_assert(described::keys_have_no_zero_byte<T>(), "a key must not contain a zero byte");
    static_assert(described::rules_have_members<T>(),
                  "a rule of mapping_of names a member that was not described");

    static constexpr type written_as = type::document;

    static result<T> read(const element& e) { return reading::value<T>(e); }
    static bool read_into(const element& e, T& to, reading::state& at)
    {
        return reading::nested(e, type::document, at,
                               [&] { return read_fields(e.as_document(), to, at); });
    }
    static bool read_fields(view from, T& to, reading::state& at)
    {
        return struct_reader<T>{from, to, at}.run();
    }
    static void write(auto& out, std::string_view key, const T& value)
    {
        auto nested = out.document(key);
        write_fields(nested, value);
    }
    static void write_fields(auto& out, const T& value)
    {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (write_field(out, described::rule<T, I>.key, value.*described::field<T, I>::pointer),
             ...);
        }(std::make_index_sequence<described::field_count<T>>{});
    }

private:
    template <class Field>
    static void write_field(auto& out, std::string_view key, const Field& value)
    {
        if constexpr (requires { codec<Field>::absent(value); }) {
            if (codec<Field>::absent(value))
                return;
        }
        out.add(key, value);
    }
};

}  // namespace holdfast::bson
