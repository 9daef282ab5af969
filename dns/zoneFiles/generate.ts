/** The directive `$GENERATE` of BIND, such as `$GENERATE 1-20 host$ A 192.0.2.$`: one record for each number. */
import { BadValue } from "../records/badValue.ts";

const rangeForm = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/;
/** A dollar that is meant, or the place of the number with offset, width and base. */
const placeholder = /\\\$|\$\$|\$(?:\{(-?\d{1,10})(?:,(\d{1,2})(?:,([doxXnN]))?)?\})?/g;

export interface Generated {
  /** How many records there are. */
  readonly count: number;
  /** The words of each record. */
  records(): Iterable<string[]>;
}

/** `words` follow the directive. Throws `BadValue`. */
export function readGenerate([range = "", ...words]: readonly string[]): Generated {
  const [, first, last, step = "1"] = rangeForm.exec(range) ?? [];
  const [start, stop, by] = [Number(first), Number(last), Number(step)];
  if (first === undefined || start > stop || by === 0 || words.length < 3)
    throw new BadValue("$GENERATE must be like $GENERATE 1-20 host$ A 192.0.2.$");
  return {
    count: Math.floor((stop - start) / by) + 1,
    *records() {
      for (let number = start; number <= stop; number += by) yield words.map((word) => fill(word, number));
    },
  };
}

function fill(word: string, number: number): string {
  return word.replace(placeholder, (found, offset = "0", width = "0", base = "d") => {
    if (found === "\\$" || found === "$$") return "$";
    const value = number + Number(offset);
    if (value < 0) throw new BadValue(`${found} is negative for ${number}`);
    return writeNumber(value, Number(width), `${base}`);
  });
}

/** `n` and `N` are hexadecimal digits from the last to the first, with dots between them, as in names of IPv6 addresses. */
function writeNumber(value: number, width: number, base: string): string {
  const digits = value.toString({ d: 10, o: 8 }[base] ?? 16);
  const cased = base === "X" || base === "N" ? digits.toUpperCase() : digits;
  if (base.toLowerCase() !== "n") return cased.padStart(width, "0");
  return [...cased.padStart(Math.ceil(width / 2), "0")].toReversed().join(".");
}
