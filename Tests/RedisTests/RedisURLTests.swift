import Redis
import Testing

@Suite struct RedisURLTests {
    @Test(arguments: [
        ("redis://", "redis://127.0.0.1:6379/0"),
        ("redis:///3", "redis://127.0.0.1:6379/3"),
        ("redis://cache", "redis://cache:6379/0"),
        ("redis://cache:7000/15", "redis://cache:7000/15"),
        ("REDIS://cache/", "redis://cache:6379/0"),
        ("redis://[::1]:7000/1", "redis://[::1]:7000/1"),
        ("redis://[fe80::1]", "redis://[fe80::1]:6379/0"),
        ("redis://:secret@cache", "redis://:***@cache:6379/0"),
        ("redis://ann:secret@cache:7000", "redis://ann:***@cache:7000/0"),
        ("redis://ann:p%40s%2Fs@cache", "redis://ann:***@cache:6379/0"),
        ("redis://ann:a@b/c@cache/2", "redis://ann:***@cache:6379/2"),
        ("redis://cache?user=ann&password=secret&db=4", "redis://ann:***@cache:6379/4"),
        ("redis://cache:7000?password=se@cret", "redis://:***@cache:7000/0"),
        ("rediss://cache?ca=%2Fetc%2Fca.pem", "rediss://cache:6379/0"),
        ("redis+sentinel://a,b:7000,[::1]/main", "redis+sentinel://a:26379,b:7000,[::1]:26379/main/0"),
        ("rediss+sentinel://ann:secret@a/main/3", "rediss+sentinel://ann:***@a:26379/main/3"),
        ("redis+sentinel://a/main?sentinel_user=s&sentinel_password=secret", "redis+sentinel://a:26379/main/0"),
        ("redis+cluster://ann:secret@a:7000,b", "redis+cluster://ann:***@a:7000,b:6379"),
        ("rediss+cluster://a/0?ca=/a&cert=/b&key=/c", "rediss+cluster://a:6379"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
        ("redis+unix:///run/redis.sock?db=2", "unix:///run/redis.sock?db=2"),
        ("unix://ann:secret@/run/redis.sock", "unix://ann:***@/run/redis.sock"),
        ("unix:///run/a%20b@c.sock?password=secret", "unix://:***@/run/a b@c.sock"),
    ])
    func `an address is parsed and its password redacted`(text: String, description: String) throws {
        let url = try RedisURL(text)
        #expect(url.description == description)
        var dumped = ""
        dump(url, to: &dumped)
        #expect(!dumped.contains("secret"))
    }

    @Test func `the parts of an address are kept`() throws {
        let url = try RedisURL("rediss://ann:se%63ret@cache.example:7000/5?ca=/etc/ca.pem")
        #expect(url.addresses == [.tls(host: "cache.example", port: 7000)])
        #expect(url.user == "ann")
        #expect(url.database == 5)
        #expect(try RedisURL("redis://[::1]").addresses == [.tcp(host: "::1", port: 6379)])
        #expect(try url == RedisURL("rediss://ann:secret@cache.example:7000?ca=/etc/ca.pem&db=5"))
        #expect(try url != RedisURL("rediss://ann:other@cache.example:7000/5?ca=/etc/ca.pem"))
    }

    @Test(arguments: [
        ("localhost:6379", "scheme"),
        ("http://cache", "'http'"),
        ("redis://cache:port", "'port'"),
        ("redis://cache:0", "'0'"),
        ("redis://cache:65536", "'65536'"),
        ("redis://cache:", "port"),
        ("redis://cache/one", "'one'"),
        ("redis://cache/-1", "'-1'"),
        ("redis://cache?db=", "database"),
        ("redis://cache?timeout=3", "'timeout'"),
        ("redis://cache?ca=/etc/ca.pem", "rediss"),
        ("redis://cache?cert=/etc/me.pem", "rediss"),
        ("rediss://cache?key=/etc/me.key", "certificate"),
        ("redis+sentinel://a,b", "name"),
        ("redis+sentinel://a:port,b/main", "'port'"),
        ("redis+sentinel://a,b:/main", "port"),
        ("redis+sentinel://a/main/one", "'one'"),
        ("redis://cache?sentinel_password=x", "'sentinel_password'"),
        ("redis+cluster://a,b/2", "'2'"),
        ("redis+cluster://a,b?db=2", "'2'"),
        ("redis://ann@cache", "password"),
        ("redis://::1", "[::1]"),
        ("redis://[::1", "[::1]"),
        ("redis://ca%zzche", "percent"),
        ("redis://:p%zz@cache", "percent"),
        ("unix://run/redis.sock", "absolute"),
        ("unix:///", "absolute"),
        ("unix:///\(String(repeating: "a", count: 107))", "107"),
    ])
    func `a wrong address is explained`(text: String, words: String) {
        let error = #expect(throws: RedisError.self) { try RedisURL(text) }
        guard case .url(let sentence)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sentence.contains(words))
    }

    @Test(arguments: [
        "redis://ann:secret@cache:port", "redis://:secret@cache/db", "rediss://:secret?@cache", "redis://:secret@:x",
        "redis://ann:secret/@cache:x", "unix://ann:secret@run/x", "unix://:secret%zz@/run/x", "ann:secret@cache",
        "redis+sentinel://a/main?sentinel_password=secret%zz", "redis+cluster://ann:secret@a:x,b",
        "redis+sentinel://ann:secret?@a,b/main", "redis://cache?password=secret%zz",
        "redis://cache?ca=&password=secret",
    ])
    func `the error about a wrong address shows no password`(text: String) {
        let error = #expect(throws: RedisError.self) { try RedisURL(text) }
        #expect(error?.description.contains("secret") == false)
    }
}
