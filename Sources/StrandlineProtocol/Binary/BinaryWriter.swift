@_spi(Engine) internal import Strandline
internal import StrandlineLog

// The content of a frame.
//
//   content  count varint, names; each length varint, UTF-8 | message
//   name     varint, place among the names; tables, columns and members of objects are said once a message
//   text     length varint | UTF-8
//   number   0 | varint: a decimal text from 0 to 2^63 - 1 without a zero in front · 1 | text: any other text
//   optional 0 · 1 | what it is
//   members  count varint | (name, value) …           names strictly ascending by their places
//   value    kind u8 | body: null 0, false 1, true 2: nothing · integer 3: zig-zag varint · decimal 4: text, a whole number beyond 64 bits ·
//            double 5: eight bytes, finite · text 6 · array 10: count varint, value … · object 11: members
//
// Values are what JSON would have brought: times, bytes and UUIDs are texts. Read by BinaryReader.
struct BinaryWriter {
  private(set) var content: [UInt8] = []
  private var names: [String] = []
  private var places: [ExactName: Int] = [:]

  /// The names and what was written behind them.
  func finished() -> [UInt8] {
    var head = BinaryWriter()
    head.count(names.count)
    for name in names { head.text(name) }
    return head.content + content
  }

  mutating func count(_ number: Int) { varint(UInt64(number)) }

  mutating func flag(_ flag: Bool) { content.append(flag ? 1 : 0) }

  mutating func integer(_ number: Int64) { varint(Varint.zigZag(number)) }

  mutating func text(_ text: String) {
    count(text.utf8.count)
    content.append(contentsOf: text.utf8)
  }

  mutating func name(_ name: String) {
    let exact = ExactName(name)
    if let place = places[exact] { return count(place) }
    places[exact] = names.count
    count(names.count)
    names.append(name)
  }

  mutating func number(_ text: String) {
    if let number = Int64(text), number >= 0, String(number).utf8.elementsEqual(text.utf8) {
      content.append(0)
      varint(UInt64(number))
    } else {
      content.append(1)
      self.text(text)
    }
  }

  mutating func optional<Wrapped>(_ value: Wrapped?, _ write: (inout BinaryWriter, Wrapped) -> Void) {
    flag(value != nil)
    if let value { write(&self, value) }
  }

  mutating func list<Element>(_ elements: [Element], _ write: (inout BinaryWriter, Element) -> Void) {
    count(elements.count)
    for element in elements { write(&self, element) }
  }

  mutating func members(_ members: [String: Value]) {
    count(members.count)
    var isKnown = true
    var sorted: [(place: Int, value: Value)] = []
    sorted.reserveCapacity(members.count)
    for (name, value) in members {
      guard let place = places[ExactName(name)] else {
        isKnown = false
        break
      }
      sorted.append((place, value))
    }
    if !isKnown {
      // New names get their places in an order of their own: a dictionary has none, and the same message is to be the same bytes.
      let ordered = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      sorted = ordered.map { (place(of: $0.key), $0.value) }
    }
    sorted.sort { $0.place < $1.place }
    for member in sorted {
      count(member.place)
      value(member.value)
    }
  }

  mutating func value(_ value: Value) {
    switch value {
    case .null: content.append(BinaryValueKind.null.rawValue)
    case .bool(let flag): content.append((flag ? BinaryValueKind.true : .false).rawValue)
    case .int(let number):
      content.append(BinaryValueKind.integer.rawValue)
      integer(number)
    case .double(let number) where number.isFinite:
      content.append(BinaryValueKind.double.rawValue)
      withUnsafeBytes(of: number.bitPattern.littleEndian) { content.append(contentsOf: $0) }
    case .string(let text):
      content.append(BinaryValueKind.text.rawValue)
      self.text(text)
    case .array(let values):
      content.append(BinaryValueKind.array.rawValue)
      list(values) { $0.value($1) }
    case .object(let members):
      content.append(BinaryValueKind.object.rawValue)
      self.members(members)
    case .decimal(let digits) where WholeNumber(digits)?.description == digits && Int64(digits) == nil:
      content.append(BinaryValueKind.decimal.rawValue)
      text(digits)
    case .decimal, .double, .bytes, .uuid, .timestamp: self.value(value.asJSONBringsIt)
    }
  }

  private mutating func place(of name: String) -> Int {
    let exact = ExactName(name)
    if let place = places[exact] { return place }
    places[exact] = names.count
    names.append(name)
    return names.count - 1
  }

  private mutating func varint(_ number: UInt64) {
    if number < 0x80 { return content.append(UInt8(truncatingIfNeeded: number)) }
    withUnsafeTemporaryAllocation(byteCount: Varint.byteCountMax, alignment: 1) { room in
      guard let start = room.baseAddress else { return }
      let count = Varint.write(number, to: start)
      content.append(contentsOf: room[0..<count])
    }
  }
}

/// The kind byte of a value in a binary message. Numbers are never used again for something else.
enum BinaryValueKind: UInt8 {
  case null = 0
  case `false` = 1
  case `true` = 2
  case integer = 3
  case decimal = 4
  case double = 5
  case text = 6
  case array = 10
  case object = 11
}

extension Value {
  /// What a reader of the value's JSON gets: a text or another kind of number for the kinds that JSON has not.
  fileprivate var asJSONBringsIt: Value {
    var text: [UInt8] = []
    appendJSON(to: &text, decimals: .number)
    // A decimal beyond every double has no number in JSON either; its digits stand.
    return (try? Value.json(text)) ?? .string(String(decoding: text, as: UTF8.self))
  }
}
