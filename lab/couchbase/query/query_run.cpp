#include "lab/couchbase/query/query_run.hpp"

#include "lab/couchbase/n1ql/query_error.hpp"

#include <chrono>
#include <deque>
#include <optional>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using n1ql::progress;

/// So much of a reply is made before it is sent.
constexpr std::size_t part_size = std::size_t{16} * 1024;
/// After so many steps without a row others get their turn.
constexpr std::size_t steps_at_once = 50;
constexpr auto scan_pause = std::chrono::milliseconds{1};
/// Of requests without a timeout: waiting has to end.
constexpr std::chrono::seconds longest_request{600};

/// A request under way. The functions of its reply share it.
class query_run {
public:
    explicit query_run(query_setup with)
        : with_{std::move(with)}, reply_{with_.style, with_.facts, with_.world}
    {
        environment_.named = &with_.asked.named;
        environment_.positional = &with_.asked.positional;
        const auto since = with_.world.wall_now().time_since_epoch();
        environment_.now_millis =
            std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
        const time_point now = with_.world.steady_now();
        deadline_ = now + with_.asked.timeout.value_or(longest_request);
        scan_deadline_ = with_.asked.scan_wait ? now + *with_.asked.scan_wait : deadline_;
        find_wanted();
        ++*with_.running;
    }
    query_run(const query_run&) = delete;
    query_run& operator=(const query_run&) = delete;
    ~query_run() { --*with_.running; }

    static std::optional<http_reply> begin(const std::shared_ptr<query_run>& of);

private:
    void find_wanted();
    bool is_ready() const { return wanted_.empty() || with_.index.has(bucket_, wanted_); }
    bool is_late() const { return with_.world.steady_now() >= deadline_; }
    shown_error timeout() const;
    shown_error planned_error() const;
    n1ql::json::value signature() const
    {
        if (with_.style.is_analytics)
            return n1ql::json::object{{"*", "*"}};
        return with_.row.is_null() ? n1ql::signature_of(*with_.of) : n1ql::json::value("json");
    }

    bool start();
    void fill();
    bool step();
    void end(std::string_view state, std::vector<shown_error> errors);
    static http_reply reply_of(const std::shared_ptr<query_run>& of);
    std::optional<std::string> next_part();

    query_setup with_;
    query_reply reply_;
    n1ql::environment environment_;
    time_point deadline_;
    time_point scan_deadline_;
    std::string bucket_;  // whose index has to follow
    index_positions wanted_;

    std::unique_ptr<n1ql::running> rows_;
    std::optional<shown_error> refusal_;  // before it has begun
    std::string text_;                    // that waits to be sent
    std::deque<std::string> parts_;       // the same, split by a fault
    bool over_ = false;
    bool cut_ = false;
    int status_ = 200;
};

/// What the index must have before the statement runs.
void query_run::find_wanted()
{
    const n1ql::keyspace_name* const name = n1ql::scanned_keyspace(*with_.of);
    if (!name || with_.asked.consistency == scan_consistency::not_bounded ||
        with_.store->is_catalog(*name) || !with_.row.is_null())
        return;
    const auto found = with_.store->find(*name, n1ql::purpose::read);
    if (!found)
        return;
    bucket_ = found->bucket;
    if (with_.asked.consistency == scan_consistency::request_plus) {
        wanted_ = with_.index.all_changes(bucket_);
        return;
    }
    for (const std::string& key : {bucket_, std::string{}}) {
        if (const auto vector = with_.asked.vectors.find(key); vector != with_.asked.vectors.end())
            wanted_ = vector->second;
    }
}

shown_error query_run::timeout() const
{
    const auto given = with_.asked.timeout.value_or(longest_request);
    shown_error made{with_.style.timeout_code, "Timeout " + duration_text(given) + " exceeded"};
    made.retry = true;
    return made;
}

shown_error query_run::planned_error() const
{
    const row_fault& fault = with_.fault;
    shown_error made{fault.error_code, fault.error_text, fault.retry};
    if (made.text.empty())
        made.text = with_.style.usual_text(fault.error_code);
    return made;
}

