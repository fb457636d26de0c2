// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "strandline",
  products: [
    .library(name: "Strandline", targets: ["Strandline"]),
    .library(name: "StrandlineLog", targets: ["StrandlineLog"]),
    .library(name: "StrandlineSync", targets: ["StrandlineSync"]),
    .library(name: "StrandlineServer", targets: ["StrandlineServer"]),
    .library(name: "StrandlineTestSupport", targets: ["StrandlineTestSupport"]),
    .executable(name: "strandline", targets: ["strandline"]),
  ],
  targets: [
    .systemLibrary(
      name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .target(name: "CStrandline"),
    .target(
      name: "StrandlineLog", dependencies: ["CLZ4", "CStrandline"], swiftSettings: swiftSettings),
    .target(
      name: "Strandline", dependencies: ["CLZ4", "CStrandline", "StrandlineLog"], swiftSettings: swiftSettings),
    .target(
      name: "StrandlineProtocol", dependencies: ["CLZ4", "CStrandline", "Strandline"], swiftSettings: swiftSettings),
    .target(
      name: "StrandlineServer",
      dependencies: ["CCrypto", "CMicrohttpd", "CZlib", "StrandlineLog", "Strandline", "StrandlineProtocol"],
      swiftSettings: swiftSettings),
    .target(
      name: "StrandlineSync", dependencies: ["CCrypto", "StrandlineLog", "Strandline", "StrandlineProtocol"],
      swiftSettings: swiftSettings),
    .target(
      name: "StrandlineScenario",
      dependencies: ["Strandline", "StrandlineLog", "StrandlineProtocol", "StrandlineSync", "StrandlineServer"],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "strandline",
      dependencies: [
        "CZlib", "Strandline", "StrandlineLog", "StrandlineProtocol", "StrandlineScenario", "StrandlineServer",
        "StrandlineSync",
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "StrandlineTestSupport", dependencies: ["StrandlineLog", "CStrandline"],
      path: "Tests/TestSupport", swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineLogTests", dependencies: ["StrandlineLog", "StrandlineTestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineTests", dependencies: ["Strandline", "StrandlineLog", "StrandlineTestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineProtocolTests",
      dependencies: ["CStrandline", "Strandline", "StrandlineProtocol", "StrandlineTestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineServerTests",
      dependencies: [
        "CCrypto", "StrandlineServer", "StrandlineSync", "StrandlineProtocol", "StrandlineLog", "StrandlineTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineSyncTests",
      dependencies: [
        "CCrypto", "CZlib", "StrandlineSync", "StrandlineProtocol", "Strandline", "StrandlineLog",
        "StrandlineTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineScenarioTests",
      dependencies: ["StrandlineScenario", "Strandline", "StrandlineProtocol", "StrandlineServer"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineSimulationTests",
      dependencies: [
        "StrandlineSync", "StrandlineServer", "StrandlineProtocol", "Strandline", "StrandlineLog",
        "StrandlineTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineCommandTests",
      dependencies: [
        "strandline", "CZlib", "Strandline", "StrandlineLog", "StrandlineProtocol", "StrandlineServer",
        "StrandlineSync", "StrandlineTestSupport",
      ],
      swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6]
)

// Builds for the sanitizers want some of the tests: STRANDLINE_TEST_TARGETS=StrandlineLogTests,… leaves out the others and the tool.
if let names = Context.environment["STRANDLINE_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { target in
    target.type == .executable || target.type == .test && !names.contains(target.name)
  }
  package.products.removeAll { $0.name == "strandline" }
}
