#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/state.hpp"
#include "lab/couchbase/kv/exchange.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::size_t most_users = 1000;

}  // namespace

void cluster_state::update_rights()
{
    for (const auto& one : members) {
        for (auto& [name, account] : one->data->users) {
            const auto known = people.users.find(name);
            if (known == people.users.end())
                continue;
            opened_buckets opened = buckets_of(people.roles_of(known->second));
            account.without_buckets = !opened.all && opened.names.empty();
            account.buckets = opened.all ? std::vector<std::string>{} : std::move(opened.names);
        }
        ++one->data->rights_version;
    }
}

result<void> cluster::set_user(std::string_view name, std::string_view password,
                               std::vector<std::string> buckets)
{
    user_record record;
    if (buckets.empty())
        record.roles.push_back({"admin"});
    for (std::string& one : buckets)
        record.roles.push_back({"bucket_full_access", std::move(one)});
    return state_->administrator.put_user(name, std::string{password}, std::move(record));
}

result<void> administration::put_user(std::string_view name, std::optional<std::string> password,
                                      user_record record)
{
    using holdfast::couchbase::errc;
    const bool known = all_.people.users.contains(name);
    if (!password && !known)
        return error{errc::invalid_argument, "a new user needs a password"};
    if (!known && all_.people.users.size() == most_users)
        return error{errc::invalid_argument, "there can be 1000 users at most"};
    if (password) {
        auto account = make_account(all_.manager(), *password);
        if (!account)
            return std::move(account).error();
        for (const auto& one : all_.members)
            one->data->users.insert_or_assign(std::string{name}, *account);
    }
    all_.people.users.insert_or_assign(std::string{name}, std::move(record));
    all_.update_rights();
    return {};
}

void cluster::drop_user(std::string_view name)
{
    if (const auto found = state_->people.users.find(name); found != state_->people.users.end())
        state_->people.users.erase(found);
    for (const auto& one : state_->members) {
        auto& users = one->data->users;
        if (const auto found = users.find(name); found != users.end())
            users.erase(found);
        ++one->data->rights_version;
    }
}

void administration::set_group(std::string_view name, std::optional<group_record> group)
{
    auto& groups = all_.people.groups;
    if (group)
        groups.insert_or_assign(std::string{name}, *std::move(group));
    else if (const auto found = groups.find(name); found != groups.end())
        groups.erase(found);
    all_.update_rights();
}

void cluster::set_token(std::string_view token, std::string_view user)
{
    for (const auto& one : state_->members) {
        if (!user.empty())
            one->data->tokens.insert_or_assign(std::string{token}, std::string{user});
        else if (const auto found = one->data->tokens.find(token); found != one->data->tokens.end())
            one->data->tokens.erase(found);
    }
}

const directory& administration::people() const noexcept
{
    return all_.people;
}

void cluster::expire_logins(std::string_view user)
{
    for (const auto& one : state_->members) {
        for (const auto& [number, session] : one->data->sessions) {
            if (session->client().user == user)
                session->client().stale_login = true;
        }
    }
}

}  // namespace holdfast::lab::couchbase
