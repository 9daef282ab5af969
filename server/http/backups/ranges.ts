/** Which part of a file a request asks for, so that a download that broke off goes on where it was. */

export interface Part {
  readonly start: number;
  /** The last byte of it. */
  readonly end: number;
}

const one = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Null: all of it, which is also the answer to several parts at once and to what can't be read. `unsatisfiable`: nothing of
 * what was asked for is there.
 */
export function partOf(header: string | undefined, bytes: number): Part | "unsatisfiable" | null {
  const [, first = "", last = ""] = one.exec(header ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? "unsatisfiable" : { start: bytes - length, end: bytes - 1 };
  }
  if (last !== "" && Number(last) < Number(first)) return null;
  if (Number(first) >= bytes) return "unsatisfiable";
  return { start: Number(first), end: last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}
