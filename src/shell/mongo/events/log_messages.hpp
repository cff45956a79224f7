#pragma once
#include "holdfast/log.hpp"
#include "shell/mongo/events/event_hub.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::shell::mongo {

/// The fields of log messages about server selection.
struct selection_facts {
    std::string_view operation;  // the command's name
    operation_id id = {};
    std::string_view selector;  // "write", or the read preference
    std::string_view topology;  // as it is, for people
};

/// Turns events into the messages and fields of the drivers' logging specification. Documents are
/// truncated after `most` bytes of Extended JSON, at the end of a character; commands and replies
/// that carry secrets are empty documents already.
class log_messages {
public:
    log_messages(log_sink& to, std::size_t most) noexcept : to_{to}, most_{most} {}

    void write(const queued_event& what, const bson::object_id& topology) const;
    void write(const events::command_started& what) const;
    void write(const events::command_succeeded& what) const;
    void write(const events::command_failed& what) const;

    void selection_started(const selection_facts& of) const;
    void selection_succeeded(const selection_facts& of, const endpoint& server) const;
    void selection_failed(const selection_facts& of, const error& why) const;
    void selection_waits(const selection_facts& of, duration left) const;

private:
    log_sink& to_;
    std::size_t most_;
};

/// One line, for humans.
std::string to_text(const holdfast::mongo::topology_description& t);

/// At most `most` bytes of it, and "..." if that is not all. A character is not cut in two.
std::string cut_short(std::string text, std::size_t most);

}  // namespace holdfast::shell::mongo
