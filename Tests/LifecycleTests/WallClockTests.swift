import Lifecycle
import Testing

@Suite struct WallClockTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_795_200_918_742, "2026-11-20T18:55:18.742Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        ] as [(Int64, String)])
    func `an instant is written as ISO 8601`(milliseconds: Int64, text: String) {
        #expect(WallClock.timestamp(milliseconds: milliseconds) == text)
    }

    @Test func `an error number is written as the system writes it`() {
        #expect(Errno(rawValue: 2).description == "No such file or directory")
    }
}
