// swift-tools-version: 6.2
import PackageDescription

// A package of its own: nobody who embeds Strandline builds the reference, the peers or the unsafe flags below.

let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "strandline-benchmarks",
  products: [.executable(name: "strandline-bench", targets: ["strandline-bench"])],
  dependencies: [.package(name: "strandline", path: "..")],
  targets: [
    .systemLibrary(
      name: "CReferenceLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(name: "CRocksDB", pkgConfig: "rocksdb", providers: [.apt(["librocksdb-dev"])]),
    .systemLibrary(name: "CLevelDB", providers: [.apt(["libleveldb-dev"])]),
    .target(
      name: "CReference", dependencies: ["CReferenceLZ4"], cSettings: [.unsafeFlags(["-O3", "-Wall", "-Wextra"])]),
    .target(
      name: "StrandlineBenchmarks",
      dependencies: [
        "CReference", "CSQLite", "CLMDB", "CRocksDB", "CLevelDB",
        .product(name: "Strandline", package: "strandline"),
        .product(name: "StrandlineLog", package: "strandline"),
        .product(name: "StrandlineSync", package: "strandline"),
        .product(name: "StrandlineServer", package: "strandline"),
      ],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "strandline-bench", dependencies: ["StrandlineBenchmarks"], swiftSettings: swiftSettings),
    .testTarget(
      name: "StrandlineBenchmarksTests", dependencies: ["StrandlineBenchmarks"], swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6]
)
