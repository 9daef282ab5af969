/** Options of mounted file systems, from Linux's `/proc`. */
import { readFileSync } from "node:fs";

/** Linux writes spaces and the like as octal numbers. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** Returns the options of the mount that a file without symbolic links in its path is on. `mounts`: lines of `mountinfo`. */
export function mountOptionsOf(file: string, mounts = readFileSync("/proc/self/mountinfo", "utf8")): readonly string[] {
  let found = { place: "", options: "" };
  for (const line of mounts.split("\n")) {
    const [, , , , place = "", options = ""] = line.split(" ");
    const at = unescaped(place);
    const contains = at === "/" || file === at || file.startsWith(`${at}/`);
    // Of several at the same place, the last one is on top.
    if (contains && at.length >= found.place.length) found = { place: at, options };
  }
  return found.options.split(",");
}
