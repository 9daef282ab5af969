/** The parts of a PHP installation that compiled code depends on. */
import { globSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import type { PhpProgram } from "../environmentSandbox.ts";
import { fileInRoot } from "../rootPath.ts";

/** PHP's settings and extensions: of Debian, Red Hat, Remi, and PHP that somebody has built. Those of other versions are among them. */
const files = [
  ...["etc/php/*/fpm/php.ini", "etc/php/*/fpm/conf.d/*.ini", "usr/lib/php/*/*.so"],
  ...["etc/php.ini", "etc/php.d/*.ini", "usr/lib{,64}/php/modules/*.so"],
  ...["etc/opt/remi/*/php.ini", "etc/opt/remi/*/php.d/*.ini", "opt/remi/*/root/usr/lib64/php/modules/*.so"],
  ...["usr/local/etc/php/*.ini", "usr/local/etc/php/conf.d/*.ini", "usr/local/lib/php.ini"],
  ...["usr/local/lib/php/*.ini", "usr/local/lib/php/extensions/*/*.so"],
];

/**
 * Returns a text that changes whenever PHP is updated, or gets other extensions or settings. PHP replaces `extension_loaded('x')` and
 * `function_exists('y')` by their results when it compiles. Throws if there is no such program.
 */
export function phpStateOf({ root, fpm, extensions }: PhpProgram): string {
  const program = statSync(fileInRoot(root, fpm) ?? path.join(root, fpm));
  const found = globSync(files, { cwd: root }).toSorted();
  const states = found.map((file) => [file, describe(factsOf(root, file))]);
  return JSON.stringify([describe(program), extensions, states]);
}

function factsOf(root: string, file: string): Stats | undefined {
  // The machine's own links need no care, and waking an environment should not take longer.
  const place = root === "/" ? path.join(root, file) : fileInRoot(root, file);
  return place === null ? undefined : statSync(place, { throwIfNoEntry: false });
}

/** Packages bring times of their own, but a file that is replaced has another inode. */
function describe(facts: Stats | undefined): string {
  return facts === undefined ? "" : [facts.size, facts.mtimeMs, facts.ino].join(" ");
}
