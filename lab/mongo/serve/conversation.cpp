#include "lab/mongo/serve/conversation.hpp"

#include "core/mongo/wire/compression.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/common_fields.hpp"
#include "lab/mongo/node/labels.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace holdfast::lab::mongo {

namespace {

constexpr std::size_t usual_request_size = 64 * 1024;

}  // namespace

need conversation::advance(runtime::stream& to)
{
    for (;;) {
        std::optional<need> open;
        switch (state_) {
        case state::reading:
            open = read();
            break;
        case state::starting:
            start();
            break;
        case state::blocked:
            open = check_fault();
            break;
        case state::answering:
            open = answer();
            break;
        case state::concern:
            open = wait_for_concern();
            break;
        case state::finishing:
            finish();
            break;
        case state::sending:
            open = send(to);
            break;
        case state::over:
            open = need::nothing;
            break;
        }
        if (open)
            return *open;
    }
}

std::optional<need> conversation::read()
{
    auto next = reader_.next();
    if (!next) {  // where the next message begins cannot be known
        state_ = state::over;
        return std::nullopt;
    }
    if (const auto* whole = std::get_if<core::mongo::frame>(&*next)) {
        take(*whole);
        return std::nullopt;
    }
    if (reader_.pending() == 0 && reader_.capacity() > usual_request_size)
        reader_.shrink();
    return need::bytes;
}

void conversation::take(const core::mongo::frame& from)
{
    auto read = read_incoming(from, unpacked_);
    if (!read) {
        state_ = state::over;
        return;
    }
    incoming_ = *std::move(read);
    answers_ = incoming_.message.header.request;
    const bson::view body = incoming_.message.body;
    const std::string_view name = body.empty() ? std::string_view{} : (*body.begin()).key();
    request_.emplace(incoming_.message, body, name, incoming_.database, client_);
    request_->legacy = incoming_.legacy;
    request_->secondary_ok = incoming_.secondary_ok;
    reply_.start(incoming_.legacy);
    auto fine = check_documents(incoming_.message);
    if (fine)
        fine = read_common_fields(*request_);
    if (!fine) {
        request_->arrived = world_.steady_now();
        refuse_with(fine.error());
        return;
    }
    state_ = state::starting;
}

/// Also for every further reply of an exhaust command, as if it had been asked for again.
void conversation::start()
{
    request_->arrived = world_.steady_now();
    request_->wait_until = runtime::never;
    fault_ = service_.fault_for(*request_);
    state_ = state::answering;
    if (fault_) {
        wake_at_ = request_->arrived + fault_->delay;
        state_ = state::blocked;
    }
}

std::optional<need> conversation::check_fault()
{
    if (world_.steady_now() < wake_at_)
        return need::time;
    state_ = state::answering;
    if (fault_->close_connection) {
        state_ = state::over;
    } else if (fault_->error_code) {
        error why = refuse(*fault_->error_code, "Failing command via 'failCommand' failpoint");
        request_->injected = true;
        if (fault_->error_labels) {
            request_->labels_given = true;
            for (const std::string& label : *fault_->error_labels)
                why = std::move(why).with_label(label);
        }
        refuse_with(why);
    }
    return std::nullopt;
}

std::optional<need> conversation::answer()
{
    seen_ = service_.news().count();
    auto got = service_.answer(*request_, reply_.body());
    if (!got) {
        answered(std::move(got).error());
        return std::nullopt;
    }
    switch (*got) {
    case progress::done:
        after_answer();
        break;
    case progress::wait:
        return wait_until(std::min(request_->wait_until, request_->out_of_time()));
    case progress::later:
        return need::later;
    }
    return std::nullopt;
}

need conversation::wait_until(time_point when)
{
    wake_at_ = when;
    return need::news;
}

void conversation::woken(runtime::wait_end end)
{
    if (end == runtime::wait_end::cancelled) {
        state_ = state::over;
        return;
    }
    if (state_ != state::answering || end != runtime::wait_end::timed_out)
        return;
    const time_point now = world_.steady_now();
    if (request_->out_of_time() <= now && now < request_->wait_until)
        refuse_with(refuse(server_code::max_time_ms_expired, "operation exceeded time limit"));
    else
        request_->expired = true;
}

void conversation::answered(result<void> outcome)
{
    if (outcome) {
        after_answer();
    } else if (request_->close_after) {
        state_ = state::over;
    } else {
        refuse_with(outcome.error());
    }
}

void conversation::after_answer()
{
    if (request_->close_after && reply_.empty()) {
        state_ = state::over;
        return;
    }
    // A request with moreToCome gets no reply: nothing would ever slow an exhaust command then.
    request_->more_to_come = request_->more_to_come && incoming_.message.flags.exhaust_allowed &&
                             !incoming_.message.flags.more_to_come;
    state_ = state::finishing;
    if (request_->wrote && request_->concern.acknowledged()) {
        const std::int64_t limit = request_->concern.timeout_ms;
        concern_until_ = limit == 0 ? runtime::never
                                    : world_.steady_now() + std::chrono::milliseconds{limit};
        state_ = state::concern;
    }
}

