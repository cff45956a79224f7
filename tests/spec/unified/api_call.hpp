#pragma once
#include "arguments.hpp"
#include "operations.hpp"
#include "results.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

/// Operations that do nothing but call one function of the public API: a line of a table each.
namespace holdfast::spec::unified {

using boost::asio::use_awaitable;
using outcome_later = runtime::awaitable<outcome_of_operation>;

/// All documents that a cursor has.
inline runtime::awaitable<result<std::vector<bson::document>>> all_of(mongo::cursor from)
{
    auto came = co_await from.all(use_awaitable);
    co_return came;
}

template <class T>
outcome_later outcome_of(runtime::awaitable<result<T>> running)
{
    const auto came = co_await std::move(running);
    co_return outcome_from(came);
}
inline outcome_later outcome_of(mongo::cursor from)
{
    return outcome_of(all_of(std::move(from)));
}

/// The arguments that a function of the API takes, besides its options.
namespace arg {

template <std::size_t Size>
struct name {
    constexpr name(const char (&literal)[Size])  // so that "filter" can be a template argument
    {
        std::copy_n(literal, Size, text);
    }
    char text[Size];
};

template <auto Read, name Name>
struct of_kind {
    static auto read(arguments& given) { return (given.*Read)(Name.text); }
};
template <name Name>
using document = of_kind<&fields::document, Name>;
template <name Name>
using array = of_kind<&fields::array, Name>;
template <name Name>
using text = of_kind<&fields::text, Name>;
template <name Name>
using text_if = of_kind<&fields::text_if, Name>;
template <name Name>
using update = of_kind<&fields::update, Name>;

/// An array of documents.
template <name Name>
struct documents {
    static std::vector<bson::view> read(arguments& given)
    {
        std::vector<bson::view> all;
        for (const bson::element& one : given.array(Name.text)) {
            demand(one.type() == bson::type::document,
                   std::string{Name.text} + ": an element is not a document");
            all.push_back(one.as_document());
        }
        return all;
    }
};

/// All arguments that are neither options nor named: it must be the last one.
struct rest {
    static bson::document read(arguments& given) { return given.rest(); }
};

}  // namespace arg

/// An operation on an entity: `Call` gets the entity's handle, the arguments in this order, and the
/// options. It returns a cursor or an awaitable result, and keeps no reference to what it got.
template <class Entity, class Options, class... Arguments, class Call>
constexpr auto calls(Call)
{
    return +[](context_ptr in, const operation& what) -> outcome_later {
        const auto& on = in->named.get<Entity>(what.object).api;
        arguments given{*in, what};
        const Options options = given.options<Options>();
        // Braces: the arguments are read from left to right.
        const std::tuple<decltype(Arguments::read(given))...> values{Arguments::read(given)...};
        given.finish();
        return outcome_of(
            std::apply([&](const auto&... each) { return Call{}(on, each..., options); }, values));
    };
}
template <class Options, class... Arguments, class Call>
constexpr auto on_client(Call call)
{
    return calls<client_entity, Options, Arguments...>(call);
}
template <class Options, class... Arguments, class Call>
constexpr auto on_database(Call call)
{
    return calls<database_entity, Options, Arguments...>(call);
}
template <class Options, class... Arguments, class Call>
constexpr auto on_collection(Call call)
{
    return calls<collection_entity, Options, Arguments...>(call);
}

}  // namespace holdfast::spec::unified
