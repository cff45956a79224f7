#include "truth/couchbase/lab_process.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "tools/holdfast/drill/couchbase/lab_target.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace holdfast::truth {

namespace {

using target = drill::couchbase_lab_target;

bool write_line(int to, std::string text)
{
    text += '\n';
    for (std::size_t at = 0; at != text.size();) {
        const ::ssize_t written = ::write(to, text.data() + at, text.size() - at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += static_cast<std::size_t>(written);
    }
    return true;
}

/// Nothing at the end of the input.
std::string next_line(int from)
{
    std::string made;
    for (char one = 0;;) {
        const ::ssize_t got = ::read(from, &one, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || one == '\n')
            return made;
        made += one;
    }
}

result<void> replace_one(target& servers, std::string_view kind)
{
    const auto member = servers.await_leader();
    if (!member)
        return member.error();
    result<void> done;
    if (kind == "crash")
        done = servers.crash(*member);
    if (done)
        done = kind == "gracefully" ? servers.fail_over_gracefully(*member)
                                    : servers.fail_over(*member);
    if (!done)
        return done;
    return servers.replace_lost();
}

void serve(std::size_t nodes, int commands, int answers)
{
    auto servers = target::start({.nodes = nodes});
    if (!servers) {
        write_line(answers, "error: " + servers.error().message());
        return;
    }
    write_line(answers, (*servers)->uri());
    for (;;) {
        const std::string kind = next_line(commands);
        if (kind.empty())
            return;
        const auto done = replace_one(**servers, kind);
        if (!write_line(answers, done ? "ok" : done.error().message()))
            return;
    }
}

}  // namespace

result<std::unique_ptr<lab_process>> lab_process::start(std::size_t nodes)
{
    int commands[2] = {-1, -1};
    int answers[2] = {-1, -1};
    if (::pipe(commands) != 0 || ::pipe(answers) != 0)
        return error{error_code{errno, boost::system::system_category()}, "no pipe for the lab"};
    const int process = ::fork();
    if (process < 0)
        return error{error_code{errno, boost::system::system_category()}, "no process for the lab"};
    if (process == 0) {
        ::close(commands[1]);
        ::close(answers[0]);
        ::signal(SIGPIPE, SIG_IGN);
        serve(nodes, commands[0], answers[1]);
        ::_exit(0);
    }
    ::close(commands[0]);
    ::close(answers[1]);
    std::unique_ptr<lab_process> made{new lab_process{process, commands[1], answers[0]}};
    made->uri_ = made->read_line();
    if (!made->uri_.starts_with("couchbase://"))
        return error{make_error_code(couchbase::errc::generic_failure),
                     "the lab did not start: " + made->uri_};
    return made;
}

lab_process::~lab_process()
{
    ::close(commands_);  // which ends its input
    ::close(answers_);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
}

void lab_process::fail_over(std::string_view kind)
{
    waits_ = write_line(commands_, std::string{kind});
}

std::string lab_process::outcome()
{
    if (!std::exchange(waits_, false))
        return {};
    const std::string line = read_line();
    return line == "ok" ? std::string{} : "the lab: " + (line.empty() ? "it has ended" : line);
}

std::string lab_process::read_line()
{
    return next_line(answers_);
}

}  // namespace holdfast::truth
