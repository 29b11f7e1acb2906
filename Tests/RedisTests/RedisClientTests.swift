import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct RedisClientTests {
    @Test func `every kind of reply is parsed`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        #expect(try await client.send(["PING"]) == .text("PONG"))
        #expect(try await client.send(["GET", "none"]) == .null)
        #expect(try await client.send(["INCRBY", "n", 41]) == .integer(41))
        #expect(try await client.send(["GET", "n"]) == .bytes(Array("41".utf8)))
        #expect(try await client.send(["GET", "n"]).integer == 41)
        #expect(try await client.send(["LRANGE", "none", 0, -1]) == .array([]))
        let nested = try await client.send(["EVAL", "return {1,{'a',{false,{}}},redis.status_reply('fine')}", 0])
        #expect(
            nested
                == .array([
                    .integer(1), .array([.bytes([97]), .array([.null, .array([])])]), .text("fine"),
                ]))
        #expect(try await client.send(["CLIENT", "GETNAME"]).string == "test")
    }

    @Test func `a hash is read as a dictionary`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        _ = try await client.send(["HSET", "h", "a", 1, "b", "zwei"])
        let hash = try await client.send(["HGETALL", "h"]).dictionary
        #expect(hash?["a"]?.integer == 1)
        #expect(hash?["b"]?.string == "zwei")
        #expect(hash?.count == 2)
    }

    @Test func `errors of the server are thrown, and stay values in a pipeline`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        _ = try await client.send(["SET", "text", "x"])
        let error = await #expect(throws: RedisError.self) { try await client.send(["LPUSH", "text", "y"]) }
        #expect(error?.isServer("WRONGTYPE") == true)
        #expect(error?.isTransient == false)

        let replies = try await client.pipeline([["SET", "a", 1], ["LPUSH", "text", "y"], ["NOSUCH"], ["GET", "a"]])
        #expect(replies.count == 4)
        #expect(replies[0] == .text("OK"))
        guard case .error(let wrong) = replies[1], case .error(let unknown) = replies[2] else {
            Issue.record("\(replies)")
            return
        }
        #expect(wrong.code == "WRONGTYPE")
        #expect(unknown.code == "ERR")
        #expect(replies[3].integer == 1)
        #expect(try await client.pipeline([]) == [])
    }

    @Test func `a value may hold any bytes, none at all, and many`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        let all = (0...255).map { UInt8($0) } + Array("\r\n$3\r\n".utf8)
        let long = Samples.repeated((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, 1000)
        for value in [all, [], [0], long] {
            _ = try await client.send(["SET", .bytes(all), .bytes(value)])
            #expect(try await client.send(["GET", .bytes(all)]) == .bytes(value))
        }
        #expect(try await client.send(["ECHO", ""]) == .bytes([]))
    }

    @Test func `the replies of a long pipeline are in order`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        // More than the sockets hold in both directions at once: whoever only writes first would wait for ever.
        let payload = RedisArgument(String(repeating: "x", count: 2_000))
        let replies = try await client.pipeline((0..<20_000).map { ["ECHO", $0 == 777 ? "here" : payload] })
        #expect(replies.count == 20_000)
        #expect(replies[777].string == "here")
        #expect(replies.filter { $0.bytes?.count == 2_000 }.count == 19_999)
    }

    @Test func `calls from many tasks are kept apart`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        let wrong = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                group.addTask { (try? await client.send(["ECHO", .init(number)]))?.integer != Int64(number) }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
    }

    @Test func `the client selects the database that the address names`() async throws {
        let server = try await RedisServer()
        let third = RedisClient(
            url: try RedisURL("\(server.url)?db=3"), name: "a name with spaces", timeout: .seconds(60))
        _ = try await third.send(["SET", "where", "third"])
        #expect(try await server.client().send(["GET", "where"]) == .null)
        #expect(try await third.send(["CLIENT", "GETNAME"]).string == "a_name_with_spaces")
        let none = RedisClient(url: try RedisURL("\(server.url)?db=99"), name: "none", timeout: .seconds(60))
        let error = await #expect(throws: RedisError.self) { try await none.send(["PING"]) }
        #expect(error?.isServer("ERR") == true)
    }

    @Test func `the client connects over TCP by name, and by both families of addresses`() async throws {
        let port = try LoopbackPort.free()
        let server = try await RedisServer(["port": "\(port)", "bind": "127.0.0.1 -::1"])
        for host in ["localhost", "127.0.0.1"] {
            let client = RedisClient(url: try RedisURL("redis://\(host):\(port)"), name: "tcp")
            #expect(try await client.send(["PING"]) == .text("PONG"))
        }
        await server.kill()
    }
}
