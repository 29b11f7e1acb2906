import Foundation
import Testing

/// The start of the test program. Without a file of this name SwiftPM indexes all sources, which takes a tenth of the build, to find tests of XCTest.
@main struct XCTMain {
    static func main() async {
        // SwiftPM starts the program without them unless it is told so, and takes an empty run for a passed one.
        guard CommandLine.arguments.contains("--testing-library") else {
            FileHandle.standardError.write(Data("no test was run: use `swift test --enable-swift-testing`\n".utf8))
            exit(1)
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
