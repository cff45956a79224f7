#pragma once
#include "holdfast/completion.hpp"
#include "holdfast/couchbase/calls.hpp"
#include "holdfast/couchbase/content.hpp"
#include "holdfast/couchbase/decode.hpp"
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/handle.hpp"
#include "holdfast/couchbase/kv_options.hpp"
#include "holdfast/couchbase/subdoc.hpp"

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::couchbase {

/// The documents of one collection. A handle, cheap to copy; may be used by several threads. Its
/// operations on one document are not ordered, unless each is begun after the one before has ended.
class collection {
public:
    const std::string& name() const noexcept;
    const std::string& scope_name() const noexcept;
    const std::string& bucket_name() const noexcept;

    // ---- Reads of whole documents ----

    /// The document, its content as T: a described struct, raw_json, raw_text, raw_bytes, or a type
    /// with a transcoder. errc::document_not_found if there is none.
    template <class T = raw_json, class Token = throw_on_error>
    auto get(std::string_view id, get_options options = {}, Token&& token = {}) const
    {
        const bool is_whole = !options.with_expiry && options.project.empty();
        if (!is_whole)
            return run_and_decode<T>(calls::get_projected{id, options}, std::forward<Token>(token));
        if constexpr (std::same_as<T, raw_json>)
            return run(calls::get_raw_json{id, options}, std::forward<Token>(token));
        else
            return run_and_decode<T>(calls::get{id, options}, std::forward<Token>(token));
    }

    /// The same, and nothing if there is none.
    template <class T = raw_json, class Token = throw_on_error>
    auto get_if(std::string_view id, get_options options = {}, Token&& token = {}) const
    {
        const bool is_whole = !options.with_expiry && options.project.empty();
        if (!is_whole)
            return run_and_decode<T>(calls::get_if_projected{id, options},
                                     std::forward<Token>(token));
        return run_and_decode<T>(calls::get_if{id, options}, std::forward<Token>(token));
    }

    /// Whether there is such a document, and its version.
    template <class Token = throw_on_error>
    auto exists(std::string_view id, key_options options = {}, Token&& token = {}) const
    {
        return run(calls::exists{id, options}, std::forward<Token>(token));
    }

    // ---- Writes of whole documents ----

    /// Stores the document, whether there was one or not.
    template <class T, class Token = throw_on_error>
    auto upsert(std::string_view id, T&& content, upsert_options options = {},
                Token&& token = {}) const
    {
        return run_with<T>(calls::upsert{id, calls::new_content::of(content), options},
                           std::forward<Token>(token));
    }

    /// Stores a document that must not be there: errc::document_exists if it is.
    template <class T, class Token = throw_on_error>
    auto insert(std::string_view id, T&& content, insert_options options = {},
                Token&& token = {}) const
    {
        return run_with<T>(calls::insert{id, calls::new_content::of(content), options},
                           std::forward<Token>(token));
    }

    /// Stores a document in the place of one that must be there; with a cas, of that very version:
    /// errc::cas_mismatch if it has changed since.
    template <class T, class Token = throw_on_error>
    auto replace(std::string_view id, T&& content, replace_options options = {},
                 Token&& token = {}) const
    {
        return run_with<T>(calls::replace{id, calls::new_content::of(content), options},
                           std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto remove(std::string_view id, remove_options options = {}, Token&& token = {}) const
    {
        return run(calls::remove{id, options}, std::forward<Token>(token));
    }

    /// Gives the document another expiry.
    template <class Token = throw_on_error>
    auto touch(std::string_view id, couchbase::expiry expiry, key_options options = {},
               Token&& token = {}) const
    {
        return run(calls::touch{id, expiry, options}, std::forward<Token>(token));
    }

    template <class T = raw_json, class Token = throw_on_error>
    auto get_and_touch(std::string_view id, couchbase::expiry expiry, key_options options = {},
                       Token&& token = {}) const
    {
        return run_and_decode<T>(calls::get_and_touch{id, expiry, options},
                                 std::forward<Token>(token));
    }

    // ---- Locks ----

    /// The document, which no other operation can change for so long, 1 to 30 seconds: others
    /// retry until it is unlocked or their time is over. The cas that it gives is the key to the
    /// lock: a replace or remove with it unlocks, too.
    template <class T = raw_json, class Token = throw_on_error>
    auto get_and_lock(std::string_view id, milliseconds time, key_options options = {},
                      Token&& token = {}) const
    {
        return run_and_decode<T>(calls::get_and_lock{id, time, options},
                                 std::forward<Token>(token));
    }

    /// errc::cas_mismatch if it is locked with another cas, errc::document_not_locked if it is not.
    template <class Token = throw_on_error>
    auto unlock(std::string_view id, couchbase::cas cas, key_options options = {},
                Token&& token = {}) const
    {
        return run(calls::unlock{id, cas, options}, std::forward<Token>(token));
    }

    // ---- Bytes and counters ----

    /// Adds bytes to a document that must be there, at its end or at its front. The result is
    /// no JSON any more, unless the bytes see to it.
    template <class Token = throw_on_error>
    auto append(std::string_view id, byte_view bytes, append_options options = {},
                Token&& token = {}) const
    {
        return run(calls::append{id, bytes, options}, std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto prepend(std::string_view id, byte_view bytes, append_options options = {},
                 Token&& token = {}) const
    {
        return run(calls::prepend{id, bytes, options}, std::forward<Token>(token));
    }

    /// Adds to a document that is a number, and gives the new value.
    template <class Token = throw_on_error>
    auto increment(std::string_view id, counter_options options = {}, Token&& token = {}) const
    {
        return run(calls::increment{id, options}, std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto decrement(std::string_view id, counter_options options = {}, Token&& token = {}) const
    {
        return run(calls::decrement{id, options}, std::forward<Token>(token));
    }

    // ---- Parts of documents: see subdoc.hpp ----

    /// A path that is missing is no error of the operation: each has its own in the result.
    template <class Token = throw_on_error>
    auto lookup_in(std::string_view id, const lookup& paths, lookup_in_options options = {},
                   Token&& token = {}) const
    {
        return run(calls::lookup_in{id, &paths, options}, std::forward<Token>(token));
    }

    /// Makes all changes or none. If one cannot be made, the error names its path.
    template <class Token = throw_on_error>
    auto mutate_in(std::string_view id, const changes& what, mutate_in_options options = {},
                   Token&& token = {}) const
    {
        return run(calls::mutate_in{id, &what, options}, std::forward<Token>(token));
    }

    // ---- Reads of any copy ----

    /// The first copy that answers, be it the active one or a replica, which may be old.
    /// errc::document_irretrievable if none has it.
    template <class T = raw_json, class Token = throw_on_error>
    auto get_any_replica(std::string_view id, replica_options options = {},
                         Token&& token = {}) const
    {
        return run_and_decode<T>(calls::get_any_replica{id, options}, std::forward<Token>(token));
    }

    /// All copies that can be read; it waits for those that cannot until its timeout.
    template <class T = raw_json, class Token = throw_on_error>
    auto get_all_replicas(std::string_view id, replica_options options = {},
                          Token&& token = {}) const
    {
        return run_and_decode<T>(calls::get_all_replicas{id, options}, std::forward<Token>(token));
    }

    template <class Token = throw_on_error>
    auto lookup_in_any_replica(std::string_view id, const lookup& paths,
                               replica_options options = {}, Token&& token = {}) const
    {
        return run(calls::lookup_in_any_replica{id, &paths, options}, std::forward<Token>(token));
    }
    template <class Token = throw_on_error>
    auto lookup_in_all_replicas(std::string_view id, const lookup& paths,
                                replica_options options = {}, Token&& token = {}) const
    {
        return run(calls::lookup_in_all_replicas{id, &paths, options}, std::forward<Token>(token));
    }

    asio::any_io_executor executor() const noexcept { return details::executor_of(*place_); }

private:
    friend struct access;

    explicit collection(std::shared_ptr<const collection_place> at) noexcept : place_{std::move(at)}
    {
    }

    /// The one place where a call meets a completion token. Calls are temporaries, made in place.
    template <class Call, class Token>
    auto run(Call&& call, Token&& token) const
    {
        using starter = details::starter<Call>;
        if constexpr (completion_details::throws_on_error<Token>)
            return starter::start(*place_, std::move(call));
        else if constexpr (completion_details::awaits<Token>)
            return starter::try_start(*place_, std::move(call));
        else if constexpr (std::same_as<Token, details::blocks_on>)
            return starter::block(*place_, std::move(call), *token.bridge);
        else
            return initiate(executor(), starter::try_start(*place_, std::move(call)),
                            std::forward<Token>(token));
    }

    /// The same for a call that was given a value of the caller's own type, as deduced from a
    /// forwarding reference: see refuse_awaited_temporaries().
    template <class Argument, class Call, class Token>
    auto run_with(Call&& call, Token&& token) const
    {
        using outcome = decltype(run(std::move(call), std::forward<Token>(token)));
        completion_details::refuse_awaited_temporaries<outcome, Argument>();
        return run(std::move(call), std::forward<Token>(token));
    }

    /// The same for a call that gives content as it was stored.
    template <class T, class Call, class Token>
    auto run_and_decode(Call&& call, Token&& token) const
    {
        if constexpr (std::same_as<Token, details::blocks_on>)
            return decoded<T>(run(std::move(call), std::forward<Token>(token)));
        else
            return start_and_decode<T>(std::move(call), std::forward<Token>(token));
    }
    template <class T, class Call, class Token>
    auto start_and_decode(Call&& call, Token&& token) const
    {
        auto stored = details::starter<Call>::try_start(*place_, std::move(call));
        if constexpr (completion_details::throws_on_error<Token>)
            return decode_or_throw<T>(std::move(stored));
        else
            return initiate(executor(), decode<T>(std::move(stored)), std::forward<Token>(token));
    }

    template <class T, class Stored>
    static result<details::decoded_t<T, Stored>> decoded(result<Stored> stored)
    {
        if (!stored)
            return std::move(stored).error();
        return details::decoded<T>(*std::move(stored));
    }
    template <class T, class Stored>
    static asio::awaitable<result<details::decoded_t<T, Stored>>> decode(
        asio::awaitable<result<Stored>> from)
    {
        auto stored = co_await std::move(from);
        co_return decoded<T>(std::move(stored));
    }
    template <class T, class Stored>
    static asio::awaitable<details::decoded_t<T, Stored>> decode_or_throw(
        asio::awaitable<result<Stored>> from)
    {
        auto stored = co_await std::move(from);
        co_return decoded<T>(std::move(stored)).value();
    }

    std::shared_ptr<const collection_place> place_;
};

}  // namespace holdfast::couchbase
