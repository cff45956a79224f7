#include "lab/mongo/command/users.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/storage/catalog.hpp"

#include <array>
#include <string>

namespace holdfast::lab::mongo {

namespace {

constexpr std::int32_t sha_1_iterations = 10'000;
constexpr std::int32_t sha_256_iterations = 15'000;

void add_keys(const scram_keys& keys, std::string_view mechanism, bson::builder& credentials)
{
    auto out = credentials.document(mechanism);
    out.add("iterationCount", keys.iterations)
        .add("salt", base64_text(keys.salt))
        .add("storedKey", base64_text(keys.stored_key))
        .add("serverKey", base64_text(keys.server_key));
}

result<void> add_mechanism(node& on, bool sha_256, std::string_view password,
                           bson::builder& credentials)
{
    std::vector<std::uint8_t> salt(salt_size(sha_256));
    on.world.random(salt);
    auto keys = derive_scram_keys(hash_of(sha_256), password, std::move(salt),
                                  sha_256 ? sha_256_iterations : sha_1_iterations);
    if (!keys)
        return refuse(server_code::internal_error, "no keys can be made of this password");
    add_keys(*keys, sha_256 ? sha_256_name : sha_1_name, credentials);
    return {};
}

}  // namespace

std::optional<bson::document> find_user(const node& on, std::string_view database,
                                        std::string_view name)
{
    const collection* const users = std::as_const(*on.data).data().find(users_ns);
    if (users == nullptr)
        return std::nullopt;
    std::string id{database};
    id.append(1, '.').append(name);
    const bson::document key = bson::doc("_id", bson::unchecked_text{id});
    const auto found = users->find_by_id(key.find("_id"));
    if (!found)
        return std::nullopt;
    return bson::document{found->document};
}

bool has_users(const node& on)
{
    const collection* const users = std::as_const(*on.data).data().find(users_ns);
    return users != nullptr && users->count() != 0;
}

std::optional<scram_keys> keys_of(bson::view user, bool sha_256)
{
    const bson::element all = user.find("credentials");
    if (all.type() != bson::type::document)
        return std::nullopt;
    const bson::element one = all.as_document().find(sha_256 ? sha_256_name : sha_1_name);
    if (one.type() != bson::type::document)
        return std::nullopt;
    const bson::view kept = one.as_document();
    const auto iterations = kept.get<std::int32_t>("iterationCount");
    if (!iterations)
        return std::nullopt;
    scram_keys keys;
    keys.iterations = *iterations;
    const auto read = [&](std::string_view name, std::vector<std::uint8_t>& into) {
        const bson::element text = kept.find(name);
        auto bytes = text.type() == bson::type::string ? bytes_of_base64(text.as_string())
                                                       : std::nullopt;
        if (bytes)
            into = *std::move(bytes);
        return bytes.has_value();
    };
    if (!read("salt", keys.salt) || !read("storedKey", keys.stored_key) ||
        !read("serverKey", keys.server_key))
        return std::nullopt;
    return keys;
}

result<void> add_credentials(node& on, std::string_view name, std::string_view password,
                             wanted_mechanisms which, bson::builder& user)
{
    auto credentials = user.document("credentials");
    if (which.sha_1) {
        const auto digest = digest_password(name, password);
        if (!digest)
            return digest.error();
        if (auto fine = add_mechanism(on, false, *digest, credentials); !fine)
            return fine;
    }
    if (which.sha_256)
        return add_mechanism(on, true, password, credentials);
    return {};
}

result<optime> insert_user(node& on, bson::view user)
{
    if (on.data->data().find(users_ns) == nullptr) {
        const bson::document create = bson::doc("create", "system.users");
        change first;
        first.op = 'c';
        first.ns = "admin.$cmd";
        first.o = create;
        if (auto made = on.write(first); !made)
            return made;
    }
    change added;
    added.op = 'i';
    added.ns = users_ns;
    added.o = user;
    return on.write(added);
}

result<optime> replace_user(node& on, bson::view user)
{
    const bson::document id = bson::doc("_id", user.find("_id"));
    change changed;
    changed.op = 'u';
    changed.ns = users_ns;
    changed.o = user;
    changed.o2 = id;
    return on.write(changed);
}

result<optime> remove_user(node& on, std::string_view id)
{
    const bson::document key = bson::doc("_id", bson::unchecked_text{id});
    change gone;
    gone.op = 'd';
    gone.ns = users_ns;
    gone.o = key;
    return on.write(gone);
}

}  // namespace holdfast::lab::mongo
