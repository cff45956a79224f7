#include "lab/mongo/set/snapshot.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {
namespace {

void add_command(snapshot& into, std::string_view database, std::string_view command,
                 std::string_view name, bson::view options, const bson::uuid* uuid)
{
    const std::string ns = std::string{database} + ".$cmd";
    into.parts.push_back(document_of([&](bson::builder& out) {
        out.add("op", "c").add("ns", ns);
        bson::builder o = out.document("o");
        o.add(command, name);
        for (const bson::element& option : options) {
            if (option && option.key() != "uuid" && option.key() != command)
                o.copy(option);
        }
        if (uuid)
            o.add("uuid", *uuid);
    }));
}

void add_collection(snapshot& into, const collection& from)
{
    const std::string_view database = database_of(from.ns());
    add_command(into, database, "create", from.name(), from.options().raw.view(), &from.uuid());
    for (const index_spec& index : from.indexes()) {
        if (index.name != "_id_")
            add_command(into, database, "createIndexes", from.name(), index.raw.view(), nullptr);
    }
    for (auto at = from.next(0); at; at = from.next(at->id)) {
        into.parts.push_back(document_of([&](bson::builder& out) {
            out.add("op", "i").add("ns", from.ns()).add("o", at->document);
        }));
    }
}

bson::document session_part(const session_key& session, std::int64_t number,
                            const executed_statement& what)
{
    return document_of([&](bson::builder& out) {
        bson::builder in = out.document("session");
        in.add("id", bson::binary{session.id})
            .add("user", bson::binary{session.user})
            .add("txnNumber", number)
            .add("stmtId", what.statement);
        write_optime(in, "at", what.at);
        in.add("kind", std::string_view{&what.kind, 1})
            .add("upserted", what.upserted)
            .add("upsertedId", what.upserted_id.view())
            .add("hasImage", what.has_image)
            .add("imageIsNew", what.image_is_new)
            .add("image", what.image.view());
    });
}

template <std::size_t Size>
void read_bytes(const bson::element& from, std::array<std::uint8_t, Size>& into)
{
    if (from.type() != bson::type::binary)
        return;
    const auto bytes = from.as_binary().bytes;
    std::ranges::copy(bytes.first(std::min(bytes.size(), Size)), into.begin());
}

bson::document inner_document(const bson::element& from)
{
    return from.type() == bson::type::document ? bson::document{from.as_document()}
                                               : bson::document{};
}

void add_session(disk& to, bson::view from)
{
    session_key session;
    read_bytes(from.find("id"), session.id);
    read_bytes(from.find("user"), session.user);
    executed_statement what;
    what.statement = static_cast<std::int32_t>(number_or(from.find("stmtId"), 0));
    what.at = read_optime(from.find("at"));
    const std::string_view kind = text_or(from.find("kind"), "n");
    what.kind = kind.empty() ? 'n' : kind[0];
    what.upserted = flag_or(from.find("upserted"), false);
    what.upserted_id = inner_document(from.find("upsertedId"));
    what.has_image = flag_or(from.find("hasImage"), false);
    what.image_is_new = flag_or(from.find("imageIsNew"), false);
    what.image = inner_document(from.find("image"));
    to.sessions().record(session, number_or(from.find("txnNumber"), 0), std::move(what));
}

}  // namespace

void take_snapshot(disk& of, snapshot& into)
{
    into.at = of.last();
    for (const collection* const one : of.data().all()) {
        if (database_of(one->ns()) != "local")
            add_collection(into, *one);
    }
    of.sessions().for_each(
        [&](const session_key& session, std::int64_t number, const executed_statement& what) {
            into.parts.push_back(session_part(session, number, what));
        });
}

result<void> add_part(disk& to, bson::view part, std::uint32_t number)
{
    if (const bson::element session = part.find("session");
        session.type() == bson::type::document) {
        add_session(to, session.as_document());
        return {};
    }
    const bson::document entry = document_of([&](bson::builder& out) {
        out.add("ts", bson::timestamp{1, number}).add("t", std::int64_t{0});
        out.add("v", std::int64_t{2}).merge(part);
        out.add("wall", bson::datetime{});
    });
    return to.apply(entry.view());
}

}  // namespace holdfast::lab::mongo
