#include "processes.hpp"

#include "run_file.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>

namespace holdfast::spec {
namespace {

namespace fs = std::filesystem;

/// One end of a connection to another process: lines of text in both directions.
class channel {
public:
    explicit channel(int fd) noexcept : fd_{fd} {}

    int fd() const noexcept { return fd_; }
    void close() noexcept { ::close(fd_); }

    /// False if the other process is gone.
    bool send(std::string line) const
    {
        line += '\n';
        for (std::size_t sent = 0; sent < line.size();) {
            const ssize_t n = ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return false;
            sent += static_cast<std::size_t>(n);
        }
        return true;
    }

    /// Waits for more bytes. False if the other process is gone.
    bool receive()
    {
        char bytes[16 * 1024];
        ssize_t n = -1;
        do
            n = ::recv(fd_, bytes, sizeof bytes, 0);
        while (n < 0 && errno == EINTR);
        if (n > 0)
            unread_.append(bytes, static_cast<std::size_t>(n));
        return n > 0;
    }

    std::optional<std::string> next_line()
    {
        const std::size_t end = unread_.find('\n');
        if (end == unread_.npos)
            return std::nullopt;
        std::string line = unread_.substr(0, end);
        unread_.erase(0, end + 1);
        return line;
    }

private:
    int fd_;
    std::string unread_;
};

/// A line that is no record: the file is done, and has had so many cases.
constexpr std::string_view done_mark = "done ";

/// What a child does until there are no more files.
[[noreturn]] void serve(channel to_parent, const std::vector<fs::path>& files,
                        const options& wanted)
{
    bool connected = true;
    while (connected && to_parent.receive()) {
        while (const auto line = to_parent.next_line()) {
            const auto send = [&](const record& one) { to_parent.send(to_line(one)); };
            const std::size_t count = run_file(files.at(std::stoul(*line)), wanted, send);
            connected = to_parent.send(std::string{done_mark} + std::to_string(count));
        }
    }
    std::exit(0);  // stops the lab, as at the end of a single process
}

std::string ending_of(int status)
{
    if (WIFSIGNALED(status))
        return "was ended by signal " + std::to_string(WTERMSIG(status));
    return "ended with status " + std::to_string(WEXITSTATUS(status));
}

struct child {
    pid_t id;
    channel connection;
    std::optional<std::size_t> file = {};  // that it is running
    std::size_t last = 0;  // that it ran
};

struct file_progress {
    std::deque<record> records = {};  // that have not been passed on
    bool done = false;
};

class process_pool {
public:
    process_pool(const std::vector<fs::path>& files, const options& wanted, const record_sink& to)
        : files_{files}, wanted_{wanted}, to_{to}, progress_(files.size())
    {
        for (std::size_t n = 0; n < files.size(); ++n)
            queue_for(needs_of(files[n])).push_back(n);
    }

    std::size_t run()
    {
        for (;;) {
            while (children_.size() < wanted_.jobs && start_next()) {}
            if (children_.empty())
                break;
            await_news();
            pass_on();
        }
        pass_on();
        return count_;
    }

private:
    std::deque<std::size_t>& queue_for(const file_needs& needs)
    {
        if (needs.exact_times && wanted_.run.runtime != "sim")
            return alone_;
        return needs.fixed_ports ? one_at_a_time_ : any_time_;
    }

    /// Files with fixed ports first: they cannot be shared out at the end. Last, one by one, those
    /// that must run alone.
    std::optional<std::size_t> take_file()
    {
        std::deque<std::size_t>* from = &any_time_;
        if (!one_at_a_time_.empty() && !holder_of_ports_)
            from = &one_at_a_time_;
        if (from->empty() && busy_ == 0)
            from = &alone_;
        if (from->empty())
            return std::nullopt;
        const std::size_t file = from->front();
        from->pop_front();
        if (from == &one_at_a_time_)
            holder_of_ports_ = file;
        return file;
    }

