import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct GroupTests {
    private let name = "batch-1"

    private func events(_ fixture: QueueFixture) async throws -> [[String: String]] {
        let reply = try await fixture.client.send(["XRANGE", .text(fixture.queue.keys.events), "-", "+"])
        return (reply.array ?? []).map { ($0.array?.last?.dictionary ?? [:]).compactMapValues(\.string) }
    }

    private func group(_ fixture: QueueFixture) async throws -> GroupRecord {
        let group = try await fixture.queue.group(name)
        return try #require(group)
    }

    @Test func `a group counts its jobs in every state`() async throws {
        try await QueueFixture.run { fixture in
            let spec = QueueFixture.job.merging(["group": name]) { $1 }
            _ = try await fixture.queue.enqueue(Array(repeating: spec, count: 5))
            _ = try await fixture.enqueue(["group": name, "delay": "60"])
            try await fixture.push(["group": name])
            _ = try await fixture.enqueue()
            var group = try await group(fixture)
            #expect(group.total == 6 && group[.waiting] == 5 && group[.delayed] == 1 && group.startedAt == nil)
            let jobs = try await fixture.claim(4)
            _ = try await fixture.finish(jobs[0], .completed([QueueFixture.report, QueueFixture.report]))
            _ = try await fixture.finish(jobs[1], .failed(Failure(.noAudio, "x")))
            _ = try await fixture.finish(jobs[2], .failed(Failure(.timeout, "x")))
            group = try await self.group(fixture)
            #expect(group.total == 7 && group.left == 5 && group[.waiting] == 2 && group[.delayed] == 2)
            #expect(group[.running] == 1 && group[.completed] == 1 && group[.failed] == 1 && group.ran == 2)
            #expect(group.audio == QueueFixture.report.duration && group.startedAt != nil && !group.isSealed)
            #expect(try await fixture.record(jobs[0].id).group == name)
            #expect(try await fixture.queue.group("another") == nil)
        }
    }

    @Test func `a group ends once when it is sealed and nothing is left, and again after a retry`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.enqueue(["group": name])
            let failed = try await fixture.enqueue(["group": name])
            let jobs = try await fixture.claim(2)
            _ = try await fixture.finish(jobs[0], .completed([QueueFixture.report]))
            // This one is in the inbox when the group is sealed, so it belongs to it.
            let queued = try await fixture.push(["group": name])
            #expect(try await fixture.queue.seal(name) == .sealed)
            #expect(try await fixture.queue.seal(name) == .sealed)
            #expect(try await fixture.queue.cancel([queued]) == [.cancelled])
            #expect(try await group(fixture).isFinished == false)
            _ = try await fixture.finish(jobs[1], .failed(Failure(.noAudio, "x")))
            let group = try await group(fixture)
            #expect(group.isFinished && group.endedAt != nil && group.total == 3)
            #expect(try await fixture.queue.retry([failed]) == [.retried])
            #expect(try await self.group(fixture).isFinished == false)
            _ = try await fixture.finish(try await fixture.claimOne(), .completed([]))
            let told = try await events(fixture).filter { $0["group"] == name && $0["id"] == "" }
            #expect(told.map { $0["state"] } == ["sealed", "group_ended", "group_ended"])
            #expect(
                told[1].filter { ["completed", "failed", "cancelled"].contains($0.key) }
                    == ["completed": "1", "failed": "1", "cancelled": "1"])
            #expect(told[2]["completed"] == "2" && told[2]["failed"] == "0")
            // The last job's own event comes first.
            #expect(try await events(fixture).last?["state"] == "group_ended")
            #expect(try await fixture.queue.seal("another") == .unknown)
        }
    }

    @Test func `a sealed group admits no job, however it is pushed`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.enqueue(["group": name])
            _ = try await fixture.client.send(["XADD", .text(fixture.queue.keys.inbox), "*", "_seal", .text(name)])
            let late = try await fixture.push(["group": name])
            try await fixture.queue.runMaintenance()
            let record = try await fixture.record(late)
            #expect(record.state == .failed && record.error?.code == .invalidRequest && record.group == nil)
            #expect(record.error?.message.contains("`batch-1` is sealed") == true)
            guard case .invalid? = try await fixture.queue.retry([late]).first else {
                Issue.record("the job is in no group")
                return
            }
            let specs = [QueueFixture.job, QueueFixture.job.merging(["group": name]) { $1 }]
            let error = await #expect(throws: QueueError.self) { try await fixture.queue.enqueue(specs) }
            guard case .invalidJob(index: 1, let failure) = error else { Issue.record("\(error as Any)"); return }
            #expect(failure.code == .invalidRequest && failure.message == record.error?.message)
            #expect(try await fixture.queue.stats()[.waiting] == 1)
            #expect(try await group(fixture).total == 1)
            // Of jobs that need three scripts, none is pushed either.
            var many = Array(repeating: QueueFixture.job, count: 300)
            many[199]["group"] = name
            let later = await #expect(throws: QueueError.self) { try await fixture.queue.enqueue(many) }
            guard case .invalidJob(index: 199, _) = later else { Issue.record("\(later as Any)"); return }
            #expect(try await fixture.queue.stats()[.waiting] == 1)
        }
    }

    @Test func `a group admits all that was pushed before the seal, though their ids are ahead of the clock`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let ahead = "\(try await fixture.now() + 5000)-0"
            let (key, name) = (RedisArgument.text(fixture.queue.keys.inbox), RedisArgument.text(name))
            let pushes = ([.text(ahead)] + Array(repeating: "*", count: 200)).map { id -> RedisCommand in
                ["XADD", key, id, "source", "https://example.org/a.flac", "format", "mp3", "group", name]
            }
            _ = try await fixture.client.pipeline(pushes)
            #expect(try await fixture.queue.seal(self.name) == .sealed)
            let group = try await group(fixture)
            #expect(group.total == 201 && group[.waiting] == 201 && group.isSealed)
        }
    }

    @Test func `a group counts a refused job as failed, and a name that no key should hold is refused`() async throws {
        try await QueueFixture.run { fixture in
            let refused = try await fixture.push(["group": name, "colour": "red"])
            let strange = try await fixture.push(["group": "a b"])
            let long = try await fixture.push(["limit_key": String(repeating: "x", count: 129)])
            try await fixture.claimRight(3)
            #expect(try await fixture.record(refused).group == name)
            #expect(try await group(fixture)[.failed] == 1)
            for id in [strange, long] {
                let error = try await fixture.record(id).error
                #expect(error?.code == .invalidRequest && error?.message.contains("it must be 1 to") == true)
            }
            for fields in [["group": "a b"], ["group": ""], ["limit_key": "é"]] {
                await #expect(throws: QueueError.self) { try await fixture.enqueue(fields) }
            }
        }
    }

    @Test func `a group lists its jobs by page and rank`() async throws {
        try await QueueFixture.run { fixture in
            let spec = QueueFixture.job.merging(["group": name]) { $1 }
            let ids = try await fixture.queue.enqueue(Array(repeating: spec, count: 7)).map(\.id)
            _ = try await fixture.queue.cancel([ids[1], ids[4]])
            let job = try await fixture.claimOne()
            _ = try await fixture.finish(job, .completed([]))
            var (found, cursor) = ([String](), GroupCursor?.none)
            repeat {
                let page = try await fixture.queue.members(of: name, limit: 3, cursor: cursor)
                found += page.ids
                cursor = page.next
            } while cursor != nil
            #expect(found == [2, 3, 5, 6, 1, 4, 0].map { ids[$0] })
            let cancelled = try await fixture.queue.members(of: name, rank: .cancelled)
            #expect(cancelled.ids == [ids[1], ids[4]] && cancelled.next == nil)
        }
    }

    @Test func `a group ends with its last job, and counts those that were deleted before`() async throws {
        var settings = QueueSettings()
        settings.done.count = 2
        try await QueueFixture.run(settings: settings) { fixture in
            let spec = QueueFixture.job.merging(["group": name]) { $1 }
            _ = try await fixture.queue.enqueue(Array(repeating: spec, count: 12))
            for job in try await fixture.claim(9) {
                _ = try await fixture.finish(job, .completed([QueueFixture.report]))
            }
            _ = try await fixture.beat([])
            var group = try await group(fixture)
            #expect(group[.completed] == 9 && group.left == 3 && group.total == 12)
            #expect(try await fixture.queue.members(of: name).ids.count == 5)
            _ = try await fixture.queue.seal(name)
            #expect(try await fixture.queue.purge(.waiting) == 3)
            group = try await self.group(fixture)
            #expect(group.isFinished && group.endedAt != nil && group.total == 9)
            #expect(try await events(fixture).contains { $0["state"] == "group_ended" })
            #expect(try await fixture.queue.purge(.completed) == 2)
            #expect(try await fixture.queue.group(name) == nil)
            let left = try await fixture.client.send(["KEYS", .text(fixture.queue.keys.prefix + "group:*")])
            #expect(left.array?.isEmpty == true)
            // The name is free again.
            _ = try await fixture.enqueue(["group": name])
        }
    }

    @Test func `a group reports its end although the last job is deleted at once`() async throws {
        var settings = QueueSettings()
        settings.cancelled.count = 0
        try await QueueFixture.run(settings: settings) { fixture in
            _ = try await fixture.claim()
            let ids = [try await fixture.enqueue(["group": name]), try await fixture.enqueue(["group": name])]
            _ = try await fixture.queue.seal(name)
            #expect(try await fixture.queue.cancel(ids) == [.cancelled, .cancelled])
            #expect(try await fixture.queue.group(name) == nil)
            let end = try await events(fixture).last { $0["state"] == "group_ended" }
            #expect(end?["cancelled"] == "2")
        }
    }

    @Test func `a group is sealed after all that was pushed before, however much that is`() async throws {
        try await QueueFixture.run { fixture in
            var command: RedisCommand = ["XADD", .text(fixture.queue.keys.inbox), "*", "group", .text(name)]
            for (name, value) in QueueFixture.job {
                command.append(name)
                command.append(value)
            }
            _ = try await fixture.client.pipeline(Array(repeating: command, count: 300))
            #expect(try await fixture.queue.seal(name) == .sealed)
            #expect(try await group(fixture)[.waiting] == 300)
        }
    }

    /// Asks for a seal as anybody may, after a job that is in the group; answers the seal's id and the job's.
    private func pushSeal(_ fixture: QueueFixture) async throws -> (seal: String, job: String) {
        let job = try await fixture.enqueue(["group": name])
        let seal = try await fixture.push(["_seal": name, "callback": "https://example.org/done"] as KeyValuePairs)
        return (seal, job)
    }

    @Test func `a seal that is still in the inbox can be cancelled, and then seals nothing`() async throws {
        try await QueueFixture.run { fixture in
            let (seal, job) = try await pushSeal(fixture)
            #expect(try await fixture.queue.cancel([seal]) == [.cancelled])
            #expect(try await fixture.queue.cancel([seal]) == [.unknown])
            #expect(try await fixture.claimOne().id == job)
            #expect(try await group(fixture).isSealed == false)
            #expect(try await fixture.queue.stats()[.queued] == 0)
        }
    }

    @Test func `deleting waiting jobs carries out a seal, and the callback of its group comes`() async throws {
        try await QueueFixture.run { fixture in
            let before = try await fixture.push(["group": name])
            let (_, job) = try await pushSeal(fixture)
            try await fixture.push()
            let second = try await fixture.push(["_seal": name] as KeyValuePairs)
            #expect(try await fixture.queue.purge(.queued) == 2)
            #expect(try await fixture.queue.purge(.queued) == 0)
            #expect(try await fixture.queue.jobs([before, second]) == [nil, nil])
            #expect(try await group(fixture).isSealed)
            #expect(try await fixture.queue.cancel([job]) == [.cancelled])
            #expect(try await group(fixture).isFinished)
            #expect(try await fixture.queue.claimCallbacks(count: 5).map { $0.subject.group } == [name])
        }
    }

    @Test func `deleting waiting jobs goes on behind 600 seals`() async throws {
        try await QueueFixture.run { fixture in
            for _ in 0..<600 { try await fixture.push(["_seal": name] as KeyValuePairs) }
            try await fixture.push()
            #expect(try await fixture.queue.purge(.queued) == 1)
            #expect(try await fixture.queue.stats()[.queued] == 0)
        }
    }

    @Test func `cancelling a bell leaves it`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.enqueue()
            let inbox = try await fixture.client.send(["XRANGE", .text(fixture.queue.keys.inbox), "-", "+"])
            let bell = try #require(inbox.array?.first?.array?.first?.string)
            #expect(try await fixture.queue.cancel([bell]) == [.unknown])
        }
    }
}
