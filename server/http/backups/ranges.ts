/** Parses `Range` headers, so that interrupted downloads can be resumed. */

interface ByteRange {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

const singleRange = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The range of a file with `bytes` bytes that the header requests. Null: the whole file, also for invalid headers and
 * for several ranges. `unsatisfiable`: the range starts beyond the end.
 */
export function rangeOf(header: string | undefined, bytes: number): ByteRange | "unsatisfiable" | null {
  const [, first = "", last = ""] = singleRange.exec(header ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? "unsatisfiable" : { start: bytes - length, end: bytes - 1 };
  }
  if (last !== "" && Number(last) < Number(first)) return null;
  if (Number(first) >= bytes) return "unsatisfiable";
  return { start: Number(first), end: last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}
