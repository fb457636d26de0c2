@_spi(Engine) import StrandlineLog

/// What `log info --json` prints.
enum InfoJSON {
  static func write(
    _ survey: StoreSurvey, _ tail: TailInspection?, _ opened: OpenedLayers, _ space: SpaceUse, _ damage: LogError?,
    to json: inout JSONWriter
  ) {
    json.object { json in
      json.schemaField()
      json.field("path", survey.path)
      json.field("exists", !survey.isEmpty)
      json.field("error", damage?.description)
      json.name("damage")
      if case .corrupt(let report) = damage { write(report, to: &json) } else { json.null() }
      json.name("root")
      if let root = survey.root.root { write(root, to: &json) } else { json.null() }
      json.name("slots")
      json.array { json in
        for slot in survey.root.slots { write(slot, to: &json) }
      }
      lock(survey.lock, to: &json)
      json.name("segments")
      json.array { json in
        for segment in survey.segments { write(segment, to: &json) }
      }
      json.name("layers")
      json.array { json in
        for layer in survey.layers { write(layer, opened[layer.path], to: &json) }
      }
      json.field("lastSequence", tail?.evidence.state.completeSequence.rawValue)
      json.field("epoch", tail?.evidence.state.epoch)
      json.list("unfinished", survey.listing.unfinished)
      json.list("innerStores", survey.listing.inner)
      json.list("unknown", survey.listing.unknown)
      json.name("bytes")
      json.object { json in
        json.field("replayed", space.replayed)
        json.field("history", space.history)
        json.field("dead", space.dead)
        json.field("spaceAhead", space.ahead)
        json.field("administration", space.administration)
        json.field("layers", space.layers)
        json.field("stray", space.stray)
        json.field("total", space.total)
      }
    }
  }

  private static func write(_ report: CorruptionReport, to json: inout JSONWriter) {
    json.object { json in
      json.field("reason", report.reason.rawValue)
      json.field("file", report.file)
      json.field("offset", report.offset)
      json.field("expected", report.expected)
      json.field("found", report.found)
      json.name("isSingleBit")
      if let isSingleBit = report.isSingleBit { json.value(isSingleBit) } else { json.null() }
      json.field("laterFrames", report.laterFrameCount)
    }
  }

  private static func write(_ root: RootSlot, to json: inout JSONWriter) {
    json.object { json in
      json.field("identifier", root.identifier.description)
      json.field("incarnation", tag: root.incarnation)
      json.field("revision", root.revision)
      json.field("epoch", root.epoch)
      json.field("resetSequence", root.resetSequence.rawValue)
      json.field("firstLiveOrdinal", root.firstLiveOrdinal)
      json.field("lastCreatedOrdinal", root.lastCreatedOrdinal)
      json.field("lastCreatedID", tag: root.lastCreatedID)
      json.name("anchor")
      json.object { json in
        json.field("ordinal", root.anchor.ordinal)
        json.field("lsn", root.anchor.lsn.rawValue)
        json.field("tag", tag: root.anchor.headTag)
        json.field("sequence", root.anchor.sequence.rawValue)
      }
      json.field("durableMark", root.durableMark.rawValue)
      json.field("closedCleanly", root.closedCleanly)
      json.field("tailTag", tag: root.tailTag)
      json.field("compatibleBits", tag: root.compatibleBits)
      json.field("readOnlyCompatibleBits", tag: root.readOnlyCompatibleBits)
      json.field("incompatibleBits", tag: root.incompatibleBits)
    }
  }

  private static func write(_ slot: RootInspection.Slot, to json: inout JSONWriter) {
    json.object { json in
      json.field("slot", slot.number)
      json.field("whole", slot.root != nil)
      json.field("revision", slot.root?.revision)
      json.field("defect", slot.defect.map { "\($0)" })
      json.field("flippedByte", slot.singleBit?.byte)
      json.field("flippedBit", slot.singleBit?.bit)
    }
  }

  private static func lock(_ lock: LockState, to json: inout JSONWriter) {
    json.name("lock")
    switch lock {
    case .free: json.value("free")
    case .unknown: json.null()
    case .held(let owner):
      json.object { json in
        json.field("processID", owner?.processID)
        json.field("host", owner?.host)
        json.field("since", owner?.since)
      }
    }
  }

  private static func write(_ segment: SegmentInspection, to json: inout JSONWriter) {
    json.object { json in
      json.field("file", segment.path)
      json.field("state", segment.role.rawValue)
      json.field("byteCount", segment.byteCount)
      json.field("wholeHeaderCopies", segment.copies.filter { $0.header != nil }.count)
      json.field("error", segment.error?.description)
      json.field("ordinal", segment.header?.ordinal ?? segment.name?.ordinal)
      json.field("id", (segment.header?.id ?? segment.name?.id).map { hexadecimal($0) })
      json.field("identifier", segment.header?.identifier.description)
      json.field("epoch", segment.header?.epoch)
      json.field("baseSequence", segment.header?.baseSequence.rawValue)
      json.field("baseLSN", segment.header?.baseLSN.rawValue)
      json.field("salt", segment.header.map { hexadecimal($0.salt) })
      json.field("createdAt", segment.header?.createdAt)
      json.field("endsAt", segment.named?.byteCount)
      json.field("endTag", segment.named.map { hexadecimal($0.headTag) })
    }
  }

  private static func write(_ layer: LayerInspection, _ proof: LayerProof?, to json: inout JSONWriter) {
    json.object { json in
      json.field("file", layer.path)
      json.field("byteCount", layer.byteCount)
      json.field("namedByRoot", layer.entry != nil)
      json.field("whole", layer.isWhole)
      json.field("level", layer.entry?.level)
      json.field("firstSequence", layer.entry?.firstSequence.rawValue)
      json.field("lastSequence", layer.entry?.lastSequence.rawValue)
      json.field("blocks", proof?.blockCount)
      json.field("versions", proof?.versionCount)
      if let proof {
        json.field("opens", proof.refusal == nil)
      } else {
        json.name("opens")
        json.null()
      }
    }
  }
}
