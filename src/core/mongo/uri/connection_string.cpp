#include "core/mongo/uri/connection_string.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/uri/percent.hpp"

#include <algorithm>

namespace holdfast::core::mongo {

namespace {

constexpr std::string_view plain_scheme = "mongodb://";
constexpr std::string_view srv_scheme = "mongodb+srv://";

error badly_encoded_user()
{
    return malformed_connection_string(
        "the user name and the password must be percent-encoded: write %40 for @, %3A "
        "for :, %2F for /, %3F for ?, %23 for #, %5B for [, %5D for ], %25 for %");
}

result<std::string> decode_userinfo(std::string_view text)
{
    auto decoded = uri::decode_userinfo(text);
    if (!decoded)
        return badly_encoded_user();
    return *std::move(decoded);
}

result<void> split_userinfo(std::string_view text, connection_string& to)
{
    const std::size_t colon = text.find(':');
    auto username = decode_userinfo(text.substr(0, colon));
    if (!username)
        return std::move(username).error();
    to.username = *std::move(username);
    if (colon == text.npos)
        return {};
    auto password = decode_userinfo(text.substr(colon + 1));
    if (!password)
        return std::move(password).error();
    to.password = secret{*password};
    wipe(*password);
    return {};
}

result<void> split_hosts(std::string_view text, connection_string& to)
{
    if (text.empty())
        return malformed_connection_string(
            "there is no host; the path of a Unix socket must be percent-encoded");
    for (const std::string_view piece : uri::split_list(text)) {
        auto host = uri::percent_decode(piece);
        if (!host)
            return malformed_connection_string("host number " +
                                               std::to_string(to.hosts.size() + 1) +
                                               " is not percent-encoded UTF-8");
        to.hosts.push_back(*std::move(host));
    }
    return {};
}

result<void> decode_database(std::string_view text, connection_string& to)
{
    if (text.empty())
        return {};
    if (text.find('@') != text.npos)
        return malformed_connection_string(
            "an '@' stands after the hosts; in a user name or a password write %2F for / and %40 "
            "for @");
    auto name = uri::percent_decode(text);
    constexpr std::string_view forbidden{"/\\ \"$\0", 6};
    if (!name || name->find_first_of(forbidden) != name->npos)
        return malformed_connection_string(
            "the name of the database must be percent-encoded UTF-8 without slash, "
            "backslash, space, quote or dollar sign");
    to.database = *std::move(name);
    return {};
}

}  // namespace

result<connection_string> split_connection_string(std::string_view text)
{
    if (text.size() > longest_connection_string)
        return malformed_connection_string("longer than " +
                                           std::to_string(longest_connection_string) + " bytes");
    connection_string parts;
    parts.srv = text.starts_with(srv_scheme);
    if (!parts.srv && !text.starts_with(plain_scheme))
        return malformed_connection_string("it must start with mongodb:// or mongodb+srv://");
    text.remove_prefix(parts.srv ? srv_scheme.size() : plain_scheme.size());

    const std::string_view authority = text.substr(0, text.find_first_of("/?"));
    text.remove_prefix(authority.size());
    parts.may_quote_names = text.find('@') == text.npos;
    const std::size_t at = authority.rfind('@');
    if (at != authority.npos)
        if (auto done = split_userinfo(authority.substr(0, at), parts); !done)
            return std::move(done).error();
    if (auto done = split_hosts(authority.substr(at == authority.npos ? 0 : at + 1), parts); !done)
        return std::move(done).error();

    const std::size_t question = std::min(text.find('?'), text.size());
    if (question > 1)
        if (auto done = decode_database(text.substr(1, question - 1), parts); !done)
            return std::move(done).error();
    text.remove_prefix(std::min(question + 1, text.size()));
    auto options = uri::split_options(text, errc::invalid_connection_string);
    if (!options)
        return std::move(options).error();
    parts.options = *std::move(options);
    return parts;
}

}  // namespace holdfast::core::mongo
