import FoundationEssentials
import MediaTypes
import Testing

@Suite struct MediaTimeTests {
    @Test(arguments: [
        ("300", 300, 1), ("12.5", 25, 2), ("5:00", 300, 1), ("1:02:03.5", 7447, 2), ("13230000/44100", 300, 1),
        ("999999999.999999999", 999_999_999_999_999_999, 1_000_000_000), ("90:00", 5400, 1),
        ("0.000000001", 1, 1_000_000_000),
    ])
    func `exact times are parsed`(text: String, value: Int64, timescale: Int64) {
        #expect(MediaTime(parsing: text) == MediaTime(value: value, timescale: timescale))
    }

    @Test(arguments: [
        "", "-1", "1e3", "1:60", "1:2:3:4", "1/0", "1/", "/1", "1.", ".5", "+1", "0.0000000001", "1000000000",
        "1000000000/1", "9007199254740991/1", "9223372036854775807/1000000000", "9223372036854775808/1000000000",
        "1/1000000001", "16666667:00", "9223372036854775807:00:00", "1:99999999999999999999:00", "٣",
    ])
    func `text that is no time, or a time that is too long, is refused`(text: String) {
        #expect(MediaTime(parsing: text) == nil)
    }

    @Test func `times are added exactly, or not at all`() throws {
        let third = try #require(MediaTime(parsing: "1/3"))
        #expect(third.adding(try #require(MediaTime(parsing: "1/6"))) == MediaTime(value: 1, timescale: 2))
        let long = try #require(MediaTime(parsing: "999999999.123456789"))
        #expect(long.adding(try #require(MediaTime(parsing: "1/44100"))) == nil)
        #expect(MediaTime(value: .max, timescale: .max - 1).adding(MediaTime(value: .min, timescale: .max)) == nil)
    }

    @Test func `every time that can be written, and every sum, reaches another process unchanged`() throws {
        for text in ["100000000.123456789", "1/999999937", "999999999", "0"] {
            let time = try #require(MediaTime(parsing: text))
            let sum = try #require(time.adding(MediaTime(value: 1, timescale: 7)))
            for time in [time, sum] {
                #expect(try JSONDecoder().decode(MediaTime.self, from: JSONEncoder().encode(time)) == time)
            }
        }
    }

    @Test func `a time that only a file can claim causes no overflow`() {
        #expect(MediaTime(value: .max, timescale: 1).sampleIndex(rate: 48_000) == 1 << 62)
        #expect(MediaTime(value: .min, timescale: 1).sampleIndex(rate: 48_000) == -1 << 62)
        #expect(MediaTime(value: -7, timescale: 3).sampleIndex(rate: 1) == -2)
        #expect(MediaTime(value: 7, timescale: 3).sampleIndex(rate: 1) == 3)
    }

    @Test func `the sample index of the longest time is found at the highest rate`() throws {
        let longest = try #require(MediaTime(parsing: "999999999"))
        #expect(longest.sampleIndex(rate: Int(Int32.max)) == 999_999_999 * Int64(Int32.max))
    }
}
