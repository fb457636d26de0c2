import Testing

@testable import Strandline

struct DecimalDigitsTests {
  @Test(arguments: ["", "-", "+", ".", "1.", ".5", "1..2", "1e5", "1 ", " 1", "0x1", "--1", "1.2.3", "nan", "inf", "１"])
  func `what is no decimal is refused`(text: String) {
    #expect(DecimalDigits(text) == nil)
    #expect(!ColumnType.decimal.holds(.decimal(text)))
  }

  @Test(arguments: [
    (0.0, "0"), (1, "1"), (-2.5, "-2.5"), (0.1, "0.1000000000000000055511151231257827021181583404541015625"),
    (1e22, "10000000000000000000000"),
    (123456789.125, "123456789.125"), (0x1p-20, "0.00000095367431640625"),
    (1e23, "99999999999999991611392"),
  ])
  func `a double has its exact digits`(number: Double, text: String) {
    #expect(DecimalDigits(exactly: number) == DecimalDigits(text))
  }

  @Test func `the smallest and the largest double have all their digits`() {
    let smallest = DecimalDigits(exactly: .leastNonzeroMagnitude)
    #expect(smallest.digits.count == 751 && smallest.exponent == -323)
    let largest = DecimalDigits(exactly: -.greatestFiniteMagnitude)
    #expect(largest.digits.count == 309 && largest.exponent == 309 && largest.isNegative)
  }

  @Test func `beyond all doubles is infinite and below all is zero`() {
    #expect(NumberOrder.nearestDouble("1" + String(repeating: "0", count: 5000)) == .infinity)
    #expect(NumberOrder.nearestDouble("-1" + String(repeating: "0", count: 5000)) == -.infinity)
    #expect(NumberOrder.nearestDouble("0." + String(repeating: "0", count: 5000) + "1") == 0)
    #expect(NumberOrder.nearestDouble("+1.5") == 1.5)
  }
}
