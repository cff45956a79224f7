#include "lab/couchbase/kv/exchange.hpp"

namespace holdfast::lab::couchbase {

namespace {

void answer_id(const kv_request& what, const manifest::found_id& found, kv_reply& reply)
{
    if (found.code == kv_status::success)
        reply.extras.add(what.in->collections.uid()).add(found.id);
    else if (found.code == kv_status::invalid)
        reply.fail(found.code, "a collection is named scope.collection");
    else
        refuse_collection(what, found.code, reply);
}

/// In the value; older clients had it in the key.
std::string_view name_in(const kv_request& what)
{
    return what.value.empty() ? core::couchbase::as_text(what.frame.key()) : what.value;
}

}  // namespace

void collections_manifest(node&, kv_request& what, kv_reply& reply)
{
    reply.value = what.in->collections.text();
    reply.json = true;
}

void collection_id_of(node&, kv_request& what, kv_reply& reply)
{
    answer_id(what, what.in->collections.collection_id(name_in(what)), reply);
}

void scope_id_of(node&, kv_request& what, kv_reply& reply)
{
    answer_id(what, what.in->collections.scope_id(name_in(what)), reply);
}

}  // namespace holdfast::lab::couchbase
