/// What the format allows. A value above is ``StoreError/limitExceeded(_:)`` before anything is written.
public enum StoreLimits {
  /// Bytes of a key as encoded, index entries included.
  public static let keyByteCountMax = 1 << 10
  /// Bytes of a row as encoded, its key included.
  public static let recordByteCountMax = 16 << 20
  /// Columns that one table has ever had.
  public static let columnCountMax = 4096
  /// Tables that one store has ever had.
  public static let tableCountMax = 65_535
}
