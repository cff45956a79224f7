// A log sink of your own: one line of JSON for each message, with the fields of the drivers'
// specification, and a level for each component.
#include <holdfast/bson.hpp>
#include <holdfast/lab/mongo.hpp>
#include <holdfast/log.hpp>
#include <holdfast/mongo/filter.hpp>
#include <holdfast/mongo/log.hpp>
#include <holdfast/mongo/sync/client.hpp>

#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace hf = holdfast;
namespace bson = holdfast::bson;
namespace mongo = holdfast::mongo;

namespace {

/// Both functions may be called by any thread. The text lives in a string here; yours would go to
/// a file or a socket.
class json_lines : public hf::log_sink {
public:
    /// Asked first, so that a message that is not wanted is never put together.
    bool wants(hf::log_component of, hf::severity level) const noexcept override
    {
        const bool is_chatty = of == mongo::log_components::connection ||
                               of == mongo::log_components::server_selection;
        return level <= (is_chatty ? hf::severity::informational : hf::severity::debug);
    }
    void write(const hf::log_record& record) noexcept override
    try {
        const std::lock_guard lock{mutex_};
        text_ += hf::to_json(record).value_or("{}") + '\n';
    } catch (...) {
        // A message that cannot be written is no reason to fail.
    }
    std::string text() const
    {
        const std::lock_guard lock{mutex_};
        return text_;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

}  // namespace

int main()
try {
    hf::lab::mongo_options with_login;
    with_login.members = 1;
    with_login.user = "ada";
    with_login.password = "Analytical-Engine";
    const auto server = hf::lab::mongo_cluster::start(with_login).value();

    const auto lines = std::make_shared<json_lines>();
    mongo::client_options options;
    options.log = lines;
    options.log_document_length = 200;  // of each command and reply
    const hf::mongo::sync::client db{server.uri(), options};
    db["diary"]["days"].insert_one(bson::doc("_id", "Monday", "text", std::string(1000, 'z')));
    (void)db["diary"]["days"].try_insert_one(bson::doc("_id", "Monday"));
    db.close();

    const std::string text = lines->text();
    std::cout << text;
    const auto says = [&text](std::string_view part) { return text.find(part) != text.npos; };
    const bool as_expected = says("\"Command started\"") && says("\"Command succeeded\"") &&
                             says("\"Starting topology monitoring\"") && says("zzz...") &&
                             !says("Server selection started") && !says(with_login.password);
    return as_expected ? 0 : 1;
} catch (const hf::failure& failed) {
    std::cerr << failed.error().explain() << '\n';
    return 1;
}
