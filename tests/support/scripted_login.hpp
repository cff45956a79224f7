#pragma once
#include "core/sasl/crypto.hpp"
#include "support/scripted_server.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::proof {

/// The server's side of SCRAM-SHA-256 for the user of all tests, with and without speculation. It
/// refuses wrong passwords with code 18, as servers do.
class scripted_login : public std::enable_shared_from_this<scripted_login> {
public:
    /// Lets users log in to `at`, whose hello is otherwise answered by `hello`.
    void guard(scripted_server& at, scripted_server::full_answer hello, bool speculative = true);

    /// What guard() answers to saslContinue.
    bson::document finish(const scripted_command& more)
    {
        return finish(more.connection, more.body.view());
    }

    /// Ended well, and refused.
    std::size_t logins() const noexcept { return logins_; }
    std::size_t refusals() const noexcept { return refusals_; }
    std::size_t speculations() const noexcept { return speculations_; }

private:
    struct talk {
        std::string client_first;  // without its head
        std::string server_first;
    };

    bson::document begin(std::size_t connection, bson::view start);
    bson::document finish(std::size_t connection, bson::view more);

    std::map<std::size_t, talk> talks_;
    std::size_t logins_ = 0;
    std::size_t refusals_ = 0;
    std::size_t speculations_ = 0;
};

}  // namespace holdfast::proof
