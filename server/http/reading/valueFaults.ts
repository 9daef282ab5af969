/**
 * Checks a JSON value before anything else reads it. Bounds its size, so that a small request can't keep the process
 * busy for seconds, and finds strings that the database can't store: those with a NUL character or half a surrogate pair.
 */
import { type Fault, maxFaults } from "./malformed.ts";
import { escapePointer } from "./validationMessages.ts";

const maxDepth = 32;
/** The largest valid request has 10,000 redirect rules. */
const maxValues = 100_000;
const maxPathLength = 200;

/** An object or list, and where it is. */
interface Container {
  readonly value: object;
  readonly place: Place | null;
}

interface Place {
  readonly parent: Place | null;
  readonly name: string;
  readonly depth: number;
}

/** Returns at most `maxFaults` faults. Iterative, because deep nesting would overflow the stack. */
export function faultsOfValue(value: unknown): Fault[] {
  const faults: Fault[] = [];
  const pending: Container[] = [];
  const inspect = (inner: unknown, place: Place | null) => {
    const message = typeof inner === "string" ? faultOf(inner) : null;
    if (message !== null) faults.push({ path: pathOf(place), message });
    if (inner !== null && typeof inner === "object") pending.push({ value: inner, place });
  };
  inspect(value, null);
  let values = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value: container, place: parent } = next;
    const depth = (parent?.depth ?? 0) + 1;
    if (depth > maxDepth) {
      return [{ path: pathOf(parent), message: `must not be nested more than ${maxDepth} levels deep` }];
    }
    values += Array.isArray(container) ? container.length : Object.keys(container).length;
    if (values > maxValues) return [{ path: "", message: `must not have more than ${maxValues} values` }];
    for (const [name, inner] of Object.entries(container)) {
      inspect(inner, { parent, name, depth });
      if (faults.length === maxFaults) return faults;
    }
  }
  return faults;
}

/** A JSON pointer, cut if it is long: each of the faults has one. */
function pathOf(place: Place | null): string {
  if (place === null) return "";
  const pointer = `${pathOf(place.parent)}/${escapePointer(place.name.slice(0, maxPathLength))}`;
  return pointer.length <= maxPathLength ? pointer : `${pointer.slice(0, maxPathLength - 1)}…`;
}

function faultOf(text: string): string | null {
  if (text.includes("\0")) return "must not contain a NUL character";
  return text.isWellFormed() ? null : "must be valid Unicode";
}
