#include "drill.hpp"
#include "lab.hpp"
#include "ping.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

int main(int argc, char** argv)
{
    CLI::App app{"Holdfast: a client for MongoDB and Couchbase that holds fast in a storm."};
    app.name("holdfast");
    app.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
    app.require_subcommand(1);
    app.footer("holdfast COMMAND --help describes one command.");

    holdfast::tool::ping_options ping;
    CLI::App* const ping_command = app.add_subcommand(
        "ping",
        "Connects to a MongoDB deployment or a Couchbase cluster, and measures round trips.");
    holdfast::tool::add_options(*ping_command, ping);

    holdfast::tool::lab_options lab;
    CLI::App* const lab_command = app.add_subcommand(
        "lab",
        "Runs an embedded MongoDB deployment for tests, which can be broken on purpose; with\n"
        "--couchbase, a Couchbase cluster.");
    holdfast::tool::add_options(*lab_command, lab);

    holdfast::tool::drill_options drill;
    CLI::App* const drill_command = app.add_subcommand(
        "drill", "Breaks a deployment under load, and shows that no write is lost or done twice.");
    holdfast::tool::add_options(*drill_command, drill);

    // Of a word that is no command, the parser says only that there must be one.
    const auto is_named = [&](const CLI::App* one) { return one->get_name() == argv[1]; };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_named).empty()) {
        std::fprintf(stderr, "holdfast: there is no command \"%s\" (see --help)\n", argv[1]);
        return 2;
    }

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& wrong) {
        if (wrong.get_exit_code() == 0)
            return app.exit(wrong);  // --help
        std::fprintf(stderr, "holdfast: %s (see --help)\n", wrong.what());
        return 2;
    }
    if (ping_command->parsed())
        return holdfast::tool::run(ping);
    if (lab_command->parsed())
        return holdfast::tool::run(lab);
    if (drill_command->parsed())
        return holdfast::tool::run(drill);
    return 2;
}
