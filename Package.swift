// swift-tools-version: 6.2
import PackageDescription

/// Settings of every Swift target: the upcoming language defaults, and warnings as errors.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .treatAllWarnings(as: .error),
]

/// Hardening flags for C and C++: stack protection and control-flow integrity.
#if arch(x86_64)
let branchProtection = ["-fcf-protection=full", "-fstack-clash-protection"]
#else
let branchProtection = ["-mbranch-protection=standard"]
#endif
let hardened = ["-fstack-protector-strong"] + branchProtection
// The fortified functions of glibc require optimization.
let fortified = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"]
let hardenedC: [CSetting] = [.unsafeFlags(hardened), .unsafeFlags(fortified, .when(configuration: .release))]
let hardenedCXX: [CXXSetting] = [.unsafeFlags(hardened), .unsafeFlags(fortified, .when(configuration: .release))]
/// Resolves all symbols at the start, and then makes the relocation sections read-only. The linker is the toolchain's: without gold,
/// which Debian 13 has in a package of its own, the driver takes GNU ld, which leaves the sections of Swift's programs writable.
let immediateBinding: [LinkerSetting] = [
    .unsafeFlags(["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"])
]

/// Loops over samples take most of the time of some tests if they are not optimized.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

func library(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], _ more: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings + more)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: settings, linkerSettings: immediateBinding)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "respool",
    products: [
        .executable(name: "respool", targets: ["respool"]),
        .executable(name: "respoold", targets: ["respoold"]),
        .executable(name: "respool-transfer", targets: ["respool-transfer"]),
        .executable(name: "respool-transcode", targets: ["respool-transcode"]),
    ],
    targets: [
        // Debian's C libraries. Only the targets that wrap a library import it (`make lint` has the list).
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibav",
            providers: [.apt(["libavformat-dev", "libavcodec-dev", "libswresample-dev", "libavutil-dev"])]),
        .systemLibrary(name: "CEbur128", providers: [.apt(["libebur128-dev"])]),
        .systemLibrary(name: "CRubberBand", providers: [.apt(["librubberband-dev"])]),
        .systemLibrary(name: "CSeccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CMicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .target(name: "CLinux", cSettings: hardenedC),
        // The certificates of libmicrohttpd's TLS (Debian's libgnutls28-dev).
        .target(
            name: "CServerTLS", cSettings: hardenedC,
            linkerSettings: [.linkedLibrary("gnutls"), .linkedLibrary("microhttpd")]),
        // Embeds the Lua scripts of Sources/Jobs/Scripts.
        .target(name: "CQueueScripts", cSettings: hardenedC),
        // Embeds the files of the page.
        .target(name: "CPage", exclude: ["web"], cSettings: hardenedC),
        // Takes the place of a function of libavutil.
        .target(name: "CSampleSum", cSettings: hardenedC, linkerSettings: [.linkedLibrary("avutil")]),
        // The same, for the dictionaries of libavutil.
        .target(name: "CTagLimit", cSettings: hardenedC, linkerSettings: [.linkedLibrary("avutil")]),
        // TagLib (Debian's libtag-dev, libtag1-dev in Debian 12) is C++, so this is an ordinary target with a C header.
        .target(
            name: "CTagLib", cxxSettings: hardenedCXX,
            linkerSettings: [.linkedLibrary("tag"), .linkedLibrary("stdc++")]),

        // Targets without dependencies on the others.
        library("Text", []),
        library("Lifecycle", ["Text", "CLinux"]),
        library("MediaTypes", []),
        library("Configuration", ["Text"]),

        // HLS playlists as text, for both processes of a slot.
        library("Playlists", ["MediaTypes", "Text"]),

        // The data model of a job.
        library("JobSchema", ["MediaTypes", "Text"]),

        // The messages between processes.
        library("SlotIPC", ["JobSchema", "MediaTypes", "Configuration", "Lifecycle", "Text", "CLinux"]),

        // One wrapper for each library.
        library("Crypto", ["Lifecycle", "Text", "COpenSSL"]),
        library("Redis", ["Crypto", "Configuration", "Lifecycle", "Text", "CHiredis"]),
        library("Sandbox", ["SlotIPC", "Lifecycle", "CLinux", "CSeccomp"]),

        // Storage, from requests to whole sources and outputs.
        library("Requests", ["Crypto", "SlotIPC", "JobSchema", "Lifecycle", "CCurl", "Text"]),
        library(
            "LocalFiles", ["Requests", "Crypto", "SlotIPC", "JobSchema", "MediaTypes", "Lifecycle", "CLinux", "Text"]),
        library(
            "Downloads",
            [
                "LocalFiles", "Requests", "Crypto", "SlotIPC", "JobSchema", "MediaTypes", "Lifecycle", "CLinux", "Text",
            ]),
        library("Uploads", ["LocalFiles", "Requests", "SlotIPC", "JobSchema", "MediaTypes", "Lifecycle"]),

        // Media, from bytes to whole conversions.
        library("Bytes", ["MediaTypes", "Lifecycle"]),
        library("Containers", ["Bytes", "MediaTypes"]),
        library("Libav", ["Containers", "Bytes", "MediaTypes", "CLibav"]),
        library("Filters", ["Libav", "Bytes", "MediaTypes", "CLibav", "CEbur128", "CRubberBand"], optimized),
        library(
            "Demuxing", ["Containers", "Libav", "Bytes", "MediaTypes", "Lifecycle", "CLibav", "CTagLimit", "Text"]),
        library("Tags", ["Demuxing", "Containers", "Libav", "Bytes", "MediaTypes", "CLibav", "CTagLib"]),
        library(
            "Decoding", ["Tags", "Demuxing", "Containers", "Libav", "Bytes", "MediaTypes", "Lifecycle", "CLibav"]),
        library(
            "Encoders", ["Demuxing", "Libav", "Bytes", "MediaTypes", "Lifecycle", "CLibav", "CSampleSum"], optimized),
        library(
            "Encoding",
            [
                "Encoders", "Decoding", "Filters", "Tags", "Demuxing", "Containers", "Libav", "Bytes", "MediaTypes",
                "Lifecycle",
                "CLibav", "CZlib", "Text",
            ]),
        library(
            "HLS",
            [
                "Encoding", "Encoders", "Decoding", "Filters", "Tags", "Demuxing", "Libav", "Bytes", "Playlists",
                "MediaTypes", "Lifecycle", "CLibav", "Text",
            ]),
        library(
            "Pictures", ["Encoding", "Decoding", "Filters", "Libav", "Bytes", "MediaTypes", "CLibav", "CZlib"]),
        library(
            "Conversion",
            [
                "HLS", "Pictures", "Encoding", "Encoders", "Decoding", "Filters", "Tags", "Demuxing", "Containers",
                "Libav",
                "Bytes", "MediaTypes", "Lifecycle", "CLibav",
            ]),

        // The service.
        library(
            "Jobs", ["Redis", "JobSchema", "MediaTypes", "Configuration", "Lifecycle", "Text", "CQueueScripts"],
            exclude: ["Scripts"]),
        library("Slots", ["SlotIPC", "JobSchema", "MediaTypes", "Configuration", "Lifecycle", "Text"]),
        library(
            "Transfer",
            [
                "Uploads", "Downloads", "LocalFiles", "Requests", "Crypto", "Sandbox", "Playlists", "SlotIPC",
                "JobSchema",
                "MediaTypes", "Lifecycle",
            ]),
        library(
            "Transcode",
            [
                "Conversion", "HLS", "Encoding", "Decoding", "Filters", "Tags", "Libav", "Bytes", "Sandbox",
                "Playlists",
                "SlotIPC", "JobSchema", "MediaTypes", "Lifecycle", "Text",
            ]),
        library("Tracing", ["Slots", "SlotIPC", "JobSchema", "Crypto", "Configuration", "Lifecycle", "Text"]),
        library(
            "Worker",
            [
                "Tracing", "Slots", "Jobs", "Crypto", "SlotIPC", "JobSchema", "MediaTypes", "Configuration",
                "Lifecycle", "Text",
            ]),
        library("HTTPServer", ["Lifecycle", "CMicrohttpd", "CServerTLS"]),
        library(
            "HTTPAPI",
            [
                "HTTPServer", "Jobs", "Redis", "Crypto", "JobSchema", "MediaTypes", "Configuration", "Lifecycle",
                "Text",
                "CLinux", "CPage", "CZlib",
            ]),

        // Programs, which only combine libraries.
        program(
            "respool",
            [
                "Jobs", "Redis", "Crypto", "Slots", "SlotIPC", "JobSchema", "Playlists", "MediaTypes", "Configuration",
                "Lifecycle", "Text", "CLinux",
            ]),
        program(
            "respoold",
            [
                "Worker", "HTTPAPI", "HTTPServer", "Jobs", "Redis", "Slots", "SlotIPC", "JobSchema", "MediaTypes",
                "Configuration", "Crypto",
                "Lifecycle", "Text",
            ]),
        program("respool-transfer", ["Transfer"]),
        program("respool-transcode", ["Transcode"]),

        // Tests and their programs.
        .target(
            name: "TestSupport", dependencies: ["Redis", "Lifecycle", "Text"], path: "Tests/TestSupport",
            swiftSettings: settings + optimized),
        .target(name: "Attacks", path: "Tests/Attacks"),
        .executableTarget(
            name: "HostileChild", dependencies: ["Sandbox", "SlotIPC", "Attacks"], path: "Tests/HostileChild",
            swiftSettings: settings),
        .executableTarget(
            name: "queue-walk",
            dependencies: ["TestSupport", "Jobs", "Redis", "JobSchema", "MediaTypes", "Lifecycle"],
            path: "Tests/QueueWalk", swiftSettings: settings),
        .executableTarget(
            name: "queue-load", dependencies: ["Jobs", "Redis", "JobSchema", "Lifecycle"],
            path: "Benchmarks/QueueLoad",
            swiftSettings: settings),
        tests("TextTests", ["Text"]),
        tests("LifecycleTests", ["Lifecycle", "Text"]),
        tests("MediaTypesTests", ["MediaTypes"]),
        tests("ConfigurationTests", ["Configuration", "Worker", "Slots", "Jobs", "SlotIPC", "Lifecycle"]),
        tests("JobSchemaTests", ["JobSchema", "MediaTypes", "Configuration", "Text"]),
        tests("SlotIPCTests", ["SlotIPC", "JobSchema", "MediaTypes", "Configuration", "Lifecycle"]),
        tests("TracingTests", ["Tracing", "JobSchema", "Configuration"]),
        tests("RedisTests", ["TestSupport", "Redis"]),
        tests("JobsTests", ["TestSupport", "Jobs", "Redis", "JobSchema", "MediaTypes", "Configuration", "Lifecycle"]),
        tests(
            "MediaTests",
            [
                "TestSupport",
                "Conversion", "HLS", "Encoding", "Encoders", "Decoding", "Filters", "Tags", "Demuxing", "Containers",
                "Libav", "Bytes", "Playlists", "MediaTypes", "Lifecycle", "CLibav", "CSampleSum",
            ]),
        tests(
            "StorageTests",
            [
                "TestSupport", "Downloads", "LocalFiles", "Requests", "Crypto", "SlotIPC", "JobSchema",
                "MediaTypes", "Lifecycle",
            ]),
        tests("SandboxTests", ["TestSupport", "HostileChild", "Attacks", "SlotIPC", "Lifecycle"]),
        tests(
            "SlotsTests",
            ["TestSupport", "Slots", "Transcode", "Bytes", "SlotIPC", "JobSchema", "MediaTypes", "Lifecycle"]),
        tests(
            "WorkerTests",
            [
                "TestSupport", "respoold", "Worker", "HTTPServer", "Slots", "Jobs", "Redis", "JobSchema", "MediaTypes",
                "Configuration", "Lifecycle",
            ]),
        tests(
            "HTTPAPITests",
            [
                "TestSupport", "HTTPAPI", "HTTPServer", "Jobs", "Redis", "Crypto", "JobSchema", "MediaTypes",
                "Lifecycle",
            ]),
        tests(
            "CommandTests",
            ["TestSupport", "respool", "Jobs", "Redis", "JobSchema", "MediaTypes", "Configuration", "Lifecycle"]),
    ],
    cxxLanguageStandard: .cxx17
)

// Only `make fuzz` builds with libFuzzer, which is not needed otherwise.
if Context.environment["RESPOOL_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzer", "CLinux", "Jobs", "Redis", "Conversion", "HLS", "Libav", "Bytes", "Playlists",
                "SlotIPC", "JobSchema", "MediaTypes", "Lifecycle", "Crypto",
            ],
            path: "Tests/Fuzz", swiftSettings: settings),
    ]
}
