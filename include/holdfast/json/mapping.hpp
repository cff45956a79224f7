#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/mapping_enum.hpp"
#include "holdfast/bson/mapping_fields.hpp"
#include "holdfast/bson/mapping_rules.hpp"
#include "holdfast/error.hpp"
#include "holdfast/json/codec.hpp"
#include "holdfast/json/containers.hpp"
#include "holdfast/json/raw_json.hpp"
#include "holdfast/json/reader.hpp"
#include "holdfast/json/writer.hpp"

#include <boost/describe.hpp>

#include <array>
#include <bitset>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Your structs as JSON, and back. Describe a struct, and it can be converted as a whole, and be a
/// member of others:
///
///     struct airline {
///         std::string name;
///         int fleet = 0;
///     };
///     BOOST_DESCRIBE_STRUCT(airline, (), (name, fleet))
///
///     const raw_json stored = json::to_json(airline{"KLM", 110}).value();
///     const result<airline> again = json::from_json<airline>(stored.text());
///
/// The rules of bson::mapping_of<T> (renaming, defaults, refusing unknown members) hold here too:
/// a struct needs one set of rules for both formats.
namespace holdfast::json {

/// A described enum is the name of its value.
template <class E>
    requires std::is_enum_v<E>
struct codec<E> {
    static_assert(boost::describe::has_describe_enumerators<E>::value,
                  "describe this enum with BOOST_DESCRIBE_ENUM to map it to strings, or specialise "
                  "holdfast::json::codec to map it to something else");

    static bool read(reader& in, E& to)
    {
        std::string text;
        if (!in.read(text))
            return false;
        for (const auto& [value, name] : table) {
            if (text == name)
                return to = value, true;
        }
        return in.fail(errc::invalid_value, "expected one of " + allowed());
    }
    static bool write(writer& out, E value)
    {
        for (const auto& [known, name] : table) {
            if (value == known)
                return out.write(name);
        }
        return out.fail(errc::invalid_value, "the enum value has no name");
    }

private:
    static constexpr auto table = bson::enumerators_of<E>();

    static std::string allowed()
    {
        std::string names;
        for (const auto& entry : table)
            names.append(names.empty() ? "" : ", ").append(entry.name);
        return names;
    }
};

/// Whether a key needs no escapes, so that its bytes can be compared and copied as they are.
constexpr bool is_plain_key(std::string_view key) noexcept
{
    for (const char c : key) {
        if (is_special(c) || static_cast<unsigned char>(c) >= 0x80)
            return false;
    }
    return true;
}

/// Fills a described struct in one walk over an object. It expects the members in the order of
/// declaration, as the writer has put them, so that each costs one comparison; a member that is
/// missing, unknown or out of order costs a search among the names. Of two with the same key the
/// first one counts.
template <bson::described_struct T>
class struct_reader {
public:
    struct_reader(reader& in, T& to) : in_{in}, to_{to} {}

    bool run()
    {
        if (!in_.enter('{'))
            return false;
        more_ = in_.more('}');
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return (step<I>() && ...);
        }(std::make_index_sequence<count>{}) &&
               search(count) && !in_.failed() && (seen_.all() || complete());
    }

private:
    static constexpr std::size_t count = bson::described::field_count<T>;

    /// Reads member I if it comes next.
    template <std::size_t I>
    bool step()
    {
        if (!more_ || expected_ > I)
            return true;
        constexpr std::string_view key = bson::described::rule<T, I>.key;
        if (expected_ == I && key_taken_) {
            key_taken_ = false;
        } else if (!is_plain_key(key) || !in_.take_key(key)) {
            if (!search(I))
                return false;
            if (!more_ || expected_ != I)
                return true;
            key_taken_ = false;
        } else if (!in_.take_colon()) {
            return false;
        }
        seen_[I] = true;
        if (!read_member<I>(in_, to_)) [[unlikely]]
            return in_.fail_inside(key);
        more_ = in_.more('}');
        return true;
    }

    /// Goes on to the first member at or after `from` in the order of declaration, whose key it
    /// takes, and deals with what lies between.
    bool search(std::size_t from)
    {
        for (; more_; more_ = in_.more('}')) {
            std::string_view key;
            if (!in_.read_key(key))
                return false;
            const std::size_t found = bson::described::position_of<T>(key);
            if (found == count && bson::described::rejects_unknown<T>)
                return in_.fail(errc::unknown_field, "the struct has no such member"),
                       in_.fail_inside(std::string{key});
            if (found != count && found >= from) {
                expected_ = found;
                key_taken_ = true;
                return true;
            }
            const bool wanted = found != count && !seen_[found];
            if (wanted)
                seen_[found] = true;
            const bool done = wanted ? readers[found](in_, to_) : in_.skip();
            if (!done)
                return found == count ? false
                                      : in_.fail_inside(bson::described::rules<T>[found].key);
        }
        expected_ = count;
        return true;
    }

