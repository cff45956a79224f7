#pragma once
#include "holdfast/id.hpp"

#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast {

using boost::system::error_code;

/// Time as the library counts it. Only the runtime reads the clock.
using duration = std::chrono::steady_clock::duration;
using time_point = std::chrono::steady_clock::time_point;

/// How far an attempt came. A write is ambiguous only after `in_flight`: it may have been applied,
/// and no reply says so.
enum class dispatch_phase : std::uint8_t { not_sent, in_flight, answered };

/// One try of an operation. An error carries them all, so a user can read the whole story.
struct attempt {
    endpoint server = {};
    dispatch_phase phase = dispatch_phase::not_sent;
    error_code cause = {};
    std::vector<std::string> labels = {};  // as the server sent them, or the retry reason
    duration started{};                    // since the operation began
    duration took{};
    duration waited{};  // the delay chosen before the next attempt, zero if there was none
    std::string decision = {};  // the sentence why it was, or was not, tried again
    /// Whether a write may have been applied by this attempt or by any before it, also by one that
    /// a long history leaves out.
    bool possibly_applied = false;
};

/// One fact about where an error happened: a path, an offset, a namespace, a server. "operation" is
/// the operation in words, "insert into shop.orders", and begins the summary.
struct context_entry {
    std::string name;
    std::string value;
    friend bool operator==(const context_entry&, const context_entry&) = default;
};

/// What else a protocol knows about an error: a server's reply, partial results. See
/// error::detail(), and holdfast/mongo/error.hpp for what there is.
struct error_detail {
    error_detail() = default;
    error_detail(const error_detail&) = default;
    error_detail& operator=(const error_detail&) = default;
    virtual ~error_detail() = default;
};

/// What went wrong, for programs (code, labels) and for people (message, context, history). One
/// pointer wide, so that a `result<T>` costs next to nothing while all goes well.
class [[nodiscard]] error {
public:
    error(error_code code, std::string message);
    error(const error& other);
    error(error&&) noexcept;
    error& operator=(const error& other);
    error& operator=(error&&) noexcept;
    ~error();

    error_code code() const noexcept;  // for switch and ==: category + value
    const std::string& message() const noexcept;  // for people, never parsed

    bool has_label(std::string_view label) const noexcept;
    std::span<const std::string> labels() const noexcept;

    /// The value of a context entry, or an empty view.
    std::string_view context(std::string_view name) const noexcept;
    std::span<const context_entry> context() const noexcept;

    std::span<const attempt> history() const noexcept;

    /// Null if there is nothing more to know.
    const error_detail* detail() const noexcept;

    error&& with_label(std::string_view label) &&;  // a second one of the same name changes nothing
    error&& with_context(std::string_view name, std::string value) &&;  // replaces an earlier value
    error&& with_history(std::vector<attempt> attempts) &&;
    error&& with_detail(std::shared_ptr<const error_detail> more) &&;

    /// One line: the operation with its namespace, if they are known, and the message. Also what()
    /// of the exception.
    std::string summary() const;

    /// All of it in a few lines: the summary, code, labels, context, then one line per attempt.
    std::string explain() const;

private:
    struct story;
    std::unique_ptr<story> story_;  // null only after a move
};

/// The exception that the throwing forms of the API raise: a wrapper around an error.
class failure : public std::runtime_error {
public:
    explicit failure(holdfast::error e) : std::runtime_error{e.summary()}, error_{std::move(e)} {}
    const holdfast::error& error() const noexcept { return error_; }

private:
    holdfast::error error_;
};

/// A value or an error. Not boost::system::result: that one (1.81) wants a default-constructible
/// error and hands it out by copy, and ours owns a history.
template <class T>
class [[nodiscard]] result {
    static_assert(!std::is_reference_v<T> && !std::is_same_v<T, holdfast::error>);

public:
    using value_type = T;

    template <class U = T>
        requires(std::is_constructible_v<T, U &&> &&
                 !std::is_same_v<std::remove_cvref_t<U>, result> &&
                 !std::is_same_v<std::remove_cvref_t<U>, holdfast::error>)
    constexpr explicit(!std::is_convertible_v<U&&, T>) result(U&& value)
        : state_{std::in_place_index<0>, std::forward<U>(value)}
    {
    }
    result(holdfast::error why) : state_{std::in_place_index<1>, std::move(why)} {}
    /// A value that is made where it lies.
    template <class... Arguments>
    constexpr explicit result(std::in_place_t, Arguments&&... of_value)
        : state_{std::in_place_index<0>, std::forward<Arguments>(of_value)...}
    {
    }

    constexpr bool has_value() const noexcept { return state_.index() == 0; }
    constexpr explicit operator bool() const noexcept { return has_value(); }

    /// For the place where success has just been tested. The throwing form is value().
    constexpr T& operator*() & noexcept { return *std::get_if<0>(&state_); }
    constexpr const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
    constexpr T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    constexpr T* operator->() noexcept { return std::get_if<0>(&state_); }
    constexpr const T* operator->() const noexcept { return std::get_if<0>(&state_); }

    T& value() & { return demand(), **this; }
    const T& value() const& { return demand(), **this; }
    T value() &&
    {
        if (!has_value())
            throw failure{std::move(*this).error()};
        return *std::move(*this);
    }
    template <class U>
    constexpr T value_or(U&& other) const&
    {
        return has_value() ? **this : static_cast<T>(std::forward<U>(other));
    }

    const holdfast::error& error() const& noexcept { return *std::get_if<1>(&state_); }
    holdfast::error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

private:
    void demand() const
    {
        if (!has_value())
            throw failure{error()};
    }

    std::variant<T, holdfast::error> state_;
};

/// Success without a value, or an error.
template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() noexcept = default;
    result(holdfast::error why) : error_{std::move(why)} {}

    bool has_value() const noexcept { return !error_; }
    explicit operator bool() const noexcept { return has_value(); }

    void value() const
    {
        if (error_)
            throw failure{*error_};
    }
    const holdfast::error& error() const& noexcept { return *error_; }
    holdfast::error&& error() && noexcept { return std::move(*error_); }

private:
    std::optional<holdfast::error> error_;
};

}  // namespace holdfast
