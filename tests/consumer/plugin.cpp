// A shared object of an application, with a client inside.
#include <holdfast/mongo/sync/client.hpp>

#include <string>

__attribute__((visibility("default"))) std::string connect_and_fail()
{
    using holdfast::mongo::sync::client;
    const auto db = client::create("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=10");
    if (!db)
        return "not created: " + db.error().message();
    const auto reply = db->try_run_command("admin", holdfast::bson::doc("ping", 1));
    return reply ? "connected" : "no server";
}