    bool complete()
    {
        for (std::size_t i = 0; i < count; ++i) {
            if (!seen_[i] && !bson::described::rules<T>[i].defaulted && !resetters[i](to_))
                return in_.fail(errc::missing_field, "the member is missing"),
                       in_.fail_inside(bson::described::rules<T>[i].key);
        }
        return true;
    }

    template <std::size_t I>
    using member =
        std::remove_cvref_t<decltype(std::declval<T&>().*bson::described::field<T, I>::pointer)>;

    template <std::size_t I>
    static bool read_member(reader& in, T& to)
    {
        return read_value(in, to.*bson::described::field<T, I>::pointer);
    }
    template <std::size_t I>
    static bool reset_member(T& to)
    {
        if constexpr (requires(member<I>& m) { codec<member<I>>::reset(m); }) {
            codec<member<I>>::reset(to.*bson::described::field<T, I>::pointer);
            return true;
        } else {
            return false;
        }
    }

    static constexpr auto readers = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<bool (*)(reader&, T&), count>{&read_member<I>...};
    }(std::make_index_sequence<count>{});
    static constexpr auto resetters = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<bool (*)(T&), count>{&reset_member<I>...};
    }(std::make_index_sequence<count>{});

    reader& in_;
    T& to_;
    bool more_ = false;  // a member follows
    bool key_taken_ = false;  // that of the expected one
    std::size_t expected_ = 0;  // the members before this one are not expected any more
    std::bitset<count> seen_;
};

template <bson::described_struct T>
struct codec<T> {
    static_assert(bson::described::keys_differ<T>(), "two members have the same key");
    static_assert(bson::described::rules_have_members<T>(),
                  "a rule of mapping_of names a member that was not described");

    static bool read(reader& in, T& to) { return struct_reader<T>{in, to}.run(); }
    static bool write(writer& out, const T& value)
    {
        if (!out.enter()) [[unlikely]]
            return false;
        out.begin_object();
        const bool done = [&]<std::size_t... I>(std::index_sequence<I...>) {
            return (write_member<I>(out, value.*bson::described::field<T, I>::pointer) && ...);
        }(std::make_index_sequence<bson::described::field_count<T>>{});
        out.end_object();
        out.leave();
        return done;
    }

private:
    template <std::size_t I, class Member>
    static bool write_member(writer& out, const Member& value)
    {
        constexpr std::string_view key = bson::described::rule<T, I>.key;
        if constexpr (requires { codec<Member>::absent(value); }) {
            if (codec<Member>::absent(value))
                return true;
        }
        if constexpr (is_plain_key(key))
            out.plain_key(key);
        else if (!out.key(key))
            return false;
        return write_value(out, value) || out.fail_inside(key);
    }
};

/// Writes `value` at the end of `out` and gives it as it lies there, valid until `out` grows. After
/// an error `out` is as it was.
template <class T>
result<std::string_view> append_json(bson::byte_buffer& out, const T& value)
{
    const std::size_t before = out.size();
    writer text{out};
    if (!write_value(text, value)) [[unlikely]] {
        out.truncate(before);
        return std::move(text).fault();
    }
    return std::string_view{reinterpret_cast<const char*>(out.data()) + before,
                            out.size() - before};
}

/// Fails only for what JSON cannot hold: text that is not UTF-8, a number that is not finite, an
/// enum value without a name, a raw_json that is none, a nesting that is too deep.
template <class T>
result<raw_json> to_json(const T& value)
{
    bson::byte_buffer bytes;
    const auto text = append_json(bytes, value);
    if (!text) [[unlikely]]
        return text.error();
    return raw_json{*text};
}

/// The error of a member names its path: "address.lines.2: expected string, found number".
template <class T>
result<T> from_json(std::string_view text)
{
    static_assert(std::default_initializable<T>,
                  "a mapped type is made empty and then filled: give it a default constructor");
    result<T> read{T{}};
    reader in{text};
    if (text.size() > max_text_size)
        in.fail(errc::too_large, "the text is longer than the limit");
    else if (read_value(in, *read) && in.finish()) [[likely]]
        return read;
    read = std::move(in).fault();
    return read;
}

template <class T>
result<T> from_json(const raw_json& json)
{
    return from_json<T>(std::string_view{json.text()});
}

}  // namespace holdfast::json
