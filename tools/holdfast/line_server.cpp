#include "line_server.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

namespace holdfast::tool {

namespace {

constexpr std::size_t longest_line = 4096;

}  // namespace

int open_signals()
{
    sigset_t stopping;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGINT);
    sigaddset(&stopping, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &stopping, nullptr);
    ::signal(SIGTTIN, SIG_IGN);  // in the background of a terminal there is no input
    ::signal(SIGPIPE, SIG_IGN);
    return ::signalfd(-1, &stopping, SFD_CLOEXEC);
}

void serve_lines(int signals, const std::function<bool(std::string_view)>& obey)
{
    std::string typed;
    std::array<pollfd, 2> awaited{pollfd{signals, POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
    for (;;) {
        const int ready = ::poll(awaited.data(), awaited.size(), -1);
        if (ready < 0 && errno != EINTR)
            return;
        if ((awaited[0].revents & POLLIN) != 0)
            return;
        if (awaited[1].revents == 0)
            continue;
        std::array<char, 512> buffer{};
        const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (got <= 0 || typed.size() > longest_line) {
            awaited[1].fd = -1;  // the input has ended; signals go on
            continue;
        }
        typed.append(buffer.data(), static_cast<std::size_t>(got));
        for (std::size_t end = typed.find('\n'); end != typed.npos; end = typed.find('\n')) {
            const bool goes_on = obey(std::string_view{typed}.substr(0, end));
            typed.erase(0, end + 1);
            if (!goes_on)
                return;
        }
    }
}

}  // namespace holdfast::tool