std::optional<need> conversation::wait_for_concern()
{
    concern_state is = service_.check_concern(*request_);
    if (is == concern_state::pending) {
        seen_ = service_.news().count();  // first; then look, for what may have come before it
        is = service_.check_concern(*request_);
    }
    if (is == concern_state::pending) {
        const time_point now = world_.steady_now();
        const time_point limit = request_->out_of_time();
        if (now < std::min(concern_until_, limit))
            return wait_until(std::min(concern_until_, limit));
        if (now >= concern_until_)
            add_concern_error(
                refuse(server_code::write_concern_failed, "waiting for replication timed out"),
                true);
        else
            add_concern_error(
                refuse(server_code::max_time_ms_expired, "operation exceeded time limit"), false);
    } else if (is == concern_state::impossible) {
        add_concern_error(service_.concern_failure(*request_), false);
    }
    state_ = state::finishing;
    return std::nullopt;
}

void conversation::add_concern_error(const error& why, bool timed_out)
{
    if (fault_ && !fault_->write_concern_error.empty())
        return;  // it has one already, see finish()
    const int code = why.code().value();
    {
        auto wrong = reply_.body().document("writeConcernError");
        wrong.add("code", code).add("codeName", code_name(code)).add("errmsg", why.message());
        auto info = wrong.document("errInfo");
        if (timed_out)
            info.add("wtimeout", true);
        auto concern = info.document("writeConcern");
        describe_write_concern(request_->concern, concern);
    }
    add_label(code);
}

/// A fail point's: added to the reply of a command that was carried out.
void conversation::add_concern_error(bson::view ready)
{
    reply_.body().add("writeConcernError", ready);
    if (fault_->error_labels) {
        if (fault_->error_labels->empty())
            return;
        auto labels = reply_.body().array("errorLabels");
        for (const std::string& label : *fault_->error_labels)
            labels.add(label);
        return;
    }
    const auto code = ready.find("code").get<std::int32_t>();
    if (code)
        add_label(*code);
}

void conversation::add_label(int code)
{
    if (earns_retryable_label(*request_, code))
        reply_.body().array("errorLabels").add("RetryableWriteError");
}

void conversation::finish()
{
    if (fault_ && !fault_->write_concern_error.empty())
        add_concern_error(fault_->write_concern_error);
    service_.close_reply(*request_, reply_.body());
    state_ = state::sending;
}

void conversation::refuse_with(const error& why)
{
    request_->more_to_come = false;
    request_->close_after = false;
    reply_.start(incoming_.legacy);
    service_.write_error(*request_, why, reply_.body());
    state_ = state::sending;
}

std::optional<need> conversation::send(runtime::stream& to)
{
    if (unsent_.empty()) {
        if (incoming_.message.flags.more_to_come) {
            sent();
            return std::nullopt;
        }
        core::mongo::message_flags flags;
        flags.checksum_present = incoming_.message.flags.checksum_present;
        flags.more_to_come = request_->more_to_come;
        auto closed = reply_.finish(request_id{++replies_}, answers_, flags);
        if (!closed) {  // too large, or a key that no document can have
            refuse_with(refuse(server_code::bson_object_too_large, closed.error().message()));
            flags.more_to_come = false;
            closed = reply_.finish(request_id{replies_}, answers_, flags);
        }
        if (incoming_.packed_with && core::mongo::may_compress(request_->name))
            reply_.pack(*incoming_.packed_with);
        unsent_ = reply_.bytes();
        if (fault_ && fault_->cut_reply_at && *fault_->cut_reply_at < unsent_.size()) {
            unsent_ = unsent_.first(*fault_->cut_reply_at);
            request_->close_after = true;
        }
    }
    while (!unsent_.empty()) {
        const runtime::io_result gone = to.write_now(unsent_);
        unsent_ = unsent_.subspan(gone.bytes);
        if (gone.why == boost::system::errc::operation_would_block)
            return need::writable;
        if (gone.why) {
            state_ = state::over;
            return std::nullopt;
        }
    }
    sent();
    return std::nullopt;
}

void conversation::sent()
{
    if (request_->close_after) {
        state_ = state::over;
        return;
    }
    if (request_->more_to_come) {
        answers_ = request_id{replies_};
        request_->more_to_come = false;
        request_->expired = false;
        request_->admitted = false;
        request_->forwarded = false;
        request_->wrote.reset();
        reply_.start(false);
        state_ = state::starting;
        return;
    }
    fault_.reset();
    request_.reset();
    reply_.shrink();
    if (unpacked_.capacity() > usual_request_size)
        unpacked_ = {};
    state_ = state::reading;
}

}  // namespace holdfast::lab::mongo
