import Crypto
import JobSchema
import SlotIPC
import TestSupport
import Testing

@testable import Requests

/// Sources in a bucket; the store checks every signature.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ObjectSourceTests {
    private let size = Int64(Origin.content.count)

    /// The examples in Amazon's page "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
    @Test(arguments: [
        (
            "GET", "/test.txt", ["Range: bytes=0-9"], "",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        (
            "PUT", "/test%24file.text",
            ["Date: Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class: REDUCED_REDUNDANCY"],
            "Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        ),
        ("GET", "?lifecycle", [], "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("GET", "?max-keys=2&prefix=J", [], "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ])
    func `a request is signed as in Amazon's examples`(
        method: String, place: String, lines: [String], body: String, signature: String
    ) throws {
        let keys = S3Keys(identifier: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        let target = RequestTarget(
            url: "https://examplebucket.s3.amazonaws.com" + place, authorization: .s3(keys, region: "us-east-1"))
        let signed = try target.signed(lines, method: method, timestamp: "2013-05-24T00:00:00.000Z") {
            Digest.of(Array(body.utf8))
        }
        #expect(signed.last?.hasSuffix("Signature=" + signature) == true, "\(signed)")
    }

    @Test(arguments: [
        "plain.flac", "a folder/b+c & é=1 (2)?#.flac", "100%41.flac", "-._~!$'*,;:@", "a//b.flac", "a/.../b.flac",
        "日本語/音.flac", "e\u{301}.flac", "🎵.flac", "a%2Fb.flac", "%.flac", "{a}[b]<c>|d^`e.flac", #"a\b"c.flac"#, " a ",
        "=.flac", "a;b,c.flac", "a?b=c&d#e.flac", "a+b c.flac",
    ])
    func `an object is read whatever its key`(key: String) async throws {
        let bucket = "keys-\(UInt32.random(in: 0...(.max)))"
        try await ObjectStore.shared.seed(bucket, key, Origin.content)
        try await withTransfer(try await ObjectStore.shared.policy()) { child in
            try await child.tell(.job(.test("s3://\(bucket)/\(key)")))
            guard case .opened(size, _) = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
    }

    @Test func `a broken answer is resumed with the object's tag`() async throws {
        try await ObjectStore.shared.seed("resumed", "a.flac", Origin.content)
        try await ObjectStore.shared.spoil("resumed", "^GET 1 cut", "^GET 1 503")
        try await withTransfer(try await ObjectStore.shared.policy()) { child in
            try await child.tell(.job(.test("s3://resumed/a.flac")))
            _ = try await child.ask(.open)
            #expect(try await child.fetch(0..<size) == Origin.content)
        }
        let requests = try await ObjectStore.shared.requests("resumed")
        #expect(requests.count == 3 && requests.last?.contains(" 206 bytes=") == true, "\(requests)")
    }

    @Test func `an object stays cached for the next job while the store reports it unchanged`() async throws {
        try await ObjectStore.shared.seed("kept-source", "a.flac", Origin.content)
        let folder = try TemporaryFolder()
        var policy = try await ObjectStore.shared.policy()
        policy.cacheFolder = folder.path
        try await withTransfer(policy) { child in
            for _ in 0..<2 {
                try await child.tell(.job(.test("s3://kept-source/a.flac")))
                if let failure = try await child.ask(.open).failure { Issue.record("\(failure)") }
                #expect(try await child.fetch(0..<size) == Origin.content)
                try await child.endJob()
            }
        }
        let requests = try await ObjectStore.shared.requests("kept-source")
        #expect(requests.map { $0.split(separator: " ")[1] } == ["200", "304"], "\(requests)")
    }

    @Test func `temporary keys carry their token, and profiles are read anew`() async throws {
        try await ObjectStore.shared.seed("profiles", "a.flac", Origin.content)
        let folder = try TemporaryFolder()
        var policy = try await ObjectStore.shared.policy()
        policy.s3.keys = nil
        policy.s3.region = nil
        policy.s3.profile = "studio"
        policy.s3.credentialsFile = try folder.write(
            "credentials",
            text: "[default]\naws_access_key_id = x\n[studio]\naws_access_key_id=AKIDEXAMPLE\n"
                + "aws_secret_access_key = wrong\n")
        policy.s3.configurationFile = try folder.write("config", text: "[profile studio]\nregion = eu-central-1\n")
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("s3://profiles/a.flac")))
            let failure = try #require(try await child.ask(.open).failure)
            #expect(failure.code == .sourceDenied && failure.message.contains("SignatureDoesNotMatch"))
            _ = try await child.end()
            let keys = ObjectStore.passingKeys
            try folder.write(
                "credentials",
                text: "[studio]\naws_access_key_id=\(keys.identifier)\n"
                    + "aws_secret_access_key=\(keys.secret)\naws_session_token=\(keys.sessionToken)\n")
            try await child.tell(.job(.test("s3://profiles/a.flac")))
            guard case .opened(size, _) = try await child.ask(.open) else {
                Issue.record("not opened")
                return
            }
        }
    }

    @Test(
        arguments: [
            ("s3://refused/none.flac", ErrorCode.sourceNotFound, "NoSuchKey"),
            ("s3://refused/../refused/a.flac", .invalidRequest, "'..'"),
            ("s3://refused", .invalidRequest, "s3://bucket/key"),
            ("s3://refused/", .invalidRequest, "s3://bucket/key"), ("s3://a@b:c/x", .invalidRequest, "s3://bucket/key"),
            ("s3:/refused/a", .invalidRequest, "s3://bucket/key"),
        ] as [(String, ErrorCode, String)])
    func `a failure is reported in the store's words`(url: String, code: ErrorCode, words: String) async throws {
        try await withTransfer(try await ObjectStore.shared.policy()) { child in
            try await child.tell(.job(.test(url)))
            let failure = try #require(try await child.ask(.open).failure)
            #expect(failure.code == code && failure.message.contains(words), "\(failure)")
        }
    }

    @Test func `missing or wrong keys deny the source`() async throws {
        var policy = try await ObjectStore.shared.policy()
        policy.s3.keys = S3Keys(identifier: "AKIDEXAMPLE", secret: "planted-secret")
        for (keys, words) in [(policy.s3.keys, "SignatureDoesNotMatch"), (nil, "AWS_ACCESS_KEY_ID")] {
            policy.s3.keys = keys
            try await withTransfer(policy) { child in
                try await child.tell(.job(.test("s3://denied/a.flac")))
                let failure = try #require(try await child.ask(.open).failure)
                #expect(failure.code == .sourceDenied && failure.message.contains(words), "\(failure)")
                #expect(!failure.message.contains("planted-secret"))
            }
        }
    }

    @Test func `a store at an address that is not public is not reached`() async throws {
        var policy = try await ObjectStore.shared.policy()
        policy.allowedHosts = []
        try await withTransfer(policy) { child in
            try await child.tell(.job(.test("s3://closed/a.flac")))
            #expect(try await child.ask(.open).failure?.code == .policyDenied)
        }
        #expect(try await ObjectStore.shared.requests("closed") == [])
    }

    @Test func `a playlist names objects beside it, and none of another bucket`() async throws {
        let bucket = "playlists"
        let (own, others) = (
            ["1%20%C3%A9.ts", "../hls/1%20é.ts?x=1", "/hls/1%20%c3%a9.ts"],
            ["//other/hls/1.ts", "s3://playlists/hls/1.ts", "file:///etc/passwd"]
        )
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + (own + others).map { "#EXTINF:1,\n\($0)\n" }.joined()
        try await ObjectStore.shared.seed(bucket, "hls/a b.m3u8", Array(list.utf8))
        try await ObjectStore.shared.seed(bucket, "hls/1 é.ts", Origin.content)
        try await withTransfer(try await ObjectStore.shared.policy()) { child in
            try await child.tell(.job(.test("s3://\(bucket)/hls/a b.m3u8")))
            _ = try await child.ask(.open)
            for name in own {
                guard case .openedWhole = try await child.ask(.openNested(name, within: 0, as: .segment)) else {
                    Issue.record("not opened: \(name)")
                    continue
                }
            }
            for name in others {
                let answer = try await child.ask(.openNested(name, within: 0, as: .segment))
                #expect(answer.failure?.code == .policyDenied, "\(name)")
                #expect(answer.failure?.message.contains("does not name") == false, "\(name)")
            }
        }
    }
}
