import TestSupport
import Testing

@testable import Slots

@Suite(.failureReport, .timeLimit(.minutes(5))) struct MailboxTests {
    @Test func `events keep their order, whoever sends them`() async {
        let mailbox = Mailbox<Int>()
        for number in 0..<5000 {
            if number.isMultiple(of: 3) {
                mailbox.append(number)
            } else {
                #expect(mailbox.offer(number, bytes: 10, from: "a"))
            }
        }
        for number in 0..<5000 { #expect(await mailbox.next() == number) }
        for number in 0..<100 {
            async let late = mailbox.next()
            #expect(mailbox.offer(number, bytes: 10, from: "a", replaceable: true))
            #expect(await late == number)
        }
    }

    @Test func `a sender with too much unread is stopped, and others are not`() async {
        let mailbox = Mailbox<String>(capacity: 100_000)
        var taken = 0
        while mailbox.offer("flood", bytes: 1000, from: "a") { taken += 1 }
        #expect((10..<100).contains(taken))
        // A backlog of one takes no room of the other's.
        let full = Mailbox<Int>(capacity: 2000)
        #expect(full.offer(1, bytes: 1400, from: "a") && full.offer(2, bytes: 1400, from: "b"))
        // What it has said is gone, so that what the worker says comes next.
        mailbox.append("stop")
        #expect(mailbox.offer("more", bytes: 1, from: "a") && mailbox.offer("b", bytes: 1000, from: "b"))
        #expect(await mailbox.next() == "stop")
        #expect(await mailbox.next() == "b")
        // Empty messages take room too.
        let small = Mailbox<String>(capacity: 100_000)
        var count = 0
        while count < 1000, small.offer("", bytes: 0, from: "a") { count += 1 }
        #expect(count < 1000)
    }

    @Test func `a taken event is freed though another one waits`() async {
        final class Token: Sendable {}
        let mailbox = Mailbox<Token>()
        weak var taken: Token?
        do {
            let token = Token()
            taken = token
            mailbox.append(token)
        }
        mailbox.append(Token())
        _ = await mailbox.next()
        #expect(taken == nil)
    }

    @Test func `the worker's own events find room in a full mailbox`() async {
        let mailbox = Mailbox<Int>(capacity: 1000)
        #expect(mailbox.offer(1, bytes: 400, from: "a"))
        for number in 2..<100 { mailbox.append(number) }
        for number in 1..<100 { #expect(await mailbox.next() == number) }
    }

    @Test func `only the last of replaceable events stays, in the first one's place`() async {
        let mailbox = Mailbox<String>(capacity: 10_000)
        for number in 0..<1000 {
            #expect(mailbox.offer("progress \(number)", bytes: 100, from: "a", replaceable: true))
            if number == 500 { #expect(mailbox.offer("line", bytes: 10, from: "a")) }
        }
        #expect(mailbox.offer("other", bytes: 10, from: "b", replaceable: true))
        #expect(await mailbox.next() == "progress 999")
        #expect(mailbox.offer("progress 1000", bytes: 10, from: "a", replaceable: true))
        #expect(await mailbox.next() == "line")
        #expect(await mailbox.next() == "other")
        #expect(mailbox.hasUnread(from: "a") && !mailbox.hasUnread(from: "b"))
        mailbox.discard(from: "a")
        #expect(!mailbox.hasUnread(from: "a"))
        #expect(mailbox.offer("again", bytes: 10, from: "a", replaceable: true))
        #expect(await mailbox.next() == "again")
    }
}
