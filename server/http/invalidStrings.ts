/** Finds strings that the database can't store: those with a NUL character or half a surrogate pair. */
import type { Fault } from "./faults.ts";
import { escapePointer } from "./validationMessages.ts";

/** Finds invalid strings in a JSON value. Iterative, because deep nesting would overflow the stack. */
export function findInvalidStrings(value: unknown): Fault[] {
  const faults: Fault[] = [];
  const pending: { readonly path: string; readonly value: unknown }[] = [{ path: "", value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path } = next;
    if (typeof next.value === "string") {
      const message = faultOf(next.value);
      if (message) faults.push({ path, message });
    } else if (next.value !== null && typeof next.value === "object") {
      for (const [name, inner] of Object.entries(next.value))
        pending.push({ path: `${path}/${escapePointer(name)}`, value: inner });
    }
  }
  return faults;
}

function faultOf(text: string): string | null {
  if (text.includes("\0")) return "must not contain a NUL character";
  return text.isWellFormed() ? null : "must be valid Unicode";
}
