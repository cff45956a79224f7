#include "ping.hpp"

#include <CLI/CLI.hpp>

int main(int argc, char** argv)
{
    CLI::App app{"Holdfast: a client for MongoDB and Couchbase that holds fast in a storm."};
    app.name("holdfast");
    app.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
    app.require_subcommand(1);
    app.footer("holdfast COMMAND --help tells more about one command.");

    holdfast::tool::ping_options ping;
    CLI::App* const ping_command = app.add_subcommand(
        "ping", "Connects to a MongoDB deployment, says hello, and measures round trips.");
    holdfast::tool::add_options(*ping_command, ping);

    CLI11_PARSE(app, argc, argv);
    if (ping_command->parsed())
        return holdfast::tool::run(ping);
    return 2;
}