/// None as long as it has to wait.
std::optional<http_reply> query_run::begin(const std::shared_ptr<query_run>& of)
{
    query_run& me = *of;
    if (me.with_.fault.error_code != 0 && !me.with_.fault.after_rows)
        return refused_query(me.with_.style, me.with_.facts, me.with_.world, me.planned_error());
    if (!me.is_ready()) {
        if (me.with_.world.steady_now() < std::min(me.deadline_, me.scan_deadline_))
            return std::nullopt;
        me.text_ = me.reply_.head(me.signature());
        if (me.is_late())
            me.end(me.with_.style.timeout_state, {me.timeout()});
        else
            me.end("errors", {{12015, "Index scan timed out"}});
        return reply_of(of);
    }
    if (!me.start())
        return refused_query(me.with_.style, me.with_.facts, me.with_.world, *me.refusal_);
    me.text_ = me.reply_.head(me.signature());
    me.fill();
    return reply_of(of);
}

bool query_run::start()
{
    if (!with_.row.is_null()) {
        rows_ = n1ql::give_row(with_.row);
        return true;
    }
    auto begun = n1ql::start(*with_.of, *with_.store, environment_,
                             {.preserve_expiry = with_.asked.preserve_expiry});
    if (!begun) {
        refusal_ = with_.style.show(begun.error());
        return false;
    }
    rows_ = *std::move(begun);
    return true;
}

/// Goes on until there is enough to be sent.
void query_run::fill()
{
    for (std::size_t n = 0; n != steps_at_once && !over_ && text_.size() < part_size;) {
        if (!step())
            ++n;
    }
}

/// Whether there was a row.
bool query_run::step()
{
    const row_fault& fault = with_.fault;
    if (fault.cut_after_rows && reply_.rows() == *fault.cut_after_rows) {
        over_ = cut_ = true;
        return false;
    }
    if (fault.after_rows && reply_.rows() == *fault.after_rows) {
        end("errors", {planned_error()});
        return false;
    }
    if (is_late()) {
        end(with_.style.timeout_state, {timeout()});
        return false;
    }
    std::string row;
    const auto done = rows_->next(row);
    if (!done) {
        end("errors", {with_.style.show(done.error())});
    } else if (*done == progress::end) {
        end("success", {});
    } else if (*done == progress::row) {
        text_ += reply_.before_row();
        text_ += row;
        reply_.count_row(row.size());
        return true;
    }
    return false;
}

void query_run::end(std::string_view state, std::vector<shown_error> errors)
{
    over_ = true;
    if (const int status = errors.empty() ? 0 : with_.style.status(errors.front().code);
        status != 0 && reply_.rows() == 0)
        status_ = status;
    text_ += reply_.tail(state, errors, rows_ ? rows_->counts() : n1ql::run_counts{});
}

http_reply query_run::reply_of(const std::shared_ptr<query_run>& of)
{
    query_run& me = *of;
    http_reply made;
    made.status = me.status_;
    if (me.over_ && !me.cut_ && me.with_.fault.split == reply_split::anywhere) {
        made.body = std::move(me.text_);
        return made;
    }
    made.more = [of] { return of->next_part(); };
    made.cut = [of] { return of->cut_; };
    made.pause = scan_pause;
    return made;
}

std::optional<std::string> query_run::next_part()
{
    if (parts_.empty() && text_.empty()) {
        if (over_)
            return std::nullopt;
        fill();
    }
    if (with_.fault.split == reply_split::anywhere) {
        if (text_.empty() && over_)
            return std::nullopt;
        return std::exchange(text_, {});
    }
    if (parts_.empty()) {
        for (std::string& one : split_reply(std::exchange(text_, {}), with_.fault.split))
            parts_.push_back(std::move(one));
    }
    if (parts_.empty())
        return over_ ? std::nullopt : std::optional{std::string{}};
    std::string part = std::move(parts_.front());
    parts_.pop_front();
    return part;
}

}  // namespace

http_reply run_query(query_setup setup)
{
    const auto made = std::make_shared<query_run>(std::move(setup));
    if (auto reply = query_run::begin(made))
        return *std::move(reply);
    http_reply later;
    later.later = [made] { return query_run::begin(made); };
    return later;
}

std::vector<std::string> split_reply(std::string_view text, reply_split where)
{
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t n = 0; n + 1 < text.size(); ++n) {
        const auto byte = static_cast<unsigned char>(text[n]);
        const bool ends = where == reply_split::in_utf8 ? byte >= 0xc0 : text[n] == '\\';
        if (!ends || where == reply_split::anywhere)
            continue;
        parts.emplace_back(text.substr(begin, n + 1 - begin));
        begin = n + 1;
    }
    if (begin != text.size())
        parts.emplace_back(text.substr(begin));
    return parts;
}

}  // namespace holdfast::lab::couchbase
