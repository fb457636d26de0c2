// swift-tools-version: 6.2
import PackageDescription

// A package of its own: libFuzzer needs flags that nobody who embeds Strandline should meet. README.md says how to run it.

let package = Package(
  name: "strandline-fuzz",
  dependencies: [.package(name: "strandline", path: "../..")],
  targets: [
    .target(name: "CFuzzTag"),
    .executableTarget(
      name: "StrandlineFuzz",
      dependencies: [
        "CFuzzTag", .product(name: "StrandlineLog", package: "strandline"),
        .product(name: "StrandlineTestSupport", package: "strandline"),
      ],
      swiftSettings: [.unsafeFlags(["-parse-as-library"]), .treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)
