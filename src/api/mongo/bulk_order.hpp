#pragma once
#include "api/mongo/client_impl.hpp"
#include "core/mongo/operation/bulk.hpp"

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
        : until_{first.until}, session_{first.session}
    {
        if (!session_ && first.acknowledged)
            session_ = impl.implicit_session();
    }

    /// `facts` of one command are there for the next.
    shell::mongo::command_order make(core::mongo::command&& what,
                                     shell::mongo::answer_facts& facts) const
    {
        shell::mongo::command_order order{std::move(what)};
        order.until = until_;
        order.session = session_;
        order.operation = facts.operation;
        order.facts = &facts;
        return order;
    }

private:
    core::deadline until_;
    std::shared_ptr<shell::mongo::session_state> session_;
};

}  // namespace holdfast::mongo
