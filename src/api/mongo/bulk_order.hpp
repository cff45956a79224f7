#pragma once
#include "api/mongo/client_impl.hpp"
#include "core/mongo/operation/bulk.hpp"

#include <string>
#include <utility>

namespace holdfast::mongo {

/// The client's ids, for documents among many that have none.
class ids_of_client final : public core::mongo::id_source {
public:
    explicit ids_of_client(client_impl& of) : ids_{of} {}
    bson::object_id next() override { return ids_.next(); }

private:
    client_impl::new_ids ids_;
};

/// What the commands of one operation have in common: the time by which all must be done, a
/// session, and the number under which events know it.
class shared_order {
public:
    /// `first` is the first command, with all that the application has said.
    shared_order(client_impl& impl, const shell::mongo::command_order& first)
        : until_{first.until}, counted_{*impl.running}, session_{first.session}
    {
        if (!session_ && first.command.acknowledged)
            session_ = impl.implicit_session();
    }

    /// `facts` of one command are there for the next.
    shell::mongo::command_order make(core::mongo::command&& what,
                                     shell::mongo::answer_facts& facts) const
    {
        shell::mongo::command_order order{.command = std::move(what)};
        order.until = until_;
        order.session = session_;
        order.operation = facts.operation;
        order.continues = facts.operation != operation_id{};
        order.facts = &facts;
        return order;
    }

private:
    core::deadline until_;
    shell::mongo::running_operation counted_;  // between the commands as well
    std::shared_ptr<shell::mongo::session_state> session_;
};

/// The error of many writes, with the operation in words, and the last server that has replied.
inline error with_bulk_facts(error why, std::string operation, std::string space,
                             const shell::mongo::answer_facts& facts)
{
    if (why.context("operation").empty())
        why = std::move(why)
                  .with_context("operation", std::move(operation))
                  .with_context("namespace", std::move(space));
    if (why.context("server").empty() && !facts.server.value().empty())
        why = std::move(why).with_context("server", facts.server.value());
    if (why.history().empty())
        why = std::move(why).with_history(facts.refused);
    return why;
}

}  // namespace holdfast::mongo
