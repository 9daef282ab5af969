/**
 * Checks a JSON value before anything else reads it. Bounds its size, so that a small request can't keep the process
 * busy for seconds, and finds strings that the database can't store: those with a NUL character or half a surrogate pair.
 */
import { type Fault, maxFaults } from "./faults.ts";
import { escapePointer } from "./validationMessages.ts";

const maxDepth = 32;
/** The longest valid list has 10,000 items. */
const maxValues = 20_000;
const maxPathLength = 200;

/** Returns at most `maxFaults` faults. Iterative, because deep nesting would overflow the stack. */
export function faultsOfValue(value: unknown): Fault[] {
  const faults: Fault[] = [];
  const pending: { readonly path: string; readonly depth: number; readonly value: unknown }[] = [
    { path: "", depth: 0, value },
  ];
  let values = 0;
  for (let next = pending.pop(); next !== undefined && faults.length < maxFaults; next = pending.pop()) {
    const { path, depth } = next;
    if (typeof next.value === "string") {
      const message = faultOf(next.value);
      if (message) faults.push({ path, message });
    } else if (next.value !== null && typeof next.value === "object") {
      if (depth === maxDepth) return [{ path, message: `must not be nested more than ${maxDepth} levels deep` }];
      values += Array.isArray(next.value) ? next.value.length : Object.keys(next.value).length;
      if (values > maxValues) return [{ path: "", message: `must not have more than ${maxValues} values` }];
      for (const [name, inner] of Object.entries(next.value))
        pending.push({ path: below(path, name), depth: depth + 1, value: inner });
    }
  }
  return faults;
}

/** The JSON pointer of a field, cut if it is long: each of the faults has one. */
function below(path: string, name: string): string {
  const pointer = `${path}/${escapePointer(name.slice(0, maxPathLength))}`;
  return pointer.length <= maxPathLength ? pointer : `${pointer.slice(0, maxPathLength - 1)}…`;
}

function faultOf(text: string): string | null {
  if (text.includes("\0")) return "must not contain a NUL character";
  return text.isWellFormed() ? null : "must be valid Unicode";
}
