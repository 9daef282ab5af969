/** Texts that no field may hold: the database stores neither NUL nor half a character. */
import type { Fault } from "./faults.ts";
import { escapePointer } from "./problems.ts";

/** Walks without recursion, because a body may be nested as deeply as it is long. */
export function unusableTexts(value: unknown): Fault[] {
  const faults: Fault[] = [];
  const rest: { readonly path: string; readonly value: unknown }[] = [{ path: "", value }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { path } = next;
    if (typeof next.value === "string") {
      const message = faultOf(next.value);
      if (message) faults.push({ path, message });
    } else if (next.value !== null && typeof next.value === "object") {
      for (const [name, inner] of Object.entries(next.value))
        rest.push({ path: `${path}/${escapePointer(name)}`, value: inner });
    }
  }
  return faults;
}

function faultOf(text: string): string | null {
  if (text.includes("\0")) return "must not contain a NUL character";
  return text.isWellFormed() ? null : "must be valid Unicode";
}
