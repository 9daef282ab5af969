/** Writes values as PHP's `serialize` does, and generates nested values that contain a site's address. */
import { createRandom } from "@sitewright/dns/testing/random.ts";

type PhpValue =
  | null
  | boolean
  | number
  | string
  | readonly PhpValue[]
  | { readonly [key: string]: PhpValue }
  | PhpObject;

/** Names of private properties start with `\0Class\0`, those of protected ones with `\0*\0`. */
export class PhpObject {
  readonly name: string;
  readonly properties: { readonly [key: string]: PhpValue };
  constructor(name: string, properties: { readonly [key: string]: PhpValue }) {
    this.name = name;
    this.properties = properties;
  }
}

function text(value: string): string {
  return `s:${Buffer.byteLength(value)}:"${value}";`;
}

function entries(pairs: readonly (readonly [string | number, PhpValue])[]): string {
  const body = pairs.map(([key, value]) => (typeof key === "number" ? `i:${key};` : text(key)) + serialize(value));
  return `${pairs.length}:{${body.join("")}}`;
}

export function serialize(value: PhpValue): string {
  if (value === null) return "N;";
  if (typeof value === "boolean") return `b:${value ? 1 : 0};`;
  if (typeof value === "number") return Number.isInteger(value) ? `i:${value};` : `d:${value};`;
  if (typeof value === "string") return text(value);
  if (value instanceof PhpObject) {
    return `O:${Buffer.byteLength(value.name)}:"${value.name}":${entries(Object.entries(value.properties))}`;
  }
  return `a:${entries(Array.isArray(value) ? [...value.entries()] : Object.entries(value))}`;
}

/** Writes JSON as PHP's `json_encode` does: slashes and non-ASCII characters are escaped. */
export function phpJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll("/", "\\/")
    .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Generates a value that contains this address. The same seed gives the same value, except for the address. */
export function someValue(seed: number, address: string): PhpValue {
  const next = createRandom(seed);
  const upTo = (count: number) => Math.floor(next() * count);
  const words = ["", "plain", 'q";s:3:"', "ünï 🦄 日本", "line\nbreak", "back\\slash", "\0nul\0", "};", "s:5:", "'\""];
  const word = () => words[upTo(words.length)] ?? "";
  const withAddress = () => `${word()} ${address}/${word()}`;

  function collection(depth: number): PhpValue {
    const items = Array.from({ length: 1 + upTo(4) }, () => some(depth - 1));
    const named = Object.fromEntries(items.map((item, index) => [`${word()}${address}/${index}`, item]));
    return (
      [items, named, new PhpObject("Some_Class", { "\0Some_Class\0secret": items, "\0*\0kept": word() })][upTo(3)] ??
      null
    );
  }

  function some(depth: number): PhpValue {
    const simple = [null, next() < 0.5, upTo(2e9), 0.25, word(), withAddress()];
    if (depth === 0) return simple[upTo(simple.length)] ?? null;
    const kind = upTo(6);
    if (kind === 0) return serialize(some(depth - 1));
    if (kind === 1) return phpJson({ a: withAddress(), b: serialize(collection(depth)) });
    if (kind === 2) return phpJson([phpJson({ deep: serialize([withAddress(), word()]) })]);
    return kind === 3 ? withAddress() : collection(depth);
  }

  return [withAddress(), collection(4)];
}
