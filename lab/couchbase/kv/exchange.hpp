#pragma once
#include "core/couchbase/wire/big_endian.hpp"
#include "core/couchbase/wire/datatype.hpp"
#include "core/couchbase/wire/features.hpp"
#include "core/couchbase/wire/frame.hpp"
#include "core/couchbase/wire/frame_info.hpp"
#include "lab/couchbase/data/operations.hpp"
#include "lab/couchbase/kv/node.hpp"
#include "lab/sasl/scram.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::lab::couchbase {

using core::couchbase::big_endian_reader;
using core::couchbase::feature_set;
using core::couchbase::kv_datatype;
using core::couchbase::kv_extras;
using core::couchbase::kv_feature;
using core::couchbase::kv_opcode;

/// What a node knows of one connection.
struct kv_client {
    bool secure = false;  // TLS
    feature_set features = {};
    std::string agent = {};
    std::string user = {};  // empty: no login yet
    std::string bucket = {};  // empty: none selected
    std::optional<scram_conversation> login = {};
    /// The revision of the last configuration that a NOT_MY_VBUCKET carried.
    config_revision sent_revision = {0, 0};
    std::uint64_t rights_version = 0;  // of the node, when the rights were looked at
    bool stale_login = false;  // what it has shown is not valid any more
    /// The number of the node at the other end, after a hello of that kind; its buckets by the
    /// numbers that it has given them.
    std::optional<int> peer = {};
    std::map<std::uint32_t, std::string> peer_buckets = {};

    bool has(kv_feature one) const noexcept { return features.has(one); }
};

/// A request, taken apart. Views go into the frame and the decompressed value.
struct kv_request {
    const core::couchbase::frame& frame;
    kv_client& client;
    core::couchbase::request_infos infos = {};
    std::string_view value = {};
    bool compressed = false;
    bucket* in = nullptr;        // of an operation on a bucket
    vbucket* partition = nullptr;  // of an operation on an active vbucket
    doc_key key = {};            // of an operation on a document
    wall_time now = {};

    kv_opcode opcode() const noexcept { return frame.header.opcode; }
    std::uint64_t cas() const noexcept { return frame.header.cas; }
};

struct kv_reply {
    kv_status status = kv_status::success;
    std::uint64_t cas = 0;
    bool json = false;  // what the value is
    bool may_compress = false;
    kv_extras extras = {};
    std::string value = {};
    /// Of STAT: each is a frame of its own, before the last, empty one.
    std::vector<std::pair<std::string, std::string>> statistics = {};
    bool close_after = false;
    sync_write_ptr waits_for = {};  // not null: it is sent when that has an outcome

    void fail(kv_status why) { status = why; }
    /// With the body that says why, for people.
    void fail(kv_status why, std::string_view context);
};

/// Carries out a request at a node. What is wrong with a request is a status of the reply, never an
/// error of this function.
kv_reply answer(node& on, kv_request& what);

// The handlers, by kind. Each is called with what its row of the table in dispatch.cpp asks for.
using kv_handler = void (*)(node& on, kv_request& what, kv_reply& reply);

void hello(node& on, kv_request& what, kv_reply& reply);
void error_map(node& on, kv_request& what, kv_reply& reply);
void list_mechanisms(node& on, kv_request& what, kv_reply& reply);
void start_login(node& on, kv_request& what, kv_reply& reply);
void continue_login(node& on, kv_request& what, kv_reply& reply);
void select_bucket(node& on, kv_request& what, kv_reply& reply);
void cluster_config(node& on, kv_request& what, kv_reply& reply);
void noop(node& on, kv_request& what, kv_reply& reply);
void version(node& on, kv_request& what, kv_reply& reply);
void statistics(node& on, kv_request& what, kv_reply& reply);

void collections_manifest(node& on, kv_request& what, kv_reply& reply);
void collection_id_of(node& on, kv_request& what, kv_reply& reply);
void scope_id_of(node& on, kv_request& what, kv_reply& reply);

void get_document(node& on, kv_request& what, kv_reply& reply);
void get_replica(node& on, kv_request& what, kv_reply& reply);
void store_document(node& on, kv_request& what, kv_reply& reply);
void remove_document(node& on, kv_request& what, kv_reply& reply);
void extend_document(node& on, kv_request& what, kv_reply& reply);
void change_counter(node& on, kv_request& what, kv_reply& reply);
void touch_document(node& on, kv_request& what, kv_reply& reply);
void touch_and_get_document(node& on, kv_request& what, kv_reply& reply);
void lock_document(node& on, kv_request& what, kv_reply& reply);
void unlock_document(node& on, kv_request& what, kv_reply& reply);
void document_metadata(node& on, kv_request& what, kv_reply& reply);
void observe_documents(node& on, kv_request& what, kv_reply& reply);
void observe_seqno(node& on, kv_request& what, kv_reply& reply);
void look_up_paths(node& on, kv_request& what, kv_reply& reply);
void mutate_paths(node& on, kv_request& what, kv_reply& reply);

/// Whether a document may be read now. A write that another node had prepared may have been seen as
/// committed there: until that is so here, neither the old nor the new document is the right one.
bool check_readable(const vbucket& in, const doc_key& key, kv_reply& reply);
/// Whether a document may be changed now: no durable write to it is on its way.
bool check_no_sync_write(const kv_request& what, kv_reply& reply);
/// The same; and if this write is durable, there are enough copies, and what is stored next is
/// prepared only.
bool begin_write(const kv_request& what, kv_reply& reply);
/// After the handler: a write that was prepared waits for its copies.
void await_copies(node& on, kv_request& what, kv_reply& reply);
/// What the client gets when that is over.
void finish_durable(const kv_client& client, kv_reply& reply);

/// The token of a mutation, if the client has asked for them.
void add_token(const kv_request& what, const mutation_reply& done, kv_reply& reply);

/// The status 7, with the configuration unless the client has that revision by now.
void refuse_vbucket(const node& on, kv_request& what, kv_reply& reply);

/// Reads the key of a request on a bucket; false if the reply says what is wrong with it.
bool read_document_key(kv_request& what, kv_reply& reply);

/// {"manifest_uid":"..."}, which goes with the statuses 88 and 8c.
void refuse_collection(const kv_request& what, kv_status why, kv_reply& reply);

/// The error map of that version: JSON.
std::string error_map_text(int version);

}  // namespace holdfast::lab::couchbase
