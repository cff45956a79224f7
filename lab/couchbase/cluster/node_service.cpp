#include "lab/couchbase/cluster/node_service.hpp"

#include "lab/couchbase/http/reply_text.hpp"

#include <utility>

namespace holdfast::lab::couchbase {

node_service::node_service(cluster& of, std::size_t number, std::string name, runtime::world& in)
    : on_{of}, number_{number}, world_{in}, name_{std::move(name)}, news_{in}
{
}

std::optional<http_fault> node_service::fault_for(const http_request& what)
{
    http_fault_plan& plan = on_.admin().http_faults(number_);
    if (!plan.any())
        return std::nullopt;
    return plan.on_any({name_, what}, 0);
}

bool node_service::frozen() const
{
    return on_.at(number_).frozen;
}

std::size_t node_service::chunk_size() const
{
    return on_.at(number_).options.http_chunk_size;
}

std::optional<std::string> node_service::user_of(const http_request& what)
{
    const node& here = on_.at(number_);
    if (!known_.user.empty() && known_.authorization == what.authorization &&
        known_.rights_version == here.rights_version)
        return known_.user;
    const auto login = read_basic_login(what.authorization);
    if (!login)
        return std::nullopt;
    const auto account = here.users.find(login->user);
    if (account == here.users.end() || !is_password(account->second, login->password))
        return std::nullopt;
    known_ = {what.authorization, login->user, here.rights_version};
    return login->user;
}

http_reply node_service::ask_for_login()
{
    http_reply made = refuse(401, "a login is needed");
    made.headers.emplace_back("WWW-Authenticate", R"(Basic realm="Couchbase Server Admin / REST")");
    return made;
}

bool node_service::may_open(const std::string& user, std::string_view bucket) const
{
    const auto& users = on_.at(number_).users;
    const auto account = users.find(user);
    return account != users.end() && account->second.may_open(bucket);
}

}  // namespace holdfast::lab::couchbase
