#pragma once
#include "lab/couchbase/cluster/cluster.hpp"
#include "lab/couchbase/http/http_service.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::lab::couchbase {

/// What the services of a node that speak HTTP have in common: its faults, its logins, its freezes
/// and the size of its chunks. One object for all ports of a service, from the start of the node's
/// process, or of the service, to its end.
class node_service : public http_service {
public:
    /// `name` as in configurations: "mgmt", "n1ql", "fts", ...
    node_service(cluster& of, std::size_t number, std::string name, runtime::world& in);

    std::optional<http_fault> fault_for(const http_request& what) override;
    runtime::event& news() override { return news_; }
    bool frozen() const override;
    std::size_t chunk_size() const override;

protected:
    /// The user of a request, if the password is right.
    std::optional<std::string> user_of(const http_request& what);
    /// 401 with WWW-Authenticate.
    static http_reply ask_for_login();
    /// Whether that user may open the bucket.
    bool may_open(const std::string& user, std::string_view bucket) const;

    cluster& on_;
    std::size_t number_;
    runtime::world& world_;

private:
    /// The last login that was right: deriving its keys takes milliseconds.
    struct known_login {
        std::string authorization = {};
        std::string user = {};
        std::uint64_t rights_version = 0;
    };

    std::string name_;
    known_login known_;
    runtime::event news_;
};

}  // namespace holdfast::lab::couchbase
