#include "lab/mongo/data/oplog_entry.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/option_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {
namespace {

constexpr std::int64_t version = 2;

void write_statement(bson::builder& out, const change& what)
{
    const statement_id& by = *what.by;
    {
        auto lsid = out.document("lsid");
        lsid.put("id", bson::binary{by.session.id, bson::binary_subtype::uuid});
        lsid.put("uid", bson::binary{by.session.user});
    }
    out.put("txnNumber", by.txn_number);
    out.put("stmtId", by.statement);
    if (what.outcome == nullptr)
        return;
    if (what.outcome->upserted)
        out.put("upserted", true);
    if (what.outcome->has_image) {
        out.put("image", what.outcome->image.view());
        out.put("imageIsNew", what.outcome->image_is_new);
    }
}

error broken(std::string_view field)
{
    return refuse(server_code::failed_to_parse,
                  "an oplog entry has no valid field '" + std::string{field} + "'");
}

std::uint64_t mix(std::uint64_t state) noexcept
{
    state += 0x9E3779B97F4A7C15;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB;
    return state ^ (state >> 31);
}

/// False if the type is none of those the field may have.
bool read_field(const bson::element& e, oplog_entry& to, bson::element& lsid)
{
    const std::string_view name = e.key();
    const bson::type t = e.type();
    if (name == "ts")
        return t == bson::type::timestamp && (to.at.ts = e.as_timestamp(), true);
    if (name == "t")
        return t == bson::type::int64 && (to.at.term = e.as_int64(), true);
    if (name == "op") {
        if (t != bson::type::string || e.as_string().size() != 1)
            return false;
        to.op = e.as_string().front();
    } else if (name == "ns") {
        return t == bson::type::string && (to.ns = e.as_string(), true);
    } else if (name == "o") {
        return t == bson::type::document && (to.o = e.as_document(), true);
    } else if (name == "o2") {
        return t == bson::type::document && (to.o2 = e.as_document(), true);
    } else if (name == "lsid") {
        lsid = e;
        return t == bson::type::document;
    } else if (name == "txnNumber" || name == "stmtId") {
        const auto number = clamped_number(e);
        if (!number)
            return false;
        if (!to.by)
            to.by.emplace();
        if (name == "txnNumber")
            to.by->txn_number = *number;
        else
            to.by->statement = static_cast<std::int32_t>(*number);
    } else if (name == "upserted") {
        to.outcome.upserted = truth(e).value_or(false);
    } else if (name == "image") {
        if (t != bson::type::document)
            return false;
        to.outcome.has_image = true;
        to.outcome.image = bson::document{e.as_document()};
    } else if (name == "imageIsNew") {
        to.outcome.image_is_new = truth(e).value_or(false);
    }
    return true;
}

}  // namespace

bson::view write_oplog_entry(bson::byte_buffer& out, const change& what, const optime& at,
                             bson::datetime wall, const bson::uuid* ui)
{
    const std::size_t start = out.size();
    bson::builder entry{out};
    entry.put("ts", at.ts);
    entry.put("t", at.term);
    entry.put("v", version);
    entry.put("op", std::string_view{&what.op, 1});
    entry.put("ns", what.ns);
    if (ui != nullptr)
        entry.put("ui", bson::binary{ui->bytes, bson::binary_subtype::uuid});
    entry.put("o", what.o);
    if (what.op == 'u')
        entry.put("o2", what.o2);
    entry.put("wall", wall);
    if (what.by != nullptr)
        write_statement(entry, what);
    (void)entry.finish();
    return bson::view::trusted(out.data() + start);
}

result<oplog_entry> read_oplog_entry(bson::view entry)
{
    oplog_entry read;
    bson::element lsid;
    bool has_time = false;
    for (const bson::element& e : entry) {
        if (e.malformed() || !read_field(e, read, lsid))
            return broken(e.key());
        has_time = has_time || e.key() == "ts";
    }
    if (!has_time)
        return broken("ts");
    if (!lsid) {
        read.by.reset();
        return read;
    }
    if (!read.by)
        return broken("txnNumber");
    auto session = read_session_key(lsid.as_document());
    if (!session)
        return std::move(session).error();
    read.by->session = *session;
    return read;
}

bson::uuid derived_uuid(bson::timestamp at, std::string_view ns) noexcept
{
    std::uint64_t state = mix(std::uint64_t{at.seconds} << 32 | at.increment);
    for (const char c : ns)
        state = mix(state ^ static_cast<unsigned char>(c));
    bson::uuid made;
    bson::layout::store(bson::layout::store(made.bytes.data(), mix(state)), mix(state + 1));
    made.bytes[6] = static_cast<std::uint8_t>((made.bytes[6] & 0x0F) | 0x40);
    made.bytes[8] = static_cast<std::uint8_t>((made.bytes[8] & 0x3F) | 0x80);
    return made;
}

std::optional<bson::uuid> uuid_of_command(const change& what, bson::timestamp at,
                                          const catalog& data)
{
    if (what.o.empty())
        return {};
    const bson::element first = *what.o.begin();
    if (first.type() != bson::type::string)
        return {};
    std::string ns{first.as_string()};
    if (first.key() != "renameCollection")
        ns = std::string{database_of(what.ns)} + "." + ns;
    if (first.key() == "create") {
        const bson::element said = what.o.find("uuid");
        if (said.type() == bson::type::binary) {
            if (auto given = bson::uuid::from_binary(said.as_binary()))
                return *given;
        }
        return derived_uuid(at, ns);
    }
    const collection* const found = data.find(ns);
    return found == nullptr ? std::nullopt : std::optional{found->uuid()};
}

result<index_spec> read_command_index(bson::view command)
{
    bson::byte_buffer bytes;
    bson::builder spec{bytes};
    for (const bson::element& e : command) {
        if (e.key() != "createIndexes")
            spec.copy(e);
    }
    auto done = spec.finish();
    if (!done)
        return refuse(server_code::failed_to_parse, "invalid BSON in an index specification");
    return read_index_spec(*done);
}

}  // namespace holdfast::lab::mongo
