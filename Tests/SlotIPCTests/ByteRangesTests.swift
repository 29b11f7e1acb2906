import SlotIPC
import Testing

@Suite struct ByteRangesTests {
    @Test func `ranges that touch or overlap are joined`() {
        var ranges = ByteRanges()
        ranges.insert(10..<20)
        ranges.insert(30..<40)
        ranges.insert(5..<5)
        #expect(ranges.ranges == [10..<20, 30..<40])
        ranges.insert(20..<30)
        #expect(ranges.ranges == [10..<40])
        ranges.insert(0..<5)
        ranges.insert(3..<100)
        #expect(ranges.ranges == [0..<100])
    }

    @Test func `ranges answer like a set of offsets`() {
        var ranges = ByteRanges()
        var set = Set<Int64>()
        for number in Int64(0)..<300 {
            let start = number * 7919 % 1000
            let end = start + number * 31 % 20
            ranges.insert(start..<end)
            set.formUnion(start..<end)
            #expect(ranges.ranges == ranges.ranges.sorted { $0.lowerBound < $1.lowerBound })
        }
        for offset in Int64(0)..<1020 {
            let expected = set.contains(offset) ? (offset...).first { !set.contains($0) } : nil
            #expect(ranges.end(containing: offset) == expected)
            #expect(ranges.firstGap(from: offset) == expected ?? offset)
        }
        #expect(Set(ranges.ranges.flatMap { Array($0) }) == set)
    }
}
