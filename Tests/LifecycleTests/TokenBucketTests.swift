import Lifecycle
import Testing

@Suite struct TokenBucketTests {
    @Test func `a bucket gives what is in it, and more with time`() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(capacity: 100, perSecond: 10, at: start)
        #expect(bucket.take(60, at: start) && bucket.take(40, at: start) && !bucket.take(1, at: start))
        #expect(bucket.take(10, at: start + .seconds(1)) && !bucket.take(1, at: start + .seconds(1)))
        #expect(!bucket.take(101, at: start + .seconds(100)) && bucket.take(100, at: start + .seconds(200)))
    }
}