    bool start_next()
    {
        const auto file = take_file();
        if (file)
            assign(children_.emplace_back(start()), *file);
        return file.has_value();
    }

    child start()
    {
        std::cout.flush();  // or the child would print it as well
        int ends[2] = {};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw std::system_error{errno, std::generic_category(), "socketpair"};
        const pid_t id = ::fork();
        if (id < 0)
            throw std::system_error{errno, std::generic_category(), "fork"};
        if (id > 0) {
            ::close(ends[1]);
            return {id, channel{ends[0]}};
        }
        ::close(ends[0]);
        for (child& other : children_)  // each child must see the end of its own connection
            other.connection.close();
        serve(channel{ends[1]}, files_, wanted_);
    }

    void assign(child& to, std::size_t file)
    {
        to.file = file;
        to.last = file;
        ++busy_;
        to.connection.send(std::to_string(file));  // if it is gone, recv() will notice
    }

    void await_news()
    {
        std::vector<pollfd> waiting;
        for (const child& one : children_)
            waiting.push_back({one.connection.fd(), POLLIN, 0});
        if (::poll(waiting.data(), waiting.size(), -1) < 0)
            return;  // interrupted
        std::vector<child> alive;
        for (std::size_t n = 0; n < waiting.size(); ++n) {
            if (waiting[n].revents == 0 || take_news(children_[n]))
                alive.push_back(std::move(children_[n]));
        }
        children_ = std::move(alive);
    }

    /// False if the child has ended.
    bool take_news(child& from)
    {
        const bool connected = from.connection.receive();
        while (const auto line = from.connection.next_line()) {
            if (line->starts_with(done_mark))
                finish(from, std::stoul(line->substr(done_mark.size())));
            else
                progress_[*from.file].records.push_back(record_from_line(*line));
        }
        if (connected && !from.file) {
            if (const auto next = take_file()) {
                assign(from, *next);
                return true;
            }
        }
        if (connected && from.file)
            return true;
        end(from);
        return false;
    }

    void finish(child& by, std::size_t cases)
    {
        count_ += cases;
        progress_[*by.file].done = true;
        if (holder_of_ports_ == by.file)
            holder_of_ports_.reset();
        by.file.reset();
        --busy_;
    }

    /// There is nothing left for the child to do, or it is gone.
    void end(child& one)
    {
        one.connection.close();
        int status = 0;
        while (::waitpid(one.id, &status, 0) < 0 && errno == EINTR) {}
        if (status == 0 && !one.file)
            return;
        const std::size_t file = one.last;
        const std::string at = one.file ? "the process that ran this file "
                                        : "the process that ran this file last ";
        progress_[file].records.push_back(case_result{files_[file].string(), "(the whole file)",
                                                      std::string{wanted_.run.profile},
                                                      failed{at + ending_of(status)}});
        if (one.file)
            finish(one, 1);
    }

    /// Records of all files before the first one that is still running.
    void pass_on()
    {
        for (std::size_t n = 0; n < progress_.size(); ++n) {
            file_progress& one = progress_[n];
            for (; !one.records.empty(); one.records.pop_front())
                to_(std::move(one.records.front()));
            if (!one.done)
                break;
        }
        std::cout.flush();
    }

    const std::vector<fs::path>& files_;
    const options& wanted_;
    const record_sink& to_;
    std::vector<file_progress> progress_;
    std::deque<std::size_t> any_time_;
    std::deque<std::size_t> one_at_a_time_;
    std::deque<std::size_t> alone_;
    std::optional<std::size_t> holder_of_ports_;
    std::vector<child> children_;
    std::size_t busy_ = 0;  // children that are running a file
    std::size_t count_ = 0;
};

}  // namespace

std::size_t run_in_processes(const std::vector<fs::path>& files, const options& wanted,
                             const record_sink& to)
{
    return process_pool{files, wanted, to}.run();
}

}  // namespace holdfast::spec
