#pragma once
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/serve/service.hpp"

namespace holdfast::lab::mongo {

/// The times that end a reply: $clusterTime, and when the operation was done.
void put_times(bson::builder& reply, bson::timestamp of_cluster, bson::timestamp of_operation);

/// A mongod: the commands of a node behind a port. Checks what all commands have in common (known
/// command and fields, stable API, login, primary or secondary, read concern, rate limits), runs
/// the handler, labels errors by MongoDB's rules (RetryableWriteError for a write with a number and
/// a retryable code, also in a writeConcernError), adds the times.
class node_service final : public service {
public:
    explicit node_service(node& of) noexcept : node_{of} {}

    bool admits() override;
    std::int64_t opened() override;
    void closed(client_facts& who) override;
    result<progress> answer(request& what, bson::builder& reply) override;
    runtime::awaitable<result<void>> answer_later(request& what, bson::builder& reply) override;
    void close_reply(const request& what, bson::builder& reply) override;
    void write_error(const request& what, const error& why, bson::builder& reply) override;
    runtime::event& news() override { return node_.news; }
    std::optional<injected_fault> fault_for(const request& what) override;
    concern_state check_concern(const request& what) override;
    error concern_failure(const request& what) override;

private:
    result<void> check_all(const command& known, request& what);

    node& node_;
};

}  // namespace holdfast::lab::mongo
